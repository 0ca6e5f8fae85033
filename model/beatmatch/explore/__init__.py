# SPDX-License-Identifier: Apache-2.0
"""What if the machine were different: sweeps over configurations, memories and networks, and the answers from them."""
