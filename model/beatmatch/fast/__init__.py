# SPDX-License-Identifier: Apache-2.0
"""The fast tier: exact time without values, in machine code if numba is installed; see docs/tiers.md."""

from beatmatch.fast.intervals import Intervals
from beatmatch.fast.run import FastError, FastMachine, FastResult, run_fast

__all__ = ["FastError", "FastMachine", "FastResult", "Intervals", "run_fast"]
