# SPDX-License-Identifier: Apache-2.0
"""Beatmatch: a TPU-style int8 matrix core as a golden model, exact to the bit and the clock cycle.

>>> import numpy as np, beatmatch
>>> a = np.ones((8, 8), np.int8)
>>> run = beatmatch.matmul(a, a, beatmatch.preset("tiny"))
>>> run.values["out"][0, 0], run.fidelity
(np.int32(8), 'exact')
"""

from importlib import import_module

_PUBLIC = {
    "Config": "config",
    "ConfigError": "config",
    "preset": "config",
    "PRESETS": "config",
    "Program": "program",
    "ProgramError": "program",
    "MemoryTiming": "memory",
    "Machine": "api",
    "Run": "api",
    "matmul": "api",
    "conv2d": "api",
    "check": "checker",
    "Finding": "checker",
    "assemble": "isa.asm",
    "AssemblyError": "isa.asm",
    "disassemble": "isa.disasm",
    "Requant": "compiler",
    "CompileError": "compiler",
    "compile_gemm": "compiler",
    "compile_conv2d": "compiler",
    "compile_network": "compiler",
}

__all__ = list(_PUBLIC)


def __getattr__(name: str) -> object:
    """Import public names when they are first used: tools that need one part do not wait for all."""
    if name not in _PUBLIC:
        raise AttributeError(f"module 'beatmatch' has no attribute {name!r}")
    return getattr(import_module(f"beatmatch.{_PUBLIC[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_PUBLIC])
