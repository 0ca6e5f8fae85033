# SPDX-License-Identifier: Apache-2.0
"""Facts of docs/timing.md about start, fetch, dispatch, semaphores, errors and done, counted by hand."""

import itertools

import pytest

from beatmatch.config import Config
from beatmatch.isa import Engine as Who
from beatmatch.isa import Error, Opcode
from beatmatch.memory import ErrorRange, MemoryTiming
from beatmatch.stations.semaphores import Semaphores
from tests.model.control_machine import Control, Engine, nop

HEADER = 0xFFFF


def control(mem_bits=256, depth=8, latency=10, **options):
    config = Config(mem_bits=mem_bits, queue_depth=depth)
    return Control(config, MemoryTiming(read_latency=latency), **options)


def test_start_clear_and_the_first_request():
    machine = control()
    machine.load([nop()])
    s = machine.run()
    seen = machine.log
    assert [seen[s + k].busy for k in range(3)] == [False, True, True]
    assert [seen[s + k].clear for k in range(4)] == [False, True, False, False]
    assert machine.when(lambda c: c.ar) == s + 3


@pytest.mark.parametrize(
    ("mem_bits", "address", "count", "beats"),
    [(32, 0x10E0, 20, [8, 64, 64, 32]), (256, 0x10E0, 20, [1, 8, 8, 4]), (1024, 0x1080, 14, [1, 2, 1])],
)
def test_chunks_end_at_multiples_of_256_bytes(mem_bits, address, count, beats):
    machine = control(mem_bits)
    machine.load([nop()] * count, address=address)
    machine.run()
    requests = list(dict.fromkeys(c.ar for c in machine.log if c.ar))
    assert [start for _, start, _ in requests] == [address, *(0x1100 + 256 * k for k in range(len(beats) - 1))]
    assert [length + 1 for _, _, length in requests] == beats


@pytest.mark.parametrize("latency", [1, 10, 37])
def test_an_entry_from_the_request_to_the_engine(latency):
    machine = control(latency=latency)  # one beat is one entry
    machine.load([nop(), nop(Opcode.STORE)])
    s = machine.run()
    beat = s + 3 + latency  # AR handshake in s+3, the header's beat
    assert machine.when(lambda c: c.fetch == HEADER) == beat + 1  # output register
    assert machine.when(lambda c: c.fetch == 0) == beat + 2
    # Entry 0: pushed in beat + 2, at the head in beat + 3, in the decode register in beat + 4.
    assert machine.when(lambda c: c.dispatch == 0) == beat + 4
    assert machine.when(lambda c: c.dispatch == 1) == beat + 5
    assert machine.when(lambda c: c.granted[Who.LOAD - 1]) == beat + 5
    assert machine.when(lambda c: c.heads[Who.STORE - 1]) == beat + 6


def test_a_header_is_seen_two_cycles_after_its_push():
    machine = control()
    machine.load([nop()], header=range(100, 132))
    machine.run()
    pushed = machine.when(lambda c: c.fetch == HEADER)
    assert machine.when(lambda c: c.count[0] == 100) == pushed + 2
    assert machine.log[pushed + 2].count == list(range(100, 132))


def test_a_narrow_port_takes_eight_beats_for_an_entry():
    machine = control(mem_bits=32)
    machine.load([nop()] * 3)
    machine.run()
    times = [machine.when(lambda c, n=n: c.fetch == n) for n in (HEADER, 0, 1, 2)]
    assert [b - a for a, b in itertools.pairwise(times)] == [8, 8, 8]


def test_a_wide_port_gives_an_entry_per_cycle():
    machine = control(mem_bits=1024)
    machine.load([nop()] * 7)
    machine.run()
    first = machine.when(lambda c: c.fetch == HEADER)
    assert [machine.log[first + k].fetch for k in range(8)] == [HEADER, *range(7)]


def test_a_full_queue_ignores_a_pop_in_the_same_cycle():
    engines = [Engine(work=20)] + [Engine() for _ in range(4)]
    machine = control(depth=1, engines=engines)
    machine.load([nop()] * 3)
    machine.run()
    second_issue = machine.when(lambda c: c.granted[0], 1)
    assert machine.when(lambda c: c.dispatch == 2) == second_issue + 1


