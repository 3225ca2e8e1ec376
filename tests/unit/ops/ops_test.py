# SPDX-License-Identifier: Apache-2.0
"""The attention operators from Python: python ops_test.py LIBRARY [DEVICE]. Loads the library, and holds the operators
against LibTorch's own attention, gradcheck, opcheck, autocast and torch.compile."""

import itertools
import os
import sys
import unittest

import torch

LIBRARY = sys.argv[1]
DEVICE = sys.argv[2] if len(sys.argv) > 2 else "cpu"
if DEVICE == "cuda" and not os.path.exists("/dev/nvidiactl"):
    sys.exit(77)  # tells CTest that the test is skipped: with a driver, CUDA must work
IMPLEMENTATIONS = ("naive", "tiled")

torch.ops.load_library(LIBRARY)
ops = torch.ops.kymo


def draw(*shape, dtype=torch.float32, gradient=True):
    return torch.randn(*shape, dtype=dtype, device=DEVICE, requires_grad=gradient)


def inputs(query_length=37, key_length=37, width=16, heads=4, key_heads=4, dtype=torch.float32, gradient=True):
    return (
        draw(2, heads, query_length, width, dtype=dtype, gradient=gradient),
        draw(2, key_heads, key_length, width, dtype=dtype, gradient=gradient),
        draw(2, key_heads, key_length, width, dtype=dtype, gradient=gradient),
    )


def copies(tensors):
    return tuple(tensor.detach().clone().requires_grad_() for tensor in tensors)


