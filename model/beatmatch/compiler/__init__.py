# SPDX-License-Identifier: Apache-2.0
"""Compilers from tensors and networks to programs."""

from beatmatch.compiler.builder import Builder, CompileError, default_timing
from beatmatch.compiler.gemm import Requant, compile_gemm

__all__ = ["Builder", "CompileError", "Requant", "compile_gemm", "default_timing"]
