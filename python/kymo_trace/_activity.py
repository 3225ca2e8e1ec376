# SPDX-License-Identifier: Apache-2.0
"""Texts that explain why a program has no complete step, or why its steps were miscounted."""

from __future__ import annotations

from ._steps import EXPECTED_CALLS


def _counted(count: int, noun: str) -> str:
    plural = "" if count == 1 else "es" if noun.endswith("s") else "s"
    return f"{count or 'no'} {noun}{plural}"


def miscount_text(steps: int) -> str:
    """Describes the sum of the corrections of the step count within the pass; empty if they cancel out."""
    if steps == 0:
        return ""
    return (
        f"the numbers of the program's steps: {abs(steps)} too {'many' if steps < 0 else 'few'} were counted before "
        "the order of its optimizers was known"
    )


def inference_text(part: str, calls: int) -> str:
    """Why a part of the training was not observed: the first backward pass follows `calls` complete module calls."""
    begin = calls + 4  # after the calls and three warm-up steps
    return (
        f"{part}: the {calls + 1} calls of a module before the first backward pass count as steps of inference; to "
        f"observe the training, choose later steps, such as --steps {begin}:{begin + 10}"
    )


class ActivityCounts:
    """Calls of root modules by mode, backward passes and optimizer steps, before the first complete step."""

    def __init__(self) -> None:
        self.trainable = self.evaluations = self.without_gradients = 0  # calls
        self.backward = self.optimizer_steps = 0

    def call(self, training: bool, gradients: bool) -> None:
        if not gradients:
            self.without_gradients += 1
        elif training:
            self.trainable += 1
        else:
            self.evaluations += 1

    def explain_missing_step(self, has_optimizer: bool) -> str:
        """Returns the activity of the program, why it is no complete step, and what to do."""
        return f"{self._calls()}, {self._passes()} were seen; {self._reason(has_optimizer)}"

    def _calls(self) -> str:
        modes = {
            "in training mode with gradients enabled": self.trainable,
            "in evaluation mode": self.evaluations,
            "without gradients": self.without_gradients,
        }
        used = [(count, mode) for mode, count in modes.items() if count]
        total = _counted(sum(modes.values()), "module call")
        if len(used) == 1:
            return f"{total} {used[0][1]}"
        return f"{total} ({', '.join(f'{count} {mode}' for count, mode in used)})" if used else total

    def _passes(self) -> str:
        return f"{_counted(self.backward, 'backward pass')} and {_counted(self.optimizer_steps, 'optimizer step')}"

    def _reason(self, has_optimizer: bool) -> str:
        if self.optimizer_steps:
            return (
                "a step ends at the first module call after an optimizer step, and none followed: let the program make "
                "more iterations"
            )
        if self.backward and has_optimizer:
            return "the program created an optimizer that never stepped: call its step(), or do not create it"
        if self.backward:
            return (
                "without an optimizer, a step ends at the first module call after a backward pass, and none followed: "
                "let the program make more iterations"
            )
        if has_optimizer:
            return (
                "the program created an optimizer, but made no backward pass, so that its steps are unknown: to "
                "observe inference, do not create an optimizer"
            )
        if self.trainable:
            return (
                "calls in training mode with gradients enabled may precede a backward pass, so they count as steps "
                f"only from the {EXPECTED_CALLS + 2}th on: for inference, call eval() of the module or "
                "use torch.no_grad()"
            )
        return (
            "a step of inference ends at the next call of the module that was called first: let the program call that "
            "again, as for another input"
        )
