# SPDX-License-Identifier: Apache-2.0
"""The pyuvm environment of the whole core."""
