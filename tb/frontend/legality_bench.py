# SPDX-License-Identifier: Apache-2.0
"""`bm_legality` against `beatmatch.isa.legality.check`: thousands of words; run by tests/sim/test_frontend.py."""

import collections
import json
import os
import random

import cocotb
from cocotb.triggers import Timer

from beatmatch.config import Config
from beatmatch.isa import Error
from beatmatch.isa.legality import check
from tb.frontend.words import any_word


@cocotb.test()
async def agrees(dut):
    """The same verdict on every word, and all four of them often."""
    config = Config(**json.loads(os.environ["CONFIG"]))
    seed = int(os.environ["COCOTB_RANDOM_SEED"])
    rng = random.Random(seed)
    count = int(os.environ["WORDS"])
    seen = collections.Counter()
    for _ in range(count):
        word = any_word(rng, config)
        dut.word_i.value = word
        await Timer(1, "ns")
        refusal = check(word, config)
        code = Error.NONE if refusal is None else refusal[0]
        assert int(dut.code_o.value) == code, f"{word:#066x}: RTL {Error(int(dut.code_o.value)).name}, model {refusal}"
        seen[code] += 1
    for code in (Error.NONE, Error.ILLEGAL_OPCODE, Error.ILLEGAL_FIELD, Error.ZERO_SIZE):
        assert seen[code] > count // 100, f"{code.name} came only {seen[code]} times in {count}"
