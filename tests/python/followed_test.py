# SPDX-License-Identifier: Apache-2.0
"""Random programs of which _program memoizes what an event does, and the same ones whose events all go to Python: what
kymo makes of them is the same."""

import contextlib
import os
import random
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

from fake_host import FAKE_ENGINE, read_events, script_of
from kymo_trace import _observe, _program
from kymo_trace._functions import CompiledFunction
from kymo_trace._ranks import Membership

PASSED_STEPS = 12  # of each pass
TRACING = threading.local()  # as in torch, there is one


class Module:
    """A module or an optimizer: its id is its identity."""

    training = True


class GraphModule(Module):
    """What Dynamo has compiled."""


class OptimizerError(Exception):
    pass


class FollowedObservation(_observe.Observation):
    """Counts its steps whose begin was not followed by _program."""

    python_steps = 0

    def steps_to_follow(self, reason):
        self.python_steps += 1
        return super().steps_to_follow(reason)


class GeneralObservation(_observe.Observation):
    """All events go to Python."""

    is_direct = False  # the model of a step was computed outside of modules

    def steps_to_follow(self, reason):
        self.is_direct = self.is_direct or self.steps.is_direct
        super().steps_to_follow(reason)
        return 0


class Execution:
    """A program that is observed: calls what kymo's replacements of torch's functions call."""

    def __init__(self, kind, objects, begins, folder):
        self.nodes = 0
        self.objects = objects
        self.log = Path(folder) / "events"
        torch = SimpleNamespace(
            __version__="2",
            autograd=SimpleNamespace(_get_sequence_nr=lambda: self.nodes),
            is_grad_enabled=lambda: True,
            fx=SimpleNamespace(GraphModule=GraphModule),
            nn=SimpleNamespace(Module=Module),
            Tensor=Module,
        )
        modules = {
            "torch._guards": SimpleNamespace(_TLS=TRACING),
            "torch._C._dynamo.eval_frame": SimpleNamespace(set_eval_frame=lambda _: None),
        }
        setting = {
            "windows": {"begins": [*begins], "period": 0, "page": ""},
            "stop": False,
            "log": f"{folder}/log",
            "address": str(self.log),
            "token": script_of({"steps": PASSED_STEPS, "log_steps": 1}),
            "workload": "w",
        }
        with mock.patch.dict(sys.modules, modules):
            start_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
            self.observation = kind(setting, Membership(0, 1, False), start_ns, torch)
            self.observation.watch()
        self.functions = [CompiledFunction(self.observation) for _ in range(2)]

    def mark(self):
        """Where the program is, for a comparison."""
        _program.metric(_program.PER_STEP, "count", float(self.observation.count))
        self.counts.append(self.observation.count)

    def run(self, steps):
        self.counts = []
        for step in steps:
            try:
                self.do(step)
            except OptimizerError:
                self.counts.append("error")
        self.observation.end()
        _program.reset()
        events = read_events(self.log) if self.log.exists() else []
        return self.counts, [each for each in events if each[0] != "ns_per_step"]

    def do(self, actions):
        for name, *arguments in actions:
            getattr(self, name)(*arguments)
            self.mark()

    def compute(self, operators):
        is_main = threading.current_thread() is threading.main_thread()  # each thread numbers its own
        self.nodes += operators if is_main and TRACING.tracing_context is None else 0

    def call(self, module, operators, inner):
        observed = _program.enter(self.objects[module])
        try:
            self.do(inner)
            self.compute(operators)
        finally:
            if observed:
                _program.leave()

    def function(self, index, operators, inner):
        end = self.functions[index].begin()
        try:
            self.do(inner)
            self.compute(operators)
        finally:
            end()

    def traced(self, inner):
        """Dynamo calls functions of the program to compile them."""
        TRACING.tracing_context = self
        try:
            self.do(inner)
        finally:
            TRACING.tracing_context = None

    def compilation(self):
        _program.stop_following()

    def on_thread(self, inner):
        thread = threading.Thread(target=self.do, args=(inner,))
        thread.start()
        thread.join()

    def backward(self, inner):
        self.compute(1)  # the loss
        self._region("backward", inner)

    def gradients(self, again):
        self.compute(1)
        begun = _program.backward_begins()
        self.observation.returns_gradients(again, ())
        _program.backward_ends(begun)

    def loading(self, inner):
        self._region("loading", inner)

    def closure(self, inner):
        self._region("closure", inner)

    def _region(self, name, inner):
        begun = getattr(_program, f"{name}_begins")()
        try:
            self.do(inner)
        finally:
            getattr(_program, f"{name}_ends")(begun)

    def step(self, optimizer, inner, fails):
        optimizer = self.objects[optimizer]
        _program.optimizer_begins(optimizer)
        try:
            self.do(inner)
            if fails:
                raise OptimizerError
        except OptimizerError:
            _program.optimizer_fails(optimizer)
            raise
        _program.optimizer_ends(optimizer)

    def attempt(self, inner):
        with contextlib.suppress(OptimizerError):
            self.do(inner)

    def scaler(self, optimizer):
        _program.scaler_stepped(self.objects[optimizer])
        _program.scaler_updated()

    def create(self, optimizer):
        self.observation.steps.optimizer_created(self.objects[optimizer])

    def capture(self, inner):
        self.observation.steps.capture_begins()
        self.do(inner)
        self.observation.steps.capture_ends()