def test_the_buffer_holds_sixteen_entries():
    engines = [Engine(work=None)] + [Engine() for _ in range(4)]
    machine = control(depth=1, engines=engines)
    machine.load([nop()] * 60)
    machine.host.cycle_limit = 200
    machine.run()
    # Header gone, 0 in the engine, 1 in the queue, 2 in decode: 8-entry chunks leave 15 to 8 entries in the buffer.
    fetched = [c.fetch for c in machine.log if c.fetch is not None]
    assert len(fetched) == 16
    assert fetched[-1] == 14


def test_done_is_the_cycle_after_the_last_signal():
    engines = [Engine(work=4)] + [Engine() for _ in range(4)]
    machine = control(engines=engines)
    machine.load([nop(sig0_en=1, sig0_id=9)])
    machine.run()
    issue = machine.when(lambda c: c.granted[0])
    # Works in issue+1 .. issue+4, signal register in issue+5 (still busy), done set at the end of issue+6.
    signalled = machine.when(lambda c: c.count[9] == 1)
    assert signalled == issue + 6
    assert machine.when(lambda c: c.done) == issue + 7
    assert machine.host.cycles == machine.when(lambda c: c.done) - machine.when(lambda c: c.busy)


def test_a_signal_is_seen_in_the_next_cycle():
    engines = [Engine(work=3), Engine()] + [Engine() for _ in range(3)]
    machine = control(engines=engines)
    machine.load([nop(sig0_en=1, sig0_id=4), nop(Opcode.WEIGHTS_MEM, wait0_id=4, wait0_n=1)])
    machine.run()
    issue = machine.when(lambda c: c.granted[0])
    grant = machine.when(lambda c: c.granted[1])
    assert machine.when(lambda c: c.count[4] == 1) == issue + 5
    assert grant == issue + 5
    assert machine.log[grant + 1].count[4] == 0


def test_semaphore_sums_are_exact_and_clamped():
    semaphores = Semaphores()
    semaphores.load(bytes([255] * 32))
    one = 1 | 7 << 1
    assert not semaphores.apply([one], [7 | 1 << 5])  # one up and one down leave 255
    assert semaphores.count[7] == 255
    assert semaphores.apply([one], [])
    assert semaphores.count[7] == 255
    semaphores.load(bytes(32))
    assert not semaphores.apply([one | 64 | 7 << 7], [])
    assert semaphores.count[7] == 2
    assert semaphores.digest == 15 * 2
    assert semaphores.allows(7 | 2 << 5)
    assert not semaphores.allows(7 | 3 << 5)
    assert not semaphores.apply([], [7 | 2 << 5, 7 | 2 << 5])  # two engines on one counter: not below 0
    assert semaphores.count[7] == 0


def error_of(machine):
    at = machine.when(lambda c: c.error)
    return at, machine.log[at].error


def test_a_deadlock_is_raised_in_its_sixteenth_cycle():
    machine = control()
    machine.load([nop(), nop(Opcode.MATMUL, wait0_id=1, wait0_n=1), nop(Opcode.STORE, wait0_id=2, wait0_n=1)])
    machine.run()
    # Everything is dispatched, and load is idle, from the cycle in which store's instruction is at its head on.
    stuck = machine.when(lambda c: c.heads[Who.STORE - 1])
    at, error = error_of(machine)
    assert error == (Error.DEADLOCK, Who.MATMUL, 1)
    assert at == stuck + 16  # raised in stuck + 15, registered one later
    assert machine.when(lambda c: c.halt) == at
    assert machine.when(lambda c: c.done) == at + 1


def test_a_deadlock_behind_a_full_queue():
    machine = control(depth=1)
    wait = {"wait0_id": 1, "wait0_n": 1}
    machine.load([nop(**wait), nop(**wait), nop(Opcode.STORE, sig0_en=1, sig0_id=1)])
    machine.run()
    assert error_of(machine)[1] == (Error.DEADLOCK, Who.LOAD, 0)


@pytest.mark.parametrize("limit", [1, 2, 9, 100])
def test_the_cycle_limit(limit):
    engines = [Engine(work=None)] + [Engine() for _ in range(4)]
    machine = control(engines=engines)
    machine.load([nop()])
    machine.host.cycle_limit = limit
    s = machine.run()
    at, error = error_of(machine)
    assert error == (Error.CYCLE_LIMIT, Who.FRONTEND, 0)
    # cycles is 0 in s+1 and `limit` in s+1+limit; registered one later.
    assert at == s + 2 + limit
    assert machine.host.done


