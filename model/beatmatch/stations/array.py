# SPDX-License-Identifier: Apache-2.0
"""The systolic array, register by register: the twin of `rtl/matmul/bm_matmul_array.sv`."""

from __future__ import annotations

import numpy as np

from beatmatch.config import Config
from beatmatch.timing import cycles

REGISTERS = ("activation", "weight", "shadow", "product", "sum")
"""Registers of a processing element, in digest order; in the RTL ``u_array.gen_row[r].u_row.<name>_q``."""

_DOT_LIMIT = 8192  # elements from which einsum, which is vectorised, is faster than np.dot


class Array:
    """Every register of ``rows x cols`` processing elements and of the three skew triangles around them.

    All of it is one int32 buffer, so that the digest is one product with a vector of position weights. A row of the
    input skew stands in memory right before the activations that it feeds, so that one shift of the buffer moves
    both; places of the buffer that are no register weigh 0. What has nothing to move costs nothing.
    Product registers beyond the first (``product_stages`` of the timing table) stand apart and are not in the digest.

    Parameters
    ----------
    config : Config
    digest : bool
        Keep `digest` up to date; without, it stays 0 and a step is cheaper.

    Attributes
    ----------
    digest : int
        Position-weighted sum of all registers modulo 2^32 (docs/timing.md, Matmul), of this cycle.
    """

    __slots__ = (
        "_act_in",
        "_act_steps",
        "_activation",
        "_bottom",
        "_buffer",
        "_cols",
        "_deskew_in",
        "_deskew_out",
        "_keep_digest",
        "_late_products",
        "_load_waves",
        "_loads",
        "_places",
        "_product",
        "_product_flat",
        "_rows",
        "_shadow",
        "_shift_acts",
        "_shift_weights",
        "_skew_in",
        "_steps_of_row",
        "_sum",
        "_sum_flat",
        "_swap_waves",
        "_swaps",
        "_triangles",
        "_wave_steps",
        "_weight",
        "_weight_steps",
        "digest",
    )  # fmt: skip

    def __init__(self, config: Config, digest: bool = True) -> None:
        rows, cols = config.rows, config.cols
        cells, width = rows * cols, rows - 1 + cols
        self._rows, self._cols = rows, cols
        self._keep_digest = digest
        sizes = [rows * width, (cols - 1) ** 2, cols * cols, cells, cells, cells, cells]
        ends = np.cumsum(sizes).tolist()
        self._buffer = np.zeros(ends[-1], np.int32)
        acts, deskew, skew, product, sums, weight, shadow = (
            self._buffer[end - size : end] for end, size in zip(ends, sizes, strict=True)
        )
        moving = self._buffer[: ends[1]]  # input skew, activations, deskew
        self._shift_acts = moving[1:], moving[:-1]
        self._shift_weights = skew[1:], skew[:-1]
        # Row r of the input skew: r registers before the activations. Deskew of column c: enters at place c, leaves
        # at the last. Weight skew of column c: the edge itself (no register), then c registers; leaves at the last.
        self._act_in = acts[rows - 1 :: width - 1][:rows]
        self._deskew_in = deskew[::cols][: cols - 1]
        self._skew_in = skew[cols - 1 :: cols - 1][:cols]
        self._activation = acts.reshape(rows, width)[:, rows - 1 :]
        self._deskew_out = deskew.reshape(cols - 1, cols - 1)[:, -1]
        self._product_flat, self._sum_flat, self._weight, self._shadow = product, sums, weight, shadow
        self._product, self._sum = product.reshape(rows, cols), sums.reshape(rows, cols)
        self._bottom = self._sum[-1]
        self._triangles = acts.reshape(rows, width), deskew.reshape(cols - 1, cols - 1), skew.reshape(cols, cols)

        # A wave reaches the elements with r + c = k in its k-th cycle: columns first..last, one stride in memory.
        self._swaps, self._loads = [], []
        leaving = skew.reshape(cols, cols)[:, -1]
        for k in range(rows + cols - 1):
            first, last = max(0, k - rows + 1), min(cols - 1, k)
            start, stop = (k - first) * cols + first, (k - last) * cols + last - 1
            place = slice(start, stop if stop >= 0 else None, 1 - cols)
            self._swaps.append((weight[place], shadow[place]))
            self._loads.append((shadow[place], leaving[first : last + 1]))
        self._wave_steps = rows + cols - 1
        self._steps_of_row = cycles("edge_to_commit", config) + 1  # from the edge until its sums have left the deskew
        self._late_products = [np.zeros(cells, np.int32) for _ in range(cycles("product_stages", config) - 1)]

        self._places = np.zeros(ends[-1], np.int32)
        self._place_weights(*np.split(self._places, ends[:-1]))
        self.reset()

    def _place_weights(self, acts, deskew, skew, product, sums, weight, shadow) -> None:
        """Fill the vector of position weights, given as its regions in buffer order."""
        rows, cols = self._rows, self._cols
        cells, width = rows * cols, rows - 1 + cols
        element = np.arange(cells).reshape(rows, cols)
        acts = acts.reshape(rows, width)
        acts[:, rows - 1 :] = 2 * element + 1
        for k, region in enumerate((weight, shadow, product, sums), 1):
            region[:] = 2 * (k * cells + element.ravel()) + 1
        for r in range(rows):
            acts[r, rows - 1 - r : rows - 1] = 2 * (5 * cells + r * rows + np.arange(r)) + 1
        first = 5 * cells + rows * rows
        deskew, skew = deskew.reshape(cols - 1, cols - 1), skew.reshape(cols, cols)
        for c in range(cols):
            if c < cols - 1:
                deskew[c, c:] = 2 * (first + c * cols + np.arange(cols - 1 - c)) + 1
            skew[c, cols - c :] = 2 * (first + cols * cols + c * cols + np.arange(c)) + 1

    def reset(self) -> None:
        """All registers 0."""
        for register in (self._buffer, *self._late_products):
            register[:] = 0
        self._act_steps = self._weight_steps = 0  # how many more steps move something
        self._swap_waves: list[int] = []
        self._load_waves: list[int] = []
        self.digest = 0

    def idle(self) -> bool:
        """Nothing moves: a step without a row at either edge changes no register."""
        return not (self._act_steps or self._weight_steps)

    def step(self, acts: np.ndarray | None, swap: bool, weights: np.ndarray | None, first: bool) -> None:
        """One cycle.

        Parameters
        ----------
        acts : numpy.ndarray or None
            int8 [rows], the activation row at the edge.
        swap : bool
            It is the first row of a new tile.
        weights : numpy.ndarray or None
            int8 [cols], the weight row at the edge; the rows of a tile come in consecutive cycles.
        first : bool
            It is row 0 of its tile.
        """
        if acts is not None:
            self._act_steps = self._steps_of_row
        if self._act_steps:
            self._act_steps -= 1
            bottom = self._bottom[:-1].copy()
            cols, sums, product = self._cols, self._sum_flat, self._product_flat
            if self._late_products:
                product = self._pass_products()
            np.add(sums[:-cols], product[cols:], sums[cols:])
            sums[:cols] = product[:cols]
            np.multiply(self._activation, self._weight.reshape(self._rows, cols), self._product)
            target, source = self._shift_acts
            target[:] = source
            self._act_in[:] = 0 if acts is None else acts
            self._deskew_in[:] = bottom
        elif not self._weight_steps and weights is None:
            return

        if swap:
            self._swap_waves.append(0)
        if self._swap_waves:
            self._swap_waves = waves = [k for k in self._swap_waves if k < self._wave_steps]
            for i, k in enumerate(waves):
                target, source = self._swaps[k]
                target[:] = source
                waves[i] = k + 1

        if weights is not None:
            self._weight_steps = self._cols
            if first:
                self._load_waves.append(0)
        if self._weight_steps:
            self._weight_steps -= 1
            self._skew_in[:] = 0 if weights is None else weights
            self._load_waves = waves = [k for k in self._load_waves if k < self._wave_steps]
            for i, k in enumerate(waves):
                target, source = self._loads[k]
                target[:] = source
                waves[i] = k + 1
            target, source = self._shift_weights
            target[:] = source

        if self._keep_digest:
            if len(self._buffer) < _DOT_LIMIT:
                self.digest = int(np.dot(self._buffer, self._places)) & 0xFFFFFFFF
            else:
                self.digest = int(np.einsum("i,i->", self._buffer, self._places)) & 0xFFFFFFFF

    def _pass_products(self) -> np.ndarray:
        """Move the products one register on; those that the sums take in this cycle, int32 [cells]."""
        registers = self._late_products
        leaving = registers.pop()
        registers.insert(0, self._product_flat.copy())
        return leaving

    def row(self) -> np.ndarray:
        """The sums that leave the deskew registers in this cycle: int32 [cols], a copy."""
        result = np.empty(self._cols, np.int32)
        result[:-1] = self._deskew_out
        result[-1] = self._bottom[-1]
        return result

    def registers(self) -> dict[str, np.ndarray]:
        """Registers of all processing elements, each int32 [rows, cols], by the names in `REGISTERS`."""
        shape = self._rows, self._cols
        views = self._activation, self._weight.reshape(shape), self._shadow.reshape(shape), self._product, self._sum
        return {name: view.copy() for name, view in zip(REGISTERS, views, strict=True)}

    def triangles(self) -> dict[str, list[np.ndarray]]:
        """Skew registers by lane, youngest first: ``act_skew`` and ``weight_skew`` (lane i has i), ``sum_deskew``.

        In the RTL ``u_array.u_<name>.gen_lane[i].gen_delay.delay_q``, the youngest in the lowest bits.
        """
        acts, deskew, skew = self._triangles
        rows, cols = self._rows, self._cols
        return {
            "act_skew": [acts[r, rows - 1 - r : rows - 1].copy() for r in range(rows)],
            "weight_skew": [skew[c, cols - c :].copy() for c in range(cols)],
            "sum_deskew": [deskew[c, c:].copy() for c in range(cols - 1)] + [np.empty(0, np.int32)],
        }
