# SPDX-License-Identifier: Apache-2.0
"""What a mutant is: for one expression or statement of the source, the texts that replace it.

Every replacement is built from the original's own operands and constants, so it adds no path between signals (no
combinational loop can arise), and has the original's width and sign, so that the unmutated branch of
``selected == k ? mutant : original`` keeps its meaning in every context.
"""

from __future__ import annotations

from dataclasses import dataclass

from pyslang import ast

_B = ast.BinaryOperator
_U = ast.UnaryOperator
_K = ast.ExpressionKind

BINARY = {
    _B.Add: ("-",),
    _B.Subtract: ("+",),
    _B.Multiply: ("+",),
    _B.BinaryAnd: ("|",),
    _B.BinaryOr: ("&",),
    _B.BinaryXor: ("|",),
    _B.LogicalAnd: ("||",),
    _B.LogicalOr: ("&&",),
    _B.Equality: ("!=",),
    _B.Inequality: ("==",),
    _B.LessThan: ("<=", ">="),
    _B.LessThanEqual: ("<", ">"),
    _B.GreaterThan: (">=", "<="),
    _B.GreaterThanEqual: (">", "<"),
    _B.LogicalShiftLeft: (">>",),
    _B.LogicalShiftRight: ("<<",),
    _B.ArithmeticShiftLeft: (">>>",),
    _B.ArithmeticShiftRight: (">>", "<<<"),
}
"""Operators that take an operator's place."""

UNARY = {_U.BitwiseAnd: "|", _U.BitwiseOr: "&", _U.BitwiseXor: "|"}
"""Reductions that take a reduction's place; a negation is left out instead."""


@dataclass(frozen=True)
class Alternative:
    """One replacement: the operator's name for reports, and the text that takes the original's place."""

    operator: str
    text: str


def binary(expression: ast.BinaryExpression, left: str, right: str) -> list[Alternative]:
    """Replacements of a binary operation, given the text of its operands."""
    return [Alternative(f"to {sign}", f"({left}) {sign} ({right})") for sign in BINARY.get(expression.op, ())]


def unary(expression: ast.UnaryExpression, operand: str) -> list[Alternative]:
    """Replacements of a unary operation."""
    if expression.op == _U.LogicalNot:
        return [Alternative("no !", f"!(!({operand}))")]
    if expression.op in (_U.BitwiseNot, _U.Minus):
        return [Alternative("no negation", f"({operand})")]
    sign = UNARY.get(expression.op)
    return [Alternative(f"to {sign}", f"{sign}({operand})")] if sign else []


def condition(text: str) -> list[Alternative]:
    """A condition that always or never holds."""
    return [Alternative("always", "1'b1"), Alternative("never", "1'b0")]


def leaf(expression: ast.Expression, text: str) -> list[Alternative]:
    """Replacements of a value that is read: stuck bits, or one more."""
    kind = expression.type
    if kind.isEnum:
        return [Alternative(f"as {name}", name) for name in _enumerators(kind)[:1]]
    if not kind.isIntegral or kind.canonicalType.isStruct:
        return []
    if kind.bitWidth == 1:
        return [Alternative("as 0", f"({text}) ^ ({text})"), Alternative("as 1", f"({text}) | ~({text})")]
    return [_more(expression, text)]


def constant(expression: ast.Expression, text: str) -> list[Alternative]:
    """Replacements of a value that is fixed when the design is built."""
    kind = expression.type
    if expression.kind == _K.UnbasedUnsizedIntegerLiteral:
        return [Alternative("to '1", "'1")] if text == "'0" else [Alternative("to '0", "'0")]
    if kind.isEnum:
        names = _enumerators(kind)
        place = names.index(text) if text in names else 0
        return [Alternative(f"as {names[(place + 1) % len(names)]}", names[(place + 1) % len(names)])]
    if not kind.isIntegral or kind.canonicalType.isStruct:
        return []
    if kind.bitWidth == 1:
        return [Alternative("inverted", f"~({text})")]
    return [_more(expression, text)]


def _more(expression: ast.Expression, text: str) -> Alternative:
    return Alternative("plus 1", f"({text}) + {chr(39).join(('2', 'sd1' if expression.type.isSigned else 'd1'))}")


def _enumerators(kind: ast.Type) -> list[str]:
    return [member.name for member in kind.canonicalType]
