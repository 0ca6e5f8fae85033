# SPDX-License-Identifier: Apache-2.0
"""The stepped machine: one clock at a time, with the same registers as the RTL.

Read `SteppedMachine.cycle` first: it is the whole machine's clock cycle in the order that `docs/interfaces.md` gives.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from beatmatch.accounting import Accounting
from beatmatch.events import EventLog
from beatmatch.host_agent import HostAgent
from beatmatch.isa.fields import Engine, Error
from beatmatch.memory import DramCounters, MemoryAgent
from beatmatch.program import HostEvent, Program
from beatmatch.stations.accumulator import Accumulator
from beatmatch.stations.frontend import Frontend
from beatmatch.stations.host import Host
from beatmatch.stations.load import LOAD, Load
from beatmatch.stations.matmul import Matmul
from beatmatch.stations.port import Port
from beatmatch.stations.scratchpad import Scratchpad
from beatmatch.stations.store import Store
from beatmatch.stations.vector import Vector
from beatmatch.stations.weight_fifo import WeightFifo
from beatmatch.stations.weight_port import WeightPort
from beatmatch.stations.weights import WEIGHTS, Weights
from beatmatch.stations.writer import TraceWriter
from beatmatch.stimulus import RDATA_WORD, SHIFT, StimulusWriter, weight_rdata_word

BLOCK = 1024
"""Cycles between two looks at the records."""

_REST = 1 << SHIFT["s_axil_bready"] | 1 << SHIFT["s_axil_rready"]
_RST_N = 1 << SHIFT["rst_n"]


class SteppedMachine:
    """A core, its memory and its host, stepped clock by clock through a program.

    Parameters
    ----------
    program : Program
        What runs, on which configuration, with which memory.
    digest : bool
        Compute the digest of the array's registers in every cycle (the lockstep run needs it).
    block : int
        Cycles per block of records.

    Attributes
    ----------
    trace, stimulus : TraceWriter, StimulusWriter
        Records and core inputs of the block's cycles so far.
    finished : bool
        The host has nothing left to do.
    cycle_count : int
        Cycles since the initial reset.
    """

    def __init__(self, program: Program, digest: bool = True, block: int = BLOCK) -> None:
        config = program.config
        self.program = program
        self.config = config
        self.trace = trace = TraceWriter(config, block)
        self.stimulus = StimulusWriter(config, block)
        self.memory = MemoryAgent(program.timing, program.memory(), config.mem_bytes)
        self.weight_memory = self.weight_port = None
        self.agent = HostAgent(program)
        self.host = host = Host(config, trace)
        self.frontend = Frontend(config, trace)
        self.scratchpad = Scratchpad(config)
        self.accumulator = Accumulator(config, trace)
        self.fifo = WeightFifo(config)
        self.load = Load(config, trace, host.base, host.size)
        self.weights = Weights(config, trace, host.base, host.size, self.scratchpad, self.fifo)
        self.matmul = Matmul(config, trace, self.scratchpad, self.fifo, digest)
        self.vector = Vector(config, trace)
        self.store = Store(config, trace, host.base, host.size)
        on_port = None if config.weight_port else self.weights
        self.port = Port(config, trace, self.frontend.fetch, self.load, on_port, self.store)
        if config.weight_port:
            timing = program.weight_timing or program.timing
            self.weight_memory = MemoryAgent(timing, self.memory.image, config.mem_bytes, port=1)
            self.weight_port = WeightPort(config, trace, self.weights)
        self.frontend.connect(self.load, self.weights, self.matmul, self.vector, self.store)
        self._engine_side = (
            self.frontend, self.scratchpad, self.accumulator, self.fifo, self.load, self.weights, self.matmul,
            self.vector, self.store,
        )  # fmt: skip
        self._mem_words = config.mem_bytes // 4
        self._weight_rdata = weight_rdata_word(config)
        self.cycle_count = 0
        self.finished = False

    def cycle(self) -> None:
        """One clock cycle: writes this cycle's record and stimulus row, then every register takes its next value."""
        memory, host, frontend, port = self.memory, self.host, self.frontend, self.port
        load, weights, matmul, vector, store = self.load, self.weights, self.matmul, self.vector, self.store
        scratchpad, accumulator, agent = self.scratchpad, self.accumulator, self.agent
        bus = self._drive()
        halt, heads = frontend.halt, frontend.heads

        # Arbitrate: grants are functions of registers.
        scratchpad.arbitrate(
            matmul.sp_read, weights.sp_request, vector.sp_read, store.sp_request, vector.write, load.sp_write(halt)
        )
        accumulator.arbitrate(vector.acc_read, matmul.acc_pre)
        taken = load.taken(scratchpad.load_write_granted, halt)
        port.select(memory, taken, halt)
        weight_port, weight_memory = self.weight_port, self.weight_memory
        if weight_port is None:
            tiles_taken, tiles = port.ar_id == WEIGHTS, memory if port.r_id == WEIGHTS else None
        else:
            weight_port.select(weight_memory, halt)
            tiles_taken, tiles = weight_port.ar_taken, weight_memory if weight_port.rready else None
        frontend.arbitrate()
        granted = frontend.granted

        # Observe: signals, busy, pending, stuck and the category of the cycle, all of registers.
        frontend.observe(host)
        active, shift, stall, wait, useful = matmul.levels(heads[2], granted[2])
        host.observe(frontend, accumulator.overflow, active, shift, stall, wait, wait and load.busy(), useful)

        # Step: every engine with what it was granted; a word that load writes to the parameters goes last.
        parameter = load.parameter_write(halt)
        vector.step(
            heads[3], granted[3], halt, scratchpad.vector_granted, accumulator.vector_granted,
            scratchpad.vector_data, accumulator.vector_data,
        )  # fmt: skip
        if parameter is not None:
            vector.write_parameters(*parameter)
        store.step(heads[4], granted[4], halt, scratchpad.store_granted, scratchpad.store_data, memory)
        load.step(heads[0], granted[0], halt, taken, port.ar_id == LOAD, memory if port.r_id == LOAD else None)
        weights.step(heads[1], granted[1], halt, scratchpad.weights_granted, tiles_taken, tiles)
        accumulator.step(matmul.acc_row, matmul.acc_add, matmul.acc_data)
        matmul.step(heads[2], granted[2], halt)
        scratchpad.commit()

        # Commit: errors, then the buses; the weight memory sees what was just written.
        frontend.commit(port, memory)
        done = frontend.done_set
        clear = host.clear
        rst_n = agent.rst_n
        agent.commit(host)
        if rst_n:
            host.commit(bus, done)
            memory.commit(port.ar, port.aw, port.w, port.rready, True)
            if weight_port is not None:
                weight_memory.commit(weight_port.ar, None, None, weight_port.rready, True)
            if clear:
                for station in self._engine_side:
                    station.reset()
        else:
            host.reset()
            port.reset()
            memory.skip_reset_cycle()
            if weight_memory is not None:
                weight_memory.skip_reset_cycle()
            for station in self._engine_side:
                station.reset()
        self.cycle_count += 1
        self.finished = agent.finished

    def _drive(self) -> tuple | None:
        """Write the stimulus row of this cycle; returns what the host drives on its bus."""
        memory, agent, stimulus = self.memory, self.agent, self.stimulus
        words, base = stimulus.words, stimulus.base
        flags = _REST
        if agent.rst_n:
            flags |= _RST_N
        if memory.arready:
            flags |= _AR_READY
        if memory.awready:
            flags |= _AW_READY
        if memory.wready:
            flags |= _W_READY
        if memory.rvalid:
            flags |= _R_VALID | memory.rid << _RID | memory.rresp << _RRESP | memory.rlast << _RLAST
            start = base + RDATA_WORD
            stimulus.array[start : start + self._mem_words] = np.frombuffer(memory.rdata, np.uint32)
        if memory.bvalid:
            flags |= _B_VALID | memory.bresp << _BRESP
        tiles = self.weight_memory
        if tiles is not None:
            flags |= tiles.arready << _WEIGHTS_AR_READY
            if tiles.rvalid:
                flags |= _WEIGHTS_R_VALID | tiles.rid << _WEIGHTS_RID | tiles.rresp << _WEIGHTS_RRESP
                flags |= tiles.rlast << _WEIGHTS_RLAST
                start = base + self._weight_rdata
                stimulus.array[start : start + self._mem_words] = np.frombuffer(tiles.rdata, np.uint32)
        bus = agent.outputs()
        if bus is not None:
            awvalid, awaddr, wvalid, wdata, wstrb, _, arvalid, araddr, _ = bus
            flags |= awvalid << _AWVALID | wvalid << _WVALID | wstrb << _WSTRB | arvalid << _ARVALID
            words[base + 1] = awaddr | araddr << 16
            words[base + 2] = wdata
        words[base] = flags
        return bus

    def add_host_event(self, event: HostEvent) -> None:
        """Let the host do something more, from this cycle on: for benches that decide during the run."""
        self.agent.add(event)
        self.finished = self.agent.finished

    def run_block(self) -> tuple[np.ndarray, np.ndarray]:
        """Step to the end of the block, or of the program.

        Returns
        -------
        rows, records : numpy.ndarray of uint32, [cycles, words]
            Stimulus and trace of these cycles; views that the next call overwrites. No cycles once `finished`.
        """
        trace, stimulus, cycle = self.trace, self.stimulus, self.cycle
        trace.rewind()
        stimulus.rewind()
        while not self.finished:
            cycle()
            stimulus.next()
            if trace.next():
                break
        return stimulus.rows(), trace.records()

    def blocks(self, limit: int | None = None) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """All blocks to the end, as `run_block` gives them.

        Raises
        ------
        RuntimeError
            The program has run for ``limit`` cycles without an end.
        """
        while not self.finished:
            if limit is not None and self.cycle_count >= limit:
                raise RuntimeError(
                    f"The program did not end within {limit} cycles; "
                    "set a cycle limit (the watchdog) to see where it stands."
                )
            yield self.run_block()

    def registers(self) -> dict[str, dict[str, np.ndarray]]:
        """Registers by station and name, for the drill-down of a digest that differs."""
        return {"matmul": self.matmul.array.registers()}


