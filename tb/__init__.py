# SPDX-License-Identifier: Apache-2.0
"""What runs the RTL: builds, benches, the lockstep run, lint and synthesis."""
