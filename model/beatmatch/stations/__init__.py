# SPDX-License-Identifier: Apache-2.0
"""The stations of the stepped machine, one class per block of the diagram."""
