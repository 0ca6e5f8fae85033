# SPDX-License-Identifier: Apache-2.0
"""Mutation testing of the RTL: small changes of the source, each of which the lockstep run has to notice."""