class Author:
    """Writes random programs."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.optimizers = ["first", "second", "third"][: self.random.choice((1, 1, 1, 1, 2, 3))]

    def some(self, most):
        return self.random.randrange(most + 1)

    def is_likely(self, probability):
        return self.random.random() < probability

    def forward(self, inner=()):
        if self.is_likely(0.1):
            return ("function", self.some(1), 20, [*inner])
        return ("call", self.random.choice(("model", "model", "other", "graph")), 20, [*inner])

    def backward(self):
        inner = [self.forward() for _ in range(self.some(2))] if self.is_likely(0.2) else []
        if self.is_likely(0.1):
            inner.append(self.update(depth=1))
        if self.is_likely(0.1):
            return ("gradients", self.is_likely(0.5))
        return ("backward", inner)

    def pass_of(self, calls):
        return [*(self.forward() for _ in range(calls)), self.backward()]

    def update(self, depth=0):
        inner = []
        if depth == 0 and self.is_likely(0.3):
            for _ in range(1 + self.some(2)):
                work = self.pass_of(self.some(2)) if self.is_likely(0.7) else [self.forward()]
                inner.append(("closure", work) if self.is_likely(0.8) else work[0])
        if self.is_likely(0.2):
            inner.append(self.update(depth=1) if depth < 2 else self.forward())
        return ("step", self.random.choice([*self.optimizers, "inner"] if depth else self.optimizers), inner, False)

    def failing(self):
        name, optimizer, inner, _ = self.update()
        return ("attempt", [(name, optimizer, inner, True)])

    def aside(self):
        """Something that many steps do not have."""
        kind = self.some(9)
        if kind == 0:
            return ("loading", [self.forward() for _ in range(self.some(1))])
        if kind == 1:
            return ("on_thread", self.pass_of(1))
        if kind == 2:
            return ("traced", [self.forward(), self.backward()])
        if kind == 3:
            return ("scaler", self.random.choice([*self.optimizers, "wrapper"]))
        if kind == 4:
            return ("compilation",)
        if kind == 5:
            return self.failing()
        if kind == 6 and self.is_likely(0.3):
            return ("create", "inner")
        if kind == 7 and self.is_likely(0.3):
            return ("capture", [self.forward(), self.backward()])
        if kind == 8:
            return self.update()
        return self.forward([("loading", [])] if self.is_likely(0.2) else [])

    def iteration(self):
        actions = [("loading", [])] * self.some(2)
        for optimizer in self.optimizers if self.is_likely(0.8) else self.optimizers[:1]:
            for _ in range(1 + self.some(2)):
                actions += self.pass_of(1 + self.some(1))
            name, _, inner, fails = self.update()
            actions.append((name, optimizer, inner, fails))
        if self.is_likely(0.3):
            actions.append(self.aside())
        return actions

    def changed(self, iteration):
        """Deviates at one position."""
        position = self.some(len(iteration))
        kind = self.some(3)
        if kind == 0:
            return iteration[:position] + iteration[position + 1 :]
        if kind == 1:
            return iteration[:position]
        return [*iteration[:position], self.aside(), *iteration[position:]]

    def program(self):
        kinds = [self.iteration() for _ in range(1 + self.some(2))]
        steps = [[("create", each) for each in self.optimizers] if self.is_likely(0.7) else []]
        for _ in range(80):
            step = kinds[0] if self.is_likely(0.7) else self.random.choice(kinds)
            steps.append(self.changed(step) if self.is_likely(0.1) else step)
        return steps


PLAIN = [("loading", []), ("call", "model", 20, []), ("backward", []), ("step", "first", [], False)]
RARE = [
    ("loading", [("call", "model", 20, [])]),
    ("call", "model", 20, [("loading", [])]),
    ("call", "graph", 20, []),
    ("function", 0, 20, []),
    ("backward", [("call", "model", 20, []), ("call", "graph", 20, []), ("backward", [])]),
    ("backward", [("step", "first", [], False)]),
    ("gradients", True),
    ("step", "second", [], False),
    ("step", "first", [("step", "inner", [], False), ("closure", [("call", "model", 20, [])])], False),
    ("step", "second", [("step", "first", [("closure", [("backward", [])])], False)], False),
    ("attempt", [("step", "first", [("call", "model", 20, [])], True)]),
    ("attempt", [("step", "second", [("step", "first", [], True)], False)]),
    ("scaler", "first"),
    ("scaler", "wrapper"),
    ("compilation",),
    ("create", "second"),
    ("capture", [("call", "model", 20, []), ("backward", [])]),
    ("traced", [("call", "model", 20, []), ("backward", [])]),
    ("on_thread", [("call", "model", 20, []), ("backward", []), ("step", "first", [], False)]),
]


class FollowedTest(unittest.TestCase):
    def setUp(self):
        self.objects = {name: Module() for name in ("model", "other", "first", "second", "third", "inner", "wrapper")}
        self.objects["graph"] = GraphModule()

    def execute(self, kind, steps, begins):
        """(number of complete steps after each action, events of the engine), and what observed them."""
        with tempfile.TemporaryDirectory() as folder:
            library = Path(folder) / "kymo"
            library.mkdir()
            (library / "libkymo_engine.so").symlink_to(FAKE_ENGINE)
            with mock.patch.object(_observe, "_LIBRARY", str(library)):
                execution = Execution(kind, self.objects, begins, folder)
                return execution.run(steps), execution.observation

    def check(self, steps, begins):
        """Returns the number of steps whose begin went to Python."""
        (counts, events), followed = self.execute(FollowedObservation, steps, begins)
        (general_counts, general_events), general = self.execute(GeneralObservation, steps, begins)
        self.assertTrue(counts == general_counts)  # a difference of thousands of elements is of no use
        # The phase of a model outside of modules depends on steps whose operators were counted.
        self.assertTrue(events == general_events or general.is_direct)
        return followed.python_steps

    def test_random_programs(self):
        for seed in range(int(os.environ.get("KYMO_SEEDS", "300"))):
            with self.subTest(seed=seed):
                author = Author(seed)
                steps = author.program()
                self.check(steps, [author.some(30), 40 + author.some(20)][: 1 + author.some(1)])

    def test_a_change_at_each_position(self):
        for begins in ([100], [8, 100]):
            for position in range(len(PLAIN) + 1):
                for rare in RARE:
                    with self.subTest(begins=begins, position=position, rare=rare):
                        changed = [*PLAIN[:position], rare, *PLAIN[position:]]
                        once, often = [PLAIN] * 12 + [changed] + [PLAIN] * 4, [PLAIN] * 9 + [changed, PLAIN, PLAIN] * 4
                        self.check(once, begins)
                        self.check(often, begins)
                without = PLAIN[:position] + PLAIN[position + 1 :]
                self.check([PLAIN] * 12 + [without, PLAIN, PLAIN] * 2, begins)

    def test_few_steps_go_to_python(self):
        def is_followed(iteration, steps=60):
            for begins in ([1000], [5, 1000]):
                ends = 5 if len(begins) > 1 else 0  # of windows
                self.assertLess(self.check([iteration(step) for step in range(steps)], begins), 12 + ends)

        is_followed(lambda _: PLAIN)
        micro_batch = PLAIN[:3]
        is_followed(lambda step: micro_batch * (1 + step * step % 7) + PLAIN[3:])  # another number in each step
        is_followed(lambda step: [PLAIN[1]] * (200 * (step % 3)) + PLAIN)  # such as of an environment
        evaluation = [("call", "model", 0, [])] * 3
        is_followed(lambda step: PLAIN + evaluation * (step % 5 == 4))

        def with_closure(step):
            return [("step", "first", [("closure", PLAIN[1:3])] * (1 + step * step % 5), False)]

        is_followed(with_closure)
        is_followed(lambda step: [*PLAIN[:3], *([PLAIN[3]] if step % 4 else []), ("scaler", "first")])

    def test_more_states_than_are_kept(self):
        names = [f"optimizer {number}" for number in range(1500)]
        self.objects |= {name: Module() for name in names}
        inner = [("step", name, [], False) for name in names]
        self.check([PLAIN] * 5 + [[*PLAIN[:3], ("step", "first", inner, False)]] * 4 + [PLAIN] * 4, [100])

    def test_optimizers_that_are_created_anew(self):
        self.check([[("create", "first"), *PLAIN]] * 20, [10])
        self.check([[("create", "inner"), *PLAIN]] * 20, [10])


if __name__ == "__main__":
    unittest.main()
