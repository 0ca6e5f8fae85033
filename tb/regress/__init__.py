# SPDX-License-Identifier: Apache-2.0
"""Regressions: plans of many programs, runs that survive crashes, and what they add up to."""
