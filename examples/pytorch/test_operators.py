#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The operators against eager PyTorch in double, on the CPU and on a GPU where there is one.

FUSEKIT_TORCH_CASES is how many random convolutions each device gets (40).
"""

import copy
import os
import random
import unittest

import torch
import torch.nn.functional as functional
from torch import nn

import fusekit_torch

ops = torch.ops.fusekit
DEVICES = ["cpu"] + (["cuda"] if torch.cuda.is_available() else [])
TYPES = {torch.float32: 2e-5, torch.float16: 2e-3, torch.bfloat16: 1.6e-2}  # error, of the largest value
REGISTERS = hasattr(torch.library, "register_autograd")
ACTIVATIONS = {
    "passthru": ([], lambda x: x),
    "relu": ([], torch.relu),
    "clipped_relu": ([0.7], lambda x: x.clamp(0, 0.7)),
    "clamp": ([-0.4, 0.6], lambda x: x.clamp(-0.4, 0.6)),
    "logistic": ([], torch.sigmoid),
    "tanh": ([0.8, 1.2], lambda x: 1.2 * torch.tanh(0.8 * x)),
    "soft_relu": ([], functional.softplus),
    "abs": ([], torch.abs),
    "power": ([2.5, 0.2, 1.5], lambda x: (2.5 + 0.2 * x).clamp(min=1e-6) ** 1.5),
    "leaky_relu": ([0.1], lambda x: functional.leaky_relu(x, 0.1)),
    "elu": ([0.9], lambda x: functional.elu(x, 0.9)),
    "gelu": ([], functional.gelu),
    "gelu_tanh": ([], lambda x: functional.gelu(x, approximate="tanh")),
    "silu": ([], functional.silu),
    "mish": ([], functional.mish),
    "hard_swish": ([], functional.hardswish),
    "hard_sigmoid": ([], lambda x: functional.hardsigmoid(x)),
    "softsign": ([], functional.softsign),
}


def values(shape, dtype, device, channels_last=False):
    made = (torch.rand(shape, device=device) * 2 - 1).to(dtype)
    return made.contiguous(memory_format=torch.channels_last) if channels_last else made


def double(tensor):
    return None if tensor is None else tensor.detach().cpu().double()


def reference(x, weight, bias, residual, stride, padding, dilation, groups, name):
    y = functional.conv2d(x, weight, bias, stride, padding, dilation, groups)
    return ACTIVATIONS[name][1](y if residual is None else y + residual)


class Case(unittest.TestCase):
    def agree(self, result, expected, bound, what=""):
        self.assertEqual(tuple(result.shape), tuple(expected.shape), what)
        if not expected.numel():
            return
        difference = (double(result) - expected).abs().max().item()
        least = max(expected.abs().max().item(), 1e-3)
        self.assertLessEqual(difference / least, bound, what)  # NaN is not

    def refused(self, sentence, function, *arguments, **named):
        with self.assertRaisesRegex(RuntimeError, sentence):
            function(*arguments, **named)


class Convolutions(Case):
    def test_random_cases(self):
        for device in DEVICES:
            choose = random.Random(7)
            torch.manual_seed(7)
            for index in range(int(os.environ.get("FUSEKIT_TORCH_CASES", "40"))):
                groups = choose.choice([1, 1, 1, 2, 4])
                multiple = choose.choice([1, 3, 8, 16])
                c, k = (groups * multiple * choose.randint(1, 4) for _ in range(2))
                r, s = choose.choice([(1, 1), (3, 3), (3, 3), (7, 7), (2, 5)])
                stride, padding = ([choose.randint(1, 2), choose.randint(1, 2)], [choose.randint(0, 2) for _ in "hw"])
                dilation = [choose.randint(1, 2), choose.randint(1, 2)]
                h, w = (dilation[i] * (size - 1) + choose.randint(1, 12) for i, size in enumerate((r, s)))
                dtype, last = choose.choice(list(TYPES)), choose.random() < 0.6
                name = choose.choice(["relu", "relu", "passthru", *ACTIVATIONS])
                x = values((choose.randint(1, 3), c, h, w), dtype, device, last)
                if choose.random() < 0.1:
                    x = values((x.shape[0], c, h, 2 * w), dtype, device, last)[:, :, :, ::2]  # any strides
                weight = values((k, c // groups, r, s), dtype, device, last) / (c // groups * r * s) ** 0.5
                bias = values((k,), choose.choice([dtype, torch.float32]), device)
                geometry = (stride, padding, dilation, groups)
                expected = functional.conv2d(double(x), double(weight), double(bias), *geometry)
                residual = None
                if choose.random() < 0.4:
                    residual = values(expected.shape, dtype, device, last)
                    expected = expected + double(residual)
                expected = ACTIVATIONS[name][1](expected)
                what = f"{index}: {device} {dtype} {tuple(x.shape)} {tuple(weight.shape)} {geometry} {name}"
                y = ops.conv_bias_act(x, weight, bias, residual, *geometry, name, *ACTIVATIONS[name][0])
                self.assertEqual(y.dtype, dtype)
                if last and y.numel() and x.stride(1) == 1 and c > 1:
                    self.assertTrue(y.is_contiguous(memory_format=torch.channels_last), what)
                self.agree(y, expected, TYPES[dtype], what)

    def test_every_activation(self):
        for device in DEVICES:
            for dtype, bound in TYPES.items():
                x, weight = values((2, 8, 6, 5), dtype, device), values((16, 8, 1, 1), dtype, device) / 2
                bias = values((16,), torch.float32, device)
                for name, (arguments, _) in ACTIVATIONS.items():
                    y = ops.conv_bias_act(x, weight, bias, activation=name,
                                          **dict(zip(("alpha", "beta", "gamma"), arguments)))
                    expected = reference(double(x), double(weight), double(bias), None, 1, 0, 1, 1, name)
                    self.agree(y, expected, bound, f"{device} {dtype} {name}")

    def test_refusals_are_sentences(self):
        for device in DEVICES:
            x, weight, bias = (values(shape, torch.float32, device) for shape in ((1, 4, 5, 5), (8, 4, 3, 3), (8,)))
            conv = ops.conv_bias_act
            self.refused("activation: expected one of .*relu.*got rilu", conv, x, weight, bias,
                         activation="rilu")
            self.refused("alpha: expected nothing, as relu has no alpha", conv, x, weight, bias, alpha=1.0)
            self.refused(r"Bias.bias: expected 8 \(K\), got 7", conv, x, weight, bias[:7])
            self.refused("Residual.z: expected .*1 x 8 x 3 x 3", conv, x, weight, bias, values((1, 8, 3, 4), x.dtype,
                                                                                                device))
            self.refused("an output of at least 1 x 1", conv, x[:, :, :2], weight, bias)
            self.refused("stride: expected 1 or more, got 0", conv, x, weight, bias, stride=0)
            self.refused("groups that divide C", conv, x, weight, bias, groups=3)
            self.refused("x: expected 4 modes", conv, x[0], weight, bias)
            self.refused("x: expected elements of float, half or bfloat16", conv, x.double(), weight, bias)
            self.refused("expected float, got half|weights: expected .*float.*got half", conv, x, weight.half(), bias)
            if device == "cuda":
                self.refused("bias: expected a tensor on cuda:0, as x, got cpu", conv, x, weight, bias.cpu())

    @unittest.skipUnless(REGISTERS, "PyTorch before 2.4 registers no gradients in Python")
    def test_gradients(self):
        for device in DEVICES:
            for dtype, bound in ((torch.float32, 1e-4), (torch.float16, 1e-2)):
                for name, (arguments, _) in ACTIVATIONS.items():
                    torch.manual_seed(3)
                    given = [values((2, 8, 7, 6), dtype, device, True), values((16, 4, 3, 3), dtype, device) / 6,
                             values((16,), torch.float32, device), values((2, 16, 4, 3), dtype, device, True)]
                    ours = [each.clone().requires_grad_() for each in given]
                    theirs = [double(each).requires_grad_() for each in given]
                    y = ops.conv_bias_act(*ours, 2, 1, 1, 2, name, *arguments)
                    expected = reference(*theirs, 2, 1, 1, 2, name)
                    dy = values(y.shape, dtype, device)
                    y.backward(dy)
                    expected.backward(double(dy))
                    for own, other in zip(ours, theirs):
                        if (expected.detach().abs() < 5e-4).any() and dtype == torch.float16 and name != "passthru":
                            continue  # too near a kink for half
                        self.agree(own.grad, other.grad, bound, f"{device} {dtype} {name} {tuple(own.shape)}")

    @unittest.skipUnless(REGISTERS, "PyTorch before 2.4")
    def test_no_second_derivative(self):
        x, weight, bias = (values(shape, torch.float32, "cpu").requires_grad_()
                           for shape in ((1, 4, 5, 5), (8, 4, 3, 3), (8,)))
        (dx,) = torch.autograd.grad(ops.conv_bias_act(x, weight, bias).sum(), x, create_graph=True)
        self.refused("has no gradient", dx.pow(2).sum().backward)


    def addends(self, device, dtype, k=8):
        """Pairs of a bias and a residual that broadcast to 2 x k x 5 x 8; residuals may be left out."""
        shapes = ((1, k, 1, 1), (2, k, 1, 1), (1, 1, 5, 8), (2, 1, 1, 1), (1, k, 5, 8), (k, 1, 1), (5, 8), (8,), ())
        for shape in shapes:
            for last in (False, True):
                made = values(shape, dtype, device)
                yield (values((k,), torch.float32, device),
                       made.contiguous(memory_format=torch.channels_last) if last and made.dim() == 4 else made)
        for shape in (*shapes, (1,)):
            if shape != (8,):  # a bias of one mode has a value per channel
                for residual in (None, (2, k, 5, 8), (1, k, 1, 1)):
                    yield (values(shape, torch.float32, device),
                           None if residual is None else values(residual, dtype, device))

    def test_broadcast(self):
        for device in DEVICES:
            for dtype, bound in TYPES.items():
                for last, k in ((False, 8), (True, 8), (False, 64), (True, 64)):
                    x, weight = values((2, k, 5, 8), dtype, device, last), values((k, k, 3, 3), dtype, device, last) / k
                    for bias, residual in self.addends(device, dtype, k):
                        y = ops.conv_bias_act(x, weight, bias, residual, 1, 1)
                        expected = functional.conv2d(double(x), double(weight), None, 1, 1)
                        expected = expected + double(bias if bias.dim() != 1 else bias.view(1, -1, 1, 1))
                        expected = torch.relu(expected if residual is None else expected + double(residual))
                        # a chain of n float additions errs by at most n 2^-24 of the sum of the magnitudes
                        magnitude = functional.conv2d(double(x).abs(), double(weight).abs(), None, 1, 1).max().item()
                        chain = (9 * k + 2) * 2**-24 * magnitude / max(expected.abs().max().item(), 1e-3)
                        what = f"{device} {dtype} {last} {tuple(bias.shape)} {residual is not None and residual.shape}"
                        self.agree(y, expected, max(bound, chain), what)
            x, weight, bias = (values(shape, torch.float32, device) for shape in ((1, 8, 5, 6), (8, 8, 1, 1), (8,)))
            self.refused("bias: expected elements of float, half or bfloat16, got Int", ops.conv_bias_act, x, weight,
                         torch.ones(1, 1, 5, 6, dtype=torch.int32, device=device))
            for shape in ((1, 8, 5, 1, 1), (2, 8, 1, 1), (1, 4, 1, 1)):
                self.refused("bias: expected .*8 .K., or a shape that broadcasts to y, got", ops.conv_bias_act, x, weight,
                             values(shape, torch.float32, device))
                self.refused("residual: expected 4 modes|Residual.z: expected", ops.conv_bias_act, x, weight, bias,
                             values(shape, torch.float32, device))

    @unittest.skipUnless(REGISTERS, "PyTorch before 2.4 registers no gradients in Python")
    def test_gradients_of_broadcast(self):
        for device in DEVICES:
            for dtype, bound in ((torch.float32, 1e-4), (torch.float16, 1e-2)):
                for bias, residual in self.addends(device, dtype):
                    given = [values((2, 8, 5, 8), dtype, device), values((8, 8, 3, 3), dtype, device) / 8, bias]
                    given += [] if residual is None else [residual]
                    ours = [each.clone().requires_grad_() for each in given]
                    theirs = [double(each).requires_grad_() for each in given]
                    y = ops.conv_bias_act(*ours[:3], ours[3] if ours[3:] else None, 1, 1, activation="passthru")
                    expected = functional.conv2d(*theirs[:2], None, 1, 1)
                    expected = expected + (theirs[2] if bias.dim() != 1 else theirs[2].view(1, -1, 1, 1))
                    expected = expected + theirs[3] if theirs[3:] else expected
                    dy = values(y.shape, dtype, device)
                    y.backward(dy), expected.backward(double(dy))
                    for own, other in zip(ours, theirs):
                        self.assertEqual(own.grad.dtype, own.dtype)
                        self.agree(own.grad, other.grad, bound, f"{device} {dtype} {tuple(own.shape)}")

    def test_no_images(self):
        """A batch of 0: y has no elements, gradients of parameters are 0, and wrong shapes are refused as ever."""
        for device in DEVICES:
            for dtype in TYPES:
                for last in (False, True):
                    x, weight = values((0, 8, 6, 5), dtype, device, last), values((16, 4, 3, 3), dtype, device, last)
                    bias, channels = values((16,), torch.float32, device), values((8,), torch.float32, device).abs() + 1
                    for name, (arguments, _) in ACTIVATIONS.items():
                        for shape in (None, (0, 16, 3, 3), (16, 1, 1)):
                            residual = None if shape is None else values(shape, dtype, device)
                            y = ops.conv_bias_act(x, weight, bias, residual, 2, 1, 1, 2, name, *arguments)
                            self.assertEqual((tuple(y.shape), y.dtype), ((0, 16, 3, 3), dtype))
                        y = ops.batch_norm_act(x, *[channels] * 4, 1e-5, name, *arguments)
                        self.assertEqual((tuple(y.shape), y.dtype), ((0, 8, 6, 5), dtype))
                        self.assertEqual(tuple(ops.activation_backward(y, y, name, *arguments).shape), (0, 8, 6, 5))
                    for training in (False, True):
                        dx, *sums = ops.batch_norm_act_backward(x, x, *[channels] * 4, training, 1e-5, "relu")
                        self.assertEqual(tuple(dx.shape), (0, 8, 6, 5))
                        for each in sums:
                            self.agree(each, torch.zeros(8, dtype=torch.double), 0)
                    self.assertEqual(tuple(ops.max_pool_3x3(x).shape), (0, 8, 3, 3))
                    self.assertEqual(tuple(ops.global_average(x).shape), (0, 8, 1, 1))
            x, weight = values((0, 8, 6, 5), torch.float32, device), values((16, 4, 3, 3), torch.float32, device)
            for sentence, *wrong in (("weights?: expected .*8.*got 16 x 4 x 3 x 3", x, weight, bias),
                                     ("groups that divide C and K", x, weight, bias, None, 1, 0, 1, 3),
                                     (r"[Bb]ias: expected 16 \(K\), got", x, weight, bias[:7], None, 1, 0, 1, 2),
                                     ("an output of at least 1 x 1", x[:, :, :2], weight, bias, None, 1, 0, 1, 2),
                                     ("(float|x's type).*[Hh]alf", x, weight.half(), bias, None, 1, 0, 1, 2)):
                self.refused(sentence, ops.conv_bias_act, *wrong)
            self.refused(r"scale: expected 8 \(C\), got 16", ops.batch_norm_act, x, *[bias] * 4)

    @unittest.skipUnless(REGISTERS, "PyTorch before 2.4 registers no gradients in Python")
    def test_gradients_of_no_images(self):
        for device in DEVICES:
            for dtype in (torch.float32, torch.float16):
                for name in ("relu", "silu", "passthru"):
                    given = [values(shape, dtype, device).requires_grad_()
                             for shape in ((0, 8, 6, 5), (16, 8, 3, 3), (16,), (1, 16, 1, 1))]
                    ops.conv_bias_act(*given, activation=name).sum().backward()
                    channels = [values((16,), torch.float32, device).requires_grad_() for _ in range(2)]
                    statistics = [torch.ones(16, device=device)] * 2
                    x = values((0, 16, 4, 3), dtype, device).requires_grad_()
                    ops.batch_norm_act(x, *channels, *statistics, 1e-5, name).sum().backward()
                    for each in (*given, x, *channels):
                        self.agree(each.grad, torch.zeros(each.shape, dtype=torch.double), 0, f"{device} {dtype} {name}")


class Norms(Case):
    def test_running_statistics(self):
        """The running variance is that of the values, however small beside epsilon or their mean; bounds are 1e-5 of it
        and of the square of a value's rounding."""
        for device in DEVICES:
            for mean, deviation in ((0, 0), (3, 0), (0, 1e-5), (0, 1e-6), (0, 1), (1000, 1), (-1e4, 100), (0, 1e6)):
                for last in (False, True):
                    torch.manual_seed(1)
                    x = (mean + deviation * values((5, 4, 7, 6), torch.float32, device, last))
                    running = [torch.zeros(4, device=device), torch.zeros(4, device=device)]
                    scale = torch.ones(4, device=device)
                    y = fusekit_torch.batch_norm_act(x, scale, scale, *running, training=True, momentum=1.0,
                                                     activation="passthru")
                    pixels = double(x).transpose(0, 1).flatten(1)
                    what, variance = f"{device} {mean} {deviation}", pixels.var(1)
                    self.assertTrue((double(running[1]) >= 0).all(), what)
                    error = (double(running[1]) - variance).abs().max().item()
                    # Sums of squares are merged with the difference of two means, about a deviation, that are rounded
                    # to floats: each adds up to 2^-24 |mean| to it.
                    rounding = 2 * 2**-24 * abs(mean) * variance.max().item() ** 0.5
                    self.assertLessEqual(error, 1e-5 * variance.max().item() + rounding + (1e-7 * mean) ** 2, what)
                    self.agree(running[0], pixels.mean(1), 1e-5, what)
                    self.assertFalse(y.isnan().any().item())

    def test_one_value_per_channel(self):
        for device in DEVICES:
            parameters = [torch.ones(4, device=device) for _ in range(4)]
            for shape in ((1, 4, 1, 1), (0, 4, 3, 3)):
                x = torch.ones(shape, device=device)
                with self.assertRaisesRegex(ValueError, "Expected more than 1 value per channel when training, got input "
                                            rf"size torch.Size\(\[{shape[0]}, 4"):
                    fusekit_torch.batch_norm_act(x, *parameters, training=True)
                self.assertEqual([each.tolist() for each in parameters], [[1.0] * 4] * 4)
            x = torch.full((1, 4, 1, 1), 3.0, device=device)
            y, _, _, variance = ops.batch_norm_act_training(x, *parameters[:2])
            self.agree(y, torch.ones((1, 4, 1, 1), dtype=torch.double), 1e-6)
            self.assertTrue(variance.isnan().all().item())
            self.refused("x: expected a value or more per channel, for the batch's statistics, got 0 x 4 x 3 x 3",
                         ops.batch_norm_act_training, torch.ones((0, 4, 3, 3), device=device), *parameters[:2])

    def test_inference(self):
        for device in DEVICES:
            for dtype, bound in TYPES.items():
                for last in (False, True):
                    x = values((3, 10, 5, 6), dtype, device, last)
                    scale, shift, mean = (values((10,), torch.float32, device) for _ in range(3))
                    variance = torch.rand(10, device=device) + 0.5
                    for name in ("relu", "silu", "passthru"):
                        y = fusekit_torch.batch_norm_act(x, scale, shift, mean, variance, activation=name)
                        expected = functional.batch_norm(double(x), double(mean), double(variance), double(scale),
                                                         double(shift))
                        self.agree(y, ACTIVATIONS[name][1](expected), bound, f"{device} {dtype} {name}")

    @unittest.skipUnless(REGISTERS, "PyTorch before 2.4 registers no gradients in Python")
    def test_training(self):
        for device in DEVICES:
            for dtype, bound in TYPES.items():
                for last, training, name in ((False, True, "relu"), (True, True, "relu"), (True, True, "silu"),
                                             (False, False, "relu"), (True, False, "silu")):
                    torch.manual_seed(5)
                    ours = [values((4, 10, 7, 6), dtype, device, last), values((10,), torch.float32, device) + 1.5,
                            values((10,), torch.float32, device)]
                    running = [values((10,), torch.float32, device), torch.rand(10, device=device) + 0.5]
                    theirs, moved = [double(each).requires_grad_() for each in ours], [double(each) for each in running]
                    ours = [each.requires_grad_() for each in ours]
                    y = fusekit_torch.batch_norm_act(*ours, *running, training=training, activation=name)
                    expected = functional.batch_norm(theirs[0], *moved, *theirs[1:], training)
                    kink = expected.detach().abs() < (0.05 if dtype == torch.bfloat16 else 0.005)
                    expected = ACTIVATIONS[name][1](expected)
                    dy = values(y.shape, dtype, device).masked_fill(kink.to(device), 0)
                    y.backward(dy)
                    expected.backward(double(dy))
                    what = f"{device} {dtype} {last} {training} {name}"
                    self.agree(y, expected.detach(), bound, what)
                    for own, other in zip(ours, theirs):
                        self.agree(own.grad, other.grad, 4 * bound, what)
                    for own, other in zip(running, moved):
                        self.agree(own, other, 1e-4, what)


