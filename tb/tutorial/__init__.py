# SPDX-License-Identifier: Apache-2.0
"""The first bench to read."""
