# SPDX-License-Identifier: Apache-2.0
"""`kymo trace` observes unmodified PyTorch programs: their results, steps, phases and scopes, and how they end."""

import contextlib
import os
import pty
import select
import signal
import subprocess
import time
import unittest
from pathlib import Path

from forked_program import run_forked
from kymo_tool import HANG_S, KYMO, KymoTest, cached_variable, needs_torch_parts
from launcher_tool import free_port

PYTHON = cached_variable("KYMO_TORCH_PYTHON") or "python3"
PROGRAMS = Path(__file__).resolve().parent.parent / "python" / "programs"
TRAIN = PROGRAMS / "train.py"
ENDS = PROGRAMS / "ends.py"
STEPS = 16
PHASES = """SELECT s.phase, count(*), sum(s.calls) FROM sample s WHERE s.pass = 'ops' AND s.warmup = 0
            GROUP BY s.phase"""
# Operators of the measured steps, with their phase and the path of their module.
OPERATORS = """SELECT n.text AS name, o.backward, p.text AS phase, q.text AS path FROM op o
               JOIN string n ON n.string_id = o.name_id LEFT JOIN string p ON p.string_id = o.phase_id
               LEFT JOIN string q ON q.string_id = o.scope_id WHERE o.pass = 'ops' AND o.step >= 3"""


class TraceTest(KymoTest):
    outputs = {}  # of programs without kymo, by their words  # noqa: RUF012

    def setUp(self):
        super().setUp()
        self.environment["KYMO_TEST_LIGHT_TORCH"] = "1"  # read by train.py

    def plain(self, *words, ranks=None):
        """The output of a program without kymo, which has been started `ranks` times, as torchrun does."""
        if words not in self.outputs:
            environments = [self.environment] if ranks is None else self.environments_of(ranks)
            codes, output, errors = run_forked(PYTHON, words, self.work, environments)
            self.assertEqual(set(codes), {0}, errors)
            self.outputs[words] = output
        return self.outputs[words]

    def environments_of(self, ranks):
        job = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port()), "WORLD_SIZE": str(ranks)}
        return [{**self.environment, **job, "RANK": str(rank), "LOCAL_RANK": str(rank)} for rank in range(ranks)]

    def trace(self, *words, options=(), code=0):
        return self.kymo("trace", *options, "--", PYTHON, *words, code=code)

    def outcome(self):
        return self.rows("SELECT status, detail FROM run")[0]

    def measured_steps(self):
        return self.rows("SELECT count(*) FROM sample WHERE phase = 'step' AND warmup = 0")[0][0]

    def calls_per_step(self, rows):
        """Collective calls of two ranks by operation, size, type and phase, which are the same in each of the ten steps
        on each rank."""
        found = {}
        for row in rows:
            key = (row["operation"], row["bytes"], row["dtype"], row["phase"])
            found.setdefault(key, {}).setdefault((row["rank"], row["step"]), 0)
            found[key][row["rank"], row["step"]] += 1
        result = {}
        for key, counts in found.items():
            self.assertEqual((len(counts), len(set(counts.values()))), (20, 1), key)
            result[key] = next(iter(counts.values()))
        return result

    def metric(self, name):
        return {value for (value,) in self.rows("SELECT value FROM metric WHERE name = ?", name)}


