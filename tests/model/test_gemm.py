# SPDX-License-Identifier: Apache-2.0
"""Compiled matrix products on the functional tier against the naive oracle, on presets and odd configurations."""

import numpy as np
import pytest

from beatmatch import oracle
from beatmatch.compiler import Requant, compile_gemm
from beatmatch.compiler.requant import fitting_requant
from beatmatch.config import PRESETS, Config, ConfigError
from beatmatch.functional import run


def result(program, image):
    """The product, put together if the program writes it in blocks of columns."""
    parts = program.read(image)
    if "out" in parts:
        return parts["out"]
    return np.concatenate([parts[f"out.{index}"] for index in range(len(parts))], axis=1)


def compare(m, k, n, config, out, rng, requant=None, bias=None):
    a = rng.integers(-128, 128, (m, k)).astype(np.int8)
    b = rng.integers(-128, 128, (k, n)).astype(np.int8)
    program = compile_gemm(a, b, config, out, requant=requant, bias=bias)
    outcome = run(program)
    assert not outcome.error, outcome.text
    total = oracle.matmul(a, b)
    if out == "int8":
        q = requant or fitting_requant(k)
        expected = oracle.requantise(total, q.bias, q.multiplier, q.shift, q.zero_point, q.low, q.high)
    else:
        expected = (total + (0 if bias is None else bias)).astype(np.int32)
    np.testing.assert_array_equal(result(program, outcome.image), expected, strict=True)
    return program


@pytest.mark.parametrize("name", ["tiny", "small", "base", "large"])
@pytest.mark.parametrize("out", ["int8", "int32"])
def test_presets(name, out):
    rng = np.random.default_rng(3)
    for m, k, n in [(1, 1, 1), (1, 64, 40), (33, 20, 17), (64, 64, 64)]:
        compare(m, k, n, PRESETS[name], out, rng)


def random_config(rng, small):
    """A legal configuration; ``small`` ones hold hardly more than one tile."""
    while True:
        power = lambda low, high: 1 << int(rng.integers(low, high + 1))  # noqa: E731
        banks, acc_banks = (int(v) for v in rng.integers(1, 9, 2))
        try:
            return Config(
                rows=power(2, 6),
                cols=power(2, 6),
                sp_words=banks * power(4, 5 if small else 9),
                sp_banks=banks,
                acc_rows=acc_banks * power(2, 3 if small else 7),
                acc_banks=acc_banks,
                fifo_tiles=int(rng.integers(2, 17)),
                queue_depth=int(rng.integers(1, 17)),
                mem_bits=power(5, 10),
                outstanding=int(rng.integers(1, 65)),
                param_rows=power(2, 7),
            )
        except ConfigError:
            continue


@pytest.mark.parametrize("seed", range(24))
def test_any_legal_configuration(seed):
    rng = np.random.default_rng(seed)
    config = random_config(rng, small=seed % 2 == 1)
    m, k, n = (int(v) for v in rng.choice([1, 2, 3, 5, 8, 17, 33, 60], 3))
    if seed % 4 < 2:
        requant = Requant(
            rng.integers(-5000, 5000, n), rng.integers(1 << 20, 1 << 24, n), rng.integers(28, 33, n), -7, -100, 90
        )
        compare(m, k, n, config, "int8", rng, requant)
    else:
        compare(m, k, n, config, "int32", rng, bias=rng.integers(-1000, 1000, n))


def test_operands_are_dense_and_row_major_in_memory():
    rng = np.random.default_rng(1)
    a = rng.integers(-128, 128, (64, 128)).astype(np.int8)
    b = rng.integers(-128, 128, (128, 64)).astype(np.int8)
    program = compile_gemm(a, b, PRESETS["base"], "int32")
    image = program.memory()
    if program.decoded()[1].opcode.name != "WEIGHTS_MEM":
        assert bytes(image.read(program.bases[1].address, b.size)) == b.tobytes()
    assert bytes(image.read(program.bases[0].address, a.size)) == a.tobytes()
    assert program.results["out"].strides == (256, 4)


def test_wrong_operands_are_refused():
    a = np.zeros((2, 3), np.int8)
    for left, right, out, text in (
        (a, a, "int8", "must be"),
        (a, a.T.astype(np.int16), "int8", "int8"),
        (a, a.T, "int16", "int8 or int32"),
        (a[:0], a.T, "int8", "empty"),
    ):
        with pytest.raises(ValueError, match=text):
            compile_gemm(left, right, PRESETS["tiny"], out)
