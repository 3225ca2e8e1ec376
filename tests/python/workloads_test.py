# SPDX-License-Identifier: Apache-2.0
"""The workloads in Python that ship with kymo: what they describe, compiled against eager results, and the Triton
kernels in Triton's interpreter. They run here without an engine, under a stand-in for the run."""

import functools
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
from pathlib import Path

ROOT = Path(os.environ["KYMO_BUILD"]) / "lib" / "kymo"
sys.path.insert(0, str(ROOT / "python"))
os.environ.setdefault("TRITON_INTERPRET", "1")  # read when Triton is imported

import kymo  # noqa: E402

FILES = {
    "accumulation": "accumulation",
    "attention_compiled": "attention",
    "attention_fa4": "attention",
    "autocast_types": "autocast_types",
    "rmsnorm_triton": "rmsnorm",
    "softmax_triton": "softmax",
    "transformer_compiled": "transformer",
}
has_numpy = importlib.util.find_spec("numpy") is not None  # which Triton's interpreter needs


def workload(name, folder=ROOT / "plugins"):
    """The class that a file defines."""
    spec = importlib.util.spec_from_file_location(name, folder / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    (found,) = [
        value
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, kymo.Workload) and value.__module__ == name
    ]
    return found


class StandIn:
    """What a workload uses of a run, on a CPU, with a record of what it reported."""

    device, seed, rank, world_size, has_values = "cpu", 7, 0, 1, True

    def __init__(self):
        self.metrics, self.flops, self.entered = {}, {}, []

    def phase(self, name, stream=None):
        return Reusable(self, name)

    scope = phase

    def work(self, phase, flops=0, bytes=0):
        self.flops[phase] = flops

    def metric(self, name, value, unit="", per="run"):
        self.metrics[name] = value

    def log(self, message, level="info"):
        pass

    def skip(self, reason):
        raise kymo.Skip(reason)

    def tag(self, tensor, category):
        pass

    def tag_module(self, module, optimizer=None):
        pass

    def mark(self, name):
        pass


class Reusable:
    def __init__(self, run, name):
        self.run, self.name = run, name

    def __enter__(self):
        self.run.entered.append(self.name)

    def __exit__(self, *error):
        return False


def prepared(kind, **values):
    """A workload with these parameters after prepare(), and its run. `kind`: a class or the name of a shipped file."""
    made, run = (workload(kind) if isinstance(kind, str) else kind)(), StandIn()
    for parameter, value in values.items():
        setattr(made, parameter, value)
    made.prepare(run)
    return made, run


