# SPDX-License-Identifier: Apache-2.0
"""Unbounded proofs of the RTL's contracts; docs/formal.md is the guide."""
