# SPDX-License-Identifier: Apache-2.0
"""Benches of the memory side: load, store, the memory port, and the shared gearbox and burst cutter."""
