# SPDX-License-Identifier: Apache-2.0
"""Fault injection: single bits of the RTL's state are flipped, and the lockstep comparison has to notice."""
