# SPDX-License-Identifier: Apache-2.0
"""The benches of the vector engine."""
