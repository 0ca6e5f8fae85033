# SPDX-License-Identifier: Apache-2.0
"""The fast tier against the stepped tier and the RTL."""
