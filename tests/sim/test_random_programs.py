# SPDX-License-Identifier: Apache-2.0
"""Random configurations and programs: legal, varied, the same for the same seed."""

from collections import Counter

import pytest

from beatmatch import functional
from beatmatch.isa import Error, Opcode
from beatmatch.program import Program
from tb.lockstep import random_config, random_errors, random_programs
from tb.lockstep.dials import DialError, Dials
from tb.lockstep.streams import derive, stream

PROGRAMS = 120
CONFIG = random_config.generate(11, 0)


def program(index, seed=11):
    return random_programs.generate(derive(seed, "program", index), random_config.generate(seed, index % 12))


@pytest.fixture(scope="module")
def programs():
    return [program(index) for index in range(PROGRAMS)]


def test_the_same_seed_gives_the_same_program():
    assert program(3).to_bytes() == program(3).to_bytes() != program(4).to_bytes()


def test_programs_survive_their_file(programs):
    for item in programs[:20]:
        assert Program.from_bytes(item.to_bytes()).to_bytes() == item.to_bytes()


def test_undisturbed_programs_run_to_their_end(programs):
    for item in programs:
        if "disturbed" not in item.origin:
            outcome = functional.run(item)
            assert outcome.error is Error.NONE, f"{item.origin}: {outcome.text}"


def test_programs_show_what_they_should(programs):
    decoded = [item for entry in programs for item in entry.decoded() if item is not None]
    assert {item.opcode for item in decoded} == set(Opcode)
    for field in ("each", "keep", "accumulate", "packed", "src_ring", "dst_ring", "acc_ring", "pad_left", "wait1_n"):
        assert any(item.fields.get(field) for item in decoded), field
    host = Counter(event.action for entry in programs for event in entry.host)
    assert host["reset"] and host["start"]
    timings = [entry.timing for entry in programs]
    assert max(t.read_latency for t in timings) > 100 and min(t.read_latency for t in timings) < 5
    for channel in range(5):
        assert any(t.stalls[channel] for t in timings)
    assert any(t.shared for t in timings) and any(t.read_bandwidth for t in timings)


@pytest.mark.parametrize("kind", random_errors.KINDS)
def test_every_disturbance_changes_a_program(kind):
    """Most of them end in an error even without time; buses, limits and strides need the right place."""
    codes = Counter()
    for index in range(12):
        config = random_config.generate(5, index)
        plain = random_programs.generate(derive(5, index), config, Dials(errors=0))
        changed = random_errors.disturb(stream(5, index), plain, kind)
        assert changed.to_bytes() != plain.to_bytes()
        codes[functional.run(changed).error] += 1
    assert kind == "limit" or codes.total() > codes[Error.NONE]


def test_configurations_cover_shapes_banks_and_widths():
    configs = [random_config.generate(1, index) for index in range(30)]
    assert {(config.rows, config.cols) for config in configs} == set(random_config.SHAPES)
    assert {config.sp_banks for config in configs} == {config.acc_banks for config in configs} == set(range(1, 9))
    assert {config.mem_bits for config in configs} == set(random_config.MEMORY_BITS)
    assert len({config.digest() for config in configs}) == 30
    assert configs == [random_config.generate(1, index) for index in range(30)]


def dialled(**dials):
    return [random_programs.generate(derive(2, index), CONFIG, Dials(**dials)) for index in range(30)]


def test_dials_turn_what_programs_hold():
    stores = dialled(opcodes=((Opcode.STORE, 1),), double_buffer=0, short_matmuls=0, errors=0)
    assert {item.opcode for program in stores for item in program.decoded()[3:]} == {Opcode.STORE}
    assert all("disturbed: bus" in program.origin for program in dialled(errors=1, error_kinds=("bus",)))
    assert not any(program.host for program in dialled(errors=0, resets=0, starts=0))
    assert all(program.host[0].action == "reset" for program in dialled(errors=0, resets=1, starts=0))
    assert not any(any(program.timing.stalls) for program in dialled(hesitant=0))
    assert max(program.timing.read_latency for program in dialled(most_latency=3)) <= 3
    assert max(max(program.timing.stalls) for program in dialled(hesitant=1, most_stall=9)) in range(1, 10)
    drams = [program.timing.dram for program in dialled(dram=1)]
    assert None not in drams and len(set(drams)) == 30
    assert not any(program.timing.dram for program in dialled(dram=0))
    assert all(len(program.instructions) < 12 for program in dialled(parts=(1, 1), slow_parts=(1, 1), errors=0))


def test_turned_dials_are_named_by_the_program():
    assert dialled()[0].origin.startswith("tb.lockstep.random_programs seed")
    assert "dials" not in dialled()[0].origin
    assert "dials hesitant=0.25" in dialled(hesitant=0.25)[0].origin


@pytest.mark.parametrize(
    ("dials", "message"),
    [
        ({"errors": 1.5}, "errors stands at 1.5"),
        ({"most_stall": 256}, "most_stall stands at 256"),
        ({"parts": (5, 4)}, "parts stands at 5 to 4"),
        ({"opcodes": ((Opcode.LOAD, 0),)}, "opcodes needs weights"),
    ],
)
def test_a_dial_outside_its_range_is_refused(dials, message):
    with pytest.raises(DialError, match=message):
        Dials(**dials)
