# SPDX-License-Identifier: Apache-2.0
"""Integer expressions of the assembler: numbers, names, ``+ - * // % << >> & | ^ ~`` and parentheses."""

from __future__ import annotations

import ast
import operator
from collections.abc import Mapping

_BINARY = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
}
_UNARY = {ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Invert: operator.invert}
LARGEST_SHIFT = 512
LARGEST_BITS = 1024
LONGEST, SHOWN = 1000, 60
"""Characters of an expression, and how many of them a message repeats."""


class ExpressionError(ValueError):
    """An expression that has no integer value; the text says why."""


def evaluate(text: str, names: Mapping[str, int]) -> int:
    """The value of an expression; raises ExpressionError with a sentence."""
    shown = text if len(text) <= SHOWN else f"{text[:SHOWN]}..."
    if len(text) > LONGEST:
        raise ExpressionError(f"{shown!r} has {len(text)} characters; it may have at most {LONGEST}.")
    try:
        return _value(ast.parse(text, mode="eval").body, names, shown)
    except ExpressionError:
        raise
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ExpressionError(f"{shown!r} is no integer expression.") from None


def _value(node: ast.expr, names: Mapping[str, int], text: str) -> int:
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return node.value
    if isinstance(node, ast.Name):
        if node.id not in names:
            raise ExpressionError(f"There is no constant {node.id!r}.")
        return names[node.id]
    if isinstance(node, ast.UnaryOp) and type(node.op) in _UNARY:
        return _UNARY[type(node.op)](_value(node.operand, names, text))
    if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
        left, right = _value(node.left, names, text), _value(node.right, names, text)
        if isinstance(node.op, ast.FloorDiv | ast.Mod) and right == 0:
            raise ExpressionError(f"{text!r} divides by 0.")
        if isinstance(node.op, ast.LShift | ast.RShift) and not 0 <= right <= LARGEST_SHIFT:
            raise ExpressionError(f"{text!r} shifts by {right}; it must be from 0 to {LARGEST_SHIFT}.")
        value = _BINARY[type(node.op)](left, right)
        if value.bit_length() > LARGEST_BITS:
            raise ExpressionError(f"{text!r} has more than {LARGEST_BITS} bits.")
        return value
    raise ExpressionError(f"{text!r} is no integer expression.")
