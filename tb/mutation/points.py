# SPDX-License-Identifier: Apache-2.0
"""Where the RTL can be mutated: a walk over the elaborated design (slang), down to places in the source files.

Only what becomes hardware is visited: continuous assignments, procedures, functions, inputs of instances; in the
generate branches that a configuration takes. Parameters, widths, labels, loop bounds, checks and the indices that
are fixed at build time are not mutated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pyslang import ast, driver

from beatmatch.config import Config
from tb.mutation import operators
from tb.mutation.operators import Alternative

_K, _S, _Y = ast.ExpressionKind, ast.StatementKind, ast.SymbolKind
_LITERALS = (_K.IntegerLiteral, _K.UnbasedUnsizedIntegerLiteral)
_VALUES = (_K.NamedValue, _K.MemberAccess, _K.ElementSelect, _K.RangeSelect)
_SKIP, _ADVANCE = ast.VisitAction.Skip, ast.VisitAction.Advance
_CLOCK = "clk_i"
_SINK = "unused"
"""The signal that takes what a module does not use, for the linters; nothing reads it."""


class SourceError(RuntimeError):
    """The sources could not be read; the message holds what slang says."""


@dataclass
class Point:
    """One place of a source file that has mutants.

    Attributes
    ----------
    file : Path
    start, end : int
        The place, in bytes from the beginning of the file; `end` is behind it.
    statement : bool
        A statement, which a mutant leaves out, rather than an expression.
    alternatives : dict
        Replacement by name of the operator.
    """

    file: Path
    start: int
    end: int
    statement: bool = False
    alternatives: dict[str, Alternative] = field(default_factory=dict)


def elaborate(top: str, sources: Sequence[Path], config: Config | None = None) -> ast.Compilation:
    """The design in one configuration (or with its default parameters), as it is synthesized. Raises SourceError."""
    reader = driver.Driver()
    reader.addStandardArgs()
    values = {} if config is None else config.rtl_parameters()
    parameters = " ".join(f"-G {name}={value}" for name, value in values.items())
    files = " ".join(str(path) for path in sources)
    if not (
        reader.parseCommandLine(f"slang --top {top} {parameters} -D SYNTHESIS {files}")
        and reader.processOptions()
        and reader.parseAllSources()
    ):
        raise SourceError(f"slang could not read the sources of {top}.")
    compilation = reader.createCompilation()
    errors = [item for item in compilation.getAllDiagnostics() if item.isError()]
    if errors:
        raise SourceError(f"slang found {len(errors)} errors in {top}: run `make lint` first.")
    return compilation


def find(compilation: ast.Compilation) -> list[Point]:
    """All places of an elaborated design, in the order of files and offsets."""
    walk = _Walk(compilation.sourceManager)
    compilation.getRoot().visit(walk)
    return sorted(walk.points.values(), key=lambda point: (point.file, point.start, -point.end))


class _Walk:
    """Collects the points; called for every node, and decides whether its children are visited."""

    def __init__(self, manager) -> None:
        self._manager = manager
        self._texts: dict = {}
        self._loop_variables: set[tuple] = set()
        self.points: dict[tuple[Path, int, int], Point] = {}

    def __call__(self, node) -> ast.VisitAction:
        kind = node.kind
        if isinstance(node, ast.Expression):
            return self._expression(node, kind)
        if isinstance(node, ast.Statement):
            return self._statement(node, kind)
        return self._symbol(node, kind)

    def _symbol(self, node, kind) -> ast.VisitAction:
        if kind in (_Y.Parameter, _Y.TypeAlias, _Y.FormalArgument, _Y.Variable):
            return _SKIP
        if kind in (_Y.GenerateBlock, _Y.GenerateBlockArray) and getattr(node, "isUninstantiated", False):
            return _SKIP
        return _ADVANCE

    def _statement(self, node, kind) -> ast.VisitAction:
        if _only_checks(node):
            return _SKIP
        if kind == _S.ForLoop:
            self._loop_variables |= {_place(variable) for variable in node.loopVars}
            node.body.visit(self)
            return _SKIP
        if kind == _S.Timed:
            node.stmt.visit(self)
            return _SKIP
        if kind == _S.Case:
            node.expr.visit(self)
            for group in node.items:
                group.stmt.visit(self)
            if node.defaultCase is not None:
                node.defaultCase.visit(self)
            return _SKIP
        if kind == _S.Conditional:
            for item in node.conditions:
                self._condition(item.expr)
            return _ADVANCE
        if kind == _S.ExpressionStatement and node.expr.kind == _K.Assignment and node.expr.isNonBlocking:
            self._add(node, [Alternative("left out", "")], statement=True)
        return _ADVANCE

    def _condition(self, expression) -> None:
        """A condition that is a plain value is stuck by being a leaf; a static one chooses hardware."""
        expression = _plain(expression)
        if expression.kind not in _VALUES and not self._static(expression):
            self._add(expression, operators.condition(self._text(expression)))

    def _expression(self, node, kind) -> ast.VisitAction:
        if kind == _K.Assignment:
            sink = node.left.kind == _K.NamedValue and node.left.symbol.name == _SINK
            if node.right.kind != _K.EmptyArgument and not sink:
                node.right.visit(self)
            return _SKIP
        if kind == _K.Conversion and node.isImplicit:
            return _ADVANCE
        if kind in (_K.EmptyArgument, _K.StringLiteral, _K.DataType):
            return _SKIP
        if self._static(node):
            self._add(node, operators.constant(node, self._text(node)))
            return _SKIP
        if kind in _VALUES:
            text = self._text(node)
            if not text.endswith(_CLOCK):
                self._add(node, operators.leaf(node, text))
            self._selectors(node)
            return _SKIP
        if kind == _K.Replication:
            node.concat.visit(self)
            return _SKIP
        if kind == _K.ConditionalOp:
            return self._choice(node)
        if kind == _K.BinaryOp:
            self._add(node, operators.binary(node, self._text(node.left), self._text(node.right)))
        elif kind == _K.UnaryOp:
            self._add(node, operators.unary(node, self._text(node.operand)))
        return _ADVANCE

    def _choice(self, node) -> ast.VisitAction:
        predicate = node.conditions[0].expr
        if not self._static(predicate):
            self._condition(predicate)
            return _ADVANCE
        chosen = predicate.constant
        if chosen is None or chosen.isTrue():
            node.left.visit(self)
        if chosen is None or not chosen.isTrue():
            node.right.visit(self)
        return _SKIP

    def _selectors(self, node) -> None:
        """Indices that are computed at run time; a fixed one stays, for a selection by it is only wiring."""
        while node.kind in _VALUES and node.kind != _K.NamedValue:
            if node.kind == _K.ElementSelect:
                selectors = (node.selector,)
            elif node.kind == _K.RangeSelect and node.selectionKind != ast.RangeSelectionKind.Simple:
                selectors = (node.left,)
            else:
                selectors = ()
            for selector in selectors:
                if not self._static(selector):
                    selector.visit(self)
            node = node.value
        if node.kind not in _VALUES:
            node.visit(self)

    def _static(self, expression) -> bool:
        """Whether the value is made of literals, parameters and loop variables only."""
        found = []

        def look(node):
            if isinstance(node, ast.Expression):
                if node.kind in (_K.NamedValue, _K.HierarchicalValue):
                    symbol = node.symbol
                    fixed = symbol.kind in (_Y.Parameter, _Y.EnumValue, _Y.Genvar)
                    found.append(fixed or _place(symbol) in self._loop_variables)
                elif node.kind == _K.Call and not node.isSystemCall:
                    found.append(False)
            return _ADVANCE

        expression.visit(look)
        return all(found)

    def _add(self, node, alternatives: list[Alternative], statement: bool = False) -> None:
        where = node.sourceRange
        file = Path(self._manager.getFullPath(where.start.buffer))
        key = (file, where.start.offset, where.end.offset)
        if alternatives and where.end.offset > where.start.offset:
            point = self.points.setdefault(key, Point(*key, statement))
            for item in alternatives:
                point.alternatives.setdefault(item.operator, item)

    def _text(self, node) -> str:
        where = node.sourceRange
        buffer = where.start.buffer
        if buffer not in self._texts:
            self._texts[buffer] = Path(self._manager.getFullPath(buffer)).read_text()
        return self._texts[buffer][where.start.offset : where.end.offset]


def _plain(expression):
    while expression.kind == _K.Conversion and expression.isImplicit:
        expression = expression.operand
    return expression


def _only_checks(statement) -> bool:
    """Whether nothing but assertions is in it."""
    kinds = []

    def look(node):
        if isinstance(node, ast.Statement) and node.kind not in (_S.Block, _S.List, _S.Conditional, _S.Timed, _S.Empty):
            kinds.append(node.kind)
        return _ADVANCE

    statement.visit(look)
    return _S.ImmediateAssertion in kinds and set(kinds) == {_S.ImmediateAssertion}


def _place(symbol) -> tuple:
    return symbol.location.buffer, symbol.location.offset
