# SPDX-License-Identifier: Apache-2.0
"""Mutation operators: every way in which one node of a function may be made wrong.

The same walk lists the changes of a function (`changes`) and makes one of them (`changed`), so that a number found by
the first means the same change to the second. Texts are left alone: docstrings, f-strings and what `raise` says.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass

COMPARISONS = {
    ast.Lt: (ast.LtE,),
    ast.LtE: (ast.Lt,),
    ast.Gt: (ast.GtE,),
    ast.GtE: (ast.Gt,),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
ARITHMETIC = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitAnd,
}
OPERATORS = (
    "comparison", "arithmetic", "constant", "boolean", "negation", "always", "never", "dropped", "returned",
)  # fmt: skip


@dataclass(frozen=True)
class Change:
    """One change of a function: which operator, on which line of its file, from what to what."""

    operator: str
    line: int
    before: str
    after: str


class _Walk(ast.NodeTransformer):
    """Offers every change in a fixed order; makes the one with the number `wanted`."""

    def __init__(self, wanted: int = -1) -> None:
        self.found: list[Change] = []
        self.wanted = wanted

    def _choose(self, node: ast.AST, options: Iterator[tuple[str, ast.AST]]) -> ast.AST | None:
        before = _text(node)
        for operator, replacement in options:
            ast.copy_location(replacement, node)
            ast.fix_missing_locations(replacement)
            self.found.append(Change(operator, node.lineno, before, _text(replacement)))
            if len(self.found) - 1 == self.wanted:
                return replacement
        return None

    def visit(self, node: ast.AST) -> ast.AST:
        """Offer the node's own changes, then those of its parts."""
        options = getattr(self, f"_{type(node).__name__}", None)
        if options is not None:
            replacement = self._choose(node, options(node))
            if replacement is not None:
                return replacement
        if isinstance(node, ast.JoinedStr | ast.Raise | ast.arguments):
            return node
        if isinstance(node, ast.AnnAssign):  # what stands in an annotation is never evaluated
            if node.value is not None:
                node.value = self.visit(node.value)
            return node
        return self.generic_visit(node)

    # ----- expressions -----

    def _Compare(self, node: ast.Compare) -> Iterator[tuple[str, ast.AST]]:
        for index, operator in enumerate(node.ops):
            for other in COMPARISONS[type(operator)]:
                yield "comparison", ast.Compare(node.left, _with(node.ops, index, other()), node.comparators)

    def _BinOp(self, node: ast.BinOp) -> Iterator[tuple[str, ast.AST]]:
        if type(node.op) in ARITHMETIC:
            yield "arithmetic", ast.BinOp(node.left, ARITHMETIC[type(node.op)](), node.right)

    def _AugAssign(self, node: ast.AugAssign) -> Iterator[tuple[str, ast.AST]]:
        if type(node.op) in ARITHMETIC:
            yield "arithmetic", ast.AugAssign(node.target, ARITHMETIC[type(node.op)](), node.value)
        yield "dropped", ast.Pass()

    def _BoolOp(self, node: ast.BoolOp) -> Iterator[tuple[str, ast.AST]]:
        yield "boolean", ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)

    def _UnaryOp(self, node: ast.UnaryOp) -> Iterator[tuple[str, ast.AST]]:
        if isinstance(node.op, ast.Not | ast.USub | ast.Invert):
            yield "negation", node.operand

    def _Constant(self, node: ast.Constant) -> Iterator[tuple[str, ast.AST]]:
        if isinstance(node.value, bool):
            yield "constant", ast.Constant(not node.value)
        elif isinstance(node.value, int):
            yield "constant", ast.Constant(node.value + 1)
            if node.value > 0:
                yield "constant", ast.Constant(node.value - 1)

    # ----- statements -----

    def _If(self, node: ast.If) -> Iterator[tuple[str, ast.AST]]:
        yield "always", ast.If(ast.Constant(True), node.body, node.orelse)
        yield "never", ast.If(ast.Constant(False), node.body, node.orelse)

    def _IfExp(self, node: ast.IfExp) -> Iterator[tuple[str, ast.AST]]:
        yield "always", node.body
        yield "never", node.orelse

    def _While(self, node: ast.While) -> Iterator[tuple[str, ast.AST]]:
        yield "never", ast.While(ast.Constant(False), node.body, node.orelse)

    def _dropped(self, node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
        yield "dropped", ast.Pass()

    _Assign = _Raise = _Break = _Continue = _dropped

    def _Expr(self, node: ast.Expr) -> Iterator[tuple[str, ast.AST]]:
        if not isinstance(node.value, ast.Constant):  # a docstring
            yield "dropped", ast.Pass()

    def _Return(self, node: ast.Return) -> Iterator[tuple[str, ast.AST]]:
        value = node.value
        if isinstance(value, ast.Compare | ast.BoolOp):
            yield "returned", ast.Return(ast.UnaryOp(ast.Not(), value))
        elif isinstance(value, ast.BinOp):
            yield "returned", ast.Return(ast.BinOp(value, ast.Add(), ast.Constant(1)))


def _with(items: list, index: int, item: ast.AST) -> list:
    return [*items[:index], item, *items[index + 1 :]]


def _text(node: ast.AST) -> str:
    """One line of source: of a block only its head."""
    return ast.unparse(node).splitlines()[0]


def changes(function: ast.FunctionDef) -> list[Change]:
    """All changes of a function, in order."""
    walk = _Walk()
    for statement in copy.deepcopy(function.body):
        walk.visit(statement)
    return walk.found


def changed(function: ast.FunctionDef, number: int) -> ast.FunctionDef:
    """A copy of the function with one change made; IndexError if it has no change of this number."""
    walk = _Walk(number)
    result = copy.deepcopy(function)
    result.body = [walk.visit(statement) for statement in result.body]
    if not 0 <= number < len(walk.found):
        raise IndexError(f"{function.name} has {len(walk.found)} changes, none of number {number}.")
    return result
