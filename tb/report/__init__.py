# SPDX-License-Identifier: Apache-2.0
"""The sign-off report: figures of every verification run in one page, one JSON file and one JUnit file."""
