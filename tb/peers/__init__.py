# SPDX-License-Identifier: Apache-2.0
"""Other tools on the same layers, side by side with Beatmatch; `python -m tb.peers --help`."""
