# SPDX-License-Identifier: Apache-2.0
"""Detects programs that have created an optimizer but discard the results of their model, such as a benchmark of the
forward pass. Reinforcement learning, in contrast, keeps results for a backward pass after many calls.
"""

from __future__ import annotations

import weakref
from collections import deque
from typing import Any


class _Mark:
    """Stored in the autograd graph of a result, and freed together with the graph."""


class DiscardedResults:
    """Counts the calls in a row whose results were discarded, while `enabled`."""

    def __init__(self) -> None:
        self.enabled = False
        self.in_a_row = 0  # calls whose results were discarded
        self.root_has_ended = False  # a root call whose result returned() has not seen yet
        self._marks: deque[weakref.ref[_Mark]] = deque(maxlen=2)  # two, as a variable may still hold the last result

    def returned(self, result: Any) -> None:
        """A module has returned."""
        is_root, self.root_has_ended = self.root_has_ended, False
        node = _node_of(result) if is_root else None
        if node is None:  # no root call, or without gradients
            return
        if len(self._marks) == 2:
            self.in_a_row = self.in_a_row + 1 if self._marks[0]() is None else 0
        mark = _Mark()
        node.metadata["kymo"] = mark
        self._marks.append(weakref.ref(mark))


def _node_of(result: Any, depth: int = 3) -> Any:
    """The grad_fn of the first tensor in the result that has one."""
    node = getattr(result, "grad_fn", None)
    if node is not None or depth == 0:
        return node
    parts = result.values() if isinstance(result, dict) else result if isinstance(result, (list, tuple)) else ()
    return next((found for part in parts if (found := _node_of(part, depth - 1)) is not None), None)
