# SPDX-License-Identifier: Apache-2.0
"""Rules of matrix products, and of the nodes between real and quantized tensors."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from beatmatch.networks.graph import Quant, Tensor
from beatmatch.networks.translate import Reader, rule


@rule("MatMul")
def _matmul(reader: Reader, node: object) -> None:
    a, b = node.input
    if min(len(reader.shape(a)), len(reader.shape(b))) < 2:
        raise reader.refuse(node, f"multiplies a vector of shape {reader.shape(b)}", "reshape it to a matrix")
    constant = reader.is_constant(b) and len(reader.shape(b)) == 2
    reader.add(node, "dense" if constant else "matmul")


@rule("Gemm")
def _gemm(reader: Reader, node: object) -> None:
    a, b = node.input[:2]
    bias = node.input[2] if len(node.input) > 2 else ""
    reader.check_broadcast(node, 2, reader.shape(node.output[0]))
    for name in ("alpha", "beta") if bias else ("alpha",):
        value = reader.attribute(node, name, 1.0)
        if value != 1.0:
            raise reader.refuse(node, f"has {name}={value:g}", "fold the factor into its weights or bias")
    base, out = node.name or node.output[0], node.output[0]
    if reader.attribute(node, "transA", 0):
        turned = reader.new(f"{base}/a", reader.shape(a)[::-1], reader.tensors[a].dtype)
        reader.put(f"{base}/transpose_a", "transpose", [a], [turned], perm=(1, 0))
        a = turned
    constant = reader.is_constant(b)
    if reader.attribute(node, "transB", 0):
        b = transposed(reader, f"{base}/b", b)
    columns = reader.shape(out)[-1]
    inside = bias and constant and reader.is_constant(bias) and reader.shape(bias) in ((columns,), (1, columns))
    product = out if inside or not bias else reader.new(f"{base}/product", reader.shape(out))
    if inside and len(reader.shape(bias)) == 2:
        bias = flattened(reader, f"{base}/bias", bias)
    reader.put(base, "dense" if constant else "matmul", [a, b, bias] if inside else [a, b], [product])
    if product != out:
        reader.put(f"{base}/add", "add", [product, bias], [out])


def transposed(reader: Reader, name: str, source: str) -> str:
    """A matrix with its axes exchanged; of a constant, dequantized or not, the values are exchanged here."""
    shape = reader.shape(source)[::-1]
    integers = reader.stored.get(source)
    if integers:
        turned = _turn(reader, f"{name}/stored", integers)
        reader.new(name, shape)
        reader.stored[name] = turned
        reader.put(f"{name}/dequantize", "dequantize", [turned], [name])
        return name
    if reader.tensors[source].constant:
        return _turn(reader, name, source)
    reader.new(name, shape, reader.tensors[source].dtype)
    reader.put(f"{name}/transpose", "transpose", [source], [name], perm=(1, 0))
    return name


def _turn(reader: Reader, name: str, source: str) -> str:
    tensor = reader.tensors[source]
    quant = tensor.quant
    if quant is not None and quant.axis is not None:
        quant = replace(quant, axis=1 - quant.axis)
    shape = tensor.shape[::-1]
    if tensor.fill:
        return reader.new(name, shape, tensor.dtype, fill=replace(tensor.fill, name=name), quant=quant)
    return reader.new(name, shape, tensor.dtype, data=np.ascontiguousarray(tensor.data.T), quant=quant)


def flattened(reader: Reader, name: str, source: str) -> str:
    """A constant of shape [1, N] as [N]."""
    integers = reader.stored.get(source, source)
    tensor = reader.tensors[integers]
    quant = tensor.quant
    if quant is not None and quant.axis is not None:
        quant = replace(quant, axis=0)
    values = {"fill": tensor.fill} if tensor.fill else {"data": tensor.data.reshape(-1)}
    if integers == source:
        return reader.new(name, (tensor.size,), tensor.dtype, **values)
    stored = reader.new(f"{name}/stored", (tensor.size,), tensor.dtype, quant=quant, **values)
    reader.stored[reader.new(name, (tensor.size,))] = stored
    reader.put(f"{name}/dequantize", "dequantize", [stored], [name])
    return name


def _quant(reader: Reader, node: object, tensor: Tensor) -> Quant:
    """Scale and zero point of a QuantizeLinear or DequantizeLinear."""
    if reader.attribute(node, "block_size", 0):
        raise reader.refuse(node, "quantizes in blocks", "quantize the network per tensor or per channel")
    for index, what in ((1, "scale"), (2, "zero point")):
        name = node.input[index] if index < len(node.input) else ""
        if name and reader.tensors[name].fill:
            raise reader.refuse(node, f"has no values for its {what}", "strip larger constants only")
    scale = np.asarray(reader.constant(node, 1, "scale"), np.float64)
    zero = reader.constant(node, 2, "zero point")
    zero = np.zeros(scale.shape, np.int64) if zero is None else np.asarray(zero, np.int64)
    if not (np.isfinite(scale).all() and (scale > 0).all()):
        raise reader.refuse(node, "has a scale that is not positive", "calibrate and quantize the network again")
    if scale.size == 1:
        return Quant(scale.reshape(()), zero.reshape(()))
    return Quant(scale, np.broadcast_to(zero, scale.shape), reader.attribute(node, "axis", 1) % len(tensor.shape))


@rule("QuantizeLinear")
def _quantize(reader: Reader, node: object) -> None:
    out = reader.tensors[node.output[0]]
    if out.dtype not in ("int8", "uint8"):
        raise reader.refuse(node, f"quantizes to {out.dtype}", "quantize the network to int8")
    reader.tensors[out.name] = replace(out, quant=_quant(reader, node, out))
    reader.add(node, "quantize", [node.input[0]])


@rule("DequantizeLinear")
def _dequantize(reader: Reader, node: object) -> None:
    source = reader.tensors[node.input[0]]
    if source.dtype not in ("int8", "uint8", "int32"):
        raise reader.refuse(node, f"has integers of {source.dtype}", "quantize the network to int8")
    quant = _quant(reader, node, source)
    if source.quant is not None and not source.quant.same(quant):
        if not source.constant:
            raise reader.refuse(
                node, f"reads {source.name} with another scale than it was written", "quantize it again"
            )
        source = replace(source, name=f"{source.name}@{node.output[0]}")
    reader.tensors[source.name] = replace(source, quant=quant)
    if source.constant:
        reader.stored[node.output[0]] = source.name
    reader.add(node, "dequantize", [source.name])
