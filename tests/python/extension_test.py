# SPDX-License-Identifier: Apache-2.0
"""The extension with a fake engine, in this process: what the host receives, and that no misuse crashes it."""

import contextlib
import gc
import io
import sys
import threading
import unittest

from fake_host import serve, serve_step
from kymo import _engine


def quiet(test):
    """Discards the tracebacks that kymo prints for failed workloads."""

    def run(self):
        with contextlib.redirect_stderr(io.StringIO()):
            test(self)

    return run


def without_checks(events):
    return [event for event in events if event[0] not in ("ns_per_step", "destroyed", "flushed", "ended")]


class Reports(unittest.TestCase):
    def events(self, step, **script):
        events = serve_step(step, **script)
        self.assertIn(("ended", "step", "0"), events)
        return without_checks(events)

    def test_phases_with_their_streams(self):
        class Stream:
            cuda_stream = 7

        def step(run):
            forward = run.phase("forward")
            for phase in (forward, run.phase("backward", 9), run.phase("forward", stream=Stream()), forward):
                with phase as entered:
                    assert entered is phase
            assert forward.name == "forward"

        found = [event[1:] for event in self.events(step) if event[0] == "phase_begin"]
        self.assertEqual(found, [("forward", "0"), ("backward", "9"), ("forward", "7"), ("forward", "0")])

    def test_scopes_that_nest_on_any_thread(self):
        def step(run):
            scope = run.scope("é")
            with run.scope("outer"), scope, scope:
                pass
            with run.phase("forward"):
                thread = threading.Thread(target=use, args=(run,))
                thread.start()
                thread.join()

        def use(run):
            with run.scope("thread"):
                run.mark("here")

        begin = [("scope_begin", each) for each in ("outer", "é", "é")]
        in_phase = [("phase_begin", "forward", "0"), ("scope_begin", "thread"), ("mark", "here"), ("scope_end",)]
        self.assertEqual(self.events(step, observe=1), [*begin, *[("scope_end",)] * 3, *in_phase, ("phase_end",)])

    def test_everything_else(self):
        def step(run):
            run.work("forward", 1e9, 4)
            run.operator_work("mylib::scale", 3, 4, "")
            run.operator_work("mylib::scale", 5, 6, "f32[7]")
            run.metric(_engine.PER_STEP, "m", 2, "ms")
            run.metric(_engine.PER_RUN, "t", "text", "")
            run.mark("m")
            run.tag(4096, 8, _engine.MEMORY_CATEGORIES["gradient"])
            run.log(_engine.LOG_WARNING, "w")
            for stream, communicator, sequence in ((None, None, None), (0, "tp", None), (5, "tp", 3)):
                with run.collective(_engine.ALL_GATHER, 16, stream, communicator, sequence):
                    pass

        self.assertEqual(
            self.events(step, observe=1),
            [
                ("work", "forward", "1e+09", "4"),
                ("operator_work", "mylib::scale", "-", "3", "4"),
                ("operator_work", "mylib::scale", "f32[7]", "5", "6"),
                ("metric", "1", "m", "2", "ms"),
                ("metric_text", "0", "t", "text"),
                ("mark", "m"),
                ("tag", "4096", "8", "2"),
                ("log", "2", "w"),
                ("collective_begin", "3", "16", "0", "-", "-1"),
                ("collective_end", "42"),
                ("collective_begin", "3", "16", "1", "tp", "-1"),
                ("collective_end", "42"),
                ("collective_begin", "3", "16", "5", "tp", "3"),
                ("collective_end", "42"),
            ],
        )

    def test_nothing_through_functions_that_the_host_leaves_out(self):
        def step(run):
            with run.phase("forward"), run.scope("s"), run.collective(_engine.BARRIER, 0, None, None, None):
                run.work("forward", 1, 1)
                run.operator_work("a::b", 1, 1, "")
                run.tag(1, 1, 1)
            assert not run.records_tags

        self.assertEqual(self.events(step, untimed=1), [])

    def test_parameters_with_their_types(self):
        def step(run):
            values = [run.parameter(name) for name in "irbc"]
            assert values == [-3, 0.5, True, "a b"], values
            assert [type(value) for value in values] == [int, float, bool, str]

        self.events(step, parameter=["i int -3", "r real 0.5", "b bool true", "c choice a b"])

    def test_the_placement(self):
        def step(run):
            found = (run.rank, run.world_size, run.local_rank, run.device, run.device_index)
            assert found == (3, 8, 3, "cuda", 5), found
            assert (run.rendezvous_host, run.rendezvous_port, run.seed) == ("localhost", 29500, (1 << 64) - 1)
            assert run.cancelled is True

        self.events(step, rank=3, world_size=8, device_index=5, rendezvous_port=29500, cancelled=1)

    def test_gathered_bytes(self):
        def step(run):
            assert run.all_gather_bytes(b"a\0b") == b"a\0b" * 3
            assert run.all_gather_bytes(b"") == b""

        self.assertEqual(self.events(step, world_size=3), [("all_gather", "3"), ("all_gather", "0")])
        self.assertEqual(self.events(lambda run: run.all_gather_bytes(b"a")), [])


