# SPDX-License-Identifier: Apache-2.0
"""What the checked cycles were: functional coverage from trace records, code coverage of the RTL from Verilator."""