class Pools(Case):
    def test_pools(self):
        for device in DEVICES:
            for dtype, bound in TYPES.items():
                for last in (False, True):
                    x = values((2, 24, 11, 8), dtype, device, last)
                    self.agree(ops.max_pool_3x3(x), functional.max_pool2d(double(x), 3, 2, 1), 0)
                    self.agree(ops.global_average(x), double(x).mean((2, 3), keepdim=True), bound)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem, self.stem_norm = nn.Conv2d(3, 16, 7, 2, 3, bias=False), nn.BatchNorm2d(16)
        self.pool = nn.MaxPool2d(3, 2, 1)
        self.first, self.first_norm = nn.Conv2d(16, 32, 3, 2, 1, bias=False), nn.BatchNorm2d(32)
        self.side, self.side_norm = nn.Conv2d(16, 32, 1, 2), nn.BatchNorm2d(32)
        self.average, self.classifier = nn.AdaptiveAvgPool2d(1), nn.Linear(32, 8)

    def forward(self, x):
        x = self.pool(functional.relu(self.stem_norm(self.stem(x))))
        y = self.first_norm(self.first(x))
        y += self.side_norm(self.side(x))
        return self.classifier(torch.flatten(self.average(functional.relu(y)), 1))


class Swap(Case):
    def test_fuse(self):
        torch.manual_seed(11)
        model = Block()
        for norm in (model.stem_norm, model.first_norm, model.side_norm):
            nn.init.uniform_(norm.running_mean, -1, 1), nn.init.uniform_(norm.running_var, 0.5, 2)
            nn.init.uniform_(norm.weight, 0.5, 1), nn.init.uniform_(norm.bias, -1, 1)
        x = torch.rand(2, 3, 33, 38)
        with torch.no_grad():
            expected = model.eval().double()(x.double())
            for device in DEVICES:
                for dtype, bound in TYPES.items():
                    fused = fusekit_torch.fuse(copy.deepcopy(model).float().to(device), dtype)
                    kinds = [type(each).__name__ for each in fused.children()]
                    self.assertEqual(sorted(kinds), ["FusedConv", "FusedConv", "FusedLinear", "FusedStem",
                                                     "GlobalAverage", "MaxPool"])
                    given = x.to(device, dtype).contiguous(memory_format=torch.channels_last)
                    self.agree(fused(given), expected, 4 * bound, f"{device} {dtype}")


