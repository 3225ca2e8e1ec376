# SPDX-License-Identifier: Apache-2.0
"""Modules of generated kernels: their names, and the marks in generated code."""

import tempfile
import unittest
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import fake_host  # noqa: F401  (finds the built package)
from kymo_trace import _kernels, _program


class Block:
    """A class of modules."""


# As Inductor writes it: a kernel that is called twice, one of Triton, and one of a library.
SOURCE = """
calls = []
cpp_fused_gelu_0 = lambda *buffers: calls.append("gelu")
def fail(*buffers):
    raise ValueError("kernel")
class Kernel:
    def run(self, *buffers, stream):
        calls.append("triton")
triton_poi_fused_add_1 = Kernel()
class extern_kernels:
    addmm = lambda *buffers, out: calls.append("addmm")

def partition_0(args):
    a, = args
    triton_poi_fused_add_1.run(a, 4, stream=0)
    return (a,)

class Runner:
    def __init__(self, partitions):
        self.partitions = partitions

    def call(self, args):
        a, b = args
        args.clear()
        cpp_fused_gelu_0(a)
        if True:
            # a comment
            buf = extern_kernels.addmm(a, b, out=a)
            cpp_fused_gelu_0(b)
            del b
        self.partitions[0]([a])
        return (a, buf)

runner = Runner(partitions=[partition_0])
call = runner.call
"""
CALLS = [
    ("triton_poi_fused_add_1", "{.}"),
    ("cpp_fused_gelu_0", "layers.0/{norm, feed_forward/Linear_0}"),
    ("extern_kernels.addmm", "{head}"),
    ("cpp_fused_gelu_0", "{layers.1}"),
]


class NamesTest(unittest.TestCase):
    def path(self, *expressions):
        return _kernels.module_path({str(i): (each, Block) for i, each in enumerate(expressions)})

    def test_paths(self):
        for expressions, expected in (
            ((), ()),
            (("L['self'].layers.0", "L['self'].layers.0.norm"), ("layers.0", "norm")),
            (("L['s']._modules['layers']._modules['0']",), ("layers.0",)),
            (("L['self']._orig_mod.head",), ("head",)),
            (("L['self']._modules['0']",), ("Block_0",)),
            (("L['self'].up", "L['self'].up[2]"), ("up", "Block_2")),
            (("L['self'].blocks[1].attention['query']",), ("blocks.1.attention.query",)),
            (("L['model']", "L['model'].layers.0"), ("Block", "layers.0")),
            (("G['other']",), ("Block",)),
            (("L['self'].layers.1", "L['self'].layers.10"), ("layers.1", "layers.10")),
        ):
            self.assertEqual(self.path(*expressions), expected, expressions)

    def test_sets(self):
        for paths, expected in (
            ([], "{.}"),
            ([()], "{.}"),
            ([("head",), ("head",)], "{head}"),
            ([("layers.0", "norm")], "{layers.0/norm}"),
            ([("layers.0", "norm"), ("layers.0",)], "layers.0/{., norm}"),
            ([("layers.0", "norm"), ("layers.0", "up", "0")], "layers.0/{norm, up/0}"),
            ([("layers.1",), ("layers.10",)], "{layers.1, layers.10}"),
            ([(), ("head",)], "{., head}"),
            ([(f"l{i:02}",) for i in range(14)], "{" + ", ".join(f"l{i:02}" for i in range(12)) + ", 2 more}"),
        ):
            self.assertEqual(_kernels.set_name(paths), expected)


class MarksTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = Path(folder.name) / "generated.py"
        self.file.write_text(SOURCE, encoding="utf-8")
        self.names = {}
        exec(compile(SOURCE, str(self.file), "exec"), self.names)
        self.ranges = []
        begin = mock.patch.object(_program, "range_begin", lambda name: self.ranges.append(name))
        end = mock.patch.object(_program, "range_end", lambda: self.ranges.append("end"))
        for patch in (begin, end):
            patch.start()
            self.addCleanup(patch.stop)

    def mark(self, calls=CALLS):
        return _kernels.mark_calls(self.names["call"].__func__, SOURCE, list(calls))

    def test_calls_are_surrounded_by_ranges(self):
        expected = self.names["call"]([1, 2])
        made = list(self.names["calls"])
        self.names["calls"].clear()
        self.assertTrue(self.mark())
        self.assertEqual(self.names["call"]([1, 2]), expected)
        self.assertEqual(self.names["calls"], made)
        self.assertEqual(
            self.ranges,
            [
                "cpp_fused_gelu_0 layers.0/{norm, feed_forward/Linear_0}",
                "end",
                "{head}",
                "end",
                "cpp_fused_gelu_0 {layers.1}",
                "end",
                "triton_poi_fused_add_1 {.}",
                "end",
            ],
        )
        self.assertTrue(self.mark())  # a graph that is loaded again
        self.ranges.clear()
        self.names["call"]([1, 2])
        self.assertEqual(len(self.ranges), 8)

    def test_a_kernel_that_fails(self):
        self.assertTrue(self.mark())
        self.names["cpp_fused_gelu_0"] = self.names["fail"]
        try:
            self.names["call"]([1, 2])
        except ValueError as error:
            line = error.__traceback__.tb_next.tb_lineno
        self.assertIn("cpp_fused_gelu_0(a)", SOURCE.splitlines()[line - 1])
        self.assertEqual(self.ranges, ["cpp_fused_gelu_0 layers.0/{norm, feed_forward/Linear_0}", "end"])

    def test_other_calls_than_those_named(self):
        code = self.names["call"].__code__
        for calls in (CALLS[1:] + CALLS[1:2], CALLS[:3], [*CALLS, ("cpp_fused_other_2", "{.}")]):
            self.assertFalse(self.mark(calls))
            self.assertIs(self.names["call"].__code__, code)

    def test_graphs_from_the_cache_of_another_program(self):
        reports = []
        kernels = _kernels.Kernels(reports.append)
        kind = type("CompiledFxGraph", (), {"__init__": lambda *_: None, "post_compile": lambda graph, *_: "loaded"})
        kernels.watch_graphs(SimpleNamespace(CompiledFxGraph=kind))
        graph = kind(None, SimpleNamespace(_kymo_calls=CALLS))
        graph.current_callable = self.names["call"]
        self.assertEqual(graph.post_compile(), "loaded")
        self.assertIn("_kymo_begin", self.names)
        self.assertEqual(reports, [])
        del graph._kymo_calls, self.names["_kymo_begin"]
        self.assertEqual((graph.post_compile(), graph.post_compile()), ("loaded", "loaded"))
        self.assertEqual(len(reports), 1)
        self.assertIn("TORCHINDUCTOR_CACHE_DIR", reports[0])

    def test_calls_in_compiled_code(self):
        reports = []
        kernels = _kernels.Kernels(reports.append)
        kind = type("CompiledFxGraph", (), {"__init__": lambda *_: None, "post_compile": lambda graph, *_: "loaded"})
        kernels.watch_graphs(SimpleNamespace(CompiledFxGraph=kind))
        graph = kind(None, SimpleNamespace(_kymo_calls=CALLS))
        names = {"cpp_wrapper_src": "void inductor_entry_impl() {}"}
        exec("def call(args):\n    return args\n", names)
        for callable_ in (names["call"], len):
            graph.current_callable = callable_
            self.assertEqual(graph.post_compile(), "loaded")
        (report,) = reports
        self.assertIn("unknown with cpp_wrapper", report)

    def test_a_torch_without_these_functions(self):
        reports = []
        kernels = _kernels.Kernels(reports.append)
        kernels.watch_generation(SimpleNamespace())
        kernels.watch_graphs(SimpleNamespace())
        self.assertEqual(len(reports), 2)


if __name__ == "__main__":
    unittest.main()
