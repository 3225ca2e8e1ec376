# SPDX-License-Identifier: Apache-2.0
"""Whether a program that has created an optimizer discards the results of its model, such as a benchmark of the forward
pass. Reinforcement learning keeps them, or what it computes from them, for a backward pass after many calls.
"""

from __future__ import annotations

import weakref
from collections import deque
from typing import Any


class _Mark:
    """In the graph of autograd of a result; exists as long as the graph does."""


class DiscardedResults:
    """Follows the results of calls, while `wanted`."""

    def __init__(self) -> None:
        self.wanted = False
        self.in_a_row = 0  # calls whose results were discarded
        self.root_has_ended = False  # and not returned yet
        self._marks: deque[weakref.ref[_Mark]] = deque(maxlen=2)  # the variable of the last result still exists

    def returned(self, result: Any) -> None:
        """A module has returned."""
        is_root, self.root_has_ended = self.root_has_ended, False
        node = _node_of(result) if is_root else None
        if node is None:  # or without gradients
            return
        if len(self._marks) == 2:
            self.in_a_row = self.in_a_row + 1 if self._marks[0]() is None else 0
        mark = _Mark()
        node.metadata["kymo"] = mark
        self._marks.append(weakref.ref(mark))


def _node_of(result: Any, depth: int = 3) -> Any:
    """The last node of the graph of the first tensor in the result that has one."""
    node = getattr(result, "grad_fn", None)
    if node is not None or depth == 0:
        return node
    parts = result.values() if isinstance(result, dict) else result if isinstance(result, (list, tuple)) else ()
    return next((found for part in parts if (found := _node_of(part, depth - 1)) is not None), None)
