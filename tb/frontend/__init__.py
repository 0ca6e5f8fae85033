# SPDX-License-Identifier: Apache-2.0
"""The benches of the frontend and of the legality rules."""
