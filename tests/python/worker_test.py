# SPDX-License-Identifier: Apache-2.0
"""Workloads of Python files in worker processes with a fake engine."""

import concurrent.futures
import os
import socket
import tempfile
import unittest
from pathlib import Path

from fake_host import needs_torch, run_file, script_of, start, write_file

PROGRAMS = Path(__file__).resolve().parent / "programs"

CLASS = """
import kymo

class Sum(kymo.Workload):
    n = kymo.Int(5)
    scale = kymo.Real(0.5)
    fast = kymo.Bool(True)
    dtype = kymo.Choice("fp32", ("fp32", "bf16"))
    phases = ("forward",)
    def __init__(self):
        self.doubled = 2 * self.n
    def prepare(self, run):
        run.log(f"{self.n} {self.scale} {self.fast} {self.dtype} {self.doubled}")
        assert run.parameters == {"n": 5, "scale": 0.5, "fast": True, "dtype": "fp32"}, run.parameters
        self.forward = run.phase("forward")
        self.steps = 0
    def before_step(self, run):
        run.mark("before")
    def step(self, run):
        with self.forward:
            self.steps += 1
    def verify(self, run):
        return kymo.Verification().compare("sum", "list", [1.0, 2.0], (1, 2.5), 1e-3)
"""


def fails(method, statement, before=""):
    """The source of a workload with one method that contains one statement, on line 4."""
    return f"import kymo\nclass A(kymo.Workload):\n  def {method}:\n    {statement}\n" + (
        "" if method.startswith("step") else "  def step(self, run): pass\n"
    )


class Workloads(unittest.TestCase):
    def test_that_are_classes_run(self):
        found = run_file(CLASS, steps=2, verify=1)
        self.assertEqual((found.code, found.errors), (0, ""))
        self.assertEqual(found.of("log"), [("log", "1", "5 0.5 True fp32 10")])
        self.assertEqual(
            [event[0] for event in found.of("mark", "phase_begin", "phase_end")],
            ["mark", "phase_begin", "phase_end"] * 2,
        )
        detail = "1 of 2 elements differ; the worst is [1] = 2, expected 2.5"
        self.assertEqual(found.of("check"), [("check", "sum", "2", "list", detail, "0.5", "0.2", "0.001")])
        self.assertEqual(
            found.of("parameter"),
            [("parameter", *each) for each in (("n", "1"), ("scale", "2"), ("fast", "3"), ("dtype", "5"))],
        )
        self.assertIn(("workload", "sum", "0", "1"), found.events)

    def test_that_are_functions_run(self):
        for body, marks, reference in (
            ("return lambda: run.mark(f'step {n}')", ["step 7"], "the workload has no reference"),
            ("return lambda: run.mark('s'), lambda: kymo.Verification().check('c', 'r', True, 'fine')", ["s"], "fine"),
            (
                "return {'step': lambda: None, 'before_step': lambda: run.mark('b'), 'verify': None}",
                ["b"],
                "the workload has no reference",
            ),
        ):
            source = f"import kymo\n@kymo.workload(optional_phases=True)\ndef f(run, n: int = 7):\n  {body}\n"
            found = run_file(source, verify=1)
            self.assertEqual(found.code, 0, found.errors)
            self.assertEqual([event[1] for event in found.of("mark")], marks)
            self.assertEqual(found.of("check")[0][4], reference)
            self.assertEqual(found.of("destroyed"), [("destroyed", "2")])

    def test_get_another_instance_for_each_pass(self):
        source = CLASS.replace(
            "self.steps += 1", "self.steps += 1; assert self.steps == 1; print('imported', imported)"
        )
        found = run_file("print('import')\nimported = object()\n" + source, assignments=3)
        self.assertEqual(found.code, 0, found.errors)
        lines = found.output.splitlines()
        self.assertEqual((len(lines), lines.count("import"), len(set(lines))), (4, 1, 2))

    def test_are_imported_after_the_table_was_read(self):
        found = run_file("import kymo\n" + fails("prepare(self, run)", "pass") + "raise_ = kymo.Skip\n", edit=None)
        self.assertEqual(found.code, 0)
        found = run_file(CLASS, edit=lambda file: file.write_text(CLASS + "\n"))
        self.assertIn(("workload", "sum", "0", "1"), found.events)
        (event,) = found.of("fail")
        self.assertRegex(event[2], r"^/.*my_kernel\.py changed since it was described; run again$")
        self.assertIn(("ended", "create", "1"), found.events)

    def test_on_a_gpu_get_its_name(self):
        body = "self.n = run.log(f'{run.device} {run.device_index} {run.rendezvous}')"
        found = run_file(fails("prepare(self, run)", body), device_index=1, rendezvous_port=5)
        self.assertEqual(found.of("log"), [("log", "1", "cuda:1 1 Rendezvous(host='localhost', port=5)")])


