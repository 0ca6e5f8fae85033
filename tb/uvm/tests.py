# SPDX-License-Identifier: Apache-2.0
"""The tests that come with the environment."""

from __future__ import annotations

import pyuvm

from tb.uvm.base_test import BaseTest
from tb.uvm.sequences import RandomPrograms


@pyuvm.test()
class RandomTest(BaseTest):
    """Random programs with the weights of every campaign."""

    covers = ("matmul.row", "vector.write", "port.w")

    async def main(self):
        await RandomPrograms(self.seed(), self.count).start(self.env.sequencer)


@pyuvm.test()
class RandomAgain(RandomTest):
    """x"""
