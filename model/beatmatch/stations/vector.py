# SPDX-License-Identifier: Apache-2.0
"""The vector engine: bias, scaling, clip, addition and pooling of rows of ``cols`` channels."""

from __future__ import annotations

import numpy as np

from beatmatch.config import Config
from beatmatch.isa import Error, Format, Instruction, Opcode, Space
from beatmatch.stations.control import ISSUE, LAST, signals_of, sync_of
from beatmatch.stations.vector_elements import Elements
from beatmatch.stations.vector_lanes import Lanes
from beatmatch.stations.writer import TraceWriter
from beatmatch.trace import VALID

# Phases of the sequencer, by their number in the digest.
IDLE, WAIT, PARAM, SECOND, RUN = range(5)

# Pending reads of the request register.
FROM_SCRATCHPAD, FROM_ACCUMULATOR, FROM_SECOND = 1, 2, 4

# Valid flags of the stages, as in the digest; between data and scaled they move one bit up per cycle.
REQUEST, DATA, BIASED, PRODUCT, SCALED, WRITE = 1, 2, 4, 8, 16, 32


class Vector:
    """Registers of the vector engine; see *Vector* in ``docs/timing.md``.

    Attributes
    ----------
    sp_read, acc_read : int
        Scratchpad word and accumulator row that are asked for in this cycle; -1 for none.
    write : tuple or None
        This cycle's scratchpad write, always granted: (word, slice of the part's bytes, uint8 [cols]).
    param_memory : numpy.ndarray of uint8, [param_rows * param_words, lanes]
        Parameter memory in the words in which load writes it (see `write_parameters`).
    signal : int
        Signal register, 12 bits {sig1_id, sig1_en, sig0_id, sig0_en}.
    error : int or tuple
        0, or (code, sequence number) raised in the last step.
    """

    __slots__ = (
        "_acc_arrives", "_accumulator", "_add", "_arrive", "_arrive_part", "_arrive_word", "_chunk", "_data_meta",
        "_digest", "_each", "_elements", "_gap", "_gives", "_head", "_head_sync", "_held", "_held_second",
        "_instruction", "_lanes", "_loop", "_next", "_outer", "_outers", "_param_mode", "_param_rows", "_part_mask",
        "_part_shift", "_pending", "_phase", "_raw", "_request", "_request_last", "_request_part", "_request_second",
        "_request_second_part", "_retire", "_retire_next", "_rows", "_seq", "_signals", "_slices", "_slot_issue",
        "_slot_param", "_slot_retire", "_slot_sp_read", "_slot_state", "_slot_write", "_slots", "_sync", "_valid",
        "_words_per_operand", "_words_per_word", "_write_end", "_write_operand", "_write_row", "acc_read", "error",
        "param_memory", "signal", "sp_read", "write", "writer",
    )  # fmt: skip

    def __init__(self, config: Config, writer: TraceWriter) -> None:
        self.param_memory = np.zeros((config.param_rows * config.param_words, config.lanes), dtype=np.uint8)
        self._param_rows = self.param_memory.reshape(config.param_rows, 8 * config.cols)
        self._rows = config.param_rows
        self._part_shift = config.col_parts.bit_length() - 1
        self._part_mask = config.col_parts - 1
        self._slices = [slice(part * config.cols, (part + 1) * config.cols) for part in range(config.col_parts)]
        self._elements = Elements(config)
        self._lanes = Lanes(config.cols)
        self._held = np.zeros(config.cols, dtype=np.int32)
        self._held_second = np.zeros(config.cols, dtype=np.int8)
        self.writer = writer
        self._slot_issue = writer.offset("vector", "issue")
        self._slot_retire = writer.offset("vector", "retire")
        self._slot_sp_read = writer.offset("vector", "sp_read")
        self._slot_param = writer.offset("vector", "param_read")
        self._slot_write = writer.offset("vector", "write")
        self._slot_state = writer.offset("vector", "state")
        self._words_per_word = config.lanes // 4
        self._words_per_operand = config.cols // 4
        self.reset()

    def reset(self) -> None:
        """Reset values of all registers; the parameter memory keeps its contents."""
        self.sp_read = self.acc_read = -1
        self.write: tuple[int, slice, np.ndarray] | None = None
        self.signal = 0
        self.error: int | tuple[int, int] = 0
        self._head: tuple[int, Instruction] | None = None
        self._phase = IDLE
        self._outer = self._loop = self._pending = self._valid = self._chunk = self._digest = 0
        self._gap = self._arrive = self._retire = 0
        self._acc_arrives = False
        self._request_last = False
        self._slots: list[tuple[int, int, bool] | None] = [None, None, None]  # biased, product, scaled: slot, dst, end

    # ----- what the frontend sees -----

    def wait_request(self, head: tuple[int, Instruction] | None) -> int:
        """The waits to be granted in this cycle: -1 for none, else the sync word, with bit 18 at issue."""
        if self._phase == IDLE:
            if head is None:
                return -1
            if head is not self._head:
                self._head = head
                self._head_sync = sync_of(head[1]) | ISSUE
            return self._head_sync
        return self._sync if self._phase == WAIT else -1

    def busy(self) -> bool:
        """Something is to be done: what normal completion waits for."""
        return self._phase != IDLE or self._valid != 0 or self._retire != 0

    def pending(self) -> bool:
        """Rows are on their way: what halting waits for."""
        return self._valid != 0

    def stuck(self, head: tuple[int, Instruction] | None, granted: bool) -> int:
        """Sequence number of the instruction whose wait is all that is left to do; -1 if there is other work."""
        if granted or self._valid:
            return -1
        if self._phase == IDLE:
            return head[0] if head is not None and not self._retire else -1
        return self._seq if self._phase == WAIT else -1

    def write_parameters(self, word: int, count: int, data: np.ndarray) -> None:
        """Load's write of ``count`` low bytes of a parameter word (after this station's step of the cycle)."""
        self.param_memory[word, :count] = data[:count]

    # ----- one cycle -----

    def step(
        self,
        head: tuple[int, Instruction] | None,
        granted: bool,
        halt: bool,
        sp_granted: bool,
        acc_granted: bool,
        sp_data: np.ndarray,
        acc_data: np.ndarray,
    ) -> None:
        """One clock cycle.

        Parameters
        ----------
        head : tuple or None
            Queue head.
        granted : bool
            The waits of `wait_request` are granted in this cycle.
        halt : bool
            An error has been registered.
        sp_granted, acc_granted : bool
            The reads `sp_read`, `acc_read` are granted in this cycle.
        sp_data : numpy.ndarray of uint8, [lanes]
            Word whose read was granted one cycle ago.
        acc_data : numpy.ndarray of int32, [cols]
            Row whose read was granted one cycle ago.
        """
        self.error = 0
        valid, phase = self._valid, self._phase
        if not valid and phase == IDLE and not self._retire and not granted:
            return
        writer = self.writer
        words, base = writer.words, writer.base
        words[base + self._slot_state] = self._digest
        if self._retire:
            words[base + self._slot_retire] = self._retire
            self._retire = self.signal = 0

        flags = 0  # valid flags of the next cycle
        if valid or self._arrive:
            flags = self._advance(valid, halt, sp_data, acc_data)

        # Request register: grants, then (if it is free) the next element.
        row_close = self._gap
        if row_close:
            self._gap = row_close - 1
        free = True
        if valid & REQUEST:
            row_close = row_close or self._request_last
            if self._pending:
                self._take_grants(sp_granted, acc_granted)
            if self._pending:
                flags |= REQUEST
                free = False
            else:
                flags |= DATA
                self._data_meta = self._request
                if self._request_last:
                    self._gap = 2

        if phase == RUN:
            if free and not halt and self._generate(row_close):
                flags |= REQUEST
        elif phase == PARAM:
            if not valid and not halt:
                self._read_parameters()
        elif phase == SECOND:
            if not halt:
                self._read_second()
        elif granted:
            self._begin(head)

        self._valid = flags
        self._digest = self._phase + 3 * self._outer + self._loop + 13 * self._pending + 15 * flags + 17 * self._chunk

    def _advance(self, valid: int, halt: bool, sp_data: np.ndarray, acc_data: np.ndarray) -> int:
        """Data, pipeline and write stages of this cycle; returns their valid flags of the next."""
        writer = self.writer
        lanes = self._lanes
        flags = 0

        # Data that arrive, and the data stage.
        value = second = None
        arrive = self._arrive
        if arrive:
            self._arrive = 0
            at = writer.base + self._slot_sp_read
            writer.words[at] = VALID | self._arrive_word
            writer.array[at + 1 : at + 1 + self._words_per_word] = sp_data.view(np.uint32)
            operand = sp_data.view(np.int8)
            if self._part_mask:
                operand = operand[self._slices[self._arrive_part]]
            if arrive == FROM_SCRATCHPAD:
                value = operand
            else:
                second = operand
        if self._acc_arrives:
            self._acc_arrives = False
            value = acc_data
        finished = None
        if valid & DATA:
            destination, first, last, end, padding = self._data_meta
            if self._add:
                slot = lanes.reduce(
                    self._held if value is None else value, True, True, self._held_second if second is None else second
                )
            else:
                slot = lanes.reduce(None if padding else value, first, last, None)
            if slot >= 0:
                finished = (slot, destination, end)
                flags = BIASED
        else:
            if value is not None:
                self._held[:] = value
            if second is not None:
                self._held_second[:] = second

        # Write register.
        if valid & WRITE:
            at = writer.base + self._slot_write
            writer.words[at] = VALID | self._write_operand
            writer.array[at + 1 : at + 1 + self._words_per_operand] = lanes.words[self._write_row]
            if self._raw and self._chunk < 3:
                self._chunk += 1
                self._present(self._write_row + 1, self._write_operand + 1)
                flags |= WRITE
            else:
                self._chunk = 0
                self.write = None
                if self._write_end and self._gives and not halt:
                    self._retire = self._retire_next
                    self.signal = self._signals

        # Pipeline: three rows on their way, the oldest into the write register.
        if valid & (BIASED | PRODUCT | SCALED) or finished is not None:
            slots = self._slots
            if valid & SCALED:
                slot, destination, self._write_end = slots[2]
                lanes.finish(slot)
                self._chunk = 0
                self._present(slot * lanes.chunks, destination)
                flags |= WRITE
            flags |= (valid & (BIASED | PRODUCT)) << 1
            slots[2] = slots[1]
            slots[1] = slots[0]
            slots[0] = finished
        return flags

    def _present(self, row: int, operand: int) -> None:
        """Put a row of results (or a chunk of one) into the write register."""
        self._write_row = row
        self._write_operand = operand
        part = self._slices[operand & self._part_mask]
        self.write = (operand >> self._part_shift, part, self._lanes.bytes[row])

    def _take_grants(self, sp_granted: bool, acc_granted: bool) -> None:
        """Reads of the request register that are granted in this cycle; their data arrive in the next."""
        pending = self._pending
        if sp_granted and pending & (FROM_SCRATCHPAD | FROM_SECOND):
            self._arrive_word = self.sp_read
            if pending & FROM_SCRATCHPAD:
                pending &= ~FROM_SCRATCHPAD
                self._arrive = FROM_SCRATCHPAD
                self._arrive_part = self._request_part
                self.sp_read = self._request_second if pending & FROM_SECOND else -1
            else:
                pending &= ~FROM_SECOND
                self._arrive = FROM_SECOND
                self._arrive_part = self._request_second_part
                self.sp_read = -1
        if acc_granted and pending & FROM_ACCUMULATOR:
            pending &= ~FROM_ACCUMULATOR
            self._acc_arrives = True
            self.acc_read = -1
        self._pending = pending

    def _generate(self, row_close: int) -> bool:
        """The next element into the request register; True if it went there."""
        elements = self._elements
        number = self._next
        index = number - elements.start
        last = elements.last[index]
        if last and row_close and self._raw:
            return False
        if number == elements.bad:
            self.error = (int(Error.LOCAL_RANGE), self._seq)
            return False

        source = elements.source[index]
        pending = 0
        if source >= 0:
            if self._accumulator:
                pending = FROM_ACCUMULATOR
                self.acc_read = source
            else:
                pending = FROM_SCRATCHPAD
                self.sp_read = source
                self._request_part = elements.source_part[index]
        if self._add:
            operand = elements.second[index]
            self._request_second = operand >> self._part_shift
            self._request_second_part = operand & self._part_mask
            if not pending & FROM_SCRATCHPAD:
                self.sp_read = self._request_second
            pending |= FROM_SECOND
        number += 1
        end = number == elements.total
        self._pending = pending
        self._request = (elements.destination[index], elements.first[index], last, end, source < 0)
        self._request_last = last

        if end:
            self._loop = 0
            if self._outer + 1 == self._outers:
                self._phase = IDLE
                self._outer = 0
            else:
                self._outer += 1
                self._phase = WAIT if self._each else PARAM
        else:
            if number == elements.stop:
                elements.block(number)
            self._next = number
            self._loop = elements.state[number - elements.start]
        return True

    def _begin(self, head: tuple[int, Instruction] | None) -> None:
        """A wait is granted: take the queue head, or begin a further iteration."""
        if self._phase == IDLE:
            self._seq, self._instruction = head
            f = self._instruction.fields
            self._each, self._outers = f["each"], f["outer"]
            self._sync = sync_of(self._instruction)
            self._param_mode = f["param_mode"]
        last = not self._each or self._outer + 1 == self._outers
        self.writer.words[self.writer.base + self._slot_issue] = (
            VALID | (LAST if last else 0) | self._outer << 16 | self._seq
        )
        self._phase = PARAM

    def _parameter_row(self, extra: int) -> np.ndarray | None:
        """Read a row of the parameter memory; None, and an error, if there is no such row."""
        row = self._instruction.fields["param"] + extra
        if self._param_mode == 2:
            row += self._outer
        if row >= self._rows:
            self.error = (int(Error.LOCAL_RANGE), self._seq)
            return None
        self.writer.words[self.writer.base + self._slot_param] = VALID | row
        return self._param_rows[row]

    def _read_parameters(self) -> None:
        """First cycle of the parameter phase: the pipeline is empty and takes over the instruction."""
        row = None
        if self._param_mode:
            row = self._parameter_row(0)
            if row is None:
                return
        instruction = self._instruction
        f = instruction.fields
        self._lanes.begin(instruction)
        self._lanes.set_parameters(row)
        self._elements.begin(instruction, self._outer)
        self._next = 0
        self._loop = self._elements.state[0]
        self._add = instruction.opcode == Opcode.ADD
        self._raw = f["dst_format"] == Format.INT32
        self._accumulator = f["src_space"] == Space.ACCUMULATOR
        last = self._outer + 1 == self._outers
        self._gives = self._each or last
        self._signals = signals_of(instruction)
        self._retire_next = VALID | (LAST if last else 0) | self._outer << 16 | self._seq
        self._phase = SECOND if self._add and self._param_mode else RUN

    def _read_second(self) -> None:
        """Second cycle of ADD's parameter phase."""
        row = self._parameter_row(1)
        if row is not None:
            self._lanes.set_second_parameters(row)
            self._phase = RUN