class Failures(unittest.TestCase):
    def check(self, source, stage, status, message, **script):
        found = run_file(source, verify=1, **script)
        kind = "skip" if status == 3 else "fail"
        expected = [(kind, message)] if status == 3 else [(kind, str(status), message)]
        self.assertEqual(found.of("fail", "skip"), expected, found.errors)
        self.assertIn(("ended", stage, str(status)), found.events)
        self.assertEqual(found.code, status)
        self.assertEqual("Traceback (most recent call last)" in found.errors, status != 3)

    def test_of_every_method_have_type_text_file_and_line(self):
        for method, stage, statement, message in (
            ("__init__(self)", "create", "assert not self", "AssertionError"),
            ("prepare(self, run)", "prepare", "1 / 0", "ZeroDivisionError: division by zero"),
            ("verify(self, run)", "verify", "raise KeyboardInterrupt", "KeyboardInterrupt"),
            ("before_step(self, run)", "step", "raise GeneratorExit('x')", "GeneratorExit: x"),
            ("step(self, run)", "step", "raise SystemExit(3)", "SystemExit: 3"),
            (
                "step(self, run)",
                "step",
                "run.phase(1)",
                "TypeError: the name of a phase must be a str, not <class 'int'>",
            ),
        ):
            with self.subTest(f"{method} {statement}"):
                self.check(fails(method, statement), stage, 1, f"{message} (my_kernel.py:4)")

    def test_have_the_status_of_their_kind(self):
        for statement, status, message in (
            ("raise kymo.Skip('no GPU')", 3, "no GPU"),
            ("run.skip('too small')", 3, "too small"),
            ("\n    try: run.skip('x')\n    except Exception: pass", 3, "x"),
            ("raise kymo.Skip", 3, "the workload skipped without a reason"),
            ("raise MemoryError('all')", 2, "MemoryError: all (my_kernel.py:4)"),
            ("bytearray(1 << 62)", 2, "MemoryError (my_kernel.py:4)"),
            ("raise ValueError('x') from MemoryError('all')", 2, "ValueError: x (my_kernel.py:4)"),
            (
                'raise RuntimeError("DefaultCPUAllocator: can\'t allocate memory: 9 bytes")',
                2,
                "RuntimeError: DefaultCPUAllocator: can't allocate memory: 9 bytes (my_kernel.py:4)",
            ),
        ):
            with self.subTest(statement):
                self.check(fails("prepare(self, run)", statement), "prepare", status, message)

    @needs_torch
    def test_of_torch_are_out_of_memory(self):
        source = """
            import kymo
            @kymo.workload
            def host(run):
                import torch
                torch.empty(1 << 60)
            @kymo.workload
            def device(run):
                import torch
                raise torch.OutOfMemoryError('CUDA out of memory')
        """
        for workload, message in (
            (0, "RuntimeError: .*DefaultCPUAllocator: can't allocate memory.* \\(my_kernel.py:6\\)"),
            (1, "OutOfMemoryError: CUDA out of memory \\(my_kernel.py:10\\)"),
        ):
            (event,) = run_file(source, workload=workload).of("fail")
            self.assertEqual(event[1], "2")
            self.assertRegex(event[2], f"^{message}$")

    def test_of_declarations_in_functions_are_reported(self):
        for body, message in (
            ("pass", "TypeError: workload 'f' must return step, (step, verify) or a mapping"),
            ("return {'verify': print}", "TypeError: workload 'f' must return step, (step, verify) or a mapping"),
            ("return {'step': print, 'steps': print}", "TypeError: workload 'f' must return step, (step, verify) or"),
            ("return 1, 2", "TypeError: workload 'f': step must be a function, not 1"),
            (
                "return lambda x: 1",
                "TypeError: step() of workload 'f' must accept (): missing a required argument: 'x'",
            ),
            ("\n  def step(): yield\n  return step", "TypeError: step() of workload 'f' must be a plain function"),
        ):
            found = run_file(f"import kymo\n@kymo.workload\ndef f(run):\n  {body}\n")
            self.assertTrue(found.of("fail")[0][2].startswith(message), found.of("fail"))

    def test_of_verify_are_reported(self):
        source = fails("verify(self, run)", "return True")
        found = run_file(source, verify=1)
        self.assertRegex(
            found.of("fail")[0][2], r"^TypeError: verify\(\) must return a kymo.Verification, such as .*, not bool"
        )
        found = run_file(fails("verify(self, run)", "return kymo.Verification()"), verify=1)
        self.assertEqual(found.of("check")[0][:5], ("check", "reference", "3", "", "verify() returned no checks"))

    def test_of_the_import_end_the_run(self):
        source = "import faulthandler, kymo\nif faulthandler.is_enabled(): raise OSError('later')\n"  # only in workers
        self.check(source + CLASS, "create", 1, "OSError: later (my_kernel.py:2)")

    def test_in_threads_leave_the_run_alone(self):
        statement = "import threading; t = threading.Thread(target=lambda: 1 / 0); t.start(); t.join()"
        found = run_file(fails("step(self, run)", statement))
        self.assertEqual(found.code, 0)
        self.assertIn("ZeroDivisionError", found.errors)

    def test_of_the_process_leave_what_was_printed(self):
        for statement, code in (("os._exit(7)", 7), ("os.kill(os.getpid(), 11)", -11)):
            found = run_file(fails("step(self, run)", f"import os; print('before'); {statement}"))
            self.assertEqual((found.code, found.output), (code, "before\n"))
        self.assertIn('my_kernel.py", line 4 in step', found.errors)


