# SPDX-License-Identifier: Apache-2.0
"""Mutants of the golden model: does what the model is checked with notice a mistake in the model?"""
