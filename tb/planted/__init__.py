# SPDX-License-Identifier: Apache-2.0
"""Faults planted in what checks the core: comparison, transport, agents, generators, results. Each has to be caught."""
