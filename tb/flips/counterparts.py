# SPDX-License-Identifier: Apache-2.0
"""Registers and memories that the golden model holds as the RTL does, so that one flip can be made in both."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from beatmatch.isa.fields import BASE_REGISTERS
from beatmatch.machine import SteppedMachine
from tb.lockstep.registers import registers


def _always(machine: SteppedMachine, bit: int) -> bool:
    return True


@dataclass(frozen=True)
class Counterpart:
    """A range of bits of one RTL variable, and how to invert one of them in the model.

    Attributes
    ----------
    unit : str
    variable : str
        Below the core; `low` is the first bit of it, counting through the words of a memory, `width` how many.
    flip : callable
        ``flip(machine, bit)`` inverts a bit of the range in the model; before a cycle.
    holds : callable
        ``holds(machine, bit)``: in this cycle the two sides keep this value in the same place.
    """

    unit: str
    variable: str
    low: int
    width: int
    flip: Callable[[SteppedMachine, int], None]
    holds: Callable[[SteppedMachine, int], bool] = _always


def counterparts(machine: SteppedMachine) -> list[Counterpart]:
    """All of a configuration's; `machine` only gives the sizes."""
    return [*_array(machine), *_memories(machine), *_semaphores(machine), *_host(), *_transfers(machine)]


# ----- matrix unit -----

_PROCESSING = ("activation", "weight", "shadow", "product", "sum")


def _array(machine: SteppedMachine) -> Iterator[Counterpart]:
    rows, cols = machine.config.rows, machine.config.cols
    for register in registers(machine, "matmul", "array"):

        def flip(machine, bit, name=register.name, index=register.index, width=register.width):
            array = machine.matmul.array
            acts, deskew, skew = array._triangles
            lane, at = index
            if name in _PROCESSING:
                view = getattr(array, f"_{name}").reshape(rows, cols)
            else:  # a lane's registers stand at the end of its row in the triangle, or at its beginning
                view = {"act_skew": acts, "sum_deskew": deskew, "weight_skew": skew}[name]
                at += {"act_skew": rows - 1 - lane, "sum_deskew": lane, "weight_skew": cols - lane}[name]
            value = (int(view[lane, at]) & (1 << width) - 1) ^ 1 << bit
            view[lane, at] = value - (1 << width) if value >> (width - 1) else value
            if name == "weight_skew":
                array._weight_steps = cols
            else:
                array._act_steps = array._steps_of_row
            array.digest = int(np.dot(array._buffer, array._places)) & 0xFFFFFFFF

        yield Counterpart("matmul", register.path, register.low, register.width, flip)


# ----- memories -----


