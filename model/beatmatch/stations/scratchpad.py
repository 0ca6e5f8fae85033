# SPDX-License-Identifier: Apache-2.0
"""The scratchpad: banked words of ``lanes`` bytes with one read and one write port per bank."""

from __future__ import annotations

import numpy as np

from beatmatch.config import Config


class Scratchpad:
    """Memory and arbitration of one cycle; see *Scratchpad* in ``docs/timing.md``.

    A cycle is `arbitrate` (grants, from registered requests), then the steps of the engines, then `commit`.
    The scratchpad writes no trace: a read or write shows in the slot of its requester.

    Attributes
    ----------
    memory : numpy.ndarray of uint8, [sp_words, lanes]
        Zero at the start; tests and hosts may fill it between cycles.
    weights_granted, vector_granted, store_granted : bool
        This cycle's read was granted (False without a request); matmul always is.
    load_write_granted : bool
        Load's write was granted; vector's always is.
    matmul_data, weights_data, vector_data, store_data : numpy.ndarray of uint8, [lanes]
        The word whose read was granted one cycle ago. Read only, and only until this cycle's `commit`: a view.
    """

    __slots__ = (
        "_active",
        "_bank_shift",
        "_load_write",
        "_matmul_read",
        "_store_read",
        "_vector_read",
        "_vector_write",
        "_weights_read",
        "load_write_granted",
        "matmul_data",
        "memory",
        "store_data",
        "store_granted",
        "vector_data",
        "vector_granted",
        "weights_data",
        "weights_granted",
    )

    def __init__(self, config: Config) -> None:
        self.memory = np.zeros((config.sp_words, config.lanes), dtype=np.uint8)
        self._bank_shift = config.sp_bank_words.bit_length() - 1
        self.reset()

    def reset(self) -> None:
        """Forget what is in flight; the memory keeps its contents."""
        self._matmul_read = self._weights_read = self._vector_read = self._store_read = -1
        self._vector_write: tuple[int, slice, np.ndarray] | None = None
        self._load_write: tuple[int, int, np.ndarray] | None = None
        self._active = False
        self.weights_granted = self.vector_granted = self.store_granted = self.load_write_granted = False
        self.matmul_data = self.weights_data = self.vector_data = self.store_data = self.memory[0]

    def arbitrate(
        self,
        matmul_read: int,
        weights_read: int,
        vector_read: int,
        store_read: int,
        vector_write: tuple[int, slice, np.ndarray] | None,
        load_write: tuple[int, int, np.ndarray] | None,
    ) -> None:
        """Grant per bank one read (matmul > weights > vector > store) and one write (vector > load).

        Parameters
        ----------
        matmul_read, weights_read, vector_read, store_read : int
            Word address, -1 without a request.
        vector_write : tuple or None
            (word, slice of the enabled bytes, uint8 data of just these bytes).
        load_write : tuple or None
            (word, number of enabled low bytes, uint8 data of at least these bytes).
        """
        if matmul_read & weights_read & vector_read & store_read == -1 and vector_write is None and load_write is None:
            if self._active:
                self._active = False
                self.weights_granted = self.vector_granted = self.store_granted = self.load_write_granted = False
            return
        self._active = True
        shift = self._bank_shift
        matmul_bank = matmul_read >> shift  # -1 stays -1: no bank
        self._matmul_read = matmul_read

        weights_bank = weights_read >> shift
        self.weights_granted = granted = weights_read >= 0 and weights_bank != matmul_bank
        self._weights_read = weights_read if granted else -1

        vector_bank = vector_read >> shift
        self.vector_granted = granted = vector_read >= 0 and vector_bank != matmul_bank and vector_bank != weights_bank
        self._vector_read = vector_read if granted else -1

        store_bank = store_read >> shift
        self.store_granted = granted = (
            store_read >= 0 and store_bank != matmul_bank and store_bank != weights_bank and store_bank != vector_bank
        )
        self._store_read = store_read if granted else -1

        self._vector_write = vector_write
        self.load_write_granted = granted = load_write is not None and (
            vector_write is None or load_write[0] >> shift != vector_write[0] >> shift
        )
        self._load_write = load_write if granted else None

    def commit(self) -> None:
        """End of the cycle: granted reads see the old memory, then granted writes change it."""
        if not self._active:
            return
        memory = self.memory
        vector_write, load_write = self._vector_write, self._load_write
        if vector_write is None and load_write is None:
            if self._matmul_read >= 0:
                self.matmul_data = memory[self._matmul_read]
            if self._weights_read >= 0:
                self.weights_data = memory[self._weights_read]
            if self._vector_read >= 0:
                self.vector_data = memory[self._vector_read]
            if self._store_read >= 0:
                self.store_data = memory[self._store_read]
            return

        # A view is enough unless the word changes now: writes of later cycles come after the data have been used.
        written = vector_write[0] if vector_write is not None else -1
        loaded = load_write[0] if load_write is not None else -1
        word = self._matmul_read
        if word >= 0:
            self.matmul_data = memory[word].copy() if word in (written, loaded) else memory[word]
        word = self._weights_read
        if word >= 0:
            self.weights_data = memory[word].copy() if word in (written, loaded) else memory[word]
        word = self._vector_read
        if word >= 0:
            self.vector_data = memory[word].copy() if word in (written, loaded) else memory[word]
        word = self._store_read
        if word >= 0:
            self.store_data = memory[word].copy() if word in (written, loaded) else memory[word]

        if vector_write is not None:
            memory[written, vector_write[1]] = vector_write[2]
        if load_write is not None:
            count = load_write[1]
            memory[loaded, :count] = load_write[2][:count]