@needs_torch_parts
class ProgramsTest(TraceTest):
    """What a program prints, its losses and what it compiled, is the same with and without kymo."""

    def check(self, kind, phases, assumed=()):
        """phases: entries per step, which are the same in each step."""
        expected = self.plain(TRAIN, kind, STEPS)
        done = self.trace(TRAIN, kind, STEPS)
        self.assertEqual(done.stdout, expected)
        self.assertEqual(self.outcome(), ("ok", ""))
        self.assertEqual(self.rows("SELECT source FROM dropped_record WHERE source <> 'device'"), [])
        found = {phase: (steps, calls / steps) for phase, steps, calls in self.rows(PHASES)}
        self.assertEqual(found, {phase: (10, calls) for phase, calls in {"step": 1, "other": 1, **phases}.items()})
        self.assertEqual({reason.split(":")[0] for reason in self.metric("assumed_step_boundary")}, set(assumed))

    def scopes(self):
        """Number of operators by phase, direction and module."""
        found = {}
        for row in self.records(OPERATORS):
            key = (row["phase"], row["backward"], row["path"])
            found[key] = found.get(key, 0) + 1
        return found

    def test_transformer(self):
        self.check("transformer", {"forward": 1, "backward": 1, "optimizer": 1})
        scopes = self.scopes()
        block = {"norm", "attention", "feed_forward", "feed_forward/0", "feed_forward/1", "feed_forward/2"}
        modules = {f"Transformer/layers.{i}/{name}" for i in (0, 1) for name in block}
        modules |= {"Transformer/embedding", "Transformer/head", "Transformer/layers.0", "Transformer/layers.1"}
        forward = {path for phase, backward, path in scopes if phase == "forward" and not backward}
        self.assertEqual(forward - {"Transformer"}, modules - {f"Transformer/layers.{i}/feed_forward" for i in (0, 1)})
        self.assertNotIn(None, forward)  # each operator of the forward phase belongs to a module
        backward = {path for phase, is_backward, path in scopes if phase == "backward" and is_backward}
        self.assertLessEqual(forward - {"Transformer"}, backward)
        # Nodes of the backward pass without a module: those of the loss, and the accumulation of gradients.
        rows = self.records(OPERATORS)
        without = {row["name"] for row in rows if row["backward"] and row["path"] is None}
        self.assertEqual(
            without, {"torch::autograd::AccumulateGrad", "NllLossBackward0", "LogSoftmaxBackward0", "ViewBackward0"}
        )

    def test_recomputed_operators_belong_to_their_modules(self):
        self.check("checkpointed", {"forward": 1, "backward": 1, "optimizer": 1})
        paths = {path for phase, backward, path in self.scopes() if phase == "backward" and not backward}
        self.assertIn("layers.0/norm", {path.removeprefix("Transformer/") for path in paths if path})

    def test_compiled(self):
        self.check("compiled", {"forward": 1, "backward": 1, "optimizer": 1})
        places = {path for phase, backward, path in self.scopes() if phase == "forward" and not backward}
        self.assertEqual(places, {"Transformer"})

    def test_compiled_and_checkpointed(self):
        self.check("compiled_checkpointed", {"forward": 1, "backward": 1, "optimizer": 1})

    def test_autocast(self):
        self.check("autocast", {"forward": 1, "backward": 1, "optimizer": 1})

    def test_accumulated_gradients(self):
        self.check("accumulated", {"forward": 3, "backward": 3, "optimizer": 1})

    def test_two_optimizers(self):
        self.check("gan", {"forward": 5, "backward": 2, "optimizer": 2})

    def test_without_an_optimizer(self):
        self.check("by_hand", {"forward": 1, "backward": 1}, ["assumed"])

    def test_calls_before_the_first_backward_pass(self):
        self.check("contrastive", {"forward": 2, "backward": 1, "optimizer": 1})
        self.assertEqual(self.metric("first_step"), {2})

    def test_calls_before_the_first_backward_pass_without_an_optimizer(self):
        self.check("by_hand_after_calls", {"forward": 5, "backward": 1}, ["assumed"])
        self.assertEqual(self.metric("first_step"), {2})

    def test_inference(self):
        self.check("inference", {"forward": 1}, ["assumed"])

    def test_data_loader(self):
        self.check("loader", {"data_loading": 1, "forward": 1, "backward": 1, "optimizer": 1})

    def test_data_loader_with_forked_workers(self):
        self.check("loader_fork", {"data_loading": 1, "forward": 1, "backward": 1, "optimizer": 1})

    def test_data_loader_with_spawned_workers(self):
        self.check("loader_spawn", {"data_loading": 1, "forward": 1, "backward": 1, "optimizer": 1})

    def test_an_overflow_skips_the_optimizer_but_ends_the_step(self):
        expected = self.plain(TRAIN, "scaled", STEPS)
        self.assertEqual(self.trace(TRAIN, "scaled", STEPS, options=["--steps", "2:8"]).stdout, expected)
        steps = dict(self.rows("SELECT phase, count(*) FROM sample WHERE warmup = 0 GROUP BY phase"))
        self.assertEqual((steps["step"], steps["backward"], steps["optimizer"]), (6, 6, 5))

    def test_an_optimizer_that_calls_the_model(self):
        expected = self.plain(TRAIN, "lbfgs", STEPS)
        self.assertEqual(self.trace(TRAIN, "lbfgs", STEPS, options=["--steps", "1:5"]).stdout, expected)
        self.assertEqual(self.measured_steps(), 4)
        calls = dict(self.rows("SELECT phase, min(calls) FROM sample WHERE warmup = 0 GROUP BY phase"))
        self.assertGreaterEqual(calls["forward"], 1)
        self.assertEqual(calls["forward"], calls["backward"])


