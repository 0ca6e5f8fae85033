# SPDX-License-Identifier: Apache-2.0
"""`make demo`: handwritten digits on every tier of the model and, in lockstep, on the RTL."""
