# SPDX-License-Identifier: Apache-2.0
"""Rules of convolution and pooling: explicit pads, and windows of one or two dimensions."""

from __future__ import annotations

from beatmatch.networks.rules_elementwise import global_pool
from beatmatch.networks.translate import Reader, rule

MOST_DIMENSIONS = 2


def _window(reader: Reader, node: object, kernel: tuple[int, ...]) -> dict:
    """Kernel, strides, dilations and explicit pads; the end pads reach as far as the output needs."""
    space, out = reader.shape(node.input[0])[2:], reader.shape(node.output[0])[2:]
    rank = len(kernel)
    if not 1 <= rank <= MOST_DIMENSIONS:
        raise reader.refuse(node, f"has a window of {rank} dimensions", f"at most {MOST_DIMENSIONS} are taken")
    strides = tuple(reader.attribute(node, "strides") or (1,) * rank)
    dilations = tuple(reader.attribute(node, "dilations") or (1,) * rank)
    pads = list(reader.attribute(node, "pads") or (0,) * (2 * rank))
    auto = reader.attribute(node, "auto_pad", "NOTSET")
    for axis in range(rank):
        reach = (out[axis] - 1) * strides[axis] + dilations[axis] * (kernel[axis] - 1) + 1
        if auto in ("SAME_UPPER", "SAME_LOWER"):
            total = max(0, reach - space[axis])
            less, more = total // 2, total - total // 2
            pads[axis], pads[axis + rank] = (less, more) if auto == "SAME_UPPER" else (more, less)
        elif auto == "VALID":
            pads[axis] = pads[axis + rank] = 0
        # With ceil_mode the last window may reach beyond the given pads.
        pads[axis + rank] = max(pads[axis + rank], reach - space[axis] - pads[axis])
    if min(pads) < 0:
        raise reader.refuse(node, f"has negative pads {pads}", "crop with a Slice instead")
    return {"kernel": kernel, "strides": strides, "dilations": dilations, "pads": tuple(int(p) for p in pads)}


@rule("Conv")
def _conv(reader: Reader, node: object) -> None:
    if not reader.is_constant(node.input[1]):
        raise reader.refuse(node, f"computes its weights {node.input[1]} at run time", "export them as constants")
    channels, weight = reader.shape(node.input[0])[1], reader.shape(node.input[1])
    groups, kernel = reader.attribute(node, "group", 1), weight[2:]
    again = "export the network again"
    if groups < 1 or weight[0] % groups or weight[1] * groups != channels:
        why = f"has weights {weight} and group={groups} for {channels} channels, which do not fit each other"
        raise reader.refuse(node, why, again)
    if tuple(reader.attribute(node, "kernel_shape") or kernel) != kernel:
        raise reader.refuse(node, f"has weights {weight}, which kernel_shape does not say", again)
    reader.check_broadcast(node, 2, weight[:1])
    reader.add(node, "conv", groups=groups, **_window(reader, node, kernel))


@rule("MaxPool")
def _max_pool(reader: Reader, node: object) -> None:
    if any(node.output[1:]):
        raise reader.refuse(node, "gives indices as an output", "export the network without them")
    if reader.attribute(node, "storage_order", 0):
        raise reader.refuse(node, "has storage_order=1", "export the network with 0")
    reader.add(node, "maxpool", **_window(reader, node, tuple(reader.attribute(node, "kernel_shape"))))


@rule("AveragePool")
def _average_pool(reader: Reader, node: object) -> None:
    window = _window(reader, node, tuple(reader.attribute(node, "kernel_shape")))
    counted = bool(reader.attribute(node, "count_include_pad", 0)) and any(window["pads"])
    if counted and reader.attribute(node, "ceil_mode", 0):
        why = "counts padding in its mean and has ceil_mode=1"
        raise reader.refuse(node, why, "pad with a Pad node, or export it with ceil_mode=0")
    reader.add(node, "avgpool", count_include_pad=counted, **window)


@rule("GlobalAveragePool", "GlobalMaxPool")
def _global(reader: Reader, node: object) -> None:
    if len(reader.shape(node.input[0])) - 2 > MOST_DIMENSIONS:
        raise reader.refuse(node, "pools over more than two dimensions", f"at most {MOST_DIMENSIONS} are taken")
    global_pool(reader, node, "avgpool" if node.op_type == "GlobalAveragePool" else "maxpool", True)
