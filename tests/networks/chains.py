# SPDX-License-Identifier: Apache-2.0
"""Random int8 networks: every operator of the core and every view, in sizes that divide nothing evenly."""

import numpy as np

from beatmatch.config import Config
from beatmatch.networks.graph import Graph, Node, Tensor
from beatmatch.networks.integer import mean_requant
from beatmatch.networks.scales import AddRequant, Quant, Requant


class Chain:
    """A network that grows operator by operator.

    Attributes
    ----------
    open : list of str
        Tensors that may be read further.
    """

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.graph = Graph(f"chain {seed}", {}, [], [], [])
        self.open: list[str] = []

    def quant(self) -> Quant:
        return Quant(np.asarray(0.5), np.asarray(int(self.rng.integers(-20, 20))))

    def tensor(self, shape: tuple[int, ...], quant: Quant | None = None) -> str:
        name = f"t{len(self.graph.tensors)}"
        quant = quant or self.quant()
        self.graph.tensors[name] = Tensor(name, shape, "int8", quant)
        return name

    def input(self, shape: tuple[int, ...]) -> str:
        name = self.tensor(shape)
        self.graph.inputs.append(name)
        self.open.append(name)
        return name

    def constant(self, shape: tuple[int, ...]) -> str:
        name = f"w{len(self.graph.tensors)}"
        quant = Quant(np.asarray(0.01), np.asarray(0))
        data = self.rng.integers(-127, 128, shape).astype(np.int8)
        self.graph.tensors[name] = Tensor(name, shape, "int8", quant, data=data)
        return name

    def requant(self, channels: int, depth: int) -> Requant:
        rng, each = self.rng, bool(self.rng.integers(2))
        size = channels if each else None
        shift = max(0, depth * 1000).bit_length() + 3
        low, high = sorted(int(v) for v in rng.choice([-128, -100, 0, 90, 127], 2, replace=False))
        fields = (rng.integers(-3000, 3000, size), rng.integers(1, 16, size), rng.integers(shift - 1, shift + 2, size))
        return Requant(*(f if each else int(f) for f in fields), int(rng.integers(-20, 20)), low, high)

    def node(
        self, op: str, inputs: tuple[str, ...], shapes: list[tuple[int, ...]], requant=None, quant=None, **attributes
    ) -> str:
        outs = tuple(self.tensor(shape, quant) for shape in shapes)
        self.graph.nodes.append(Node(f"n{len(self.graph.nodes)}", op, inputs, outs, attributes, requant))
        self.open += outs
        return outs[0]

    def shape(self, name: str) -> tuple[int, ...]:
        return self.graph.tensors[name].shape

    def finish(self) -> Graph:
        read = {name for node in self.graph.nodes for name in node.inputs}
        made = [name for node in self.graph.nodes for name in node.outputs]
        self.graph.outputs = [name for name in made if name not in read]
        self.graph.check()
        return self.graph

    # ----- operators -----

    def window(self, x: str, most: int, dilate: bool) -> dict | None:
        rng, (high, wide) = self.rng, self.shape(x)[2:]
        kernel = tuple(int(rng.integers(1, most + 1)) for _ in range(2))
        strides = tuple(int(rng.integers(1, 3)) for _ in range(2))
        dilations = tuple(int(rng.integers(1, 3)) for _ in range(2)) if dilate else (1, 1)
        pads = tuple(int(rng.integers(0, k)) for k in kernel * 2)
        reach = [(k - 1) * d + 1 for k, d in zip(kernel, dilations, strict=True)]
        sizes = [(size + pads[i] + pads[i + 2] - reach[i]) // strides[i] + 1 for i, size in enumerate((high, wide))]
        if min(sizes) < 1:
            return None
        return {"size": tuple(sizes), "kernel": kernel, "strides": strides, "pads": pads, "dilations": dilations}

    def conv(self, x: str) -> None:
        channels = self.shape(x)[1]
        window = self.window(x, 3, True)
        if window is None:
            return
        size = window.pop("size")
        divisors = [d for d in range(1, channels + 1) if channels % d == 0]
        groups = int(self.rng.choice([1, 1, *divisors]))
        out = groups * int(self.rng.integers(1, 1 + max(1, 24 // groups)))
        weight = self.constant((out, channels // groups, *window["kernel"]))
        depth = channels // groups * window["kernel"][0] * window["kernel"][1]
        shape = (self.shape(x)[0], out, *size)
        self.node("conv", (x, weight), [shape], self.requant(out, depth), groups=groups, **window)

    def pool(self, x: str) -> None:
        window = self.window(x, 3, False)
        if window is None:
            return
        size, shape = window.pop("size"), self.shape(x)
        if self.rng.integers(2):
            self.node("maxpool", (x,), [(*shape[:2], *size)], quant=self.graph.tensors[x].quant, **window)
        else:
            window["pads"] = (0, 0, 0, 0)
            kernel, strides = window["kernel"], window["strides"]
            size = tuple((s - k) // t + 1 for s, k, t in zip(shape[2:], kernel, strides, strict=True))
            if min(size) < 1:
                return
            quant = self.quant()
            requant = mean_requant(self.graph.tensors[x].quant, quant, kernel[0] * kernel[1], -128, 127)
            self.node("avgpool", (x,), [(*shape[:2], *size)], requant, quant, count_include_pad=0, **window)

    def add(self, x: str) -> None:
        others = [name for name in self.open if self.shape(name) == self.shape(x)]
        rng = self.rng
        y = str(rng.choice(others))
        shift = int(rng.integers(4, 12))
        scale = AddRequant(*(int(v) for v in rng.integers(1, 1 << shift, 2)), int(rng.integers(-99, 99)), shift,
                           int(rng.integers(-20, 20)))  # fmt: skip
        self.node("add", (x, y), [self.shape(x)], scale)

    def rescale(self, x: str) -> None:
        self.node("rescale", (x,), [self.shape(x)], self.requant_one())

    def requant_one(self) -> Requant:
        rng = self.rng
        return Requant(int(rng.integers(-50, 50)), int(rng.integers(1, 200)), 7, int(rng.integers(-20, 20)))

    def concat(self, x: str) -> None:
        others = [n for n in self.open if self.shape(n)[2:] == self.shape(x)[2:] and len(self.shape(n)) == 4]
        others = [n for n in others if self.shape(n)[0] == self.shape(x)[0]]
        y = str(self.rng.choice(others))
        shape = self.shape(x)
        joined = (shape[0], shape[1] + self.shape(y)[1], *shape[2:])
        if joined[1] <= 60:
            self.node("concat", (x, y), [joined], axis=1)

    def crop(self, x: str) -> None:
        shape = self.shape(x)
        axis = int(self.rng.integers(2, 4))
        start = int(self.rng.integers(0, shape[axis]))
        size = int(self.rng.integers(1, shape[axis] - start + 1))
        starts = tuple(start if i == axis else 0 for i in range(4))
        out = tuple(size if i == axis else s for i, s in enumerate(shape))
        self.node("slice", (x,), [out], starts=starts, steps=(1, 1, 1, 1))


def images(seed: int, length: int) -> Graph:
    """A random network over images."""
    chain = Chain(seed)
    rng = chain.rng
    chain.input((int(rng.integers(1, 3)), int(rng.integers(1, 20)), int(rng.integers(1, 12)), int(rng.integers(1, 12))))
    operators = [chain.conv, chain.conv, chain.conv, chain.pool, chain.add, chain.rescale, chain.concat, chain.crop]
    for _ in range(length):
        operators[int(rng.integers(len(operators)))](str(rng.choice(chain.open[-3:])))
    if not chain.graph.nodes:
        chain.rescale(chain.open[0])
    if rng.integers(2):
        flat = chain.open[-1]
        shape = chain.shape(flat)
        flat = chain.node("reshape", (flat,), [(shape[0], int(np.prod(shape[1:])))])
        columns = int(rng.integers(1, 40))
        depth = chain.shape(flat)[1]
        weight = chain.constant((depth, columns))
        chain.node("dense", (flat, weight), [(shape[0], columns)], chain.requant(columns, depth))
    return chain.finish()


def rows(seed: int) -> Graph:
    """Dense layers, heads, and products of activations without zero points."""
    chain = Chain(seed)
    rng = chain.rng
    heads, length, wide, out = (int(rng.integers(low, high)) for low, high in ((1, 4), (1, 20), (1, 24), (1, 24)))
    a, b = chain.input((heads, length, wide)), chain.input((heads, wide, out))
    for name in (a, b):
        tensor = chain.graph.tensors[name]
        chain.graph.tensors[name] = Tensor(name, tensor.shape, "int8", Quant(np.asarray(0.5), np.asarray(0)))
    product = chain.node("matmul", (a, b), [(heads, length, out)], Requant(0, 3, 8, 2))
    turned = chain.node("transpose", (product,), [(length, heads, out)], perm=(1, 0, 2))
    merged = chain.node("reshape", (turned,), [(length, heads * out)])
    weight = chain.constant((heads * out, 17))
    last = chain.node("dense", (merged, weight), [(length, 17)], chain.requant(17, heads * out))
    bias = np.asarray(rng.integers(-9999, 9999, 17))
    chain.node("add", (last,), [(length, 17)], AddRequant(700, 0, bias, 9, 3))
    return chain.finish()


def random_config(seed: int) -> Config:
    """A small machine of any shape."""
    rng = np.random.default_rng(seed)
    rows_, cols = (int(v) for v in rng.choice([4, 8, 16], 2))
    banks, acc_banks = (int(v) for v in rng.choice([1, 2, 4], 2))
    return Config(
        rows=rows_, cols=cols, sp_words=banks * int(rng.choice([128, 512, 2048])), sp_banks=banks,
        acc_rows=acc_banks * int(rng.choice([8, 64, 256])), acc_banks=acc_banks, fifo_tiles=int(rng.integers(2, 6)),
        queue_depth=int(rng.integers(1, 9)), mem_bits=int(rng.choice([32, 64, 128, 256])),
        outstanding=int(rng.integers(1, 9)), param_rows=int(rng.choice([4, 8, 32])),
    )  # fmt: skip
