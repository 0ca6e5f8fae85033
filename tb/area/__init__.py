# SPDX-License-Identifier: Apache-2.0
"""The area proxy of `beatmatch explore`: synthesize a plan of configurations, and fit their cells by module."""