def _flip_in(memory: np.ndarray, bit: int) -> None:
    memory.reshape(-1).view(np.uint8)[bit // 8] ^= 1 << bit % 8


def _memories(machine: SteppedMachine) -> Iterator[Counterpart]:
    config = machine.config
    row_bits = 32 * config.cols

    def scratchpad(machine, bit):
        station = machine.scratchpad
        for name in ("matmul_data", "weights_data", "vector_data", "store_data"):  # read before the flip: no views now
            setattr(station, name, getattr(station, name).copy())
        _flip_in(station.memory, bit)

    def accumulator(machine, bit):
        station = machine.accumulator
        station.vector_data = station.vector_data.copy()
        _flip_in(station.memory, bit)

    def row_rests(machine, bit):
        """A row that is added to in this cycle has left the memory of the RTL, but not that of the model."""
        matmul = machine.matmul
        return not (matmul.acc_add and matmul.acc_row == bit // row_bits)

    size = 8 * config.lanes * config.sp_bank_words
    for bank in range(config.sp_banks):
        path = f"u_scratchpad.gen_bank[{bank}].u_bank.u_ram.memory"
        yield Counterpart("scratchpad", path, 0, size, lambda m, bit, at=bank * size: scratchpad(m, at + bit))
    size = row_bits * config.acc_bank_rows
    for bank in range(config.acc_banks):
        yield Counterpart(
            "accumulator",
            f"u_accumulator.gen_bank[{bank}].u_bank.u_ram.memory",
            0,
            size,
            lambda m, bit, at=bank * size: accumulator(m, at + bit),
            lambda m, bit, at=bank * size: row_rests(m, at + bit),
        )
    word = 8 * config.lanes
    for part in range(config.param_words):

        def parameter(machine, bit, part=part):
            row, inside = divmod(bit, word)
            _flip_in(machine.vector.param_memory, (row * config.param_words + part) * word + inside)

        path = f"u_vector.u_params.gen_word[{part}].u_ram.memory"
        yield Counterpart("vector", path, 0, word * config.param_rows, parameter)
    tiles = 8 * config.rows * config.cols * config.fifo_tiles
    yield Counterpart("weights", "u_weight_fifo.u_memory.memory", 0, tiles, lambda m, bit: _flip_in(m.fifo.memory, bit))


# ----- control -----


def _semaphores(machine: SteppedMachine) -> Iterator[Counterpart]:
    for register in registers(machine, "frontend", "semaphores"):

        def flip(machine, bit, index=register.index[0]):
            semaphores = machine.frontend.semaphores
            before = semaphores.count[index]
            semaphores.count[index] = before ^ 1 << bit
            semaphores.digest += (2 * index + 1) * (semaphores.count[index] - before)
            semaphores.digest &= 0xFFFFFFFF

        yield Counterpart("frontend", register.path, register.low, register.width, flip)


def _host() -> Iterator[Counterpart]:
    for name in ("base", "size"):

        def flip(machine, bit, name=name):
            getattr(machine.host, name)[bit // 64] ^= 1 << bit % 64

        yield Counterpart("host", f"u_host.i_csr.{name}_q", 0, 64 * BASE_REGISTERS, flip)
    settings = [("cycle_limit", "u_host.i_csr.cycle_limit_q", 0, 32)]
    for place, name in ((5, "raw_stall"), (6, "input_stall"), (7, "useful_macs")):
        settings.append((name, "u_host.i_accounting.counters_o", 64 * place, 64))
    for name, path, low, width in settings:

        def invert(machine, bit, name=name):
            setattr(machine.host, name, getattr(machine.host, name) ^ 1 << bit)

        yield Counterpart("host", path, low, width, invert)


# ----- load, weights, store, fetch -----


def _inverted(data: bytes, bit: int) -> bytes:
    changed = bytearray(data)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


PAGE = 12
"""Address bits below are left alone: a burst that is unaligned or crosses 4 KiB is refused by the memory agent."""


def _transfers(machine: SteppedMachine) -> Iterator[Counterpart]:
    for unit in ("load", "weights", "store"):

        def address(machine, bit, unit=unit):
            getattr(machine, unit).bursts.address ^= 1 << PAGE + bit

        yield Counterpart(unit, f"u_{unit}.u_bursts.ax_addr_q", PAGE, 64 - PAGE, address)

        def row(machine, bit, unit=unit):
            getattr(machine, unit).bursts._next ^= 1 << PAGE + bit

        yield Counterpart(unit, f"u_{unit}.u_bursts.addr_q", PAGE, 64 - PAGE, row)
    boxes = (
        ("load", "u_load.u_gearbox", lambda m: m.load.gearbox),
        ("weights", "u_weights.u_gearbox", lambda m: m.weights.gearbox),
        ("frontend", "u_frontend.i_fetch.i_gearbox", lambda m: m.frontend.fetch._gear),
    )
    for unit, path, box in boxes:

        def word(machine, bit, box=box):
            box(machine).data = _inverted(box(machine).data, bit)

        yield Counterpart(unit, f"{path}.word_data_q", 0, 8 * box(machine).out_bytes, word)

    def beat(machine, bit):
        machine.store.w_data = _inverted(machine.store.w_data, bit)

    yield Counterpart("store", "u_store.u_beats.w_data_q", 0, machine.config.mem_bits, beat)