class Operators(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(7)
        torch._dynamo.reset()

    def assert_close(self, actual, expected, tolerance=1e-5):
        self.assertEqual(actual.shape, expected.shape)
        self.assertEqual(actual.dtype, expected.dtype)
        torch.testing.assert_close(actual, expected, rtol=tolerance, atol=tolerance)

    def test_equals_the_attention_of_libtorch(self):
        for causal, implementation in itertools.product((False, True), IMPLEMENTATIONS + ("auto",)):
            mine, theirs = inputs(300, 300), None
            theirs = copies(mine)
            output = ops.attention(*mine, causal=causal, implementation=implementation)
            expected = torch.nn.functional.scaled_dot_product_attention(*theirs, is_causal=causal)
            gradient = torch.randn_like(output)
            output.backward(gradient)
            expected.backward(gradient)
            self.assert_close(output, expected)
            for one, other in zip(mine, theirs, strict=True):
                self.assert_close(one.grad, other.grad, 1e-4)

    def test_log_sum_exp(self):
        query, key, value = inputs(gradient=False)
        for implementation in IMPLEMENTATIONS:
            _, lse = ops.attention_forward(query, key, value, scale=0.5, implementation=implementation)
            self.assert_close(lse, torch.logsumexp(query @ key.mT * 0.5, -1))

    def test_three_dimensions_are_one_head(self):
        query, key, value = (tensor[:, 0].detach() for tensor in inputs(gradient=False))
        output, lse = ops.attention_forward(query, key, value)
        self.assertEqual(lse.shape, (2, 37))
        self.assert_close(output, ops.attention(query[:, None], key[:, None], value[:, None])[:, 0])

    def test_gradcheck(self):
        for causal, implementation in itertools.product((False, True), IMPLEMENTATIONS):
            for lengths in ((5, 5), (3, 7), (7, 3)):  # the last has rows that see no key if causal
                tensors = inputs(*lengths, heads=2, key_heads=1, width=8, dtype=torch.float64)

                def function(q, k, v, causal=causal, implementation=implementation):
                    return ops.attention(q, k, v, causal, 0.7, implementation)

                self.assertTrue(torch.autograd.gradcheck(function, tensors))

    def test_opcheck(self):
        for causal, implementation in itertools.product((False, True), IMPLEMENTATIONS + ("auto",)):
            query, key, value = inputs(13, 21, heads=4, key_heads=2)
            strided = query.detach().transpose(1, 2).contiguous().transpose(1, 2).requires_grad_()
            options = {"causal": causal, "implementation": implementation}
            for tensors in ((query, key, value), (strided, key, value)):
                torch.library.opcheck(ops.attention.default, tensors, options)
                torch.library.opcheck(ops.attention_forward.default, tensors, options)
            output, lse = ops.attention_forward(strided.detach(), key.detach(), value.detach(), **options)
            saved = (torch.randn_like(output), strided.detach(), key.detach(), value.detach(), output, lse)
            torch.library.opcheck(ops.attention_backward.default, saved, options)

    def test_compile(self):
        def function(query, key, value):
            return (ops.attention(torch.sin(query), key * 2, value, causal=True, deterministic=True) * 3).sum()

        for backend, dynamic in (("eager", False), ("aot_eager", False), ("aot_eager", True)):
            torch._dynamo.reset()
            compiled = torch.compile(function, fullgraph=True, backend=backend, dynamic=dynamic)
            for length in (19, 33):
                mine = inputs(length, length, key_heads=2)
                theirs = copies(mine)
                result, expected = compiled(*mine), function(*theirs)
                result.backward()
                expected.backward()
                self.assertTrue(torch.equal(result, expected), backend)
                for one, other in zip(mine, theirs, strict=True):
                    self.assertTrue(torch.equal(one.grad, other.grad), backend)

    def test_shapes_without_memory(self):
        query = torch.empty(2, 40, 4, 64, device="meta", dtype=torch.bfloat16).transpose(1, 2)
        key = torch.empty(2, 2, 90, 64, device="meta", dtype=torch.bfloat16)
        output, lse = ops.attention_forward(query, key, key)
        self.assertEqual((output.shape, output.stride(), output.dtype), (query.shape, query.stride(), torch.bfloat16))
        self.assertEqual((lse.shape, lse.dtype), ((2, 4, 40), torch.float32))
        with self.assertRaisesRegex(ValueError, "the heads of q must be a multiple of those of k"):
            ops.attention(query[:, :3], key, key)

    def test_autocast(self):
        tensors = inputs(20, 20)
        with torch.autocast(DEVICE, dtype=torch.bfloat16):
            output = ops.attention(*tensors)
            forward, lse = ops.attention_forward(*tensors)
        self.assertEqual((output.dtype, forward.dtype, lse.dtype), (torch.bfloat16, torch.bfloat16, torch.float32))
        output.float().sum().backward()
        self.assertEqual({tensor.grad.dtype for tensor in tensors}, {torch.float32})
        self.assertTrue(torch.equal(output, ops.attention(*(tensor.bfloat16() for tensor in tensors))))

    def test_the_forward_operator_has_a_gradient_too(self):
        tensors = inputs(20, 20)
        output, lse = ops.attention_forward(*tensors)
        self.assertTrue(output.requires_grad)
        self.assertFalse(lse.requires_grad)
        again = copies(tensors)
        output.sum().backward()
        ops.attention(*again).sum().backward()
        for one, other in zip(tensors, again, strict=True):
            self.assert_close(one.grad, other.grad)

    def test_a_second_derivative_is_rejected(self):
        tensors = inputs(8, 8)
        (gradient,) = torch.autograd.grad(ops.attention(*tensors).sum(), tensors[0], create_graph=True)
        with self.assertRaisesRegex(RuntimeError, "attention_backward.*not implemented"):
            gradient.sum().backward()

    def test_no_gradient_where_none_is_wanted(self):
        tensors = inputs(8, 8)
        with torch.no_grad():
            self.assertFalse(ops.attention(*tensors).requires_grad)
        with torch.inference_mode():
            self.assertFalse(ops.attention(*tensors).requires_grad)

    def test_keeps_inputs_output_and_one_number_a_row(self):
        kept = []
        hooks = torch.autograd.graph.saved_tensors_hooks(
            lambda tensor: kept.append(tensor) or tensor, lambda tensor: tensor
        )
        for implementation in IMPLEMENTATIONS + ("auto",):
            kept.clear()
            tensors = inputs(400, 300, heads=4, key_heads=2)
            with hooks:
                output = ops.attention(*tensors, causal=True, implementation=implementation)
            self.assertEqual(
                [tensor.data_ptr() for tensor in kept[:4]], [tensor.data_ptr() for tensor in (*tensors, output)]
            )
            self.assertEqual([tuple(tensor.shape) for tensor in kept[4:]], [(2, 4, 400)])

    def test_backward_fills_no_gradient_of_lse(self):
        tensors = inputs(20, 20)
        output = ops.attention(*tensors, implementation="naive")
        gradient = torch.randn_like(output)
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], acc_events=True) as profile:
            torch.autograd.grad(output, tensors, gradient)
        names = [event.key for event in profile.key_averages()]
        self.assertIn("kymo::attention_backward", names)
        self.assertNotIn("aten::zeros", names)

    def test_no_gradient_of_the_output(self):
        class Stop(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x.clone()

            @staticmethod
            def backward(ctx, gradient):
                return None

        tensors = inputs(8, 8)
        Stop.apply(ops.attention(*tensors)).sum().backward()
        self.assertEqual([tensor.grad for tensor in tensors], [None] * 3)

    def test_errors(self):
        query, key, value = inputs(8, 8, gradient=False)
        for wrong, message in (
            (
                lambda: ops.attention(query, key, value, implementation="fast"),
                "unknown implementation 'fast', must be one of auto",
            ),
            (lambda: ops.attention(query[0, 0], key, value), "q has 2 dimensions; it must be"),
            (lambda: ops.attention(query, key.mT, value.mT), "they must be equal"),
            (lambda: ops.attention(query, key, value, scale=float("inf")), "it must be finite"),
        ):
            with self.assertRaisesRegex(ValueError, message):
                wrong()
        with self.assertRaisesRegex(TypeError, "k is Half but q is Float"):
            ops.attention(query, key.half(), value)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
