# SPDX-License-Identifier: Apache-2.0
"""The sub-commands of `beatmatch`, one module per group."""
