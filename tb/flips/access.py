# SPDX-License-Identifier: Apache-2.0
"""Reads and writes the whole state of the verilated core between two clock edges, and flips bits of it."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tb.flips.state import Element

CORE = "bm_lockstep_top.i_core"


@dataclass(frozen=True)
class Place:
    """Where an element lies in the array of state: bytes to its variable, bytes from one word to the next."""

    offset: int
    stride: int


class StateAccess:
    """The state as an array of bytes, in the order in which the variables were bound.

    Parameters
    ----------
    state : sequence of Element
        All of it. Raises RuntimeError if the build lacks one of its variables or holds it in another size.
    """

    def __init__(self, state: Sequence[Element]) -> None:
        library = ctypes.CDLL(None)
        self._read, self._write, bind = library.bm_state_read, library.bm_state_write, library.bm_state_bind
        self._read.argtypes = self._write.argtypes = [ctypes.c_void_p]
        self._read.restype = self._write.restype = None
        bind.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.POINTER(ctypes.c_uint32)]
        bind.restype = ctypes.c_uint32
        library.bm_state_clear()
        self.places: list[Place] = []
        known: dict[str, Place] = {}
        self.bytes = 0
        for element in state:
            if element.variable not in known:
                stride = ctypes.c_uint32()
                scope, _, name = f"{CORE}.{element.variable}".rpartition(".")
                size = bind(scope.encode(), name.encode(), ctypes.byref(stride))
                if size != max(1, element.words) * stride.value or 8 * stride.value < element.low + element.width:
                    raise RuntimeError(f"The build has {element.variable} in {size} bytes, which is not its size.")
                known[element.variable] = Place(self.bytes, stride.value)
                self.bytes += size
            self.places.append(known[element.variable])
        self.state = list(state)

    def read(self) -> np.ndarray:
        """The state now, uint8 [bytes]."""
        values = np.empty(self.bytes, np.uint8)
        self._read(values.ctypes.data)
        return values

    def write(self, values: np.ndarray) -> None:
        """Put the core into a state; what hangs on it follows with the next edge of the clock."""
        self._write(np.ascontiguousarray(values, np.uint8).ctypes.data)

    def flip(self, values: np.ndarray, index: int, bit: int) -> np.ndarray:
        """A copy of a state with one bit of element `index` inverted; bits count through the words of a memory."""
        element, place = self.state[index], self.places[index]
        word, bit = divmod(bit, element.width)
        bit += element.low
        flipped = values.copy()
        flipped[place.offset + word * place.stride + bit // 8] ^= 1 << bit % 8
        return flipped

    def find(self, variable: str, bit: int) -> tuple[int, int]:
        """Element and bit of it, for a bit of a variable that counts through the words of a memory."""
        for index, element in enumerate(self.state):
            if element.variable == variable and 0 <= bit - element.low < element.bits:
                return index, bit - element.low
        raise KeyError(f"There is no bit {bit} of {variable} in the core's state.")

    def masks(self) -> np.ndarray:
        """Every bit of state as a 1, uint8 [bytes]; what is not set is padding of a variable's last byte."""
        mask = np.zeros(self.bytes, np.uint8)
        for element, place in zip(self.state, self.places, strict=True):
            word = (((1 << element.width) - 1) << element.low).to_bytes(place.stride, "little")
            for index in range(max(1, element.words)):
                start = place.offset + index * place.stride
                mask[start : start + place.stride] |= np.frombuffer(word, np.uint8)
        return mask

    def elements_of(self, difference: np.ndarray) -> list[int]:
        """Indices of the elements in which two states differ, given the exclusive or of the two."""
        touched = []
        for index, (element, place) in enumerate(zip(self.state, self.places, strict=True)):
            size = place.stride * max(1, element.words)
            part = difference[place.offset : place.offset + size]
            if part.any():
                value = int.from_bytes(part.tobytes(), "little")
                if element.words or value >> element.low & ((1 << element.width) - 1):
                    touched.append(index)
        return touched