class Process(unittest.TestCase):
    def test_flushes_streams_that_the_workload_closed(self):
        for statement in ("sys.stdout.close()", "os.close(1)", "sys.stdout = sys.stderr = None", "os.chdir('/')"):
            found = run_file(fails("step(self, run)", f"import os, sys; print('a', end=''); {statement}"))
            self.assertEqual(found.code, 0, found.errors)
            self.assertIn(("flushed",), found.events)

    def test_ends_although_the_workload_holds_it(self):
        for statement in (
            "import threading, time; threading.Thread(target=time.sleep, args=(1000,)).start()",
            "import atexit, time; atexit.register(time.sleep, 1000)",
        ):
            self.assertEqual(run_file(fails("step(self, run)", statement)).code, 0)

    def test_that_the_workload_forks_is_no_second_worker(self):
        statement = "import os; pid = os.fork(); pid and run.log(str(os.waitpid(pid, 0)[1]))"
        found = run_file(fails("step(self, run)", statement))
        self.assertEqual(found.of("log"), [("log", "1", "256")])
        self.assertEqual(len(found.of("ended")), 1)
        self.assertIn("a process that the workload forked returned", found.errors)

    def test_lets_the_workload_use_multiprocessing(self):
        source = """
            import kymo, multiprocessing
            def double(x): return 2 * x
            @kymo.workload
            def f(run):
                for method in ("fork", "spawn", "forkserver"):
                    with multiprocessing.get_context(method).Pool(1) as pool:
                        run.log(str(pool.map(double, [1, 2])))
                return lambda: None
        """
        found = run_file(source)
        self.assertEqual(found.of("log"), [("log", "1", "[2, 4]")] * 3, found.errors)

    def test_hides_its_token(self):
        found = run_file(fails("step(self, run)", "import os; run.log(str('KYMO_WORKER_TOKEN' in os.environ))"))
        self.assertEqual(found.of("log"), [("log", "1", "False")])

    def test_reports_a_missing_engine(self):
        with tempfile.TemporaryDirectory() as folder:
            start(folder, ["describe", "absent"])
            os.unlink(f"{folder}/root/lib/kymo/libkymo_engine.so")
            done = start(folder, ["worker", "--connect", "a", "--rank", "0"])
            self.assertEqual(done.returncode, 1)
            self.assertIn("libkymo_engine.so: cannot open shared object file", done.stderr)

    def test_loads_torch_before_the_workload_is_created(self):
        with tempfile.TemporaryDirectory() as folder:
            file = write_file(folder, CLASS)
            description = '{"sha256": "", "framework": "libtorch", "workloads": []}'
            (write_file(folder, "raise SystemError('loaded')", "torch.py"))
            token = script_of({"file": file, "description": description})
            done = start(
                folder,
                ["worker", "--connect", f"{folder}/events", "--rank", "0"],
                KYMO_WORKER_TOKEN=token,
                PYTHONPATH=folder,
            )
            with open(f"{folder}/events", encoding="utf-8") as events:
                self.assertIn("load_failed\tSystemError: loaded", events.read(), done.stderr)


