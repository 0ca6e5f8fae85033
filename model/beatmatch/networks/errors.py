# SPDX-License-Identifier: Apache-2.0
"""The one error of this package."""


class GraphError(ValueError):
    """A network that cannot be taken; the text is one sentence that says what to do."""