@unittest.skipUnless(REGISTERS, "PyTorch before 2.4 has no opcheck and no register_fake")
class Tracing(Case):
    def inputs(self, device, dtype=torch.float32, grad=False):
        made = (values((2, 8, 9, 9), dtype, device, True), values((16, 8, 3, 3), dtype, device) / 8,
                values((16,), torch.float32, device), values((2, 16, 5, 5), dtype, device, True))
        return tuple(each.requires_grad_(grad) for each in made)

    def test_opcheck(self):
        for device in DEVICES:
            for grad in (False, True):
                torch.library.opcheck(ops.conv_bias_act, (*self.inputs(device, grad=grad), [2, 2], [1, 1]),
                                      {"activation": "silu"})
                x, _, _, _ = self.inputs(device, grad=grad)
                channels = tuple((torch.rand(8, device=device) + 0.5).requires_grad_(grad) for _ in range(2))
                statistics = tuple(torch.rand(8, device=device) + 0.5 for _ in range(2))
                torch.library.opcheck(ops.batch_norm_act, (x, *channels, *statistics))
                torch.library.opcheck(ops.batch_norm_act_training, (x, *channels))
            torch.library.opcheck(ops.max_pool_3x3, (x.detach(),))
            torch.library.opcheck(ops.global_average, (x.detach(),))

    def test_compile_and_export(self):
        def function(x, weight, bias, residual):
            y = ops.conv_bias_act(x * 2, weight, bias, residual, 2, 1)
            return fusekit_torch.batch_norm_act(y, bias, bias, bias, bias.abs() + 1) + 1

        class Module(nn.Module):
            def forward(self, *inputs):
                return function(*inputs)

        for device in DEVICES:
            inputs = self.inputs(device)
            expected = double(function(*inputs))
            backend = "inductor" if device == "cuda" else "aot_eager"  # inductor needs a compiler on the CPU
            torch._dynamo.reset()
            self.agree(torch.compile(function, fullgraph=True, backend=backend)(*inputs), expected, 1e-5)
            exported = torch.export.export(Module(), inputs)
            targets = [str(node.target) for node in exported.graph.nodes]
            self.assertIn("fusekit.conv_bias_act.default", targets)
            self.agree(exported.module()(*inputs), expected, 1e-5)

    def test_compiled_training(self):
        for device in DEVICES:
            inputs, plain = self.inputs(device, grad=True), self.inputs(device)
            for given, other in zip(inputs, plain):
                given.data.copy_(other)
            torch._dynamo.reset()
            compiled = torch.compile(lambda *each: ops.conv_bias_act(*each, 2, 1).pow(2).sum(), fullgraph=True,
                                     backend="aot_eager")
            compiled(*inputs).backward()
            own = [each.grad.clone() for each in inputs]
            for each in inputs:
                each.grad = None
            ops.conv_bias_act(*inputs, 2, 1).pow(2).sum().backward()
            for one, other in zip(own, inputs):
                self.agree(one, double(other.grad), 1e-4)