class Reports(unittest.TestCase):
    def check(self, statement, expected, **script):
        found = run_file(fails("prepare(self, run)", statement), **{"observe": 1, **script})
        events = found.of("metric", "metric_text", "tag", "collective_begin", "log", "fail", "skip")
        self.assertEqual(events, expected, found.errors)

    def test_metrics_and_levels(self):
        self.check(
            "run.metric('a', True); run.metric('b', 1.5, 'ms', per='phase')",
            [("metric", "0", "a", "1", ""), ("metric", "2", "b", "1.5", "ms")],
        )
        self.check("run.metric('a', 'text', per='step')", [("metric_text", "1", "a", "text")])
        self.check("run.log('m', 'error')", [("log", "3", "m")])
        message = "ValueError: per must be one of 'run', 'step', 'phase', not 'epoch' (my_kernel.py:4)"
        self.check("run.metric('a', 1, per='epoch')", [("fail", "1", message)])
        message = "ValueError: metric 'a': the textual value 'b' cannot have the unit 'ms' (my_kernel.py:4)"
        self.check("run.metric('a', 'b', 'ms')", [("fail", "1", message)])

    def test_gathered_objects(self):
        self.check("run.log(str(run.all_gather({'a': [1, None]})))", [("log", "1", "[{'a': [1, None]}]")])
        statement = "run.log(str(run.all_gather('x' * 3)))"
        self.check(statement, [("log", "1", "['xxx', 'xxx']")], world_size=2)

    def test_collectives(self):
        statement = "\n    with run.collective('broadcast', 64, communicator='tp', sequence=4): pass"
        self.check(statement, [("collective_begin", "4", "64", "0", "tp", "4")])
        message = "ValueError: a collective operation must be one of 'all_reduce', 'reduce_scatter', 'all_gather', "
        self.check(
            "run.collective('reduce', 64)",
            [("fail", "1", message + "'broadcast', 'barrier', not 'reduce' (my_kernel.py:4)")],
        )

    @needs_torch
    def test_tags_of_tensors_and_modules(self):
        source = f"""
            import kymo, sys
            class A(kymo.Workload):
                def prepare(self, run):
                    global torch
                    import torch
                    sys.path.append({str(PROGRAMS)!r})
                    import light_torch  # optimizers do not import Dynamo
                    run.tag(torch.zeros(3), "input")
                    run.tag(None, "input")
                    run.tag(torch.zeros(0), "input")
                    run.tag(torch.zeros(3, device="meta"), "input")
                    self.net = torch.nn.Linear(2, 3)
                    self.optimizer = torch.optim.SGD(self.net.parameters(), lr=1, momentum=0.5)
                    run.tag_module(self.net, self.optimizer)
                def step(self, run):
                    self.net(torch.ones(1, 2)).sum().backward()
                    self.optimizer.step()
                    run.metric("finite", torch.tensor(2.0))
                    with run.collective("all_reduce", torch.zeros(4)): pass
        """
        found = run_file(source, observe=1, steps=2)
        self.assertEqual(found.code, 0, found.errors)
        tags = [event[2:] for event in found.of("tag")]
        step = [("24", "2"), ("12", "2"), ("24", "3"), ("12", "3")]  # gradients, optimizer state
        self.assertEqual(tags[:3], [("12", "6"), ("24", "1"), ("12", "1")])
        self.assertEqual([sorted(tags[3:7]), sorted(tags[7:])], [sorted(step)] * 2)
        self.assertEqual(found.of("collective_begin")[0], ("collective_begin", "1", "16", "0", "-", "-1"))
        self.assertEqual(found.of("metric")[0], ("metric", "0", "finite", "2", ""))

    @needs_torch
    def test_process_groups_end_with_the_workload(self):
        source = """
            import kymo
            class A(kymo.Workload):
                def prepare(self, run):
                    global torch
                    import torch
                    run.init_process_group()
                    run.log(f"{torch.distributed.get_backend()} {torch.distributed.get_world_size()}")
                def step(self, run):
                    torch.distributed.all_reduce(torch.zeros(1))
        """
        found = run_file(source, assignments=2)
        self.assertEqual((found.code, found.of("log")), (0, [("log", "1", "gloo 1")] * 2), found.errors)

    @needs_torch
    def test_process_groups_join_the_ranks(self):
        source = """
            import kymo
            class A(kymo.Workload):
                ranks = (1, None)
                def prepare(self, run):
                    global torch
                    import torch
                    run.init_process_group()
                    self.sum = torch.tensor(float(run.rank + 1))
                def step(self, run):
                    torch.distributed.all_reduce(self.sum)
                    run.log(str(self.sum.item()))
        """
        with socket.create_server(("localhost", 0)) as server:
            port = server.getsockname()[1]
        options = {"assignments": 2, "world_size": 2, "rendezvous_port": port}
        with concurrent.futures.ThreadPoolExecutor() as pool:
            ranks = list(pool.map(lambda rank: run_file(source, rank=rank, **options), (1, 0)))
        for rank in ranks:
            self.assertEqual((rank.code, rank.of("log")), (0, [("log", "1", "3.0")] * 2), rank.errors)


if __name__ == "__main__":
    unittest.main()
