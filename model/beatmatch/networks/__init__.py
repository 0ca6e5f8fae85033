# SPDX-License-Identifier: Apache-2.0
"""Networks from files: a typed graph with multiply-accumulates, scales and a reference execution."""
