# SPDX-License-Identifier: Apache-2.0
"""What other tools say of the same layers, computed by their rules: for those who come from them."""