class Misuse(unittest.TestCase):
    def check(self, step, expected, **script):
        """The step fails with an exception whose text begins with `expected`."""
        failed = [event for event in serve_step(step, **script) if event[0] == "fail"]
        self.assertEqual(len(failed), 1, failed)
        self.assertEqual(failed[0][:2], ("fail", "1"))
        self.assertTrue(failed[0][2].startswith(expected), failed[0][2])
        self.assertRegex(failed[0][2], r" \(extension_test.py:\d+\)$")

    @quiet
    def test_of_phases_raises(self):
        def twice(run):
            phase = run.phase("forward")
            with phase, phase:
                pass

        def nested(run):
            with run.phase("forward"), run.phase("backward"):
                pass

        def unopened(run):
            run.phase("forward").__exit__(None, None, None)

        def on_thread(run):
            errors = []

            def use():
                try:
                    with run.phase("forward"):
                        pass
                except RuntimeError as error:
                    errors.append(error)

            thread = threading.Thread(target=use)
            thread.start()
            thread.join()
            raise errors[0]

        self.check(twice, "RuntimeError: phase 'forward' is already open: phases do not nest")
        self.check(nested, "RuntimeError: phase 'backward' was rejected: declare it in `phases`")
        self.check(unopened, "RuntimeError: phase 'forward' is not open")
        self.check(on_thread, "RuntimeError: phases can only be used on the thread that runs the workload")

    @quiet
    def test_of_types_and_values_raises(self):
        for call, expected in {
            "run.phase()": "TypeError: phase() takes a name and, optionally, a stream",
            "run.phase('a', None, 1)": "TypeError: phase() takes a name and, optionally, a stream",
            "run.phase('a', streams=1)": "TypeError: phase() takes a name and, optionally, a stream",
            "run.phase([])": "TypeError: the name of a phase must be a str",
            "run.phase(1)": "TypeError: the name of a phase must be a str, not <class 'int'>",
            "run.phase('a\\0b')": "ValueError: the name of a phase must not contain a null character",
            "run.phase('\\udc80')": "UnicodeEncodeError",
            "run.phase('a', 'stream')": "TypeError: a stream must be None, a torch.cuda.Stream or the integer handle",
            "run.phase('a', -1 << 80)": "TypeError: a stream must be None, a torch.cuda.Stream or the integer handle",
            "run.scope(None)": "TypeError: the name of a scope must be a str",
            "run.mark(b'a')": "TypeError: the name of a mark must be a str",
            "run.work('forward', 'x', 1)": "TypeError: must be real number, not str",
            "run.operator_work(1, 1, 1, '')": "TypeError: the name of an operator must be a str",
            "run.operator_work('a', 1, 1, None)": "TypeError: the arguments of an operator must be a str",
            "run.metric(0, 'm', None, '')": "TypeError: must be real number, not NoneType",
            "run.metric(0, 'm', 1, None)": "TypeError: the unit of a metric must be a str",
            "run.tag(-1, 1, 1)": "",
            "run.tag('a', 1, 1)": "TypeError",
            "run.log(1, 2)": "TypeError: a log message must be a str",
            "run.parameter('absent')": "KeyError: \"the run has no parameter 'absent'\"",
            "run.all_gather_bytes('text')": "TypeError: expected bytes, str found",
            "run.collective(1, 1, None, 1, None)": "TypeError: the name of a communicator must be a str",
            "run.collective(1, 1, None, None, -1)": "OverflowError",
            "type(run)()": "TypeError: cannot create 'kymo._engine.Run' instances",
            "type(run.phase('forward'))()": "TypeError: cannot create 'kymo._engine.Phase' instances",
            "type('Sub', (type(run),), {})": "TypeError: type 'kymo._engine.Run' is not an acceptable base type",
            "run.attribute": "AttributeError",
            "setattr(run, 'rank', 1)": "AttributeError",
        }.items():
            with self.subTest(call):
                if expected:
                    self.check(lambda run, call=call: eval(call), expected)
                else:
                    serve_step(lambda run, call=call: eval(call), observe=1)

    @quiet
    def test_of_a_missing_rank_raises(self):
        expected = "RuntimeError: all_gather failed: another rank ended or did not call it"
        self.check(lambda run: run.all_gather_bytes(b"a"), expected, world_size=2, cancelled=1)

    def test_after_the_end_raises(self):
        kept = {}

        def step(run):
            kept.update(run=run, phase=run.phase("forward"), scope=run.scope("s"), parameter=run.parameter)
            kept["collective"] = run.collective(1, 1, None, None, None)
            kept["entered"], kept["in"] = run.phase("backward"), run.scope("t")
            kept["in"].__enter__()
            kept["entered"].__enter__()

        serve_step(step, observe=1)
        run = kept["run"]
        for use in (
            lambda: run.phase("forward"),
            lambda: run.scope("s"),
            lambda: run.mark("m"),
            lambda: run.work("forward", 1, 1),
            lambda: run.operator_work("a::b", 1, 1, ""),
            lambda: run.metric(0, "m", 1, ""),
            lambda: run.tag(1, 1, 1),
            lambda: run.log(1, "m"),
            lambda: run.all_gather_bytes(b""),
            lambda: run.collective(1, 1, None, None, None),
            lambda: kept["parameter"]("n"),
            kept["phase"].__enter__,
            kept["scope"].__enter__,
            kept["collective"].__enter__,
        ):
            self.assertRaisesRegex(RuntimeError, "this run has ended", use)
        self.assertEqual((run.rank, run.device, run.cancelled, run.records_tags), (0, "cpu", True, False))
        for open_one in (kept["entered"], kept["in"], kept["collective"]):  # a generator that is closed late
            self.assertFalse(open_one.__exit__(None, None, None))

    def test_of_generators_does_no_harm(self):
        def phases(run):
            with run.phase("forward"), run.scope("s"):
                yield

        def step(run):
            generator = phases(run)
            next(generator)
            generators.append(generator)

        generators = []
        self.assertIn(("phase_left_open",), serve_step(step, observe=1))
        generators.pop().close()

    def test_of_serve_raises(self):
        self.assertRaises(TypeError, _engine.serve)
        absent = ("/absent.so", "", "", 0, "", 0, None, None, None)
        self.assertRaisesRegex(OSError, "the worker engine cannot be loaded: /absent.so", _engine.serve, *absent)
        other = (_engine.__file__, *absent[1:])
        self.assertRaisesRegex(OSError, "undefined symbol: kymo_engine_v1", _engine.serve, *other)

        def again(run):
            self.assertRaisesRegex(RuntimeError, "already running", serve, lambda *_: None)

        self.assertIn(("ended", "step", "0"), serve_step(again))


