# SPDX-License-Identifier: Apache-2.0
"""Where the tensors, weights and parameters of a network live on the chip.

A tensor stands position by position, each position in whole scratchpad words, channels in order: what the vector
engine writes as column operands, the matrix unit reads as activation operands, whatever rows and cols are. Images of a
group have frames of equal layout; tensors of the final dense layers are kept for the whole batch.
"""

from __future__ import annotations

from dataclasses import dataclass

from beatmatch.compiler.builder import CompileError
from beatmatch.compiler.layers import Add, Conv, Dense, Layer, Shape
from beatmatch.config import Config

MOST_IMAGES = 8
"""Images of a group; more would only cost room."""


@dataclass(frozen=True)
class Tensor:
    """An activation tensor on the chip.

    Parameters
    ----------
    shape : Shape
    words : int
        Scratchpad words per position.
    first : int
        Word of image 0 (of a group, or of the batch).
    stride : int
        Words from one image to the next.
    batch : bool
        Kept for all images of the batch.
    item : int
        Bytes per element: 1, or 4 for a raw output.
    """

    shape: Shape
    words: int
    first: int
    stride: int
    batch: bool
    item: int = 1

    @property
    def size(self) -> int:
        """Words of one image."""
        return self.shape.height * self.shape.width * self.words

    def at(self, image: int) -> int:
        """First word of an image."""
        return self.first + image * self.stride


@dataclass(frozen=True)
class Plan:
    """The result of `make_plan`.

    Parameters
    ----------
    tensors : dict of str to Tensor
    group : int
        Images per group.
    split : int
        Layers before this one run group by group, the others once over the whole batch.
    weights : dict of str to int
        First scratchpad word of the resident weights; layers left out take theirs from memory.
    params : dict of str to int
        First parameter row per layer.
    reload : bool
        Parameters do not fit at once: each layer's are loaded when it begins, in alternating halves (those of a layer
        with more rows than a half when they are needed).
    fill : bool
        Some bytes that are read are never written by a layer: zeros are loaded first.
    """

    tensors: dict[str, Tensor]
    group: int
    split: int
    weights: dict[str, int]
    params: dict[str, int]
    reload: bool
    fill: bool


