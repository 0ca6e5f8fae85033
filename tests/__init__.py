# SPDX-License-Identifier: Apache-2.0
"""What pytest collects. Named as a package so that no installed `tests` can shadow it."""