class Exceptions(unittest.TestCase):
    def test_in_a_phase_leave_it_to_the_failed_step(self):
        def fails(run):
            with run.phase("forward"):
                raise ValueError("x")

        def handles(run):
            for _ in range(2):
                with contextlib.suppress(ValueError):
                    fails(run)
            with contextlib.suppress(ValueError):
                fails(run)

        with contextlib.redirect_stderr(io.StringIO()):
            failed = serve_step(fails)
        self.assertIn(("failed_in_phase", "1"), failed)
        self.assertNotIn(("phase_end",), failed)
        handled = [event[0] for event in without_checks(serve_step(handles))]
        self.assertEqual(handled, ["phase_begin", "phase_end"] * 3)

    def test_of_every_function_reach_the_host(self):
        class Refuses(BaseException):
            pass

        def load(*_):
            return "", (("w", (), 0, 1, (), factory),)

        def fail(*_):
            raise Refuses("no")

        def nothing():
            return ()

        for stage in ("create", "prepare", "before_step", "step", "verify", "close"):
            functions = {
                each: fail if each == stage else nothing for each in ("before_step", "step", "verify", "close")
            }

            def factory(run, stage=stage, functions=functions):
                prepare = fail if stage == "prepare" else None
                return fail() if stage == "create" else (prepare, *functions.values(), False)

            code, events = serve(load, lambda error: (1, f"{type(error).__name__}: {error}"), verify=1)
            if stage == "close":
                self.assertEqual(code, 0)
                self.assertIn(("log", "3", "Refuses: no"), events)
            else:
                self.assertIn(("fail", "1", "Refuses: no"), events)
                self.assertIn(("ended", "step" if stage == "before_step" else stage, "1"), events)

    def test_of_load_are_reported(self):
        def load(*_):
            raise OSError("no file")

        _, events = serve(load, lambda error: (1, f"reported {error}"))
        self.assertIn(("load_failed", "reported no file"), events)

    def test_of_the_reporting_function_and_of_flush_are_survived(self):
        def load(*_):
            raise OSError("no file")

        def fail(*_):
            raise SystemExit(3)

        for report in (fail, lambda error: None, lambda error: ("a", 1), lambda error: (1, "\udc80"), None):
            if report is not None:
                _, events = serve(load, report, fail)
                self.assertIn(("load_failed", "an exception whose description failed"), events)

    def test_statuses_are_those_of_the_reporting_function(self):
        for status, event in ((1, "fail"), (2, "fail"), (3, "skip")):
            workload = ("w", (), 0, 1, (), lambda run: None)
            _, events = serve(lambda *_, w=workload: ("", (w,)), lambda error, s=status: (s, "why"))
            self.assertIn(("ended", "create", str(status)), events)
            self.assertEqual([each[-1] for each in events if each[0] == event], ["why"])


