# SPDX-License-Identifier: Apache-2.0
"""From a graph to programs: where tensors stand, which nodes run on the core, and the instructions of each."""
