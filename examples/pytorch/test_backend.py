#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The backend against eager PyTorch: which chains become plans, and models that share, alias, mutate and broadcast.

With PyTorch 2 through torch.compile; with 1.13 on graphs of make_fx. The rules are those of libfusekit_jit
(FUSEKIT_JIT_LIBRARY), which needs no GPU; on the CPU without libfusekit_runtime, plans run as ATen's operators.
"""

import copy
import gc
import os
import pathlib
import re
import unittest
import unittest.mock
import weakref

os.environ.setdefault("FUSEKIT_TORCH_LIBRARY", "")  # no extension is built
import torch  # noqa: E402
import torch.nn.functional as functional  # noqa: E402
from torch import nn  # noqa: E402

import fusekit_torch  # noqa: E402
from fusekit_torch import backend, library, measuring, steps, values  # noqa: E402

COMPILES = hasattr(torch, "compile")
DEVICES = ["cpu"] + (["cuda"] if torch.cuda.is_available() else [])
C = 16
HEADER = "include/fusekit/runtime/c/fusekit.h"


def jit_rules(device):
    """The rules of the run-time compiler, for every device."""
    return library.load("fusekit_jit", library.JIT)


class Parts(nn.Module):
    """Layers for a model below: `compute` is its forward."""

    def __init__(self, compute):
        super().__init__()
        self.conv, self.other = nn.Conv2d(C, C, 3, padding=1), nn.Conv2d(C, C, 1, bias=False)
        self.norm, self.second, self.linear = nn.BatchNorm2d(C), nn.BatchNorm2d(C), nn.Linear(C, C)
        self.wide = nn.Parameter(torch.randn(C, 3 * C, 1, 1) / C)
        self.scale, self.compute = nn.Parameter(torch.rand(C, 1, 1) + 0.5), compute
        for norm in (self.norm, self.second):
            nn.init.uniform_(norm.weight, 0.5, 1.5), nn.init.uniform_(norm.bias)
            nn.init.uniform_(norm.running_mean), nn.init.uniform_(norm.running_var, 0.5, 1.5)

    def forward(self, x):
        return self.compute(self, x)


def shared(m, x):
    y = m.conv(x)
    return torch.relu(y) + y.mean()


def mutated(m, x):
    x = x * 1
    y = m.conv(x)
    x.add_(1)
    return torch.relu(m.norm(y)), x


def input_mutated(m, x):
    y = m.conv(x)
    x.mul_(2)
    return functional.silu(y + x)


def aliased(m, x):
    y = m.conv(x)
    view = y[:, :4]
    view.zero_()
    return torch.relu(y), view


def output_aliased(m, x):
    y = torch.relu(m.conv(x))
    return y, y[:, 1:], y.permute(0, 2, 3, 1)


def residual_overwritten(m, x):
    z = m.other(x)
    y = m.conv(x) + z
    z.zero_()
    return torch.relu(y)


def accumulated(m, x):
    total = m.other(x)
    kept = total[:, 2:]
    total += m.conv(x)
    return total, kept


def channels(m, x):
    return functional.hardswish(m.conv(x) * torch.sigmoid(m.linear(x.mean((2, 3))))[:, :, None, None])


def gated(m, x):
    """Squeeze and excite: the gate is a plan, the product with the larger x is not."""
    gate = torch.sigmoid(m.other(functional.silu(m.conv(x.mean((2, 3), keepdim=True)))))
    return m.second(m.other(gate * x))


def mlp(m, x):
    """A block of ConvNeXt after its depthwise convolution."""
    return m.scale * functional.gelu(m.linear(x.permute(0, 2, 3, 1))).permute(0, 3, 1, 2) + x


def shuffled(x):
    """ShuffleNet's channel shuffle: its result is contiguous."""
    n, c, h, w = x.shape
    return x.view(n, 2, c // 2, h, w).transpose(1, 2).contiguous().view(n, c, h, w)


def concatenated(m, x):
    """A module of Inception: two plans, a copy, and the convolution that reads all three."""
    y = torch.cat((torch.relu(m.conv(x)), torch.cat((m.other(x), functional.max_pool2d(x, 3, 1, 1)), 1)), 1)
    return functional.conv2d(y, m.wide)


# Each model, and its plans by libfusekit_jit's rules.
BIAS, POINT = "Conv<filter(3, 3).pad(1)>, Bias", "Conv<filter(1, 1)>"
MODELS = {
    "block": (lambda m, x: torch.relu(m.norm(m.conv(x)) + x), [f"{BIAS}, Residual, Activation<Relu>"]),
    "norm without a bias": (lambda m, x: functional.silu(m.norm(m.other(x))), [f"{POINT}, Bias, Activation<Silu>"]),
    "two norms": (lambda m, x: m.second(m.norm(m.conv(x))), [f"{BIAS}, BatchNormInference<Spatial>"]),
    "norm last": (lambda m, x: m.norm(torch.tanh(m.conv(x))), [f"{BIAS}, Activation<Tanh>"]),
    "norm first": (lambda m, x: m.conv(torch.relu(m.norm(x))), [BIAS]),
    "two sums": (lambda m, x: torch.relu(m.conv(x) + x) + x, [f"{BIAS}, Residual, Activation<Relu>"]),
    "after an activation": (lambda m, x: functional.elu(m.conv(x)) - x, [f"{BIAS}, Activation<Elu>, Residual"]),
    "two convolutions": (lambda m, x: torch.relu(m.conv(x) + m.other(x)),
                         [f"{BIAS}, Residual, Activation<Relu>", POINT]),
    "numbers": (lambda m, x: torch.relu(1 - m.conv(x) * 0.5 + 0.25),
                [f"{BIAS}, Scale, fusekit_torch_rsub, fusekit_torch_add, Activation<Relu>"]),
    "square": (lambda m, x: torch.relu(m.conv(x)) ** 2, [f"{BIAS}, Activation<Relu>, fusekit_torch_square"]),
    "broadcast": (lambda m, x: m.conv(x) * x[:, :, :1, :1], [f"{BIAS}, Multiply"]),
    "channels": (channels, [f"{BIAS}, Multiply, Activation<HardSwish>", f"{POINT}, Bias, Activation<Logistic>"]),
    "maximum": (lambda m, x: torch.maximum(m.conv(x), x), [f"{BIAS}, Maximum"]),
    "linear": (lambda m, x: functional.gelu(m.linear(x.mean((2, 3)))), [f"{POINT}, Bias, Activation<Gelu>"]),
    "rows": (lambda m, x: m.linear(x[:, :, 0, 0]) + x[:, :, 0, 0], [f"{POINT}, Bias, Residual"]),
    "linear of pixels": (lambda m, x: functional.gelu(m.linear(x.permute(0, 2, 3, 1))) * x.permute(0, 2, 3, 1),
                         [f"{POINT}, Bias, Activation<Gelu>, Multiply"]),
    "linear of pixels, shared": (lambda m, x: (lambda y: torch.relu(y) + y.sum(3, keepdim=True))(
        m.linear(x.permute(0, 2, 3, 1))), [f"{POINT}, Bias"]),
    "computed weights": (lambda m, x: functional.conv2d(x, m.conv.weight * 2), []),
    "weights of another type": (lambda m, x: functional.relu(functional.conv2d(x.bfloat16(), m.conv.weight.bfloat16())),
                                ["Conv<filter(3, 3)>, Activation<Relu>"]),
    "linear without a bias": (lambda m, x: functional.linear(x[:, :, 0, 0], m.linear.weight), [f"{POINT}"]),
    "shared": (shared, [BIAS]),
    "twice": (lambda m, x: m.conv(m.conv(x)), [BIAS, BIAS]),
    "double": (lambda m, x: (lambda y: y + y)(m.conv(x)), [BIAS]),
    "type": (lambda m, x: torch.relu(m.conv(x).double()), [BIAS]),
    "mutated": (mutated, None),
    "input mutated": (input_mutated, None),
    "aliased": (aliased, None),
    "output aliased": (output_aliased, None),
    "residual overwritten": (residual_overwritten, None),
    "accumulated": (accumulated, None),
    "gate": (gated, [f"{BIAS}, Activation<Silu>", f"{POINT}, Activation<Logistic>", f"{POINT}, Bias"]),
    "gate in place": (lambda m, x: (x * 1).mul_(torch.sigmoid(m.other(x.mean((2, 3), keepdim=True)))), None),
    "product in place": (lambda m, x: torch.relu(m.conv(x).mul_(x[:, :, :1, :1])), None),
    "norm of rows": (lambda m, x: functional.batch_norm(m.linear(x[:, :, 0, 0]), m.norm.running_mean,
                                                        m.norm.running_var, m.norm.weight), [f"{POINT}, Bias"]),
    "norm of pixels": (lambda m, x: m.norm(m.linear(x[:, :, :4, :4].reshape(2, C, 1, 16))), [f"{POINT}, Bias"]),
    "rows without a bias": (lambda m, x: torch.relu(functional.linear(x[:, :, 0, 0], m.linear.weight)),
                            [f"{POINT}, Activation<Relu>"]),
    "factor": (lambda m, x: torch.relu(m.conv(x) * m.scale + x),
               [f"{BIAS}, BatchNormInference<Spatial>, Residual, Activation<Relu>"]),
    "factor of rows": (lambda m, x: m.linear(x[:, :, 0, 0]) * m.norm.weight,
                       [f"{POINT}, Bias, BatchNormInference<Spatial>"]),
    "factor after an activation": (lambda m, x: torch.relu(m.conv(x)) * m.scale,
                                   [f"{BIAS}, Activation<Relu>, Multiply"]),
    "factor of columns": (lambda m, x: m.linear(x[:, :, :4, :4].reshape(2, C, 1, 16)).permute(0, 3, 1, 2) *
                          m.norm.weight, [f"{POINT}, Bias"]),
    "mlp": (mlp, [f"{POINT}, Bias, Activation<Gelu>"]),
    "mlp without an activation": (lambda m, x: m.linear(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2) * m.scale + x,
                                  [f"{POINT}, Bias, BatchNormInference<Spatial>, Residual"]),
    "columns of rows": (lambda m, x: m.linear(x.permute(0, 2, 3, 1)).permute(0, 3, 2, 1), [f"{POINT}, Bias"]),
    "dropout": (lambda m, x: functional.dropout(m.linear(x[:, :, 0, 0]), training=False) + x[:, :, 0, 0],
                [f"{POINT}, Bias, Residual"]),
    "concatenation": (concatenated, [f"{BIAS}, Activation<Relu>", POINT, POINT]),
    "shuffle": (lambda m, x: m.other(torch.relu(shuffled(m.conv(x)))), [BIAS, POINT]),
    "pool": (lambda m, x: functional.max_pool2d(torch.relu(m.norm(m.conv(x)) + x), 2), None),
    "pools": (lambda m, x: functional.max_pool2d(x, 3, 2, 1).mean((2, 3), keepdim=True), []),
    "in place": (lambda m, x: functional.relu_(m.norm(m.conv(x))), None),
}


# Second tensors by their shapes and types, of x with N x C x H x W.
SECOND = {
    "N C H W": lambda x: x, "N C 1 1": lambda x: x[:, :, :1, :1], "1 C 1 1": lambda x: x[:1, :, :1, :1],
    "1 1 H W": lambda x: x[:1, :1], "N 1 H W": lambda x: x[:, :1], "C 1 1": lambda x: x[0, :, :1, :1],
    "H W": lambda x: x[0, 0], "W": lambda x: x[0, 0, 0], "1": lambda x: x[0, 0, 0, :1], "0-d": lambda x: x[0, 0, 0, 0],
    "1 N C H W": lambda x: x[None], "3 1 1 1 1": lambda x: x[0, :3, :1, :1, None, None], "C": lambda x: x[0, :, 0, 0],
    "N C": lambda x: x[:, :, 0, 0], "N 1": lambda x: x[:, :1, 0, 0], "N W H C": lambda x: x.permute(0, 3, 2, 1),
    "double": lambda x: x.double(), "double 0-d": lambda x: x[0, 0, 0, 0].double(), "half": lambda x: x.half(),
    "float": lambda x: x.float(), "float 0-d": lambda x: x[0, 0, 0, 0].float(), "int": lambda x: (x * 4).int(),
    "int 0-d": lambda x: (x[0, 0, 0, 0] * 4).int(),
}
# y is a plan's value. The library has the operators of the first table.
TAKEN = {"y * s": torch.mul, "s * y": lambda y, s: s * y, "y + s": torch.add, "s + y": lambda y, s: s + y,
         "y - s": torch.sub, "y / s": lambda y, s: y / (s * s + 1), "y + 2 s": lambda y, s: torch.add(y, s, alpha=2)}
LEFT = {"s - y": lambda y, s: s - y, "s / y": lambda y, s: s / (y.exp() + 1), "s + 2 y": lambda y, s: torch.add(
    s, y, alpha=2), "twice": lambda y, s: y * s + y, "of its shape": lambda y, s: y + s * torch.ones_like(y)}
# The values y: the plan's convolution or product.
FIRST = {
    "images": lambda m, x: m.conv(x), "gate": lambda m, x: torch.sigmoid(m.other(x.mean((2, 3), keepdim=True))),
    "rows": lambda m, x: m.linear(x[:, :, 0, 0]), "pixels": lambda m, x: m.linear(x.permute(0, 2, 3, 1)),
}


WITH_INDUCTOR = ("block", "numbers", "norm first", "channels", "mutated", "input mutated", "aliased", "output aliased",
                 "mlp without an activation", "concatenation")
POINTWISE = {
    "relu": torch.relu, "sigmoid": torch.sigmoid, "tanh": torch.tanh, "abs": torch.abs, "silu": functional.silu,
    "mish": functional.mish, "hardswish": functional.hardswish, "hardsigmoid": functional.hardsigmoid,
    "gelu": functional.gelu, "gelu_tanh": lambda x: functional.gelu(x, approximate="tanh"),
    "leaky_relu": lambda x: functional.leaky_relu(x, 0.2), "elu": lambda x: functional.elu(x, 0.7),
    "softplus": functional.softplus, "relu6": functional.relu6,
    "hardtanh": lambda x: functional.hardtanh(x, -0.5, 0.25),
    "clamp": lambda x: x.clamp(-0.25, 0.5), "clamp_min": lambda x: x.clamp(min=0), "neg": torch.neg, "exp": torch.exp,
}


def leaves(value):
    return [value] if isinstance(value, torch.Tensor) else list(value)


def rewritten(model, x, report=None):
    """The model with plans, without Inductor. Graphs of make_fx are not functional: a chain ends before a write."""
    if COMPILES:
        torch._dynamo.reset()  # it compiles a forward 8 times at most
        return torch.compile(model, backend=lambda module, inputs: backend.without_inductor(
            module, inputs, report, jit_rules))
    from torch.fx.experimental.proxy_tensor import make_fx
    return backend.fused(make_fx(model)(x.clone()), [x], report, jit_rules)


class Numbers(unittest.TestCase):
    def test_header(self):
        """The numbers of kinds and modes are those of the C header."""
        root = pathlib.Path(__file__).resolve().parent.parent.parent
        header = (root / HEADER).read_text()
        known = {name: int(number) for name, number in re.findall(r"FUSEKIT_([A-Z0-9_]+) = (\d+)", header)}
        names = {"norm": "BATCH_NORM_INFERENCE", "channels": "BATCH_NORM_INFERENCE", "sub": "SUBTRACT",
                 "mul": "MULTIPLY", "div": "DIVIDE"}
        kinds = {name: number for name, (number, _) in steps.KINDS.items()}
        for table in (kinds, steps.ACTIVATIONS, steps.BINARIES, steps.POOLS):
            for name, number in table.items():
                self.assertEqual(known[names.get(name, name).upper()], number, name)
        self.assertEqual(len(steps.ACTIVATIONS), known["SOFTSIGN"] + 1)
        names = {"norm_training": "BATCH_NORM_TRAINING", "norm_backward": "BATCH_NORM_BACKWARD",
                 "weight_gradient": "CONV_WEIGHT_GRADIENT"}
        for name, number in steps.TRAINING.items():
            self.assertEqual(known[names.get(name, name).upper()], number, name)

    def test_version(self):
        """Structures are those of one version of the header; a library of another one is refused."""
        root = pathlib.Path(__file__).resolve().parent.parent.parent
        known = dict(re.findall(r"FUSEKIT_VERSION_(M..OR) (\d+)", (root / HEADER).read_text()))
        self.assertEqual(library.VERSION, 100 * int(known["MAJOR"]) + int(known["MINOR"]))
        other = unittest.mock.Mock(fusekit_version=lambda: library.VERSION + 101)
        with unittest.mock.patch("ctypes.CDLL", lambda path: other), self.assertRaisesRegex(
                OSError, "libx.so: expected version 0.1 of fusekit's C interface, got 1.2"):
            library.Library("libx.so", library.JIT)


class Tensors(unittest.TestCase):
    """Tensors that are made for a plan."""

    def test_layouts(self):
        """Tensors to measure a plan with: expanded, a slice, empty."""
        x = torch.empty(2, 8, 4, 3).contiguous(memory_format=torch.channels_last)
        for want in (x, x[:, 2:5], torch.empty(8, 1, 1).expand(2, 8, 4, 3), torch.empty(0, 8, 4, 3), torch.empty(())):
            made = measuring.real(want)
            self.assertEqual((made.shape, made.stride()), (want.shape, want.stride()))
            self.assertTrue(bool(((made >= 0.5) & (made <= 1)).all()))

    def test_factor_is_freed(self):
        """Floats of a factor per channel do not keep the parameter alive."""
        factor = nn.Parameter(torch.ones(C, 1, 1))
        fusekit_torch.run.with_floats((steps.Step("channels"), [factor]))
        known = weakref.ref(factor)
        del factor
        self.assertIsNone(known())


@unittest.skipIf(jit_rules(None) is None, "skipped: no libfusekit_jit")
class Chains(unittest.TestCase):
    def agree(self, results, expected, bound=1e-5):
        for one, other in zip(leaves(results), leaves(expected)):
            self.assertEqual((one.shape, one.dtype), (other.shape, other.dtype))
            error = (one.double() - other.double()).abs().max() if one.numel() else 0
            bound = max(bound, 3e-2) if one.dtype == torch.bfloat16 else bound
            self.assertLessEqual(error, bound * max(1, other.double().abs().max()) if one.numel() else 0)

    def check(self, name, compute, plans, channels_last):
        torch.manual_seed(3)
        model, x = Parts(compute).eval(), torch.randn(2, C, 7, 5)
        if channels_last:
            model, x = (each.to(memory_format=torch.channels_last) for each in (model, x))
        report = fusekit_torch.Report()
        with self.subTest(name, channels_last=channels_last), torch.no_grad():
            given = x.clone()
            function = rewritten(model, x.clone(), report)
            results = function(given)
            want = x.clone()
            self.agree(results, model(want))
            self.agree(given, want)  # mutations of x
            if plans is not None:
                self.assertEqual(sorted(each.name for each in report.plans), sorted(f"Plan<{each}>" for each in plans))
            model.norm.weight.mul_(2), model.conv.weight.add_(0.01)
            self.agree(function(x.clone()), model(x.clone()))

    def test_models(self):
        for name, (compute, plans) in MODELS.items():
            for channels_last in (False, True):
                self.check(name, compute, plans, channels_last)

    def second(self, first, second, dtype):
        """A graph that combines a plan's value and a second tensor in each way: which ways are in plans."""
        def fits(y, s):
            try:
                shape = torch.broadcast_shapes(y.shape, s.shape)
            except RuntimeError:
                return None
            return shape == y.shape and s.dtype == y.dtype and (first != "pixels" or s.dim() < 2 or s.shape == shape)

        def compute(m, x):
            ways, s = [*TAKEN.values(), *LEFT.values()], SECOND[second](x)
            return [then(way(FIRST[first](m, x), s)) for way in ways for then in (lambda y: y, torch.tanh)]
        torch.manual_seed(3)
        model, x = Parts(compute).eval().to(dtype), torch.randn(2, C, 4, 3, dtype=dtype)
        taken = fits(FIRST[first](model, x), SECOND[second](x))
        if taken is not None:
            report = fusekit_torch.Report()
            bound = 1e-5 if dtype == torch.float32 else 0.1  # eager rounds after each operator
            self.agree(rewritten(model, x, report)(x.clone()), model(x.clone()), bound)
            kinds = ("Residual", "Multiply", "Add", "Subtract", "Divide", "Bias, Bias")
            found = [each.name for each in report.plans if any(kind in each.name for kind in kinds)]
            self.assertEqual(len(found), 2 * len(TAKEN) if taken else 0, found)

    def test_second_tensors(self):
        for dtype in (torch.float32, torch.half if COMPILES else torch.bfloat16):
            for first in FIRST if dtype == torch.float32 else ("images",):
                for second in SECOND if dtype == torch.float32 else ("N C 1 1", "double", "half", "float 0-d", "int"):
                    with self.subTest(first, second=second, dtype=dtype), torch.no_grad():
                        self.second(first, second, dtype)

    def test_pointwise(self):
        for name, function in POINTWISE.items():
            with self.subTest(name):
                report = fusekit_torch.Report()
                torch.manual_seed(5)
                model, x = Parts(lambda m, x: function(m.conv(x))).eval(), torch.randn(2, C, 5, 6)
                with torch.no_grad():
                    self.agree(rewritten(model, x, report)(x), model(x))
                self.assertEqual([len(each.nodes) for each in report.plans], [2])

    def test_slow_plans(self):
        """The kernels that a plan is measured beside, and those that replace it: a product of rows is none of images."""
        from torch.fx.experimental.proxy_tensor import make_fx
        from fusekit_torch.measuring import alternative
        from fusekit_torch.reference import evaluate
        for name, (compute, _) in MODELS.items():
            model, x = Parts(compute).eval(), torch.randn(2, C, 7, 5)
            with torch.no_grad(), self.subTest(name):
                graph = backend.fused(make_fx(model)(x.clone()), [x], None, jit_rules).graph
                for node in graph.nodes:
                    if "fusekit_jit" not in str(node.target):
                        continue
                    values = [each.meta["val"] for each in (node.args[0], *node.args[1])]
                    x, *tensors = [torch.rand(each.shape).to(each.dtype) for each in values]
                    sequence = steps.Sequence.of(node.args[2])
                    if x.dtype == torch.float32:
                        self.assertEqual(alternative(sequence, x, tensors).shape, node.meta["val"].shape)
                    graph = make_fx(lambda x, *tensors: evaluate(sequence, x, list(tensors)))(x, *tensors).graph
                    self.assertEqual(sequence.rows, not any("convolution" in str(each.target) for each in graph.nodes))

    def test_memory_order(self):
        """The x of a plan of channels-last y, where the graph computes it contiguous."""
        from torch.fx.experimental.proxy_tensor import make_fx
        model = Parts(MODELS["shuffle"][0]).eval().to(memory_format=torch.channels_last)
        x = torch.randn(2, C, 7, 5).to(memory_format=torch.channels_last)
        with torch.no_grad():
            graph = make_fx(model)(x.clone())
            values.set_values(graph, [x])
            for node in graph.graph.nodes:
                if "convolution" in str(node.target):  # of PyTorch 1.13 the values have another order than results
                    node.meta["val"] = node.meta["val"].contiguous(memory_format=torch.channels_last)
            backend.fused(graph, [x], None, jit_rules)
            self.agree(graph(x), model(x))
        plans = [node for node in graph.graph.nodes if "fusekit_jit" in str(node.target)]
        self.assertEqual(len(plans), 2)
        for node in plans:
            self.assertEqual(node.args[0].meta["val"].stride(1), 1)

    def test_concatenations(self):
        """Plans write slices where a convolution reads the concatenation, and one part at most is copied."""
        def cat(*parts):
            return torch.cat(parts, 1)
        three = {
            "a copy": (concatenated, 1),
            "plans": (lambda m, x: functional.conv2d(cat(m.conv(x), m.other(x), torch.relu(m.conv(x))), m.wide), 1),
            "a plan twice": (lambda m, x: (lambda y: functional.conv2d(cat(m.conv(x), y, y), m.wide))(m.other(x)), 0),
            "two copies": (lambda m, x: functional.conv2d(cat(m.conv(x), x, x), m.wide), 0),
            "no plan": (lambda m, x: functional.conv2d(cat(x, x, x * 2), m.wide), 0),
            "a pool after it": (lambda m, x: functional.max_pool2d(cat(m.conv(x), m.other(x)), 3, 2), 1),
            "an operator after it": (lambda m, x: torch.relu(cat(m.conv(x), m.other(x))), 0),
            "a result": (lambda m, x: cat(m.conv(x), m.other(x)), 0),
            "rows": (lambda m, x: functional.conv2d(torch.cat((m.conv(x), x), 2), m.other.weight), 0),
        }
        for name, (compute, count) in three.items():
            for order in (torch.channels_last, torch.contiguous_format):
                with self.subTest(name, order=order), torch.no_grad():
                    torch.manual_seed(3)
                    model, x = Parts(compute).eval().to(memory_format=order), torch.randn(2, C, 7, 5)
                    report, x = fusekit_torch.Report(), x.to(memory_format=order)
                    y = rewritten(model, x, report)(x.clone())
                    self.agree(y, model(x))
                    self.assertEqual(report.concatenations, count if order == torch.channels_last else 0)

    def test_reasons(self):
        reasons = {
            "norm last": "BatchNorm normalizes what Activation is applied to, so it stands before Activation",
            "twice": "it is a result of the graph", "shared": "its value is used 2 times",
            "double": "its value is used twice",
            **({} if COMPILES else {"residual overwritten": "zero_ may write a tensor before relu"}),
        }
        for name, reason in reasons.items():
            with self.subTest(name):
                report = fusekit_torch.explain(Parts(MODELS[name][0]).eval(), torch.randn(2, C, 5, 6),
                                               rules_of=jit_rules)
                self.assertIn(reason, [each.why for each in report.plans])
                self.assertIn(f"{len(report.plans)} plans", str(report))

    def test_parameters_that_change(self):
        """A plan follows its parameters: written in place, replaced, loaded."""
        model, x = Parts(MODELS["block"][0]).eval(), torch.randn(2, C, 5, 6)
        if not COMPILES:
            self.skipTest("a graph of make_fx keeps its parameters")
        with torch.no_grad():
            function = rewritten(model, x)
            self.agree(function(x), model(x))
            model.norm.running_var.add_(1)
            self.agree(function(x), model(x))
            model.conv.weight.data = torch.randn_like(model.conv.weight)
            self.agree(function(x), model(x))
            model.load_state_dict(copy.deepcopy(Parts(None).state_dict()))
            self.agree(function(x), model(x))

    def test_written_through_data(self):
        """PyTorch counts no writes through `.data`: forget() is for these."""
        torch.manual_seed(9)
        model, x = Parts(MODELS["block"][0]).eval(), torch.randn(2, C, 5, 6)
        with torch.no_grad():
            function = rewritten(model, x)
            function(x)
            model.conv.weight.data.mul_(2), model.norm.bias.data.add_(1)
            fusekit_torch.forget()
            self.agree(function(x), model(x))

    def test_memory(self):
        """Runs and derived tensors end with the model."""
        from fusekit_torch import derived, run
        fusekit_torch.forget()
        with torch.no_grad():
            model, x = Parts(MODELS["block"][0]).eval(), torch.randn(2, C, 5, 6)
            rewritten(model, x)(x)
        runs = any(plan.runs for plan in run.PLANS.values())
        self.assertEqual(runs, library.library_of("cpu") is not None)
        del model
        if COMPILES:
            torch._dynamo.reset()
        gc.collect()
        self.assertEqual(({}, []), (derived.ENTRIES, [plan.runs for plan in run.PLANS.values() if plan.runs]))

    def test_no_library(self):
        model, x = Parts(MODELS["block"][0]).eval(), torch.randn(2, C, 5, 6)
        report = fusekit_torch.explain(model, x, rules_of=lambda device: "no library is installed")
        self.assertEqual(([], {"no library is installed"}), (report.plans, {why for _, why in report.without}))


def compiled(model, **options):
    """The model with all its plans, also slow ones."""
    return torch.compile(model, backend="fusekit", options={"fusekit.measure": False, **options})


@unittest.skipUnless(COMPILES, "skipped: no torch.compile in this PyTorch")
class Compiled(unittest.TestCase):
    """torch.compile(backend="fusekit") on each device, with Inductor."""

    def agree(self, results, expected, half):
        for one, other in zip(leaves(results), leaves(expected)):
            self.assertEqual((one.shape, one.dtype, one.stride()), (other.shape, other.dtype, other.stride()))
            if one.numel():
                error = (one.double() - other.double()).abs().max()
                self.assertLessEqual(error, (1e-2 if half else 1e-4) * max(1, other.double().abs().max()))

    def each(self):
        for device in DEVICES:
            half = device == "cuda"
            yield device, torch.half if half else torch.float32, half

    def model(self, compute, device, dtype):
        torch._dynamo.reset()
        torch.manual_seed(7)
        return Parts(compute).eval().to(device, dtype, memory_format=torch.channels_last)

    def x(self, n, device, dtype):
        return torch.randn(n, C, 8, 8, device=device, dtype=dtype).to(memory_format=torch.channels_last)

    def test_models(self):
        for device, dtype, half in self.each():
            for name in WITH_INDUCTOR:
                with self.subTest(name, device=device), torch.no_grad():
                    model, x = self.model(MODELS[name][0], device, dtype), self.x(2, device, dtype)
                    given, want = x.clone(), x.clone()
                    self.agree(compiled(model)(given), model(want), half)
                    self.agree(given, want, half)

    @unittest.skipUnless("cuda" in DEVICES, "skipped: no GPU")
    def test_kernels(self):
        """Every plan of the models and activations on a GPU, without Inductor; the library runs each."""
        every = {**{name: compute for name, (compute, _) in MODELS.items()},
                 **{name: lambda m, x, function=function: function(m.conv(x)) for name, function in POINTWISE.items()}}
        others = ((torch.half, False), (torch.bfloat16, True), (torch.float32, True), (torch.float32, False))
        for name, compute in every.items():
            for dtype, channels_last in ((torch.half, True), *(others if name in ("block", "numbers") else ())):
                with self.subTest(name, dtype=dtype, channels_last=channels_last), torch.no_grad():
                    model, x, report = self.model(compute, "cuda", dtype), self.x(2, "cuda", dtype), \
                        fusekit_torch.Report()
                    if not channels_last:
                        model, x = model.to(memory_format=torch.contiguous_format), x.contiguous()
                    before, given = fusekit_torch.run.calls, x.clone()
                    results = torch.compile(model, backend=lambda module, inputs: backend.without_inductor(
                        module, inputs, report))(given)
                    exact = copy.deepcopy(model).double()
                    for one, other in zip(leaves(results), leaves(exact(x.double()))):
                        error = (one.double() - other.double()).abs().max()
                        bound = {torch.half: 4e-3, torch.bfloat16: 3e-2, torch.float32: 2e-3}[dtype]
                        self.assertLessEqual(error, bound * max(1, other.abs().max()))
                    self.assertEqual(fusekit_torch.run.calls - before, len(report.plans))

    def test_dynamic_batch(self):
        for device, dtype, half in self.each():
            with self.subTest(device=device), torch.no_grad():
                graphs = []

                def counting(module, inputs):
                    graphs.append(module)
                    return backend.backend(module, inputs)
                model = self.model(MODELS["block"][0], device, dtype)
                function = torch.compile(model, backend=counting, dynamic=True)
                for n in (2, 3, 5):
                    x = self.x(n, device, dtype)
                    self.agree(function(x), model(x), half)
                self.assertEqual(len(graphs), 1)

    def test_training(self):
        """Gradients through plans of the forward graph."""
        for device, dtype, half in self.each():
            for name in ("block", "two convolutions", "numbers"):
                with self.subTest(name, device=device):
                    model = self.model(MODELS[name][0], device, dtype)
                    other, x = copy.deepcopy(model), self.x(2, device, dtype)
                    compiled(model)(x).float().square().mean().backward()
                    other(x).float().square().mean().backward()
                    for one, two in zip(model.parameters(), other.parameters()):
                        if two.grad is not None:
                            self.agree(one.grad, two.grad, half)

    def test_frozen(self):
        """Parameters that Inductor makes constants."""
        for device, dtype, half in self.each():
            for name in ("block", "norm first"):
                with self.subTest(name, device=device), torch.no_grad():
                    model, x = self.model(MODELS[name][0], device, dtype), self.x(2, device, dtype)
                    self.agree(compiled(model, freezing=True)(x), model(x), half)

    def test_hooks(self):
        for device, dtype, half in self.each():
            with self.subTest(device=device), torch.no_grad():
                model = self.model(MODELS["block"][0], device, dtype)
                model.norm.register_forward_hook(lambda module, inputs, y: y * 0.5)
                x = self.x(2, device, dtype)
                self.agree(compiled(model)(x), model(x), half)

    @unittest.skipUnless("cuda" in DEVICES, "skipped: no GPU")
    def test_measured(self):
        """Plans that are slower than ATen's kernels are Inductor's: all, if those take no time."""
        for own, calls in ((0.0, 1), (2.0, 0)):
            with torch.no_grad(), unittest.mock.patch.object(
                    backend, "times", lambda graph: {node: (own, 1.0) for node in graph.nodes
                                                     if "fusekit_jit" in str(node.target)}):
                model, x = self.model(MODELS["block"][0], "cuda", torch.half), self.x(2, "cuda", torch.half)
                before = fusekit_torch.run.calls
                self.agree(torch.compile(model, backend="fusekit")(x), model(x), True)
                self.assertEqual(fusekit_torch.run.calls - before, calls)
        with torch.no_grad():
            model, x = self.model(MODELS["block"][0], "cuda", torch.half), self.x(2, "cuda", torch.half)
            self.agree(torch.compile(model, backend="fusekit")(x), model(x), True)

    def test_after_inductor(self):
        """A graph that Inductor alone has compiled before, and its caches."""
        for device, dtype, half in self.each():
            with self.subTest(device=device), torch.no_grad():
                model, x = self.model(MODELS["block"][0], device, dtype), self.x(2, device, dtype)
                torch.compile(model)(x)
                before = library.library_of(device) and fusekit_torch.run.calls
                self.agree(compiled(model)(x), model(x), half)
                if library.library_of(device) is not None:
                    self.assertGreater(fusekit_torch.run.calls, before)

    @unittest.skipUnless("cuda" in DEVICES, "skipped: no GPU")
    def test_cuda_graphs(self):
        with torch.no_grad():
            model, x = self.model(MODELS["block"][0], "cuda", torch.half), self.x(2, "cuda", torch.half)
            function = compiled(model, **{"triton.cudagraphs": True})
            for _ in range(4):
                self.agree(function(x), model(x), True)
            plain, stream, graph = compiled(model), torch.cuda.Stream(), torch.cuda.CUDAGraph()
            with torch.cuda.stream(stream):
                for _ in range(2):
                    plain(x)
            torch.cuda.synchronize()
            with torch.cuda.graph(graph):
                y = plain(x)
            x.copy_(self.x(2, "cuda", torch.half))
            graph.replay()
            self.agree(y, model(x), True)


if __name__ == "__main__":
    unittest.main()
