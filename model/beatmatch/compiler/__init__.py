# SPDX-License-Identifier: Apache-2.0
"""Compilers from tensors and networks to programs."""

from beatmatch.compiler.builder import Builder, CompileError, default_timing, default_weight_timing
from beatmatch.compiler.conv import compile_conv2d
from beatmatch.compiler.gemm import compile_gemm
from beatmatch.compiler.network import compile_digits, compile_network
from beatmatch.compiler.requant import Requant

__all__ = [
    "Builder",
    "CompileError",
    "Requant",
    "compile_conv2d",
    "compile_digits",
    "compile_gemm",
    "compile_network",
    "default_timing",
    "default_weight_timing",
]
