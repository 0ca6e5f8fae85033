# SPDX-License-Identifier: Apache-2.0
"""A result is exact inside what has been in lockstep, and unproven outside, with the reason."""

import dataclasses

import numpy as np
import pytest

from beatmatch import fidelity, matmul, preset
from beatmatch.config import Config
from beatmatch.features import features
from beatmatch.fidelity import PAIRS, VALUES, Record
from beatmatch.isa import Opcode, make
from beatmatch.isa.fields import Error
from beatmatch.memory import ErrorRange, MemoryTiming
from beatmatch.program import HostEvent, Program

SEEN = (
    Config(4, 8, 64, 2, 32, 2, 2, 2, 32, 4, 8),
    Config(8, 4, 128, 4, 64, 4, 3, 4, 64, 8, 16),
    Config(8, 8, 128, 2, 64, 2, 2, 4, 64, 4, 8),
)
LOAD = make(Opcode.LOAD, row_bytes=8, rows=3, base=1)


def row(config, programs=10, cycles=9000):
    sims = {"icarus": {"programs": programs, "cycles": cycles}}
    return {"digest": config.digest(), "config": config.to_dict(), "sims": sims}


def record(*rows, names=("load", "load.to_scratchpad"), ranges=None):
    limits = {"load.outer": [1, 4], "load.rows": [1, 6], "load.row_bytes": [1, 64]}
    limits |= {"memory.read_latency": [1, 200], "memory.write_latency": [1, 200]}
    limits |= {"memory.max_reads": [1, 256], "memory.max_writes": [1, 256]}
    counts = {name: {"programs": 1, "cycles": 1} for name in names}
    return Record({"configurations": list(rows), "features": counts, "ranges": limits | (ranges or {})})


def program(*instructions, **changes):
    return Program(SEEN[0], list(instructions), **changes)


def test_a_configuration_that_ran_is_exact_and_says_where():
    found = record(*map(row, SEEN)).config(SEEN[1])
    assert found.exact and "icarus (9,000 cycles)" in found.reason


def test_a_mixture_of_values_and_pairs_that_ran_is_exact():
    mixed = dataclasses.replace(SEEN[0], queue_depth=4, param_rows=16)
    found = record(*map(row, SEEN)).config(mixed)
    assert found.exact and "pairs" in found.reason


@pytest.mark.parametrize("name", [name for name in VALUES if name not in ("rows", "cols")])
def test_every_value_counts(name):
    total = {"sp_bank_words": ("sp_words", 1024), "acc_bank_rows": ("acc_rows", 256)}
    changes = {"sp_banks": {"sp_banks": 1, "sp_words": 32}, "acc_banks": {"acc_banks": 1, "acc_rows": 16}}
    other = {"fifo_tiles": 7, "queue_depth": 9, "mem_bits": 256, "outstanding": 3, "param_rows": 64, "weight_port": 1}
    change = changes.get(name) or dict([total.get(name, (name, other.get(name)))])
    found = record(*map(row, SEEN)).config(dataclasses.replace(SEEN[0], **change))
    assert not found.exact and found.reason.startswith(f"{name} = ") and "has not been in lockstep" in found.reason


def test_a_pair_that_never_met_is_unproven():
    never = dataclasses.replace(SEEN[0], rows=4, cols=4)  # 4 rows have been seen, and 4 columns
    found = record(*map(row, SEEN)).config(never)
    assert not found.exact and found.reason == "rows = 4 with cols = 4 has not been in lockstep, though each alone has."
    assert all({first, second} & set(VALUES) for first, second in PAIRS)


@pytest.mark.parametrize(("programs", "cycles"), [(7, 9000), (10, 3999)])
def test_a_configuration_that_hardly_ran_does_not_count(programs, cycles):
    assert not record(row(SEEN[0], programs, cycles)).config(SEEN[0]).exact
    assert not record().config(SEEN[0]).exact


@pytest.mark.parametrize(
    ("found", "says"),
    [
        (program(dataclasses.replace(LOAD, fields={**LOAD.fields, "dst_ring": 1})), "load.ring"),
        (program(make(Opcode.STORE, row_bytes=8, rows=1)), "store"),
        (program(LOAD, timing=MemoryTiming(stalls=(0, 9, 0, 0, 0))), "memory.stall_r"),
        (program(LOAD, timing=MemoryTiming(errors=(ErrorRange(0, 9),))), "memory.slverr"),
        (program(LOAD, timing=MemoryTiming(read_bandwidth=(3, 1), shared=True)), "memory.read_bandwidth"),
        (program(LOAD, host=(HostEvent(9, "reset", 1),)), "host.reset"),
        (program(LOAD, cycle_limit=5), "host.cycle_limit"),
        (program(LOAD, timing=MemoryTiming(read_latency=256)), "memory.read_latency = 256"),
        (program(dataclasses.replace(LOAD, fields={**LOAD.fields, "rows": 8})), "load.rows = 8"),
    ],
)
def test_a_feature_or_size_that_never_ran_is_unproven(found, says):
    assert record().program(features(program(LOAD))).exact
    standing = record().program(features(found))
    assert not standing.exact and says in standing.reason


def test_an_error_that_never_ran_is_unproven():
    assert "error.DEADLOCK" in record().program(features(program(LOAD), Error.DEADLOCK)).reason


def test_sizes_count_by_their_bits():
    seven = program(dataclasses.replace(LOAD, fields={**LOAD.fields, "rows": 7}))
    assert record().program(features(seven)).exact


def test_results_of_the_model_say_what_they_are_worth():
    a = np.ones((5, 9), np.int8)
    run = matmul(a, np.ones((9, 6), np.int8), preset("tiny"))
    assert (run.fidelity, run.standing) == ("exact", fidelity.of(preset("tiny")))
    odd = Config.from_dict(preset("tiny").to_dict() | {"fifo_tiles": 7, "name": "odd"})
    run = matmul(a, np.ones((9, 6), np.int8), odd)
    assert run.fidelity == "unproven" and run.reason.startswith("fifo_tiles = 7")
    assert matmul(a, np.ones((9, 6), np.int8), odd, tier="functional").fidelity == "values"


def test_the_proof_names_the_configuration():
    assert "--config base --json" in fidelity.proof(preset("base"))
    odd = Config.from_dict(preset("base").to_dict() | {"fifo_tiles": 7})
    assert "fifo_tiles=7" in fidelity.proof(odd) and "--config my.json " in fidelity.proof(odd, "my.json")
