# SPDX-License-Identifier: Apache-2.0
"""The assembler examples: free of findings, and equal to the oracle's formulas on their own data."""

from pathlib import Path

import numpy as np
import pytest

from beatmatch import oracle
from beatmatch.checker import check
from beatmatch.functional import run
from beatmatch.isa.asm import assemble
from beatmatch.isa.disasm import disassemble

EXAMPLES = Path(__file__).resolve().parents[2] / "docs" / "examples"
NAMES = sorted(path.stem for path in EXAMPLES.glob("*.bmasm"))


def executed(name):
    """(values, the bytes of each segment as int8) of an example."""
    program = assemble((EXAMPLES / f"{name}.bmasm").read_text())
    outcome = run(program)
    assert not outcome.error, outcome.text
    return program.read(outcome.image), [np.frombuffer(s.data, np.int8) for s in program.segments]


def scaled(total, shift):
    return oracle.requantise(total, 0, 1, shift)


def squares(data, count, size=16):
    return [part.reshape(size, size) for part in np.split(data[: count * size * size], count)]


def test_there_are_four():
    assert NAMES == ["attention", "gemm_double_buffer", "kv_append", "residual"]


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_found_and_the_text_is_reproduced(name):
    program = assemble((EXAMPLES / f"{name}.bmasm").read_text())
    assert check(program) == []
    assert assemble(disassemble(program)) == program


def test_attention():
    values, (data, _) = executed("attention")
    x, xt, wkt, wq, wv = squares(data, 5)
    np.testing.assert_array_equal(xt, x.T)
    q, kt, v = scaled(oracle.matmul(x, wq), 8), scaled(oracle.matmul(wkt, xt), 8), scaled(oracle.matmul(x, wv), 8)
    p = scaled(oracle.matmul(q, kt), 8)
    np.testing.assert_array_equal(values["out"], scaled(oracle.matmul(p, v), 8))
    assert len(np.unique(p)) > 3 and len(np.unique(values["out"])) > 3  # the scales leave something to see


def test_kv_append():
    values, (data, _) = executed("kv_append")
    x, tile, data = data[:16][None], data[16:144].reshape(16, 8), data[144:]
    np.testing.assert_array_equal(tile[:, 3], x[0])
    wkt, wq, wv, kt, v = (part.copy() for part in squares(data, 5))
    kt[:, 11] = scaled(oracle.matmul(wkt, x.T), 8)[:, 0]
    v[11] = scaled(oracle.matmul(x, wv), 8)[0]
    q = scaled(oracle.matmul(x, wq), 8)
    p = scaled(oracle.matmul(q, kt), 8)
    np.testing.assert_array_equal(values["new_value"], v[11])
    np.testing.assert_array_equal(values["out"], scaled(oracle.matmul(p[:, :12], v[:12]), 8)[0])
    assert values["out"].any()


def test_residual_block():
    values, (x, weights, _) = executed("residual")
    x = x.reshape(1, 6, 6, 8)
    first, second = weights.reshape(2, 3, 3, 8, 8)
    options = {"pads": (1, 1, 1, 1), "pad_value": -128}
    middle = oracle.requantise(oracle.conv2d(x, first, **options), 3000, 3, 12, -128)
    branch = oracle.requantise(oracle.conv2d(middle, second, **options), -500, 5, 13)
    np.testing.assert_array_equal(values["out"], oracle.add(branch, x, 3, 2, 40, 2, -128)[0])
    assert len(np.unique(values["out"])) > 20


def test_double_buffered_gemm():
    values, (a, b) = executed("gemm_double_buffer")
    np.testing.assert_array_equal(values["out"], oracle.matmul(a.reshape(64, 16), b.reshape(16, 4)))
