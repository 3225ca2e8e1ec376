# SPDX-License-Identifier: Apache-2.0
"""All fused layers together, and what applies to their CUDA kernels only: python layer_kernels_test.py LIBRARY
[DEVICE]."""

import sys
import unittest

import torch
from layer_case import DEVICE, FLOATS, LayerCase, adamw_lists, draw, exact, ops, rotation
from torch.nn import functional


class LayerKernels(LayerCase):
    def all_layers(self, dtype):
        """One call of each operator, forward and backward; returns all results."""
        torch.manual_seed(11)
        x, residual, weight = (draw(*shape, dtype=dtype) for shape in ((60, 128), (60, 128), (128,)))
        joint, head = draw(60, 256, dtype=dtype), draw(1000, 128, dtype=dtype)
        qkv, table = draw(2, 30, 3, 2, 64, dtype=dtype), rotation(30, 64)
        target = torch.randint(1000, (60,), device=DEVICE)
        lists = adamw_lists(dtype, dtype, (100, 5000))
        masters = adamw_lists(torch.float32, torch.float32, (100, 5000, 33), torch.bfloat16)
        copies = [p.to(torch.bfloat16) for p in masters[0]]

        def step():
            y, total = ops.add_rms_norm(x, residual, weight)
            y = ops.rms_norm(y + ops.swiglu(joint), weight)
            rotated = ops.rotary(qkv, table)
            loss = ops.linear_cross_entropy(y + total + rotated.reshape(60, -1)[:, :128], head, target, 32)
            results = [loss, *torch.autograd.grad(loss, (x, residual, weight, joint, head, qkv))]
            ops.rotary_(results[-1], table)
            parts = [part.transpose(1, 2) for part in results[-1].unbind(2)]
            results.append(ops.rotary_join(*parts, table, True))
            ops.adamw_(*lists)
            ops.adamw_(*masters, copies=copies)
            return results + lists[0] + copies

        return step

    def test_all_layers_repeat_to_the_last_bit(self):
        for dtype in FLOATS:
            first, second = self.all_layers(dtype), self.all_layers(dtype)
            for _ in range(3):
                for one, other in zip(first(), second(), strict=True):
                    self.assertTrue(torch.equal(one, other))

    @unittest.skipUnless(DEVICE == "cuda", "needs a GPU")
    def test_uses_the_kernels(self):
        norms = ("rms_norm", "rms_norm_backward", "rms_norm_weight_gradient")
        names = (*norms, "swiglu", "swiglu_backward", "rotary", "adamw", "adamw_count", "cross_entropy")
        for dtype in FLOATS:
            step = self.all_layers(dtype)
            step()
            with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
                step()
                torch.cuda.synchronize()
            ran = " ".join(event.key for event in profile.key_averages())
            if "cross_entropy" not in ran and "elementwise" not in ran:
                self.skipTest("the profiler records no kernels")
            for name in names:
                self.assertRegex(ran, rf"\b{name}[<(]", dtype)

    @unittest.skipUnless(DEVICE == "cuda", "needs a GPU")
    def test_replays_of_a_graph(self):
        for dtype in FLOATS:
            eager, captured = self.all_layers(dtype), self.all_layers(dtype)
            stream = torch.cuda.Stream()
            stream.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(stream):
                captured()
            eager()
            torch.cuda.synchronize()
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph, stream=stream):
                results = captured()
            for _ in range(3):
                graph.replay()
                expected = eager()
                for one, other in zip(results, expected, strict=True):
                    self.assert_near(one, other)

    def all_norms(self, x, gradient, weight):
        """Forward and backward, with and without a residual; results with one row for each of x."""
        y = ops.rms_norm(x, weight, 1e-5, gradient.dtype)
        sums = ops.add_rms_norm(gradient, x, weight)
        gradients = (ops.rms_norm_backward(gradient, residual, x, weight)[0] for residual in (None, x))
        return (y, *sums, *gradients)

    @unittest.skipUnless(DEVICE == "cuda", "needs a GPU")
    def test_norms_of_many_rows(self):
        types = (*((dtype, dtype) for dtype in FLOATS), (torch.float32, torch.bfloat16))
        for rows, width in ((50_000, 64), (10_000, 1600), (4000, 8192)):
            for stream, branch in types:
                x, gradient = (draw(rows, width, dtype=dtype, gradient=False) for dtype in (stream, branch))
                weight = draw(width, dtype=stream, gradient=False)
                # Kernels for many rows copy rows ahead, which must not change a bit.
                ends = self.all_norms(x[-50:], gradient[-50:], weight)
                for many, end in zip(self.all_norms(x, gradient, weight), ends, strict=True):
                    self.assertTrue(torch.equal(many[-50:], end), (rows, width, stream, branch))
                root = (exact(x).square().mean(-1, keepdim=True) + 1e-5).rsqrt()
                expected = (exact(gradient) * exact(x) * root).sum(0)
                self.assert_near(ops.rms_norm_backward(gradient, None, x, weight)[1], expected, factor=2.0)

    @unittest.skipUnless(DEVICE == "cuda", "needs a GPU")
    def test_offsets_beyond_two_to_the_31(self):
        rows, width = 1_050_000, 2048
        joint = torch.randn(rows, width, device=DEVICE, dtype=torch.bfloat16)  # 2.15e9 elements
        weight = torch.ones(width, device=DEVICE, dtype=torch.bfloat16)
        end = joint[-1000:].clone()
        self.assertTrue(torch.equal(ops.rms_norm(joint, weight)[-1000:], ops.rms_norm(end, weight)))
        gradient, _ = ops.rms_norm_backward(joint, None, joint, weight)
        self.assertTrue(torch.equal(gradient[-1000:], ops.rms_norm_backward(end, None, end, weight)[0]))
        del gradient
        self.assertTrue(torch.equal(ops.swiglu(joint)[-1000:], ops.swiglu(end)))
        half = joint[:, : width // 2].contiguous()
        backward = ops.swiglu_backward(half, joint)
        self.assertTrue(torch.equal(backward[-1000:], ops.swiglu_backward(half[-1000:], end)))
        del backward, half
        table = rotation(1000, 64)
        qkv = joint.view(-1)[: 1_399_000 * 1536].view(-1, 1000, 3, 8, 64)
        qkv_end = qkv[-2:].clone()
        ops.rotary_(qkv, table)
        ops.rotary_(qkv_end, table)
        self.assertTrue(torch.equal(qkv[-2:], qkv_end))

    @unittest.skipUnless(DEVICE == "cuda", "needs a GPU")
    def test_large_vocabularies(self):
        for classes, tokens, chunk in ((151_936, 700, 256), (10_000, 3000, 0), (50_257, 300, 0)):
            x = draw(tokens, 64, dtype=torch.bfloat16)
            weight = draw(classes, 64, dtype=torch.bfloat16)
            target = torch.randint(classes, (tokens,), device=DEVICE)
            exact_x, exact_weight = exact(x), exact(weight)
            loss = ops.linear_cross_entropy(x, weight, target, chunk)
            expected = functional.cross_entropy(exact_x @ exact_weight.T, target)
            loss.backward()
            expected.backward()
            self.assert_near(loss, expected, torch.bfloat16)
            self.assert_near(x.grad, exact_x.grad, torch.bfloat16, 6.0)
            self.assert_near(weight.grad, exact_weight.grad, torch.bfloat16, 6.0)

    @unittest.skipUnless(DEVICE == "cuda", "needs a GPU")
    def test_a_target_out_of_range_is_not_a_number(self):
        x, weight = draw(4, 16, gradient=False), draw(8, 16, gradient=False)
        for wrong in (8, -100, 2**40):
            target = torch.tensor([0, 1, wrong, 2], device=DEVICE)
            self.assertTrue(torch.isnan(ops.linear_cross_entropy(x, weight, target)))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
