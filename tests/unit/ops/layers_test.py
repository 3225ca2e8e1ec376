# SPDX-License-Identifier: Apache-2.0
"""The fused layers from Python: python layers_test.py LIBRARY [DEVICE]. Compares the operators with float64, gradcheck,
opcheck, autocast and torch.compile."""

import itertools
import sys
import unittest

import torch
from layer_case import DEVICE, FLOATS, TOLERANCE, LayerCase, adamw_lists, draw, exact, ops, rotation
from torch.nn import functional


def plain_norm(x, weight, epsilon=1e-5):
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + epsilon) * weight


def plain_swiglu(joint):
    gate, up = joint.chunk(2, -1)
    return functional.silu(gate) * up


def plain_rotary(qkv, table):
    pairs = torch.view_as_complex(qkv[:, :, :2].reshape(*qkv[:, :, :2].shape[:-1], -1, 2).contiguous())
    rotated = torch.view_as_real(pairs * torch.view_as_complex(table)[None, :, None, None]).flatten(-2)
    return torch.cat((rotated, qkv[:, :, 2:]), 2)


class Layers(LayerCase):
    def assert_like(self, function, plain, inputs, factor=1.0):
        """Compares outputs and gradients with those of `plain` in float64."""
        exact_inputs = [exact(tensor) for tensor in inputs]
        outputs, expected = function(*inputs), plain(*exact_inputs)
        outputs, expected = (x if isinstance(x, tuple) else (x,) for x in (outputs, expected))
        gradients = [torch.randn_like(output) for output in outputs]
        torch.autograd.backward(outputs, gradients)
        torch.autograd.backward(expected, [gradient.double() for gradient in gradients])
        for output, other in zip(outputs, expected, strict=True):
            self.assert_near(output, other, factor=factor)
        narrowest = max((tensor.dtype for tensor in (*inputs, *outputs)), key=TOLERANCE.get)
        for tensor, other in zip(inputs, exact_inputs, strict=True):
            self.assertEqual(tensor.grad.dtype, tensor.dtype)
            self.assert_near(tensor.grad, other.grad, narrowest, 2 * factor)

    def opcheck(self, op, *arguments):
        torch.library.opcheck(op.default, arguments)

    # RMSNorm.

    def test_rms_norm(self):
        for dtype in FLOATS:
            for rows, width in ((5, 64), (37, 768), (3, 1280), (2, 8192), (300, 48), (2, 24), (7, 9), (2, 8200)):
                for weight_dtype in {dtype, torch.float32}:
                    inputs = (draw(rows, width, dtype=dtype), draw(width, dtype=weight_dtype))
                    self.assert_like(ops.rms_norm, plain_norm, inputs)

    def test_rms_norm_of_fp32_in_narrow_types(self):
        for dtype in (torch.bfloat16, torch.float16):
            x, weight = draw(21, 96), draw(96)

            def function(x, weight, dtype=dtype):
                return ops.rms_norm(x, weight, 1e-5, dtype)

            self.assertEqual(function(x, weight).dtype, dtype)
            self.assert_like(function, plain_norm, (x, weight))

    def test_rms_norm_uses_epsilon(self):
        x, weight = draw(4, 16), draw(16)
        self.assert_near(ops.rms_norm(x, weight, 3.0), plain_norm(exact(x), exact(weight), 3.0))
        zero = torch.zeros(4, 16, device=DEVICE, requires_grad=True)
        ops.rms_norm(zero, weight, 1e-5).sum().backward()
        self.assertTrue(torch.isfinite(zero.grad).all())

    def test_add_rms_norm(self):
        def plain(x, residual, weight):
            total = x + residual
            return plain_norm(total, weight), total

        types = [(dtype, dtype) for dtype in FLOATS] + [(torch.bfloat16, torch.float32), (torch.float16, torch.float32)]
        for dtype, stream in types:
            for shape in ((3, 5, 64), (33, 768), (2, 2560), (3, 7)):
                inputs = (
                    draw(*shape, dtype=dtype),
                    draw(*shape, dtype=stream),
                    draw(shape[-1], dtype=torch.float32 if stream != dtype else dtype),
                )
                self.assert_like(ops.add_rms_norm, plain, inputs, factor=2.0)

    def test_add_rms_norm_with_one_used_output(self):
        x, residual, weight = draw(5, 16), draw(5, 16), draw(16)
        ops.add_rms_norm(x, residual, weight)[1].sum().backward()
        self.assertTrue(torch.equal(x.grad, torch.ones_like(x)) and torch.equal(residual.grad, torch.ones_like(x)))
        self.assertIsNone(weight.grad)
        x.grad = residual.grad = None
        gradient = draw(5, 16, gradient=False)
        ops.add_rms_norm(x, residual, weight)[0].backward(gradient)
        other = (x + residual).detach().double().requires_grad_()
        plain_norm(other, exact(weight)).backward(gradient.double())
        self.assert_near(x.grad, other.grad)

    def test_rms_norm_repeats_to_the_last_bit(self):
        x, weight, gradient = draw(3000, 768), draw(768), draw(3000, 768, gradient=False)
        first = ops.rms_norm_backward(gradient, None, x.detach(), weight.detach())
        for _ in range(5):
            again = ops.rms_norm_backward(gradient, None, x.detach(), weight.detach())
            self.assertTrue(all(torch.equal(one, other) for one, other in zip(first, again, strict=True)))

    def test_rms_norm_gradcheck(self):
        x, residual, weight = (draw(*shape, dtype=torch.float64) for shape in ((3, 10), (3, 10), (10,)))
        self.assertTrue(torch.autograd.gradcheck(ops.rms_norm, (x, weight)))
        self.assertTrue(torch.autograd.gradcheck(ops.add_rms_norm, (x, residual, weight)))

    def test_rms_norm_opcheck(self):
        x, residual, weight = draw(5, 16), draw(5, 16), draw(16)
        self.opcheck(ops.rms_norm, x, weight)
        self.opcheck(ops.rms_norm, x, weight, 1e-3, torch.bfloat16)
        self.opcheck(ops.add_rms_norm, x, residual, weight)
        self.opcheck(ops.add_rms_norm, x.detach().bfloat16().requires_grad_(), residual, weight)
        self.opcheck(ops.rms_norm_backward, x.detach(), residual.detach(), x.detach(), weight.detach())

    # SwiGLU.

    def test_swiglu(self):
        for dtype in FLOATS:
            for shape in ((5, 128), (3, 7, 6144), (2, 22), (1, 2 * 4104), (1000, 32)):
                self.assert_like(ops.swiglu, plain_swiglu, (draw(*shape, dtype=dtype),))

    def test_swiglu_of_large_values(self):
        joint = torch.tensor([[-100.0, 100.0, -1e4, 0.0, 1.0, 2.0, 3.0, 4.0]], device=DEVICE, requires_grad=True)
        self.assert_like(ops.swiglu, plain_swiglu, (joint,))

    def test_swiglu_gradcheck_and_opcheck(self):
        self.assertTrue(torch.autograd.gradcheck(ops.swiglu, (draw(3, 10, dtype=torch.float64),)))
        self.opcheck(ops.swiglu, draw(3, 16))
        self.opcheck(ops.swiglu_backward, draw(3, 8, gradient=False), draw(3, 16, gradient=False))

    def test_swiglu_keeps_its_input_only(self):
        kept = []
        hooks = torch.autograd.graph.saved_tensors_hooks(lambda t: kept.append(t) or t, lambda t: t)
        joint = draw(3, 16)
        with hooks:
            ops.swiglu(joint)
        self.assertEqual([tensor.data_ptr() for tensor in kept], [joint.data_ptr()])

    # Rotary positions.

    def test_rotary(self):
        for dtype in FLOATS:
            for shape in ((2, 5, 3, 4, 64), (1, 300, 3, 2, 16), (3, 7, 3, 5, 6), (1, 2, 3, 20, 128)):
                table = rotation(shape[1], shape[-1])
                self.assert_like(
                    lambda qkv, table=table: ops.rotary(qkv, table),
                    lambda qkv, table=table: plain_rotary(qkv, table.double()),
                    (draw(*shape, dtype=dtype),),
                )

    def test_rotary_in_place_equals_rotary(self):
        for dtype in FLOATS:
            for width in (64, 6):
                qkv, table = draw(2, 9, 3, 4, width, dtype=dtype, gradient=False), rotation(9, width)
                for inverse in (False, True):
                    expected, actual = ops.rotary(qkv, table, inverse), qkv.clone()
                    ops.rotary_(actual, table, inverse)
                    self.assertTrue(torch.equal(actual, expected))

    def test_rotary_join_inverts_and_joins(self):
        for dtype in FLOATS:
            for width in (32, 10):
                qkv, table = draw(2, 9, 3, 4, width, dtype=dtype, gradient=False), rotation(9, width)
                expected = ops.rotary(qkv, table, True)
                parts = [part.transpose(1, 2) for part in qkv.unbind(2)]
                for layout in (lambda t: t, lambda t: t.contiguous(), lambda t: t.mT.contiguous().mT):
                    self.assertTrue(torch.equal(ops.rotary_join(*(layout(t) for t in parts), table, True), expected))
                self.assert_near(ops.rotary(expected, table), qkv, factor=2.0)

    def test_rotary_gradcheck_and_opcheck(self):
        qkv, table = draw(1, 3, 3, 2, 4, dtype=torch.float64), rotation(3, 4, torch.float64)
        self.assertTrue(torch.autograd.gradcheck(lambda x: ops.rotary(x, table), (qkv,)))
        self.assertTrue(torch.autograd.gradgradcheck(lambda x: ops.rotary(x, table), (qkv,)))
        qkv, table = draw(2, 3, 3, 2, 8), rotation(3, 8)
        self.opcheck(ops.rotary, qkv, table)
        self.opcheck(ops.rotary_, qkv.detach().clone(), table)
        parts = [part.transpose(1, 2) for part in qkv.detach().unbind(2)]
        self.opcheck(ops.rotary_join, *parts, table, True)

    # AdamW.

    def expected_adamw(self, lists, rate, decay, scale=1.0):
        results = []
        for p, g, m, v, step in zip(*(map(exact, each) for each in lists), strict=True):
            g = g * scale
            m, v, t = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g, step + 1
            denominator = (v / (1 - 0.999**t)).sqrt() + 1e-8
            results.append((p * (1 - rate * decay) - rate * m / (1 - 0.9**t) / denominator, m, v))
        return results

    def test_adamw(self):
        kinds = [(dtype, dtype) for dtype in FLOATS] + [(torch.bfloat16, torch.float32), (torch.float64, torch.float64)]
        sizes = (1, 7, 64, 4096, 20001, 0, 33000)
        for dtype, state in kinds:
            lists = adamw_lists(dtype, state, sizes)
            expected, gradients = self.expected_adamw(lists, 1e-2, 0.1), [g.clone() for g in lists[1]]
            counts = [step.item() for step in lists[4]]
            ops.adamw_(*lists, 1e-2, 0.9, 0.999, 1e-8, 0.1)
            for p, m, v, (p_expected, m_expected, v_expected) in zip(*lists[:1], *lists[2:4], expected, strict=True):
                if p.numel() == 0:
                    continue
                self.assert_near(p, p_expected)
                self.assert_near(m, m_expected)
                self.assert_near(v, v_expected)
            self.assertEqual([step.item() for step in lists[4]], [count + 1 for count in counts])
            self.assertTrue(all(torch.equal(one, other) for one, other in zip(lists[1], gradients, strict=True)))

    def test_adamw_of_many_tensors(self):
        lists = adamw_lists(torch.float32, torch.float32, [1 + i % 50 for i in range(1000)])
        expected = self.expected_adamw(lists, 1e-2, 0.1)
        ops.adamw_(*lists, 1e-2, 0.9, 0.999, 1e-8, 0.1)
        for p, (p_expected, _, _) in zip(lists[0], expected, strict=True):
            self.assert_near(p, p_expected)

    def test_adamw_clips_and_zeroes(self):
        lists = adamw_lists(torch.float32, torch.float32, (100, 3000))
        norm = torch.tensor(8.0, device=DEVICE)
        expected = self.expected_adamw(lists, 1e-2, 0.1, 2.0 / (8.0 + 1e-6))
        ops.adamw_(*lists, 1e-2, 0.9, 0.999, 1e-8, 0.1, norm, 2.0, True)
        for p, m, (p_expected, m_expected, _) in zip(lists[0], lists[2], expected, strict=True):
            self.assert_near(p, p_expected)
            self.assert_near(m, m_expected)
        self.assertTrue(all((gradient == 0).all() for gradient in lists[1]))

    def test_adamw_of_unaligned_tensors(self):
        for dtype in FLOATS:
            lists = adamw_lists(dtype, dtype, (4001, 4001))
            lists = [[tensor[1:] for tensor in each] for each in lists[:4]] + [lists[4]]
            expected = self.expected_adamw(lists, 1e-2, 0.1)
            ops.adamw_(*lists, 1e-2, 0.9, 0.999, 1e-8, 0.1)
            for p, (p_expected, _, _) in zip(lists[0], expected, strict=True):
                self.assert_near(p, p_expected)

    def master_weights(self, narrow, sizes, start=0):
        """Lists with some narrow gradients, the same with these converted to fp32, and copies for some parameters."""
        lists = adamw_lists(torch.float32, torch.float32, sizes, narrow)
        lists[1][0] = lists[1][0].float()
        lists = [[tensor[start:] for tensor in each] for each in lists[:4]] + [lists[4]]
        cast = [[tensor.float().clone() for tensor in each] for each in lists]
        none = torch.empty(0, dtype=narrow, device=DEVICE)
        copies = [none if i < 2 else torch.full_like(p, 7, dtype=narrow) for i, p in enumerate(lists[0])]
        return lists, cast, copies

    def test_adamw_of_master_weights_equals_casts(self):
        for narrow in (torch.bfloat16, torch.float16):
            for sizes, start in (((5, 7, 64, 4096, 20001, 33000), 0), ((4001, 300, 4001, 77), 1)):
                lists, cast, copies = self.master_weights(narrow, sizes, start)
                norm = torch.tensor(3.0, device=DEVICE)
                for zero in (False, True):
                    ops.adamw_(*lists, 1e-2, 0.9, 0.999, 1e-8, 0.1, norm, 2.0, zero, copies)
                    ops.adamw_(*cast, 1e-2, 0.9, 0.999, 1e-8, 0.1, norm, 2.0, zero)
                    for each, other in zip((*lists[0], *lists[2]), (*cast[0], *cast[2]), strict=True):
                        self.assertTrue(torch.equal(each, other))
                for each, other in zip((*lists[3], *lists[4]), (*cast[3], *cast[4]), strict=True):
                    self.assertTrue(torch.equal(each, other))
                for parameter, copy in zip(lists[0][2:], copies[2:], strict=True):
                    self.assertTrue(torch.equal(copy, parameter.to(narrow)))
                self.assertEqual([copy.numel() for copy in copies[:2]], [0, 0])
                self.assertTrue(all((gradient == 0).all() for gradient in lists[1]))

    def test_adamw_of_narrow_gradients_alone(self):
        lists, cast, _ = self.master_weights(torch.bfloat16, (20001, 7))
        ops.adamw_(*lists)
        ops.adamw_(*cast)
        self.assertTrue(all(torch.equal(one, other) for one, other in zip(lists[0], cast[0], strict=True)))

    def test_adamw_opcheck(self):
        lists = adamw_lists(torch.float32, torch.float32, (5, 8))
        torch.library.opcheck(ops.adamw_.default, lists, test_utils=("test_schema", "test_faketensor"))
        lists, _, copies = self.master_weights(torch.bfloat16, (5, 8, 3))
        torch.library.opcheck(
            ops.adamw_.default, lists, {"copies": copies}, test_utils=("test_schema", "test_faketensor")
        )

    # Cross entropy with the head.

    def test_linear_cross_entropy(self):
        for dtype in FLOATS:
            for tokens, width, classes, chunk in ((33, 64, 100, 0), (40, 32, 61, 7), (5, 16, 3, 0), (64, 64, 5003, 16)):
                x, weight = draw(tokens, width, dtype=dtype), draw(classes, width, dtype=dtype)
                target = torch.randint(classes, (tokens,), device=DEVICE)
                exact_x, exact_weight = exact(x), exact(weight)
                loss = ops.linear_cross_entropy(x, weight, target, chunk)
                expected = functional.cross_entropy(exact_x @ exact_weight.T, target)
                self.assertEqual(loss.dtype, torch.float32)
                self.assert_near(loss, expected, dtype)
                (3 * loss).backward()
                (3 * expected).backward()
                # Logits are rounded to the type: probabilities have this error times the size of the logits.
                self.assert_near(x.grad, exact_x.grad, dtype, 6.0)
                self.assert_near(weight.grad, exact_weight.grad, dtype, 6.0)

    def test_linear_cross_entropy_sums_chunks_in_fp32(self):
        x, weight = draw(2048, 32, dtype=torch.bfloat16), draw(50, 32, dtype=torch.bfloat16)
        target = torch.randint(50, (2048,), device=DEVICE)
        gradients = []
        for chunk in (2048, 16):
            weight.grad = None
            ops.linear_cross_entropy(x, weight, target, chunk).backward()
            gradients.append(weight.grad)
        self.assert_near(gradients[1], gradients[0], torch.bfloat16, 0.5)

    def test_linear_cross_entropy_rounds_a_scaled_gradient_once(self):
        scale = torch.tensor(1 / 3, device=DEVICE)
        cases = itertools.product((torch.bfloat16, torch.float16), ((64, 32, 50), (67, 33, 51)), (0, 16))
        for dtype, (tokens, width, classes), chunk in cases:
            x, weight = draw(tokens, width, dtype=dtype), draw(classes, width, dtype=dtype)
            target = torch.randint(classes, (tokens,), device=DEVICE)
            of = (x.detach(), weight.detach(), target, chunk, True, True)
            _, *unscaled = ops.linear_cross_entropy_forward(*of)
            self.assertEqual({tensor.dtype for tensor in unscaled}, {torch.float32})
            gradients = torch.autograd.grad(ops.linear_cross_entropy(x, weight, target, chunk), (x, weight), scale)
            for gradient, expected in zip(gradients, unscaled, strict=True):
                self.assertTrue(torch.equal(gradient, (expected * scale).to(dtype)))

    def test_linear_cross_entropy_gradcheck(self):
        x, weight = draw(5, 4, dtype=torch.float64), draw(6, 4, dtype=torch.float64)
        target = torch.tensor([0, 5, 2, 2, 1], device=DEVICE)
        for chunk in (0, 2):
            function = lambda x, weight, chunk=chunk: ops.linear_cross_entropy(x, weight, target, chunk)  # noqa: E731
            self.assertTrue(torch.autograd.gradcheck(function, (x, weight)))

    def test_linear_cross_entropy_opcheck(self):
        x, weight = draw(6, 8), draw(5, 8)
        target = torch.tensor([0, 4, 2, 2, 1, 3], device=DEVICE)
        self.opcheck(ops.linear_cross_entropy, x, weight, target)
        self.opcheck(ops.linear_cross_entropy_forward, x.detach(), weight.detach(), target, 4, True, True)

    def test_linear_cross_entropy_without_gradients(self):
        x, weight = draw(6, 8), draw(5, 8, gradient=False)
        target = torch.tensor([0, 4, 2, 2, 1, 3], device=DEVICE)
        ops.linear_cross_entropy(x, weight, target).backward()
        self.assertIsNotNone(x.grad)
        with torch.no_grad():
            loss = ops.linear_cross_entropy(x, weight, target, 4)
        self.assertFalse(loss.requires_grad)
        self.assert_near(loss, functional.cross_entropy(exact(x) @ exact(weight).T, target))

    def test_linear_cross_entropy_runs_backward_again_only_with_a_retained_graph(self):
        x, weight = draw(6, 8), draw(5, 8)
        loss = ops.linear_cross_entropy(x, weight, torch.zeros(6, dtype=torch.long, device=DEVICE))
        gradients = []
        for factor, retain in ((1, True), (3, True), (3, False)):
            x.grad = None
            loss.backward(torch.tensor(float(factor), device=DEVICE), retain_graph=retain)
            gradients.append(x.grad)
        self.assert_near(gradients[1], 3 * gradients[0])
        self.assertTrue(torch.equal(gradients[1], gradients[2]))
        with self.assertRaisesRegex(RuntimeError, "call the operator again"):
            loss.backward()

    def test_autocast(self):
        x, residual, weight, head = draw(6, 16), draw(6, 16), draw(16), draw(5, 16)
        target = torch.tensor([0, 4, 2, 2, 1, 3], device=DEVICE)
        with torch.autocast(DEVICE, dtype=torch.bfloat16):
            y, total = ops.add_rms_norm(x.bfloat16(), residual, weight)
            loss = ops.linear_cross_entropy(y.float(), head, target)
        self.assertEqual((y.dtype, total.dtype, loss.dtype), (torch.bfloat16, torch.float32, torch.float32))
        loss.backward()
        self.assertEqual({t.grad.dtype for t in (x, residual, weight, head)}, {torch.float32})
        other = [exact(t) for t in (x, residual, weight, head)]
        functional.cross_entropy(plain_norm(other[0] + other[1], other[2]) @ other[3].T, target).backward()
        for one, expected in zip((x, residual, weight, head), other, strict=True):
            self.assert_near(one.grad, expected.grad, torch.bfloat16, 6.0)

    def test_compile(self):
        def function(x, residual, weight, up, head, target):
            y, total = ops.add_rms_norm(torch.sin(x), residual, weight)
            hidden = total + ops.swiglu(y @ up)
            qkv = ops.rotary(hidden.view(1, 6, 3, 1, 4), rotation(6, 4))
            return ops.linear_cross_entropy(qkv.view(6, 12) * 2, head, target)

        target = torch.tensor([0, 4, 2, 2, 1, 3], device=DEVICE)
        mine = [draw(6, 12), draw(6, 12), draw(12), draw(12, 24), draw(5, 12)]
        theirs = [tensor.detach().clone().requires_grad_() for tensor in mine]
        function(*theirs, target).backward()
        for backend in ("eager", "aot_eager"):
            for tensor in mine:
                tensor.grad = None
            torch._dynamo.reset()
            torch.compile(function, backend=backend)(*mine, target).backward()
            for one, other in zip(mine, theirs, strict=True):
                self.assertTrue(torch.equal(one.grad, other.grad), backend)

    def test_a_second_derivative_is_rejected(self):
        joint = draw(3, 8)
        (gradient,) = torch.autograd.grad(ops.swiglu(joint).sum(), joint, create_graph=True)
        with self.assertRaisesRegex(RuntimeError, "swiglu_backward.*not implemented"):
            gradient.sum().backward()

    def test_not_contiguous(self):
        wide = draw(8, 40, gradient=False)
        for x in (wide[:, 4:36], wide.T[:32].T, wide[::2, 1:33], wide[:1, :32].expand(4, 32)):
            weight = draw(32, gradient=False)
            self.assertTrue(torch.equal(ops.rms_norm(x, weight), ops.rms_norm(x.contiguous(), weight)))
            self.assertTrue(torch.equal(ops.swiglu(x), ops.swiglu(x.contiguous())))
            target = torch.zeros(len(x), dtype=torch.long, device=DEVICE)
            loss = ops.linear_cross_entropy(x, x[:3], target)
            self.assertTrue(torch.equal(loss, ops.linear_cross_entropy(x.contiguous(), x[:3].contiguous(), target)))

    def test_empty(self):
        x, weight = draw(0, 16), draw(16)
        ops.rms_norm(x, weight).sum().backward()
        self.assertTrue((weight.grad == 0).all())
        self.assertEqual(ops.swiglu(x).shape, (0, 8))

    def test_errors(self):
        x, weight, table = draw(4, 16), draw(16), rotation(4, 8)
        qkv, target = draw(1, 4, 3, 2, 8), torch.zeros(4, dtype=torch.long, device=DEVICE)
        lists = adamw_lists(torch.float32, torch.float32, (4,))
        half, narrow = [lists[0][0].half()], adamw_lists(torch.bfloat16, torch.float32, (4,))
        elsewhere = torch.empty(16, device="meta")
        for wrong, message in (
            (lambda: ops.rms_norm(x, weight[:8]), r"weight is \[8\]; it must be \[16\]"),
            (lambda: ops.rms_norm(x, elsewhere), "weight is on meta"),
            (lambda: ops.add_rms_norm(x, x[:2], weight), r"residual is \[2, 16\]; it must be \[4, 16\]"),
            (lambda: ops.swiglu(x[:, :15]), "its last dimension must be even"),
            (lambda: ops.rotary(qkv[:, :, :2], table), r"it must be \[batch, sequence, 3, heads, d\]"),
            (lambda: ops.rotary(qkv, table[:3]), r"rotation is \[3, 4, 2\]; it must be \[4, 4, 2\]"),
            (lambda: ops.rotary(qkv[..., :7], table), "d is 7; it must be even"),
            (lambda: ops.rotary_(qkv.detach().mT.contiguous().mT, table), "qkv is not contiguous"),
            (lambda: ops.adamw_(lists[0], [], *lists[2:]), "gradients has 0 tensors but parameters has 1"),
            (lambda: ops.adamw_(lists[0], [draw(3)], *lists[2:]), r"a gradient is \[3\]; it must be \[4\]"),
            (lambda: ops.adamw_([draw(8)[::2].detach()], *lists[1:]), "a parameter is not contiguous"),
            (lambda: ops.adamw_(*lists, copies=half * 2), "copies has 2 tensors but parameters has 1"),
            (lambda: ops.adamw_(*lists, copies=[half[0][:3]]), r"a copy is \[3\]; it must be \[4\]"),
            (lambda: ops.linear_cross_entropy(x, x.detach()[:, :8], target), r"it must be \[classes, 16\]"),
            (lambda: ops.linear_cross_entropy(x, x, target[:3]), r"target is \[3\]; it must be \[4\]"),
            (lambda: ops.linear_cross_entropy(x, x, target, -1), "chunk_rows is -1; it must be at least 0"),
        ):
            with self.assertRaisesRegex(ValueError, message):
                wrong()
        for wrong, message in (
            (lambda: ops.rms_norm(x, weight.double()), "weight is Double; it must be Float"),
            (lambda: ops.rms_norm(x.bfloat16(), weight, 1e-5, torch.float16), "it must be the type of x, BFloat16"),
            (lambda: ops.rms_norm(target.view(1, 4), weight[:4]), "x is Long; it must be Float"),
            (lambda: ops.add_rms_norm(x, x.bfloat16(), weight), "residual is BFloat16|weight is Float; it must be"),
            (lambda: ops.rotary(qkv, table.double()), "rotation is Double; it must be Float"),
            (lambda: ops.adamw_(*lists[:2], [lists[2][0].half()], *lists[3:]), "a mean is Half; it must be Float"),
            (
                lambda: ops.adamw_(lists[0], [lists[1][0].double()], *lists[2:]),
                "a gradient is Double; it must be Float, BFloat16 or Half",
            ),
            (
                lambda: ops.adamw_(lists[0], [lists[1][0].bfloat16()], *lists[2:], copies=half),
                "a gradient is BFloat16; it must be Float or Half",
            ),
            (lambda: ops.adamw_(*narrow, copies=half), "a parameter with a copy is BFloat16; it must be Float"),
            (lambda: ops.adamw_(lists[0], half, *lists[2:], copies=lists[0]), "a copy is Float; it must be BFloat16"),
            (lambda: ops.adamw_(narrow[0], half, *narrow[2:]), "a gradient is Half; it must be BFloat16"),
            (lambda: ops.linear_cross_entropy(x, x, target.int()), "target is Int; it must be Long"),
        ):
            with self.assertRaisesRegex(TypeError, message):
                wrong()


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