def tiles_of(layer: Layer, config: Config, k: int) -> tuple[int, int]:
    """(tiles of one output tile, output tiles) of a layer with weights; ``k`` counts its padded input channels."""
    n_tiles = -(-layer.shape.channels // config.cols)
    if isinstance(layer, Conv):
        height, width, channels, _ = layer.weight.shape
        return height * width * -(-channels // config.rows), n_tiles
    return -(-k // config.rows), n_tiles


def param_rows(layer: Layer, config: Config) -> int:
    """Parameter rows that a layer needs."""
    if isinstance(layer, Add):
        return 2
    return -(-layer.shape.channels // config.cols) if layer.requant.per_channel else 1


def tail_start(layers: list[Layer]) -> int:
    """Index of the first of the dense layers at the end."""
    start = len(layers)
    while start and isinstance(layers[start - 1], Dense):
        start -= 1
    return start


def make_plan(layers: list[Layer], name: str, shape: Shape, batch: int, config: Config) -> Plan:
    """Find the largest group that fits, with as many resident weights as fit besides it.

    Parameters
    ----------
    layers : list of Layer
        In execution order; the last one's output leaves the chip.
    name, shape : str, Shape
        The network's input.
    batch : int
    config : Config

    Raises
    ------
    CompileError
        If not even one image fits.
    """
    for split in dict.fromkeys((tail_start(layers), len(layers))):
        for group in sorted({min(batch, size) for size in range(1, MOST_IMAGES + 1)}, reverse=True):
            plan = _try_group(layers, name, shape, batch, config, group, split)
            crossing = plan is not None and group > 2 and _crosses(plan, config)
            if plan is not None and not crossing:
                return plan
    raise CompileError(
        f"One image of the network needs more than the {config.sp_words} scratchpad words of this configuration."
    )


def _crosses(plan: Plan, config: Config) -> bool:
    """Whether activations of the groups share a bank with resident weights."""
    if config.sp_banks == 1 or not plan.weights:
        return False
    top = max((t.first + plan.group * t.stride for t in plan.tensors.values() if not t.batch), default=1)
    return (top - 1) // config.sp_bank_words >= min(plan.weights.values()) // config.sp_bank_words


def _words(shape: Shape, item: int, config: Config) -> int:
    tiles = -(-shape.channels // config.cols)
    return -(-(tiles * config.cols * item if item > 1 else shape.channels) // config.lanes)


def _try_group(
    layers: list[Layer], name: str, shape: Shape, batch: int, config: Config, group: int, tail: int
) -> Plan | None:
    shapes = {name: shape} | {layer.name: layer.shape for layer in layers}
    items = {layer.name: 4 for layer in layers if getattr(layer, "raw", False)}
    size = {key: s.height * s.width * _words(s, items.get(key, 1), config) for key, s in shapes.items()}
    kept = {layer.name for layer in layers[tail:]} | {key for layer in layers[tail:] for key in layer.inputs}
    if tail == len(layers):
        kept = set()
    offsets, frame = _frame(layers[:tail], name, size, kept)
    used = group * frame
    if name not in kept:
        used += group * size[name]
    batch_words = sum(size[key] for key in kept) * batch
    if used + batch_words > config.sp_words:
        return None
    tensors = {}
    cursor = group * frame
    for key, s in shapes.items():
        words, item = _words(s, items.get(key, 1), config), items.get(key, 1)
        if key in offsets:
            tensors[key] = Tensor(s, words, offsets[key], frame, False, item)
        elif key == name and name not in kept:
            tensors[key] = Tensor(s, words, cursor, size[key], False, item)
            cursor += group * size[key]
    top = config.sp_words
    for key in kept:
        top -= size[key] * batch
        tensors[key] = Tensor(shapes[key], _words(shapes[key], items.get(key, 1), config), top, size[key], True,
                              items.get(key, 1))  # fmt: skip
    weights = _resident(layers, tensors, config, cursor, top)
    rows = {layer.name: param_rows(layer, config) for layer in layers}
    reload = sum(rows.values()) > config.param_rows
    params, row = {}, 0
    for index, layer in enumerate(layers):
        params[layer.name] = index % 2 * (config.param_rows // 2) if reload else row
        row += rows[layer.name]
    fill = any(
        -(-t.shape.channels // config.cols) * config.cols * t.item < t.words * config.lanes for t in tensors.values()
    )
    return Plan(tensors, group, tail, weights, params, reload, fill)


def _frame(layers: list[Layer], name: str, size: dict[str, int], kept: set[str]) -> tuple[dict[str, int], int]:
    """Offsets of the tensors that only live inside a group, and the words of a frame: first fit by lifetime."""
    death = {key: index for index, layer in enumerate(layers) for key in layer.inputs}
    if layers:
        death[layers[-1].name] = len(layers)
    offsets: dict[str, int] = {}
    live: list[tuple[int, int, str]] = []
    frame = 0
    for index, layer in enumerate(layers):
        if layer.name in kept:
            continue
        dying = [key for key in layer.inputs if death[key] == index and key in offsets]
        if isinstance(layer, Add) and dying:  # the sum may overwrite an operand: each element is read before
            offsets[layer.name] = offsets[dying[0]]
            live = [(a, b, k) for a, b, k in live if k != dying[0]]
        else:
            offsets[layer.name] = _gap(live, size[layer.name])
        start = offsets[layer.name]
        live.append((start, start + size[layer.name], layer.name))
        frame = max(frame, start + size[layer.name])
        live = [(a, b, k) for a, b, k in live if death.get(k, len(layers)) > index]
    return offsets, frame


def _gap(live: list[tuple[int, int, str]], size: int) -> int:
    start = 0
    for low, high, _ in sorted(live):
        if start + size <= low:
            break
        start = max(start, high)
    return start


def _resident(layers: list[Layer], tensors: dict[str, Tensor], config: Config, low: int, high: int) -> dict[str, int]:
    """Weights that stay in the scratchpad, from the top of the free room downwards; small layers first.

    None with a weight port: they come through it, and the memory port is left to the rest.
    """
    if config.weight_port:
        return {}
    need = {}
    for layer in layers:
        if isinstance(layer, Conv | Dense):
            k = tensors[layer.inputs[0]].size * config.lanes
            inner, n_tiles = tiles_of(layer, config, k)
            need[layer.name] = -(-inner * n_tiles * config.rows // config.col_parts)
    places = {}
    for key in sorted(need, key=need.get):
        if high - need[key] >= low:
            high -= need[key]
            places[key] = high
    return places
