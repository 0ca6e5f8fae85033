# SPDX-License-Identifier: Apache-2.0
"""What can happen to a simulator process, planted through the model: it dies, or it hangs."""

import os
import time

from tb.regress import workloads

VICTIM = 1
"""The second program of a piece is struck: one before it has a result, those behind it are in danger."""


def _strike(replace, blow):
    seen = []
    original = workloads.make

    def make(source, config):
        seen.append(source)
        if len(seen) == VICTIM + 1:
            blow()
        return original(source, config)

    replace(workloads, "make", make)


def dies(replace):
    """The process ends without a word."""
    _strike(replace, lambda: os._exit(9))


def hangs(replace):
    """The process never comes back."""
    _strike(replace, lambda: time.sleep(3600))
