# SPDX-License-Identifier: Apache-2.0
"""Programs that consist of the calls that kymo observes, for tests of the steps and phases that it makes of them."""

import unittest
from contextlib import contextmanager
from unittest import mock

import fake_host  # noqa: F401  (finds the built package)
from kymo_trace import _steps
from kymo_trace._discarded import DiscardedResults

NAMES = "LFBOX"  # loading, forward, backward, optimizer, none of them


class Program:
    """Calls of a program, and what kymo makes of them: `|` is a step boundary, `?` an assumed one, and phases are
    letters, with the closing one in lower case; `<`: the boundaries before were none."""

    def __init__(self):
        self.seen = ""
        self.open = []
        self.trains = False
        self.nodes = 0
        callbacks = self.boundary, self.first_backward, lambda _: self.trains, self.revise
        self.steps = _steps.Steps(*callbacks, DiscardedResults(), lambda: self.nodes)
        self.steps.has_optimizer = True

    def boundary(self, reason):
        self.seen += "" if reason is None else "|" if reason == _steps.OPTIMIZER_STEPPED else "?"
        self.open.clear()

    def first_backward(self):
        self.seen += "<" if "?" in self.seen else ""

    def revise(self, difference, reason):
        self.seen += f"{difference:+}" if difference else "~"

    def stop_following(self):
        pass

    def phase_begin(self, index):
        self.open.append(NAMES[index])
        self.seen += NAMES[index]
        return True

    def phase_end(self):
        if self.open:  # the host ignores others
            self.seen += self.open.pop().lower()

    @contextmanager
    def call(self, module="model"):
        self.steps.root_begins(MODULES[module])
        yield
        self.steps.root_ends()

    def forward(self, module="model", operators=0):
        with self.call(module):
            self.compute(operators)

    def compute(self, operators):
        """Calls differentiable operators."""
        self.nodes += operators

    @contextmanager
    def in_backward(self):
        begun = self.steps.backward_begins()
        yield
        self.steps.backward_ends(begun)

    def backward(self):
        with self.in_backward():
            pass

    def backward_to(self, optimizer):
        with self.in_backward():
            optimizer.parameter.grad = 1

    @contextmanager
    def in_step(self, optimizer="optimizer"):
        self.steps.optimizer_begins(MODULES.get(optimizer, optimizer))
        yield
        self.steps.optimizer_ends(MODULES.get(optimizer, optimizer))

    @contextmanager
    def in_loading(self):
        begun = self.steps.loading_begins()
        yield
        self.steps.loading_ends(begun)

    @contextmanager
    def in_closure(self):
        begun = self.steps.closure_begins()
        yield
        self.steps.closure_ends(begun)

    def step(self, optimizer="optimizer"):
        with self.in_step(optimizer):
            pass


class Module:
    """A module or an optimizer: its id is its identity."""


class Parameter:
    grad = None


class Optimizer:
    """One that has parameters."""

    def __init__(self):
        self.parameter = Parameter()
        self.param_groups = [{"params": [self.parameter]}]


MODULES = {name: Module() for name in ("model", "other", "loss", "optimizer", "first", "second")}


class SequenceTest(unittest.TestCase):
    def seen(self, body, times=3, has_optimizer=True):
        program = Program()
        program.steps.has_optimizer = has_optimizer
        with mock.patch.object(_steps, "_program", program):
            for _ in range(times):
                body(program)
        return program.seen

    def with_optimizer(self, body, times=4):
        """What is seen if an optimizer is created, which `body(program, optimizer)` uses."""
        optimizer = Optimizer()

        def created(program):
            if not program.seen:
                program.steps.optimizer_created(optimizer)
            body(program, optimizer)

        return self.seen(created, times, has_optimizer=False)