class Tables(unittest.TestCase):
    def test_contain_what_load_returned(self):
        parameters = (("n", _engine.INT), ("d", _engine.CHOICE))
        workloads = tuple(
            (
                f"w{i}",
                ("forward", "backward"),
                i,
                3,
                parameters,
                lambda run, i=i: (None, None, lambda: ran.append(i)) + last,
            )
            for i in range(300)
        )
        last, ran = (None, None, True), []
        for index in (0, 1, 299):
            _, events = serve(lambda file, description: ("libtorch", workloads), workload=index)
            self.assertIn(("plugin", "python", "libtorch", "300"), events)
            first = events.index(("workload", f"w{index}", str(index), "3"))
            names = [event[:2] for event in events[first + 1 : first + 5]]
            self.assertEqual(
                names, [("phase", "forward"), ("phase", "backward"), ("parameter", "n"), ("parameter", "d")]
            )
            self.assertIn(("destroyed", str(index | 2)), events)  # the workload's phases are optional
        self.assertEqual(ran, [0, 1, 299])

    @quiet
    def test_of_a_wrong_form_are_rejected(self):
        good = ("w", (), 0, 1, (), print)
        for answer, expected in (
            (None, "SystemError"),
            (("",), "TypeError: function takes exactly 2 arguments"),
            (("", [good]), "TypeError: argument 2 must be tuple"),
            (("", (good[:5],)), "TypeError: function takes exactly 6 arguments"),
            (("", (("w", (1,), 0, 1, (), print),)), "TypeError: the name of a phase must be a str"),
            (("", (("w", (), 0, 1, (("n",),), print),)), "TypeError: function takes exactly 2 arguments"),
            (("", (("w\0", (), 0, 1, (), print),)), "ValueError: embedded null character"),
        ):
            with self.subTest(answer):
                _, events = serve(lambda *_, a=answer: a)
                self.assertTrue(events[-1][1].startswith(expected), events)

    @quiet
    def test_functions_of_a_wrong_form_fail_the_run(self):
        for factory, verify in (
            (lambda run: (1, 2), 0),
            (lambda run: (None, None, 5, None, None, False), 0),
            (lambda run: (lambda: 5, None, print, None, None, False), 0),
            (lambda run: (lambda: (1, 2), None, print, None, None, False), 0),
            (lambda run: (None, None, print, list, None, False), 1),
            (lambda run: (None, None, print, lambda: (1,), None, False), 1),
            (lambda run: (None, None, print, lambda: (("a", 1),), None, False), 1),
        ):
            workload = ("w", (), 0, 1, (), factory)
            code, events = serve(lambda *_, w=workload: ("", (w,)), verify=verify)
            self.assertEqual(code, 1, events)

    def test_checks_reach_the_host(self):
        checks = (("a", 1, "r", "d", 0.5, 0.25, 1e-3), ("b", 3, "", "é", float("nan"), float("inf"), 0))
        workload = ("w", (), 0, 1, (), lambda run: (None, None, print, lambda: checks, None, False))
        _, events = serve(lambda *_: ("", (workload,)), verify=1, steps=0)
        found = [event[1:] for event in events if event[0] == "check"]
        self.assertEqual(found, [("a", "1", "r", "d", "0.5", "0.25", "0.001"), ("b", "3", "", "é", "nan", "inf", "0")])


class Memory(unittest.TestCase):
    def test_is_not_leaked(self):
        def step(run):
            phase = run.phase("forward")
            with phase, run.scope("s"), run.collective(_engine.BARRIER, 1, 5, "c", 3):
                run.parameter("n")
            with contextlib.suppress(RuntimeError):
                phase.__exit__(None, None, None)

        def blocks(steps):
            serve_step(step, steps=steps, quiet=1, parameter=["n int 300"])
            gc.collect()
            return sys.getallocatedblocks()

        blocks(10)
        before = blocks(10)
        self.assertLess(blocks(100_000) - before, 1000)

    def test_of_an_instance_is_freed_when_it_is_destroyed(self):
        class Big:
            def __init__(self):
                self.itself = self  # a cycle

            def __del__(self):
                freed.append(gc.isenabled())

        def factory(run):
            big = Big()
            return None, None, lambda: big, None, None, False

        freed = []
        self.addCleanup(gc.enable)
        for change in (gc.enable, gc.disable):  # as a workload may do
            change()
            serve(lambda *_: ("", (("w", (), 0, 1, (), factory),)), assignments=3)
            self.assertEqual(gc.isenabled(), change is gc.enable)
        self.assertEqual(len(freed), 6)


if __name__ == "__main__":
    unittest.main()
