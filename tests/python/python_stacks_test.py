# SPDX-License-Identifier: Apache-2.0
"""The Python stacks that collectors take, of functions, generators and threads, with and without the GIL. Runs with
every supported version of Python that is installed."""

import ctypes
import inspect
import os
import shutil
import subprocess
import sys
import threading
import unittest
from pathlib import Path

LIBRARY = Path(os.environ["KYMO_BUILD"]) / "tests" / "python_stacks.so"
VERSIONS = ("3.10", "3.11", "3.12", "3.13", "3.14")
FILE = __file__


def load(kind):
    library = kind(str(LIBRARY))
    library.make_stacks.restype = ctypes.c_void_p
    library.make_stacks.argtypes = [ctypes.c_long]
    library.take_stack.argtypes = [ctypes.c_void_p, ctypes.c_int]
    library.take_in_thread.argtypes = [ctypes.c_void_p]
    library.finish_stacks.argtypes = [ctypes.c_void_p]
    library.finish_stacks.restype = ctypes.c_char_p
    return library


HELD, RELEASED = load(ctypes.PyDLL), load(ctypes.CDLL)


def line():
    return inspect.currentframe().f_back.f_lineno


class StacksTest(unittest.TestCase):
    def setUp(self):
        self.stacks = HELD.make_stacks(1 << 20)
        self.assertTrue(self.stacks)
        self.finished = False
        self.addCleanup(lambda: self.finished or self.finish())

    def take(self, library=HELD, acquire=0):
        return library.take_stack(self.stacks, acquire)

    def finish(self):
        """The stacks, and the number of dropped ones. A frame is its function without the class, file and line."""
        self.finished = True
        *stacks, dropped = HELD.finish_stacks(self.stacks).decode().split("\n")
        frames = [[frame.split("@") for frame in stack.split("\t")[:-1]] for stack in stacks]
        named = [[(name.rpartition(".")[2], file, int(number)) for name, file, number in stack] for stack in frames]
        return named, int(dropped)

    def test_nested_functions_have_their_lines_innermost_first(self):
        lines = []

        def inner():
            lines.append(line() + 1)
            return self.take()

        def outer():
            lines.append(line() + 1)
            return inner()

        lines.append(line() + 1)
        self.assertEqual(outer(), 0)
        ((_, *frames), *_), dropped = self.finish()  # the first one is take()
        own = "test_nested_functions_have_their_lines_innermost_first"
        expected = [("inner", FILE, lines[2]), ("outer", FILE, lines[1]), (own, FILE, lines[0])]
        self.assertEqual(frames[:3], expected)
        self.assertEqual(dropped, 0)

    def test_generators_and_comprehensions_are_frames_of_their_line(self):
        def generate():
            yield self.take()

        first = line() + 1
        numbers = [next(generate()) for _ in range(2)]
        second = line() + 1
        numbers += list(self.take() for _ in range(1))  # noqa: C400
        self.assertEqual(numbers, [0, 0, 1])
        (generated, expression), _ = self.finish()
        self.assertEqual(generated[1][0], "generate")
        self.assertIn((FILE, first), [frame[1:] for frame in generated])
        self.assertEqual(expression[1], ("<genexpr>", FILE, second))

    def test_each_line_and_caller_is_a_stack_that_is_kept_once(self):
        numbers = [self.take() for _ in range(3)]
        numbers += [self.take(), self.take()]
        numbers.append(self.take())
        self.assertEqual(numbers[0], numbers[2])
        self.assertEqual(numbers[3], numbers[4])
        self.assertEqual(len(set(numbers)), 3)
        self.assertEqual(len(self.finish()[0]), 3)

    def test_a_thread_that_released_the_gil_has_its_stack_if_it_may_acquire_it(self):
        self.assertEqual(self.take(RELEASED), -1)
        self.assertEqual(self.take(RELEASED, 1), 0)
        self.assertEqual(RELEASED.take_in_thread(self.stacks), -1)
        self.assertEqual(self.finish()[0][0][0][0], "take")

    def test_each_thread_has_its_own_stack(self):
        def work():
            for _ in range(1000):
                numbers.append(self.take(RELEASED, 1))

        numbers = []
        threads = [threading.Thread(target=work, name=f"{i}") for i in range(3)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        self.assertEqual(set(numbers), {0})
        self.assertEqual(len(numbers), 3000)
        ((_, work_frame, *_),), _ = self.finish()
        self.assertEqual(work_frame[0], "work")

    def test_code_is_freed_afterwards_and_no_address_is_mistaken_for_another(self):
        counts = []
        for i in range(200):
            code = compile(f"def made_{i}(take):\n    return take()", f"made_{i}.py", "exec")
            scope = {}
            exec(code, scope)
            scope[f"made_{i}"](self.take)
            kept = scope[f"made_{i}"].__code__
            counts.append((kept, sys.getrefcount(kept)))
            del scope
        stacks, dropped = self.finish()
        self.assertEqual([stack[1][:2] for stack in stacks], [(f"made_{i}", f"made_{i}.py") for i in range(200)])
        self.assertEqual(dropped, 0)
        self.assertLess(sum(sys.getrefcount(code) for code, _ in counts), sum(count for _, count in counts))

    def test_what_exceeds_the_memory_is_counted(self):
        self.finish()
        self.stacks, self.finished = HELD.make_stacks(1200), False
        self.assertEqual(self.take(), -1)
        self.assertEqual(self.take(), -1)
        self.assertEqual(self.finish(), ([], 2))
        self.assertEqual(self.take(), -1)  # the pass has ended


def interpreter_of(version):
    """The interpreter of this version, on PATH or installed by pyenv; None if there is none."""
    folder = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    found = [shutil.which(f"python{version}"), *sorted(folder.glob(f"versions/{version}.*/bin/python{version}"))]
    for each in filter(None, found):
        if subprocess.run([each, "-c", ""], capture_output=True, check=False).returncode == 0:
            return each
    return None


class VersionsTest(unittest.TestCase):
    def test_with_other_versions(self):
        own = f"{sys.version_info.major}.{sys.version_info.minor}"
        for version in VERSIONS:
            interpreter = interpreter_of(version)
            if version == own or interpreter is None or "KYMO_TEST_ONE_VERSION" in os.environ:
                continue
            with self.subTest(version):
                done = subprocess.run(
                    [interpreter, FILE, "StacksTest"],
                    env={**os.environ, "KYMO_TEST_ONE_VERSION": "1"},
                    capture_output=True,
                    text=True,
                    check=False,
                )
                self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main()