@pytest.mark.parametrize(("address", "length"), [(16, 1), (0x1020, 1), (0, 0)])
def test_a_program_that_cannot_be(address, length):
    machine = control(mem_bits=1024)
    machine.load([nop()] * length, address=address)
    s = machine.run()
    assert error_of(machine) == (s + 3, (Error.PROGRAM, Who.FRONTEND, 0))
    assert machine.when(lambda c: c.done) == s + 4
    assert not any(c.ar for c in machine.log)


def test_an_illegal_instruction_is_not_dispatched():
    machine = control()
    machine.load([nop(), 0, nop()])
    machine.run()
    before = machine.when(lambda c: c.dispatch == 0)
    assert error_of(machine) == (before + 2, (Error.ILLEGAL_OPCODE, Who.FRONTEND, 1))
    assert [c.dispatch for c in machine.log if c.dispatch is not None] == [0]


@pytest.mark.parametrize(("mem_bits", "bad", "seq"), [(256, 64, 1), (32, 44, 0), (512, 100, 1), (256, 8, HEADER)])
@pytest.mark.parametrize(("response", "code"), [(2, Error.BUS_SLVERR), (3, Error.BUS_DECERR)])
def test_a_bus_error_names_the_lowest_entry_of_its_beat(mem_bits, bad, seq, response, code):
    timing = MemoryTiming(read_latency=10, errors=(ErrorRange(bad, bad, response),))
    machine = Control(Config(mem_bits=mem_bits), timing)
    machine.load([nop()] * 5)
    machine.run()
    assert error_of(machine)[1] == (code, Who.FRONTEND, seq)
    assert not any(c.fetch == seq for c in machine.log)


def test_a_semaphore_overflow():
    machine = control()
    machine.load([nop(sig0_en=1, sig0_id=3)], header=[255] * 32)
    machine.run()
    issue = machine.when(lambda c: c.granted[0])
    # The signal register is set in issue + 1 at the end of its only cycle of work.
    assert error_of(machine) == (issue + 2, (Error.SEMAPHORE_OVERFLOW, Who.FRONTEND, 0))


class Failing(Engine):
    """Raises an error in the cycle after its issue."""

    def step(self, head, granted):
        current = self.current
        super().step(head, granted)
        self.error = (Error.WINDOW, current[0]) if current is not None else 0


def test_of_errors_in_one_cycle_the_first_engine_counts():
    engines = [Engine(), Engine(), Failing(work=5), Failing(work=5), Engine()]
    machine = control(mem_bits=1024, engines=engines)
    wait = {"wait0_id": 1, "wait0_n": 1}
    signals = {"sig0_en": 1, "sig0_id": 1}
    # Vector and matmul wait for the same cycle: each on its own counter, given by one instruction.
    machine.load(
        [
            nop(Opcode.REQUANT, clip_low=0, clip_high=0, wait0_id=2, wait0_n=1),
            nop(Opcode.MATMUL, **wait),
            nop(**signals, sig1_en=1, sig1_id=2),
        ]
    )
    machine.run()
    assert machine.when(lambda c: c.granted[2]) == machine.when(lambda c: c.granted[3])
    assert error_of(machine)[1] == (Error.WINDOW, Who.MATMUL, 1)
    assert machine.frontend.error_code == Error.WINDOW


def test_nothing_is_granted_while_halted():
    engines = [Failing(work=None), Engine(), Engine(), Engine(), Engine()]
    machine = control(engines=engines)
    machine.load([nop()] + [nop(Opcode.STORE)] * 30)
    machine.run()
    halted = machine.when(lambda c: c.halt)
    assert any(any(c.granted) for c in machine.log[:halted])
    assert not any(any(c.granted) or c.dispatch is not None or c.fetch is not None for c in machine.log[halted:])


def test_a_run_after_an_error_is_clean():
    machine = control()
    machine.load([0])
    machine.run()
    assert machine.frontend.halt
    machine.load([nop(), nop(Opcode.STORE)])
    first = len(machine.log)
    machine.run(4000)
    assert not machine.frontend.halt
    assert machine.frontend.error_code == 0
    assert [c.dispatch for c in machine.log[first:] if c.dispatch is not None] == [0, 1]