@needs_torch_parts
class PassesTest(TraceTest):
    def test_each_pass_starts_the_program(self):
        expected = self.plain(TRAIN, "transformer", STEPS)
        done = self.trace(TRAIN, "transformer", STEPS, options=["--passes", "time,ops,memory"])
        self.assertEqual(done.stdout, 3 * expected)
        self.assertIn("KYMO_PASS", done.stderr)
        self.assertEqual(self.outcome(), ("ok", ""))
        run = self.rows("SELECT workload, timing, passes FROM run")
        self.assertEqual(run, [("train.py", "free", "time,memory,ops")])
        peaks = self.records("SELECT * FROM memory_peak WHERE pass = 'memory'")
        sizes = {name: max(row[f"{name}_bytes"] for row in peaks) for name in ("parameter", "gradient")}
        parameters = 50 * 16 + 16 * 50 + 50 + 2 * (32 + 4 * (16 * 16 + 16) + 2 * 16 * 64 + 64 + 16)
        self.assertEqual(sizes, {"parameter": 4 * parameters, "gradient": 4 * parameters})
        self.assertGreaterEqual(max(row["optimizer_state_bytes"] for row in peaks), 8 * parameters)

    def test_results_appear_like_those_of_other_workloads(self):
        self.trace(TRAIN, "by_hand", STEPS, options=["--passes", "time", "--label", "a"])
        self.assertIn("train.py", self.kymo("runs").stdout)
        shown = self.kymo("show", "1").stdout
        self.assertIn("arguments=by_hand 16", shown)
        self.assertIn("backward", shown)
        # Steps that are not synchronized are not compared with others.
        self.trace(TRAIN, "by_hand", STEPS, options=["--passes", "time", "--label", "b"])
        keys = self.rows("SELECT DISTINCT case_key, timing FROM run")
        self.assertEqual(len(keys), 1)
        self.assertIn("train.py", self.kymo("compare", "a", "b").stdout)

    def test_the_window(self):
        self.trace(TRAIN, "by_hand", STEPS, options=["--steps", "6:9"])
        self.assertEqual(self.measured_steps(), 3)
        self.assertEqual(self.metric("first_step"), {3})

    def test_stop_ends_the_program_after_the_window(self):
        done = self.trace(TRAIN, "by_hand", 1000, options=["--steps", "1:3", "--stop"])
        self.assertEqual(len(done.stdout.splitlines()), 3)
        self.assertEqual(self.measured_steps(), 2)

    def test_rejected_arguments(self):
        for words, message in (
            (["--steps", "5", "--", PYTHON, TRAIN], "FIRST:END"),
            (["--steps", "5:5", "--", PYTHON, TRAIN], "--steps"),
            (["--passes", "verify", "--", PYTHON, TRAIN], "no reference"),
            (["--", PYTHON, "missing.py"], "no script 'missing.py'"),
            (["--", "missing-program"], "no program 'missing-program'"),
        ):
            self.assertIn(message, self.kymo("trace", *words, code=2).stderr)
        self.assertFalse((self.work / "kymo.db").exists())