_AR_READY, _AW_READY, _W_READY = (1 << SHIFT[name] for name in ("m_axi_arready", "m_axi_awready", "m_axi_wready"))
_R_VALID, _B_VALID = 1 << SHIFT["m_axi_rvalid"], 1 << SHIFT["m_axi_bvalid"]
_RID, _RRESP, _RLAST, _BRESP = (SHIFT[f"m_axi_{name}"] for name in ("rid", "rresp", "rlast", "bresp"))
_WEIGHTS_R_VALID, _WEIGHTS_AR_READY = 1 << SHIFT["m_axi_weights_rvalid"], SHIFT["m_axi_weights_arready"]
_WEIGHTS_RID, _WEIGHTS_RRESP, _WEIGHTS_RLAST = (SHIFT[f"m_axi_weights_{name}"] for name in ("rid", "rresp", "rlast"))
_AWVALID, _WVALID, _WSTRB, _ARVALID = (SHIFT[f"s_axil_{name}"] for name in ("awvalid", "wvalid", "wstrb", "arvalid"))


@dataclass
class SteppedResult:
    """What a stepped run gives.

    Attributes
    ----------
    values : dict of str to numpy.ndarray
        The program's named results.
    error : Error
        `Error.NONE`, or what stopped the run; then ``error_engine`` and ``error_seq`` say where.
    accounting : Accounting
        Cycles of the last run, by category.
    events : EventLog
        Everything that happened, by cycle since the initial reset.
    overflow : bool
        Some accumulator sum left the signed 32-bit range.
    machine : SteppedMachine
        In its final state.
    """

    values: dict[str, np.ndarray]
    error: Error
    error_engine: Engine
    error_seq: int
    accounting: Accounting
    events: EventLog
    overflow: bool
    machine: SteppedMachine

    @property
    def cycles(self) -> int:
        """Cycles of the last run, from start to done."""
        return self.accounting.cycles

    @property
    def dram(self) -> tuple[DramCounters | None, ...]:
        """What the memories did, by port: counters of a DRAM, None of others."""
        memories = self.machine.memory, self.machine.weight_memory
        return tuple(memory.dram for memory in memories if memory is not None)


def run_stepped(
    program: Program,
    digest: bool = False,
    keep_data: bool = False,
    limit: int | None = None,
    progress=None,
    watch=None,
) -> SteppedResult:
    """Run a program clock by clock.

    Parameters
    ----------
    program : Program
    digest : bool
        Also compute the array's digests.
    keep_data : bool
        Keep the data of the events, not only their headers.
    limit : int, optional
        Give up with RuntimeError after so many cycles.
    progress : callable, optional
        Called with the number of cycles so far after every block.
    watch : callable, optional
        Called with the stimulus rows and records of every block, which it must copy to keep.
    """
    machine = SteppedMachine(program, digest)
    events = EventLog(program.config, keep_data)
    for rows, records in machine.blocks(limit):
        events.add(records)
        if watch is not None:
            watch(rows, records)
        if progress is not None:
            progress(machine.cycle_count)
    frontend, host = machine.frontend, machine.host
    return SteppedResult(
        values=program.read(machine.memory.image),
        error=Error(frontend.error_code),
        error_engine=Engine(frontend.error_engine),
        error_seq=frontend.error_seq,
        accounting=Accounting.of(host, program.config),
        events=events,
        overflow=machine.accumulator.overflow,
        machine=machine,
    )