@unittest.skipUnless(torch.cuda.is_available(), "no GPU")
class Streams(Case):
    def test_current_stream(self):
        """Work that is queued on a stream of PyTorch's is seen by an operator there, and by no other stream's."""
        x, weight, bias = (values(shape, torch.float16, "cuda", len(shape) == 4)
                           for shape in ((8, 64, 56, 56), (64, 64, 3, 3), (64,)))
        expected = double(ops.conv_bias_act(x, weight, bias, padding=1))
        stream, late = torch.cuda.Stream(), torch.zeros_like(x)
        torch.cuda.synchronize()
        with torch.cuda.stream(stream):
            torch.cuda._sleep(50_000_000)
            late.copy_(x)
            y = ops.conv_bias_act(late, weight, bias, padding=1)
            self.assertFalse(stream.query())  # no operator has waited
        stream.synchronize()
        self.agree(y, expected, 0)

    def test_graph(self):
        torch.manual_seed(2)
        x = values((4, 64, 14, 14), torch.float16, "cuda", True)
        weight, bias = values((64, 64, 3, 3), torch.float16, "cuda", True) / 24, values((64,), torch.float32, "cuda")
        scale = torch.rand(64, device="cuda") + 0.5

        def function():
            y = ops.conv_bias_act(x, weight, bias, x, 1, 1, activation="silu")
            return ops.batch_norm_act_training(y, scale, bias)[0]

        function()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            y = function()
        for _ in range(3):
            x.copy_(values(x.shape, x.dtype, "cuda"))
            y.fill_(float("nan"))
            graph.replay()
            self.agree(y, double(function()), 0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