class WorkloadsTest(unittest.TestCase):
    def assert_verified(self, kind, checks, **values):
        """Prepares a workload, runs two steps and compares the results with the reference."""
        made, run = prepared(kind, **values)
        for _ in range(2):
            made.before_step(run)
            made.step(run)
        found = made.verify(run).checks
        self.assertEqual([check.name for check in found], checks)
        for check in found:
            self.assertEqual(check.outcome, kymo._engine.CHECK_PASSED, check)
        return made, run

    def assert_skipped(self, reason, kind, **values):
        with self.assertRaisesRegex(kymo.Skip, reason):
            prepared(kind, **values)

    def test_each_file_describes_without_importing_torch(self):
        self.assertEqual({file.stem for file in (ROOT / "plugins").glob("*.py")}, set(FILES))
        worker = ROOT / "python" / "kymo_worker.py"
        for name, family in FILES.items():
            file = ROOT / "plugins" / f"{name}.py"
            with self.subTest(name):
                done = subprocess.run([sys.executable, worker, "describe", file], capture_output=True, text=True)
                described = json.loads(done.stdout)
                self.assertEqual(done.returncode, 0, described)
                (found,) = described["workloads"]
                self.assertEqual((found["name"], found["family"]), (name, family))
                self.assertEqual(described["framework"], "libtorch")
                for parameter in found["parameters"]:
                    self.assertTrue(parameter["documentation"], parameter["name"])
                code = "import runpy, sys; runpy.run_path(sys.argv[1]); sys.exit('torch' in sys.modules)"
                environment = os.environ | {"PYTHONPATH": str(ROOT / "python"), "TRITON_INTERPRET": "0"}
                subprocess.run([sys.executable, "-c", code, file], check=True, env=environment)

    def test_attention_parameters_are_those_of_the_other_workloads(self):
        for name in ("attention_compiled", "attention_fa4"):
            parameters = list(workload(name)._parameters)
            self.assertEqual(parameters[:7], ["batch", "heads", "seq", "head_dim", "dtype", "causal", "mode"])

    def test_compiled_code_is_not_left_behind(self):
        with tempfile.TemporaryDirectory() as folder, unittest.mock.patch.object(tempfile, "tempdir", folder):
            prepared("attention_compiled", batch=1, seq=20, mode="forward", compile="default")
            self.assertEqual([name for name in os.listdir(folder) if name.startswith("kymo-compile-")], [])
        self.assertNotIn("kymo-compile-", os.environ.get("TORCHINDUCTOR_CACHE_DIR", ""))
        self.assertNotIn("TRITON_CACHE_DIR", os.environ)

    def test_attention_equals_the_reference(self):
        gradients = ["query gradient", "key gradient", "value gradient"]
        for compile, mode, causal, dtype in (
            ("none", "forward_backward", True, "fp32"),
            ("none", "backward", False, "fp32"),
            ("none", "forward", True, "bf16"),
            ("default", "forward_backward", True, "fp32"),
            ("default", "backward", False, "fp32"),
        ):
            with self.subTest(compile=compile, mode=mode):
                checks = ["output", *(gradients if mode != "forward" else [])]
                values = {"batch": 2, "heads": 2, "seq": 40, "head_dim": 16, "causal": causal, "dtype": dtype}
                values["cached"] = True
                _, run = self.assert_verified("attention_compiled", checks, mode=mode, compile=compile, **values)
                forward = 4 * 2 * 2 * 40 * 40 * 16 * (0.5 if causal else 1)
                flops = {"forward": forward, "backward": 2.5 * forward}
                self.assertEqual(run.flops, {k: v for k, v in flops.items() if mode in (k, "forward_backward")})
                self.assertEqual("compile_s" in run.metrics, compile != "none")

    def test_verification_finds_a_wrong_mask_and_a_wrong_gradient(self):
        from kymo.attention import AttentionWorkload

        class _Unmasked(AttentionWorkload):
            def attention(self, query, key, value):
                return (query * query.shape[-1] ** -0.5 @ key.mT).softmax(-1) @ value

        class _Detached(_Unmasked):
            def attention(self, query, key, value):
                return super().attention(query, key.detach() + 0 * key, value)

        values = {"batch": 1, "seq": 1030, "head_dim": 8}
        for kind, causal, wrong in ((_Unmasked, True, "output"), (_Detached, False, "key gradient")):
            made, run = prepared(kind, causal=causal, **values)
            failed = [check.name for check in made.verify(run).checks if check.outcome != kymo._engine.CHECK_PASSED]
            self.assertIn(wrong, failed)
        made, run = prepared(_Unmasked, causal=False, **values)
        self.assertTrue(all(check.outcome == kymo._engine.CHECK_PASSED for check in made.verify(run).checks))

    def test_compiled_model_equals_the_eager_one(self):
        import torch

        small = {"batch": 2, "context": 16, "vocab_size": 50, "layers": 1, "cached": True}
        eager = ["loss", "gradients"]
        losses = {}
        for compile in ("none", "default"):
            with self.subTest(compile):
                checks = eager if compile == "none" else [*eager, "compiled loss", "compiled gradients"]
                made, run = self.assert_verified("transformer_compiled", checks, compile=compile, **small)
                self.assertEqual([each for each in run.entered if each == "optimizer"], ["optimizer"] * 2)
                losses[compile] = (run.metrics["loss_first"], made.loss.item())
                forward = 2 * 16 * (8 * 64**2 + 4 * 16 * 64 + 6 * 64 * 256 + 2 * 64 * 50)
                self.assertEqual(run.flops["forward"], forward)
                self.assertEqual(run.flops["backward"], 2 * forward)
        # The second loss depends on the update of the first step, and with it on the gradients.
        for actual, expected in zip(losses["default"], losses["none"], strict=True):
            self.assertAlmostEqual(actual, expected, delta=2e-5)
        self.assertGreater(run.metrics["compile_s"], 0)
        self.assertEqual(run.metrics["compiled_graphs"], 1)
        self.assertEqual(run.metrics["graph_breaks"], 0)
        self.assertEqual(run.metrics["recompilations"], 0)
        self.assertEqual(run.metrics["recompile_limit_hits"], 0)
        made.before_step(run)
        torch._dynamo.utils.counters["frames"]["total"] += 1  # as a compilation does
        with self.assertRaisesRegex(RuntimeError, "compiled again during a step"):
            made.before_step(run)

    def test_model_in_other_modes_and_types(self):
        small = {"batch": 1, "context": 16, "vocab_size": 50, "compile": "none"}
        for values in ({"mode": "forward"}, {"mode": "forward_backward", "dtype": "bf16"}, {"autocast": True}):
            with self.subTest(values):
                self.assert_verified("transformer_compiled", ["loss", "gradients"], attention="sdpa", **small, **values)

    def test_graph_breaks_and_recompilations_are_counted_and_noticed(self):
        import torch
        from kymo import compiled

        def broken(x):
            y = x.sin()
            torch._dynamo.graph_break()
            return y + 1

        run, sizes = StandIn(), iter(range(2, 100))
        # Dynamo counts, whatever generates the code.
        eager = functools.partial(torch.compile, backend="eager")
        with unittest.mock.patch.object(torch, "compile", eager):
            function = compiled.compile(run, broken, "default")
        check = compiled.warm_up(run, "default", True, lambda: function(torch.ones(next(sizes))))
        check()
        self.assertEqual(run.metrics["graph_breaks"], 1 + 5)  # one at first, and one for each further size
        self.assertGreaterEqual(run.metrics["recompilations"], 3)
        function(torch.ones(next(sizes)))
        with self.assertRaisesRegex(RuntimeError, "compiled again during a step"):
            check()

    @unittest.skipUnless(has_numpy, "Triton's interpreter needs numpy")
    def test_triton_kernels_equal_torch(self):
        for dtype in ("fp32", "bf16", "fp16"):
            for rows, columns in ((5, 33), (3, 128)):
                with self.subTest(dtype=dtype, columns=columns):
                    values = {"rows": rows, "columns": columns, "dtype": dtype}
                    self.assert_verified("softmax_triton", ["softmax"], **values)
                    self.assert_verified("rmsnorm_triton", ["out", "x gradient", "weight gradient"], **values)
        self.assert_verified("softmax_triton", ["softmax"], implementation="torch")
        self.assert_verified("rmsnorm_triton", ["out", "x gradient", "weight gradient"], implementation="torch")

    def test_sums_have_the_known_errors(self):
        for addition, expected in (
            ("fp32", 10.0001),
            ("fp16", 9.9531),
            ("fp16-to-fp32", 10.0021),
            ("fp16-cast-to-fp32", 10.0021),
        ):
            _, run = self.assert_verified("accumulation", ["sum"], addition=addition)
            self.assertAlmostEqual(run.metrics["sum"], expected, places=4)
            self.assertAlmostEqual(run.metrics["relative_error"], abs(run.metrics["sum"] - 10) / 10)
            self.assertAlmostEqual(run.metrics["term"], 0.01 if addition == "fp32" else 0.01000214, places=8)

    def test_wrong_sum_is_found(self):
        made, run = prepared("accumulation", terms=10)
        made.term += 1e-6
        (check,) = made.verify(run).checks
        self.assertEqual(check.outcome, kymo._engine.CHECK_FAILED)

    def test_types_under_autocast(self):
        known = {"parameters_dtype": "float32", "gradients_dtype": "float32"}
        for dtype, linear in (("fp16", "float16"), ("bf16", "bfloat16"), ("fp32", "float32")):
            _, run = self.assert_verified("autocast_types", ["logits"], dtype=dtype)
            for name, expected in {**known, "first_layer_dtype": linear, "logits_dtype": linear}.items():
                self.assertEqual(run.metrics[name], expected, name)
            self.assertEqual((run.metrics["mean_square_fp16"], run.metrics["epsilon_bf16"]), ("inf", 2**-7))
            self.assertAlmostEqual(float(run.metrics["mean_square_bf16"]) / 9e4, 1, delta=0.2)
            for name in ("layer_norm_dtype", "loss_dtype"):  # depend on the device
                self.assertIn(run.metrics[name], {"float32", linear}, name)

    @unittest.skipUnless(has_numpy, "Triton's interpreter needs numpy")
    def test_templates(self):
        folder = ROOT.parents[1] / "share" / "kymo" / "template-python"
        self.assert_verified(workload("torch", folder), ["out"], rows=8, width=32)
        self.assert_verified(workload("triton", folder), ["out"], n=1000, block="256")

    def test_reasons_to_skip(self):
        import torch

        self.assert_skipped("FlashAttention-4 requires device=cuda", "attention_fa4", dtype="bf16")
        self.assert_skipped("CUDA graphs require device=cuda", "attention_compiled", compile="reduce-overhead")
        self.assert_skipped(
            "autocast requires fp32 weights: dtype=bf16", "transformer_compiled", autocast=True, dtype="bf16"
        )
        with torch._inductor.config.patch({"cpp.cxx": ("/no/such/compiler",)}):
            self.assert_skipped("needs a C\\+\\+ compiler", "attention_compiled", compile="default")
        if has_numpy:
            import triton

            with triton.knobs.runtime.scope():
                triton.knobs.runtime.interpret = False
                for name in ("softmax_triton", "rmsnorm_triton"):
                    self.assert_skipped("set TRITON_INTERPRET=1", name)

    def test_errors_of_wrong_parameters(self):
        for message, values in (
            ("d_model is 0; size=custom needs d_model, d_ff, layers and heads", {"size": "custom"}),
            ("d_model 64 is not divisible by heads 3", {"heads": 3}),
            ("d_model / heads is 1; it must be even", {"heads": 64}),
        ):
            with self.assertRaisesRegex(ValueError, message):
                prepared("transformer_compiled", **values)
        from kymo import compiled, tensors

        with self.assertRaisesRegex(ValueError, "unknown mode 'fast' of torch.compile: expected one of none, default"):
            compiled.compile(StandIn(), print, "fast")
        with self.assertRaisesRegex(ValueError, "unknown dtype 'int8': expected one of fp32"):
            tensors.dtype("int8")


if __name__ == "__main__":
    unittest.main()