@needs_torch_parts
class EndsTest(TraceTest):
    """However a program ends, kymo ends in the same way and keeps what was observed, and nothing is left behind."""

    def setUp(self):
        super().setUp()
        self.addCleanup(self.check_nothing_is_left)

    def check_nothing_is_left(self):
        self.assertFalse((self.work / "kymo.db.scratch").exists())

    def check(self, how, code, status, detail, steps, options=()):
        done = self.trace(ENDS, how, options=options, code=code)
        found = self.outcome()
        self.assertEqual(found[0], status, found)
        self.assertIn(detail, found[1])
        self.assertEqual(self.measured_steps(), steps)
        return done

    def test_with_a_status_of_its_own(self):
        self.check("exit", 3, "failed", "exit code 3", 10)

    def test_within_the_window(self):
        self.check("exit_early", 3, "failed", "exit code 3", 2)
        warnings = self.rows("SELECT detail FROM run_warning WHERE kind = 'fewer steps'")
        self.assertEqual(warnings, [("the program ended after 2 of the 10 steps to measure",)])

    def test_without_the_exit_handlers(self):
        self.check("_exit", 5, "failed", "exit code 5", 2)

    def test_with_an_exception(self):
        done = self.check("raise", 1, "failed", "ValueError: bad value (ends.py:", 2)
        self.assertIn("Traceback", done.stderr)

    def test_out_of_memory(self):
        self.check("memory", 1, "oom", "DefaultCPUAllocator", 2)

    def test_before_the_window(self):
        self.check("short", 3, "failed", "the program ended after 1 complete steps, before the first step", 0)

    def test_without_training(self):
        self.check("evaluate", 3, "failed", "created an optimizer, but made no backward pass", 0)

    def test_killed_after_the_window(self):
        self.check("kill", 128 + signal.SIGKILL, "crashed", "signal 9", 10)

    def test_killed_within_the_window(self):
        self.check("kill_early", 128 + signal.SIGKILL, "crashed", "signal 9", 2)

    def test_replaced_by_another_program(self):
        done = self.check("exec", 7, "failed", "exit code 7", 10)
        self.assertEqual(done.stdout, "replaced\n")

    def test_hanging(self):
        began = time.monotonic()
        subprocess.run([PYTHON, "-c", "import torch"], check=True)
        timeout_s = max(20, 10 * (time.monotonic() - began))  # the program must reach its steps in time
        self.check("hang", 128 + signal.SIGKILL, "timeout", "no progress", 2, options=["--timeout", timeout_s])

    def test_forks_are_not_observed(self):
        self.check("fork", 0, "ok", "", 10)

    def test_other_processes_with_models_are_not_observed(self):
        self.check("child", 0, "ok", "", 10)

    def test_detached_processes_are_ended(self):
        self.check("detach", 0, "ok", "", 10)
        kinds = self.rows("SELECT detail FROM run_warning WHERE kind = 'detached processes'")
        self.assertIn("sleep", kinds[0][0])

    def test_much_output(self):
        process = subprocess.Popen(
            [str(KYMO), "trace", "--", PYTHON, str(ENDS), "output"],
            cwd=self.work,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            stdin=subprocess.DEVNULL,
        )
        size = 0
        while block := process.stdout.read(1 << 20):
            size += len(block)
        process.stdout.close()
        self.assertEqual((process.wait(), size), (0, 1 << 30))

    def test_input_is_passed_on(self):
        done = subprocess.run(
            [str(KYMO), "trace", "--", PYTHON, str(ENDS), "input"],
            cwd=self.work,
            env=self.environment,
            input="a line\n",
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertEqual((done.returncode, done.stdout), (0, "a line\n"))

    def test_signals_are_forwarded(self):
        process = subprocess.Popen(
            [str(KYMO), "trace", "--", PYTHON, str(ENDS), "wait"],
            cwd=self.work,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            stdin=subprocess.DEVNULL,
            text=True,
        )
        self.assertEqual(process.stdout.readline(), "ready\n")
        os.kill(process.pid, signal.SIGTERM)
        self.assertEqual(process.stdout.read(), "SIGTERM\n")
        process.stdout.close()
        self.assertEqual(process.wait(), 4)
        self.assertEqual(self.measured_steps(), 10)

    def test_the_keys_of_a_terminal(self):
        pid, terminal = pty.fork()
        if pid == 0:
            os.chdir(self.work)
            os.execve(KYMO, [str(KYMO), "trace", "--", PYTHON, str(ENDS), "wait"], self.environment)
        self.addCleanup(self.close_terminal, pid, terminal)
        self.assertEqual(self.line_of(terminal), "ready")
        os.write(terminal, b"\x1a")  # Ctrl-Z
        self.assertEqual(os.waitpid(pid, os.WUNTRACED)[1], signal.SIGSTOP << 8 | 0x7F)
        os.kill(pid, signal.SIGCONT)  # as the shell does for `fg`, after it has given the terminal to kymo
        os.write(terminal, b"a line\n")
        while self.line_of(terminal) != "a line":  # the echo of the keys comes first
            pass
        os.write(terminal, b"\x03")  # Ctrl-C
        while "SIGINT" not in self.line_of(terminal):
            pass
        with contextlib.suppress(OSError):  # reports the end: the last process has closed the terminal
            while self.read(terminal, 1000):  # what kymo prints would fill the terminal
                pass
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 4)
        self.assertEqual(self.measured_steps(), 10)

    def close_terminal(self, pid, terminal):
        """Ends a kymo that still runs after a failed test: it would write to the folder that the test removes."""
        os.close(terminal)
        with contextlib.suppress(ChildProcessError):  # the test has seen it end
            if os.waitpid(pid, os.WNOHANG) == (0, 0):
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)

    def read(self, terminal, size):
        """Reads from a terminal, but does not wait for a program that hangs."""
        self.assertEqual(select.select([terminal], [], [], HANG_S)[0], [terminal], "nothing was printed")
        return os.read(terminal, size)

    def line_of(self, terminal):
        line = b""
        while not line.endswith(b"\n"):
            line += self.read(terminal, 1)
        return line.decode().strip()

    def test_a_killed_kymo_leaves_no_program(self):
        process = subprocess.Popen(
            [str(KYMO), "trace", "--", PYTHON, str(ENDS), "wait"],
            cwd=self.work,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            stdin=subprocess.DEVNULL,
            text=True,
        )
        self.assertEqual(process.stdout.readline(), "ready\n")
        process.kill()
        process.wait()
        self.assertEqual(process.stdout.read(), "")  # the program held the other end
        process.stdout.close()
        deadline = time.monotonic() + HANG_S
        while self.rows("SELECT status FROM run") == [("running",)] and time.monotonic() < deadline:
            self.kymo("runs")  # imports what the killed kymo left
        self.assertEqual(self.measured_steps(), 10)


