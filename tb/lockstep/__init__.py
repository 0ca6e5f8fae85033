# SPDX-License-Identifier: Apache-2.0
"""Model and RTL side by side: every trace word of every clock cycle has to be equal."""
