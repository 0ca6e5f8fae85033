# SPDX-License-Identifier: Apache-2.0
"""Random instruction words: legal ones, and ones with a few things wrong."""

from __future__ import annotations

import random

from beatmatch.config import Config
from beatmatch.isa import Format, Opcode, Space, make
from beatmatch.isa.encode import field_range, positions
from beatmatch.isa.fields import SEMAPHORES


def legal_word(rng: random.Random, config: Config, opcode: Opcode | None = None, **chosen: int) -> int:
    """A legal 256-bit word with random fields; those in ``chosen`` are given."""
    opcode = opcode or rng.choice(list(Opcode))
    fields = {"instance": 0}
    for name, (_, field) in positions(opcode).items():
        if name in ("opcode", "instance"):
            continue
        low, high = field_range(field)
        draw = rng.random()
        value = low if draw < 0.1 else high if draw < 0.2 else rng.randint(low, high)
        fields[name] = max(value, 1) if field.nonzero else value
    fields |= {"act_format": 0, "weight_format": 0, "transpose": 0}
    fields["dst_space"] = rng.choice((Space.SCRATCHPAD, Space.PARAMETER))
    fields["src_space"] = rng.choice((Space.SCRATCHPAD, Space.ACCUMULATOR))
    fields["src_format"] = Format.INT8 if fields["src_space"] == Space.SCRATCHPAD else Format.INT32
    fields["dst_format"] = rng.choice((Format.INT8, Format.INT32))
    fields["param_mode"] = rng.randrange(3)
    full = fields.get("packed", 0)
    for name, most in (("k_rows", config.rows), ("k_lanes", config.rows), ("n_lanes", config.cols)):
        fields[name] = most if full else rng.choice((1, most, rng.randint(1, most)))
    if "clip_low" in fields:
        fields["clip_low"], fields["clip_high"] = sorted((fields["clip_low"], fields["clip_high"]))
    fields |= chosen
    if fields["wait0_id"] == fields["wait1_id"]:
        fields["wait1_id"] = (fields["wait0_id"] + 1) % SEMAPHORES
    known = positions(opcode)
    return make(opcode, **{name: int(value) for name, value in fields.items() if name in known}).word()


def any_word(rng: random.Random, config: Config) -> int:
    """A word that is legal, nearly legal, or anything: every rule of the decoder fails now and then."""
    draw = rng.random()
    if draw < 0.1:
        return rng.getrandbits(256)
    word = legal_word(rng, config)
    if draw < 0.3:
        return word
    if draw < 0.6:  # a field with another value, often 0 or its greatest
        opcode = Opcode(word & 31)
        shift, field = rng.choice(list(positions(opcode).values()))
        mask = (1 << field.width) - 1
        value = rng.choice((0, mask, rng.getrandbits(field.width)))
        return word & ~(mask << shift) | value << shift
    if draw < 0.7:  # both waits on one semaphore
        return word & ~(31 << 17) | (word >> 8 & 31) << 17
    for _ in range(rng.choice((1, 1, 2))):
        word ^= 1 << rng.randrange(256)
    return word