@needs_torch_parts
class RanksTest(TraceTest):
    launcher = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", PROGRAMS / "ddp.py")

    def test_ranks_of_torchrun(self):
        expected = self.plain(PROGRAMS / "ddp.py", STEPS, ranks=2)
        done = self.trace(*self.launcher, STEPS)
        self.assertEqual(done.stdout, expected)
        self.assertEqual(self.outcome(), ("ok", ""))
        self.assertEqual(self.rows("SELECT workload, ranks FROM run"), [("ddp.py", 2)])
        steps = self.rows("SELECT rank, count(*) FROM sample WHERE phase = 'step' AND warmup = 0 GROUP BY rank")
        self.assertEqual(steps, [(0, 10), (1, 10)])
        found = {(row["rank"], row["path"]) for row in self.records(OPERATORS.replace("SELECT", "SELECT o.rank,", 1))}
        for rank in (0, 1):
            for module in ("0", "1", "2"):
                self.assertIn((rank, f"DistributedDataParallel/module/{module}"), found)

    def test_a_rank_that_fails(self):
        self.trace(*self.launcher, STEPS, 6, code=1)
        self.assertEqual(self.outcome()[0], "failed")
        self.assertEqual(self.measured_steps(), 20)

    def test_memory_of_ranks(self):
        self.trace(*self.launcher, STEPS, options=["--passes", "memory"])
        self.assertEqual(self.outcome(), ("ok", ""))
        parameters = self.rows("SELECT rank, max(parameter_bytes) FROM memory_peak GROUP BY rank")
        self.assertEqual([rank for rank, _ in parameters], [0, 1])
        self.assertGreater(min(size for _, size in parameters), 4 * (8 * 16 + 16 + 16 + 1) - 1)


@needs_torch_parts
class NothingObservedTest(TraceTest):
    def check(self, reason, *words, code=3):
        self.kymo("trace", "--", *words, code=code)
        status, detail = self.outcome()
        self.assertEqual(status, "failed")
        self.assertIn(reason, detail)

    def test_without_torch(self):
        self.check("never imported torch", PYTHON, "-c", "print(1)")

    def test_without_a_module(self):
        self.check("no process called a torch.nn.Module", PYTHON, "-c", "import torch; torch.ones(2).sum()")

    def test_on_another_thread(self):
        self.check("no process called a torch.nn.Module on its main thread", PYTHON, ENDS, "thread")

    def test_isolated(self):
        self.check("with -S, or with -I or -E", PYTHON, "-I", TRAIN, "by_hand")

    def test_not_python(self):
        self.check("does not run Python", "/bin/echo", "text")

    def test_the_users_sitecustomize_is_imported(self):
        (self.work / "site").mkdir()
        (self.work / "site" / "sitecustomize.py").write_text("print('the user')\n", encoding="utf-8")
        self.environment["PYTHONPATH"] = str(self.work / "site")
        done = self.kymo("trace", "--", PYTHON, "-c", "import sys; print('kymo' in sys.modules, sys.path[1])", code=3)
        self.assertEqual(done.stdout, f"the user\nFalse {self.work / 'site'}\n")


if __name__ == "__main__":
    unittest.main()
