# SPDX-License-Identifier: Apache-2.0
"""Numbers that are z3 terms, and a stand-in for numpy: the golden model's functions run on them unchanged."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from unittest import mock

import z3

from beatmatch import numerics

BITS = 64
"""As numpy's int64, which the model computes in."""


class Term:
    """A signed 64-bit value, or a truth value, with the operators that the model uses on arrays."""

    def __init__(self, value):
        if isinstance(value, Term):
            value = value.bits
        if isinstance(value, bool) or z3.is_bool(value):
            value = z3.If(value, z3.BitVecVal(1, BITS), z3.BitVecVal(0, BITS))
        if isinstance(value, int):
            value = z3.BitVecVal(value, BITS)
        self.bits = value

    def astype(self, kind: str) -> "Term":
        """Truncated to the kind and sign-extended again."""
        if kind == int32:
            return Term(z3.SignExt(BITS - 32, z3.Extract(31, 0, self.bits)))
        return self

    def _with(self, other, operation: Callable) -> "Term":
        return Term(operation(self.bits, Term(other).bits))

    def __add__(self, other):
        return self._with(other, lambda a, b: a + b)

    def __sub__(self, other):
        return self._with(other, lambda a, b: a - b)

    def __mul__(self, other):
        return self._with(other, lambda a, b: a * b)

    def __matmul__(self, other):
        return self * other  # one row of one element

    def __rshift__(self, other):
        return self._with(other, lambda a, b: a >> b)

    def __lshift__(self, other):
        return self._with(other, lambda a, b: a << b)

    def __and__(self, other):
        return self._with(other, lambda a, b: a & b)

    def __or__(self, other):
        return self._with(other, lambda a, b: a | b)

    def __gt__(self, other):
        return self._with(other, lambda a, b: a > b)

    def __eq__(self, other):
        return self._with(other, lambda a, b: a == b)

    def __ne__(self, other):
        return self._with(other, lambda a, b: a != b)

    __hash__ = None


def int64(value) -> Term:
    """A constant; also stands for the type."""
    return Term(value)


int32 = "int32"


class Numpy:
    """The functions of numpy that `numerics` calls, on terms."""

    int64 = staticmethod(int64)
    int32 = int32

    @staticmethod
    def asarray(value, dtype=None) -> Term:
        return Term(value)

    @staticmethod
    def where(condition, yes, no) -> Term:
        return Term(z3.If(Term(condition).bits != 0, Term(yes).bits, Term(no).bits))

    @staticmethod
    def maximum(a, b) -> Term:
        return Numpy.where(Term(a) > b, a, b)

    @staticmethod
    def minimum(a, b) -> Term:
        return Numpy.where(Term(b) > a, a, b)


@contextmanager
def on_terms() -> Iterator[None]:
    """Within it `beatmatch.numerics` computes with terms."""
    with mock.patch.object(numerics, "np", Numpy):
        yield
