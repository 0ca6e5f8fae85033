# SPDX-License-Identifier: Apache-2.0
"""The directed programs of the mutation run reach what they are made for, in all three configurations."""

import numpy as np
import pytest

from beatmatch.isa import Engine, Error
from beatmatch.trace import VALID, layout, unpack
from tb.lockstep.streams import stream
from tb.mutation import directed, moments, partial, stimuli
from tb.mutation.campaign import CONFIGS
from tb.mutation.recordings import record

OVERFLOW_SEEN = 1 << 4


@pytest.fixture(params=CONFIGS, ids=lambda config: config.name)
def config(request):
    return request.param


def run(config, kind, variant=0):
    """Records of a program."""
    return record({"kind": kind, "variant": variant, "seed": 5}, config).records


def events(config, records, station, name):
    """Cycle and header fields of every event of a slot."""
    placed = layout(config).slot(station, name)
    column = records[:, placed.offset]
    return [(int(cycle), unpack(placed.slot, int(column[cycle]))) for cycle in np.flatnonzero(column & VALID)]


def errors(config, records):
    return [(Error(e["code"]), Engine(e["engine"]), e["seq"]) for _, e in events(config, records, "host", "error")]


def test_all_are_late(config):
    most, late = stimuli.choose(1, 2, config)
    assert not {source["kind"] for source in most} & set(directed.KINDS)
    wanted = [(kind, variant) for kind, item in directed.KINDS.items() for variant in range(item.variants)]
    assert [(source["kind"], source["variant"]) for source in late if source["kind"] in directed.KINDS] == wanted


@pytest.mark.parametrize("variant", range(6))
def test_the_engine_stuck_inside_an_instruction_is_reported(config, variant):
    engines = (Engine.LOAD, Engine.WEIGHTS, Engine.MATMUL, Engine.VECTOR, Engine.STORE, Engine.WEIGHTS)
    records = run(config, "stuck_inside", variant)
    assert errors(config, records) == [(Error.DEADLOCK, engines[variant], 2)]
    engine = engines[variant].name.lower()
    assert [e["iteration"] for _, e in events(config, records, engine, "issue") if e["seq"] == 2] == [0]


def test_a_run_that_ends_at_its_limit_has_no_error(config):
    program = moments.on_time(stream(5, "test"), config, 0)
    records = run(config, "on_time")
    busy = records[:, layout(config).slot("host", "status").offset] & moments.BUSY
    assert errors(config, records) == [] and np.count_nonzero(busy) == program.cycle_limit


def test_a_row_half_stored_is_written_up_to_its_first_burst(config):
    records = run(config, "half_stored")
    assert errors(config, records) == [(Error.CYCLE_LIMIT, Engine.FRONTEND, 0)]
    unit = max(config.lanes, config.mem_bytes)
    beats = 12 * unit // config.mem_bytes
    bursts = [e["len"] + 1 for _, e in events(config, records, "port", "aw")]
    assert bursts == [1] * (config.outstanding - 1) + [beats]
    halt, _ = events(config, records, "host", "error")[0]
    reads = [cycle for cycle, _ in events(config, records, "store", "sp_read")]
    assert len(reads) == config.outstanding - 1 + 12 * unit // config.lanes and reads[-1] > halt + 4
    assert len(events(config, records, "port", "w")) == sum(bursts)


@pytest.mark.parametrize("variant", range(directed.KINDS["behind_end"].variants))
def test_what_is_behind_the_end_is_out_of_range(config, variant):
    assert [code for code, *_ in errors(config, run(config, "behind_end", variant))] == [Error.LOCAL_RANGE] * 2


def test_zeros_outside_are_no_error(config):
    records = run(config, "zeros_outside")
    assert errors(config, records) == []
    assert len(events(config, records, "weights", "fifo_write")) == 3 * config.rows


def test_a_partial_write_keeps_the_low_byte(config):
    program = partial.partial(stream(5, "mutation", "partial"), config, 0)
    records = run(config, "partial")
    placed = layout(config).slot("host", "axil")
    headers, data = records[:, placed.offset], records[:, placed.data["rdata"][0]]
    answers = [int(data[cycle]) for cycle in range(len(data)) if unpack(placed.slot, int(headers[cycle]))["rvalid"]]
    written = program.host[0].data & 0xFFFFFF00
    assert answers[-1] == written | program.address & 0xFF


def test_a_maximum_and_an_overflow_at_the_limit():
    config = CONFIGS[0]
    records = run(config, "sums")
    results = layout(config).slot("vector", "write")
    written = records[np.flatnonzero(records[:, results.offset] & VALID), results.offset + 1]
    assert list(written[: config.cols - 1]) == [0x7FFFFFFF] * (config.cols - 1)
    overflows = [cycle for cycle, e in events(config, records, "accumulator", "write") if e["overflow"]]
    status = records[:, layout(config).slot("host", "status").offset] & OVERFLOW_SEEN
    assert len(overflows) == 1 and list(np.flatnonzero(status)[:1]) == [overflows[0] + 1]
    assert np.count_nonzero(np.diff(status)) == 2  # the second run clears the flag
