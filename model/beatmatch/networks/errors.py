# SPDX-License-Identifier: Apache-2.0
"""The errors of this package."""


class GraphError(ValueError):
    """A network that cannot be taken; the text is one sentence that says what to do."""


class ResultError(GraphError):
    """A saved result that cannot be taken, or results that cannot be compared; a sentence as well."""
