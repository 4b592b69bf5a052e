#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Training graphs of the backend against eager PyTorch in double: gradients, running statistics, and which norms and
gradients become plans, in models that share, alias, mutate and hook.

With PyTorch 2 through torch.compile; with 1.13 through functorch's AOTAutograd. On the CPU the rules accept every plan, and
ATen's operators compute those that libfusekit_runtime does not have.
"""

import collections
import copy
import os
import unittest
import unittest.mock
import warnings

os.environ.setdefault("FUSEKIT_TORCH_LIBRARY", "")  # no extension is built
import torch  # noqa: E402
import torch.nn.functional as functional  # noqa: E402
from torch import nn  # noqa: E402
from torch.utils.checkpoint import checkpoint  # noqa: E402

import fusekit_torch  # noqa: E402
from fusekit_torch import backend, library, norms, slopes, steps  # noqa: E402

COMPILES = hasattr(torch, "compile")
C, N, H, W = 8, 4, 6, 5
EPSILON = {torch.float32: 2.0 ** -24, torch.float16: 2.0 ** -11, torch.bfloat16: 2.0 ** -8}
# The longest sum of these models, over a filter's taps or a batch's pixels; and the factor by which a layer enlarges its
# input's error: a norm divides by a deviation, of 1/2 or more for these inputs and weights.
LONGEST, ENLARGES = max(9 * C, N * H * W), 2
NAMES = {0: "conv", 4: "norm", 13: "norm gradient", 27: "dx", 28: "dw"}


class Rules:
    """Rules that accept every plan. A plan's name has its operators' kinds."""

    backend = library.JIT

    def refusal(self, operators, data_type=None):
        return None

    def own_mode(self, name, source):
        return 0

    def plan_name(self, operators, data_type):
        return "+".join(str(each.kind) for each in operators)


def counted(report):
    """The number of plans by their first operators."""
    return dict(collections.Counter(NAMES.get(int(each.name.split("+")[0]), "other") for each in report.plans))


class Parts(nn.Module):
    """Layers for a model below: `compute` is its forward."""

    def __init__(self, compute):
        super().__init__()
        self.conv, self.other = nn.Conv2d(C, C, 3, padding=1, bias=False), nn.Conv2d(C, C, 1)
        self.grouped = nn.Conv2d(C, 2 * C, 3, padding=2, stride=2, dilation=2, groups=4)
        self.norm, self.second, self.third = (nn.BatchNorm2d(C) for _ in range(3))
        self.wide, self.plain = nn.BatchNorm2d(2 * C), nn.BatchNorm2d(C, affine=False)
        self.untracked = nn.BatchNorm2d(C, track_running_stats=False)
        self.average = nn.BatchNorm2d(C, momentum=None)
        self.compute = compute
        for norm in (self.norm, self.second, self.third, self.wide, self.untracked, self.average):
            nn.init.uniform_(norm.weight, 0.5, 1.5), nn.init.uniform_(norm.bias)
        for conv in (self.conv, self.other, self.grouped):  # values of deviation 1 and more
            nn.init.normal_(conv.weight, 0, 1.5 / (conv.weight[0].numel()) ** 0.5)

    def forward(self, x):
        return self.compute(self, x)


def block(m, x):
    y = torch.relu(m.norm(m.conv(x)))
    return torch.relu(m.second(m.conv(y)) + m.third(m.other(x)))


def in_evaluation(m, x):
    m.norm.eval()
    return torch.relu(m.second(m.conv(torch.relu(m.norm(m.conv(x))))))


def mutated(m, x):
    y = m.norm(m.conv(x))
    y.mul_(2)
    return torch.relu(y)


def residual_overwritten(m, x):
    z = m.other(x)
    y = m.norm(m.conv(x)) + z
    z.zero_()
    return torch.relu(y), z


def aliased(m, x):
    y = m.norm(m.conv(x))
    view = y[:, :2]
    view.mul_(0.5)
    return torch.relu(y), view


def frozen(m, x):
    for each in (m.norm, m.conv):
        each.requires_grad_(False)
    return torch.relu(m.norm(m.conv(torch.relu(m.second(m.other(x))))))


def scaled_gradient(m, x):
    y = m.norm(m.conv(x))
    y.register_hook(lambda gradient: gradient * 0.5)
    return torch.relu(y)


def checkpointed(m, x):
    """The norm's forward part runs again in the backward graph; it has no running statistics, which eager moves twice."""
    y = checkpoint(lambda value: torch.relu(m.untracked(m.conv(value)) + value), x, use_reentrant=False)
    return m.other(y)


ONE = {"conv": 1, "norm": 1, "norm gradient": 1, "dx": 1, "dw": 1}


def several(conv, norm):
    return {"conv": conv, "norm": norm, "norm gradient": norm, "dx": conv, "dw": conv}


# Each model, the number of its convolutions and norms, and its plans.
MODELS = {
    "relu": (lambda m, x: torch.relu(m.norm(m.conv(x))), 2, ONE),
    "in place": (lambda m, x: functional.relu_(m.norm(m.conv(x))), 2, ONE),
    "no activation": (lambda m, x: m.norm(m.conv(x)), 2, ONE),
    "block": (block, 6, several(3, 3)),
    "sum without an activation": (lambda m, x: m.norm(m.conv(x)) + x, 2, ONE),
    "sum in place": (lambda m, x: functional.relu_(m.norm(m.conv(x)).add_(x)), 2, ONE),
    "difference": (lambda m, x: torch.relu(m.norm(m.conv(x)) - x), 2, ONE),
    "broadcast sum": (lambda m, x: torch.relu(m.norm(m.conv(x)) + x[:, :, :1, :1]), 2, ONE),
    "double": (lambda m, x: (lambda y: torch.relu(y + y))(m.norm(m.conv(x))), 2, ONE),
    "silu": (lambda m, x: functional.silu(m.norm(m.conv(x))), 2, ONE),
    "hardswish": (lambda m, x: functional.hardswish(m.norm(m.conv(x)) + x), 2, ONE),
    "sigmoid": (lambda m, x: torch.sigmoid(m.norm(m.conv(x))), 2, ONE),
    "tanh": (lambda m, x: torch.tanh(m.norm(m.conv(x))), 2, ONE),
    "gelu": (lambda m, x: functional.gelu(m.norm(m.conv(x))), 2, ONE),
    "gelu_tanh": (lambda m, x: functional.gelu(m.norm(m.conv(x)), approximate="tanh"), 2, ONE),
    "leaky_relu": (lambda m, x: functional.leaky_relu(m.norm(m.conv(x)), 0.2), 2, ONE),
    "relu6": (lambda m, x: functional.relu6(m.norm(m.conv(x))), 2, ONE),
    "hardtanh": (lambda m, x: functional.hardtanh(m.norm(m.conv(x)), -0.5, 0.25), 2, ONE),
    "no norm": (lambda m, x: torch.relu(m.other(x)), 1, {"conv": 1, "dx": 1, "dw": 1}),
    "groups, stride, dilation, bias": (lambda m, x: torch.relu(m.wide(m.grouped(x))), 2, ONE),
    "shared convolution": (lambda m, x: torch.relu(m.second(m.conv(torch.relu(m.norm(m.conv(x)))))), 4, several(2, 2)),
    "shared norm": (lambda m, x: torch.relu(m.norm(m.conv(torch.relu(m.norm(m.conv(x)))))), 4, several(2, 2)),
    "read twice": (lambda m, x: (lambda y: torch.relu(y) + y.mean())(m.norm(m.conv(x))), 2, ONE),
    "result read twice": (lambda m, x: (lambda y: y + m.other(y))(torch.relu(m.norm(m.conv(x)))), 3,
                          {"conv": 2, "norm": 1, "norm gradient": 1, "dx": 2, "dw": 2}),
    "norm first": (lambda m, x: m.conv(torch.relu(m.norm(x))), 2, ONE),
    "mutated": (mutated, 2, ONE),
    "residual overwritten": (residual_overwritten, 2, None),
    "aliased": (aliased, 2, ONE),
    "no statistics": (lambda m, x: torch.relu(m.untracked(m.conv(x))), 2, ONE),
    "no scale": (lambda m, x: torch.relu(m.plain(m.conv(x))), 2, ONE),
    "in evaluation": (in_evaluation, 4, None),
    "frozen": (frozen, 4, None),
    "detached": (lambda m, x: torch.relu(m.second(m.conv(torch.relu(m.norm(m.conv(x))).detach()))), 4, None),
    "average": (lambda m, x: torch.relu(m.average(m.conv(x))), 2, None),
    "hook of a value": (scaled_gradient, 2, None),
    "two results": (lambda m, x: (torch.relu(m.norm(m.conv(x))), m.other(x)), 3, None),
    "checkpoint": (checkpointed, 3, None),
    "norm of rows": (lambda m, x: functional.batch_norm(x.mean((2, 3)), None, None, training=True) * x.sum(), 1, {}),
}
NOT_IN_113 = ("average", "hook of a value", "mutated", "detached", "in evaluation", "frozen", "checkpoint")
WITH_INDUCTOR = ("relu", "in place", "block", "sum without an activation", "silu", "groups, stride, dilation, bias",
                 "shared norm", "read twice", "mutated", "aliased", "no scale", "no statistics", "in evaluation",
                 "hook of a value", "no norm", "checkpoint")


def leaves(value):
    return [value] if isinstance(value, torch.Tensor) else list(value)


def compiled(model, report, rules=Rules()):
    """The model with plans, without Inductor."""
    if not COMPILES:
        return backend.without_dynamo(model, report, lambda device: rules)
    torch._dynamo.reset()
    return torch.compile(model, backend=lambda module, values: backend.without_inductor(
        module, values, report, lambda device: rules))


class Case(unittest.TestCase):
    def setUp(self):
        warnings.simplefilter("ignore")  # of plans that the CPU's library does not have
        self.addCleanup(warnings.resetwarnings)

    def agree(self, one, other, bound, what):
        self.assertEqual(one.shape, other.shape, what)
        if other.numel():
            self.assertLessEqual((one.double() - other.double()).abs().max(), bound * max(1, other.abs().max()), what)

    def step(self, function, model, x, dtype=None, device="cpu"):
        """Results, the gradients of x and parameters, and buffers of a step, in this order."""
        x = x.detach().clone(memory_format=torch.preserve_format).requires_grad_()
        model.zero_grad(set_to_none=True)
        if dtype is None:
            results = leaves(function(x))
        else:
            with torch.autocast(device, dtype):
                results = leaves(function(x))
        generator = torch.Generator().manual_seed(11)
        total = sum((each * torch.randn(each.shape, generator=generator, dtype=torch.double).to(each)).sum()
                    for each in results)
        total.backward()
        return {**{f"result {at}": each.detach() for at, each in enumerate(results)},
                **{f"gradient of {name}": each.grad for name, each in (("x", x), *model.named_parameters())
                   if each.grad is not None},
                **{name: each.clone() for name, each in model.named_buffers() if "num_batches" not in name or COMPILES}}

    def compare(self, found, expected, layers, dtype=torch.float32):
        """The bound of a chain of layers: each rounds a sum of at most LONGEST values, forward and backward, and enlarges
        the errors of the layers before it."""
        self.assertEqual(found.keys(), expected.keys())
        bound = 2 * layers * ENLARGES ** layers * LONGEST * EPSILON[dtype]
        for name, each in found.items():
            self.agree(each, expected[name], bound, name)


    def compare_with_eager(self, found, eager, expected, dtype):
        """Under autocast: eager rounds as often or more, so its errors are of the same size; the largest of some hundred
        errors varies by less than a factor of 4."""
        self.assertEqual(found.keys(), expected.keys())
        for name, each in found.items():
            own, other = ((one.double() - expected[name]).abs().max() for one in (each, eager[name]))
            self.assertLessEqual(own, 4 * other + 2 * EPSILON[dtype] * max(1, expected[name].abs().max()), name)


class Graphs(Case):
    """Models by AOTAutograd's graphs and ATen's kernels."""

    def check(self, name, order):
        compute, layers, plans = MODELS[name]
        torch.manual_seed(3)
        model = Parts(compute).to(memory_format=order)
        x = torch.randn(N, C, H, W).contiguous(memory_format=order)
        exact, report = copy.deepcopy(model).double(), fusekit_torch.Report()
        function = compiled(model, report)
        if not COMPILES:  # whose AOTAutograd moves buffers as it traces
            self.step(function, model, x)
            model.load_state_dict(exact.state_dict())
        for _ in range(2):
            self.compare(self.step(function, model, x), self.step(exact, exact, x.double()), layers)
        if plans is not None:
            self.assertEqual(counted(report), plans)

    def test_models(self):
        for name in MODELS:
            for order in (torch.channels_last, torch.contiguous_format):
                if COMPILES or name not in NOT_IN_113:
                    with self.subTest(name, order=order):
                        self.check(name, order)

    def test_plans(self):
        """The operators of the plans, and none of what they replace."""
        want = {"block": ["4+5", "13+14", "4+6+5", "13+29+14", "4+5", "13+14"],
                "read twice": ["4+5", "13+14"], "sum without an activation": ["4+6+5", "13+14"]}
        for name, names in want.items():
            report = fusekit_torch.Report()
            model = Parts(MODELS[name][0])
            self.step(compiled(model, report), model, torch.randn(N, C, H, W))
            self.assertEqual(sorted(each.name for each in report.plans if each.name[:2] in ("4+", "13")), sorted(names))
        report = fusekit_torch.explain(Parts(block), torch.randn(N, C, H, W), rules_of=lambda device: Rules())
        self.assertEqual(counted(report), {**several(3, 3), "dx": 1})  # of the convolution that does not read x
        self.assertIn("native_batch_norm_backward", str(report))

    def test_explain_changes_nothing(self):
        model = Parts(block)
        before = copy.deepcopy(model.state_dict())
        fusekit_torch.explain(model, torch.randn(N, C, H, W), rules_of=lambda device: Rules())
        for name, value in model.state_dict().items():
            self.assertTrue(torch.equal(value, before[name]), name)
        self.assertEqual([], [name for name, each in model.named_parameters() if each.grad is not None])

    def test_refused(self):
        """Norms that the library refuses are the graph's, with the library's sentence."""
        class Refusing(Rules):
            def refusal(self, operators, data_type=None):
                return "a rule" if len(operators) > 1 and operators[0].kind == 13 else None

        report, model = fusekit_torch.Report(), Parts(block)
        self.step(compiled(model, report, Refusing()), model, torch.randn(N, C, H, W))
        self.assertEqual(counted(report), {"conv": 3, "dx": 3, "dw": 3})
        self.assertEqual([why for _, why in report.without].count("a rule"), 3)

    @unittest.skipUnless(COMPILES, "skipped: no torch.compile in this PyTorch")
    def test_second_derivative(self):
        model, report = Parts(block), fusekit_torch.Report()
        x = torch.randn(N, C, H, W, requires_grad=True)
        y = compiled(model, report)(x).square().sum()
        with self.assertRaisesRegex(RuntimeError, "double backward"):
            torch.autograd.grad(torch.autograd.grad(y, x, create_graph=True)[0].sum(), x)

    @unittest.skipUnless(COMPILES, "skipped: no torch.compile in this PyTorch")
    def test_hooks(self):
        """Hooks of modules and parameters."""
        torch.manual_seed(3)
        model, report = Parts(block), fusekit_torch.Report()
        exact = copy.deepcopy(model).double()
        x = torch.randn(N, C, H, W)
        for each in (model, exact):
            each.norm.register_forward_hook(lambda module, inputs, y: y * 0.5)
            each.conv.register_forward_pre_hook(lambda module, inputs: (inputs[0] + 1,))
            each.second.weight.register_hook(lambda gradient: gradient * 3)
        self.compare(self.step(compiled(model, report), model, x), self.step(exact, exact, x.double()), 6)
        self.assertEqual(counted(report)["norm"], 3)


class Operators(Case):
    """torch.ops.fusekit_jit's training operators."""

    def norm(self, activation, numbers, residual, dtype, order):
        torch.manual_seed(5)
        x, z = (torch.randn(3, C, 4, 5).to(dtype).contiguous(memory_format=order) for _ in range(2))
        dy, scale, shift = torch.randn(3, C, 4, 5).to(dtype), torch.rand(C) + 0.5, torch.randn(C)
        wide = [each.double().requires_grad_() for each in (x, scale, shift, z)]
        value = functional.batch_norm(wide[0], None, None, wide[1], wide[2], True, 0, 1e-5)
        value = value + wide[3] if residual else value
        value.retain_grad()
        y = norms.reference.ACTIVATIONS[activation](value, *numbers)
        y.backward(dy.double())
        given = (x, scale, shift, z if residual else None)
        ours = torch.ops.fusekit_jit.norm_training(*given, 1e-5, activation, numbers)
        gradients = torch.ops.fusekit_jit.norm_backward(
            dy.contiguous(memory_format=order), *given, *ours[1:3], 1e-5, activation, numbers, residual)
        # Statistics are sums of 60 values in float, of a deviation of about 1; y and dx are rounded once.
        bound = 8 * 60 * EPSILON[torch.float32] + 2 * EPSILON[dtype]
        unbiased, mean = torch.var_mean(x.double(), (0, 2, 3))
        inverse = 1 / (unbiased * 59 / 60 + 1e-5).sqrt()
        self.assertEqual((ours[0].stride(), gradients[0].stride()), (x.stride(),) * 2)
        for one, other in zip(ours, (y.detach(), mean, inverse, unbiased)):
            self.agree(one, other, bound, activation)
        wanted = [wide[0].grad, value.grad, wide[1].grad, wide[2].grad]
        for at, (one, other) in enumerate(zip(gradients, wanted)):
            if at != 1 or residual:
                self.agree(one, other, 60 * bound if at > 1 else bound * 8, (activation, at))

    def test_norm(self):
        for activation in slopes.SLOPES:
            numbers = list(steps.USUAL.get(activation, ()))
            for residual in (False, True):
                for order in (torch.channels_last, torch.contiguous_format):
                    if activation != "power":  # whose base is below 0
                        with self.subTest(activation, residual=residual, order=order):
                            self.norm(activation, numbers, residual, torch.float32, order)
        for dtype in (torch.float16, torch.bfloat16):
            with self.subTest(dtype=dtype):
                self.norm("relu", [], True, dtype, torch.channels_last)

    def test_running_statistics(self):
        """Running statistics move in place, by the batch's mean and unbiased variance."""
        torch.manual_seed(5)
        x, mean, variance = torch.randn(3, C, 4, 5), torch.randn(C), torch.rand(C)
        want_mean, want_variance = mean.double(), variance.double()
        functional.batch_norm(x.double(), want_mean, want_variance, None, None, True, 0.3)
        torch.ops.fusekit_jit.norm_training_(x, None, None, None, mean, variance, 0.3, 1e-5, "relu", [])
        self.agree(mean, want_mean, 8 * 60 * EPSILON[torch.float32], "mean")
        self.agree(variance, want_variance, 8 * 60 * EPSILON[torch.float32], "variance")

    def test_no_scale(self):
        x = torch.randn(3, C, 4, 5)
        ones, zeros = torch.ones(C), torch.zeros(C)
        ops = torch.ops.fusekit_jit
        for one, other in zip(ops.norm_training(x, None, None, None, 1e-5, "relu", []),
                              ops.norm_training(x, ones, zeros, None, 1e-5, "relu", [])):
            self.assertTrue(torch.equal(one, other))

    def test_addresses(self):
        """Calls with other tensors of the same layouts do not write those of the first call."""
        ops = torch.ops.fusekit_jit
        x, other = torch.randn(3, C, 4, 5), torch.randn(3, C, 4, 5)
        first = ops.norm_training(x, None, None, None, 1e-5, "relu", [])
        kept = [each.clone() for each in first]
        ops.norm_training(other, None, None, None, 1e-5, "relu", [])
        for one, two in zip(first, kept):
            self.assertTrue(torch.equal(one, two))

    def test_fresh_weights(self):
        """A convolution of a training graph reads the weights of each call, and keeps nothing of them."""
        for order in (torch.channels_last, torch.contiguous_format):
            generator = torch.Generator().manual_seed(7)
            x, weight, bias = (torch.randint(-3, 4, shape, generator=generator).float()
                               for shape in ((2, C, 6, 5), (16, C, 3, 3), (16,)))
            x, weight = (each.contiguous(memory_format=order) for each in (x, weight))
            window = ((3, 3), (1, 1), (1, 1), (1, 1))
            plan = steps.Sequence((steps.Step("conv", window=window), steps.Step("bias"), steps.Step("activation", "relu")),
                                  order == torch.channels_last, False, True)
            for _ in range(2):
                y = torch.ops.fusekit_jit.run(x, [weight, bias], plan.text())
                self.assertTrue(torch.equal(y, torch.relu(functional.conv2d(x, weight, bias, padding=1))))
                weight = weight * 2
                self.assertEqual(fusekit_torch.run.plan_of(plan.text(), "cpu").runs, {})
                weight.add_(1)

    def test_float_gradients(self):
        """Weights' gradients in float of half tensors."""
        x, dy = (torch.randn(2, C, 5, 4).bfloat16() for _ in range(2))
        dw = torch.ops.fusekit_jit.conv_weight_gradient(dy, x, (1, 1), (1, 1), (0, 0), (1, 1), 1, False, True)
        want = torch.einsum("nkhw,nchw->kc", dy.double(), x.double())[:, :, None, None]
        self.assertEqual(dw.dtype, torch.float32)
        self.agree(dw, want, 40 * EPSILON[torch.bfloat16], "dw")

    def test_convolutions(self):
        """Gradients of integers are exact: sums of at most 3 * 81 * 8 products of at most 9 are below 2^24."""
        ops = torch.ops.fusekit_jit
        for size, stride, padding, dilation, groups in (((3, 3), (1, 1), (1, 1), (1, 1), 1), ((1, 1), (2, 2), (0, 0), (1, 1), 1),
                                                        ((3, 2), (2, 1), (0, 1), (1, 2), 4), ((3, 3), (2, 2), (1, 1), (1, 1), 8),
                                                        ((7, 7), (2, 2), (3, 3), (1, 1), 1)):
            for order in (torch.channels_last, torch.contiguous_format):
                with self.subTest(size=size, order=order):
                    generator = torch.Generator().manual_seed(7)
                    x = torch.randint(-3, 4, (3, C, 9, 8), generator=generator).double().requires_grad_()
                    weight = torch.randint(-3, 4, (16, C // groups, *size), generator=generator).double().requires_grad_()
                    y = functional.conv2d(x, weight, None, stride, padding, dilation, groups)
                    dy = torch.randint(-3, 4, y.shape, generator=generator).double()
                    y.backward(dy)
                    given = [each.detach().float().contiguous(memory_format=order) for each in (dy, x, weight)]
                    last = order == torch.channels_last
                    rest = (stride, padding, dilation, groups, last)
                    dx = ops.conv_input_gradient(given[0], given[2], (9, 8), *rest)
                    dw = ops.conv_weight_gradient(given[0], given[1], size, *rest, False)
                    self.assertTrue(torch.equal(dx.double(), x.grad) and torch.equal(dw.double(), weight.grad))
                    self.assertTrue(dx.is_contiguous(memory_format=order) and dw.is_contiguous(memory_format=order))


@unittest.skipUnless(COMPILES, "skipped: no torch.compile in this PyTorch")
class Compiled(Case):
    """torch.compile(backend="fusekit"), with Inductor. On the CPU the rules accept every plan."""

    def setUp(self):
        super().setUp()
        torch._dynamo.reset()
        for each in ("training", "partition", "convolutions"):
            patch = unittest.mock.patch.object(getattr(fusekit_torch, each), "rules_for", lambda device: Rules())
            patch.start()
            self.addCleanup(patch.stop)

    def model(self, name, order=torch.channels_last):
        torch.manual_seed(3)
        model = Parts(MODELS[name][0]).to(memory_format=order)
        return model, copy.deepcopy(model).double(), torch.randn(N, C, H, W).contiguous(memory_format=order)

    def test_models(self):
        for name in WITH_INDUCTOR:
            with self.subTest(name):
                torch._dynamo.reset()
                model, exact, x = self.model(name)
                function = torch.compile(model, backend="fusekit")
                for _ in range(2):
                    self.compare(self.step(function, model, x), self.step(exact, exact, x.double()), MODELS[name][1])

    def test_dynamic_batch(self):
        model, exact, x = self.model("block")
        function = torch.compile(model, backend="fusekit", dynamic=True)
        for n in (4, 3, 2):
            self.compare(self.step(function, model, x[:n]), self.step(exact, exact, x[:n].double()), 6)

    def test_workspace(self):
        """The plans of a graph share one workspace, of zeros, as large as the largest."""
        given = []

        def sized(graph):
            for at, node in enumerate(each for each in graph.nodes if "fusekit_jit" in str(each.target)):
                node.meta["fusekit_workspace"] = 64 + at

        def recording(steps_of, x, y, tensors, workspace=None):
            given.append((steps_of[0].kind, workspace.data_ptr(), workspace.numel(), int(workspace.sum())))
            return False
        model, exact, x = self.model("block")
        with unittest.mock.patch.object(backend, "compile_plans", sized), unittest.mock.patch.object(
                fusekit_torch.bound, "execute", recording):
            function = torch.compile(model, backend="fusekit")
            self.compare(self.step(function, model, x), self.step(exact, exact, x.double()), 6)
        self.assertTrue(all(total == 0 for *_, total in given))
        forward = [each for each in given if each[0] == "norm_training"]
        backward = [each for each in given if each[0] == "norm_backward"]
        for found, count in ((forward, 69), (backward, 72)):
            self.assertEqual(len(found), 3)
            self.assertEqual({(address, size) for _, address, size, _ in found}, {(found[0][1], count)})

    def test_autocast(self):
        """Weights are converted in the graph, in each step, and their gradients are computed in float."""
        targets = []

        def recording(graph):
            targets.extend((str(node.target), node.args[-1]) for node in graph.nodes if node.args)
        patch = unittest.mock.patch.object(backend, "share_workspace", recording)
        patch.start()
        self.addCleanup(patch.stop)
        model, exact, x = self.model("block")
        eager, function = copy.deepcopy(model), torch.compile(model, backend="fusekit")
        optimizer = torch.optim.SGD(model.parameters(), 0.1)
        for _ in range(3):
            exact.load_state_dict(model.state_dict()), eager.load_state_dict(model.state_dict())
            self.compare_with_eager(self.step(function, model, x, torch.bfloat16), self.step(eager, eager, x, torch.bfloat16),
                                    self.step(exact, exact, x.double()), torch.bfloat16)
            optimizer.step()
        self.assertEqual(targets.count(("fusekit_jit.conv_weight_gradient.default", True)), 3)


@unittest.skipUnless(COMPILES and torch.cuda.is_available(), "skipped: no GPU")
class OnGpu(Case):
    """torch.compile(backend="fusekit") on a GPU, with the plans that libfusekit_jit has."""

    def setUp(self):
        super().setUp()
        torch._dynamo.reset()
        allowed = torch.backends.cudnn.allow_tf32
        torch.backends.cudnn.allow_tf32 = False
        self.addCleanup(lambda: setattr(torch.backends.cudnn, "allow_tf32", allowed))

    def models(self, name, order=torch.channels_last):
        """The model, two copies, one of them in double, and x."""
        torch.manual_seed(3)
        model = Parts(MODELS[name][0]).cuda().to(memory_format=order)
        x = torch.randn(N, C, H, W, device="cuda").contiguous(memory_format=order)
        return model, copy.deepcopy(model), copy.deepcopy(model).double(), x

    def compiled(self, model, **options):
        return torch.compile(model, backend="fusekit", options={"fusekit.measure": False, **options})

    def test_float(self):
        for name in WITH_INDUCTOR:
            for order in (torch.channels_last, torch.contiguous_format):
                with self.subTest(name, order=order):
                    torch._dynamo.reset()
                    model, _, exact, x = self.models(name, order)
                    function = self.compiled(model)
                    for _ in range(2):
                        self.compare(self.step(function, model, x), self.step(exact, exact, x.double()), MODELS[name][1])

    def test_autocast(self):
        for dtype in (torch.float16, torch.bfloat16):
            for name in WITH_INDUCTOR:
                with self.subTest(name, dtype=dtype):
                    torch._dynamo.reset()
                    model, eager, exact, x = self.models(name)
                    function = self.compiled(model)
                    for _ in range(2):
                        self.compare_with_eager(
                            self.step(function, model, x, dtype, "cuda"), self.step(eager, eager, x, dtype, "cuda"),
                            self.step(exact, exact, x.double()), dtype)

    def test_plans_run(self):
        """The library runs each plan of a step, and none is refused."""
        model, _, _, x = self.models("block")
        report = fusekit_torch.Report()
        function = torch.compile(model, backend=lambda module, values: backend.without_inductor(module, values, report))
        with warnings.catch_warnings():
            warnings.filterwarnings("error", "fusekit")
            before = fusekit_torch.run.calls
            self.step(function, model, x, torch.float16, "cuda")
        self.assertEqual(fusekit_torch.run.calls - before, len(report.plans))
        self.assertEqual(len(report.plans), 15)

    def test_measured(self):
        model, eager, exact, x = self.models("block")
        function = torch.compile(model, backend="fusekit")
        self.compare_with_eager(self.step(function, model, x, torch.float16, "cuda"),
                                self.step(eager, eager, x, torch.float16, "cuda"), self.step(exact, exact, x.double()),
                                torch.float16)

    def test_cuda_graphs(self):
        """Inductor's graphs, and a captured step whose replays give the results of the step outside."""
        model, _, exact, x = self.models("block")
        function = self.compiled(model, **{"triton.cudagraphs": True})
        for _ in range(4):
            torch.compiler.cudagraph_mark_step_begin()
            self.compare(self.step(function, model, x), self.step(exact, exact, x.double()), 6)
        torch._dynamo.reset()
        model, other, _, x = self.models("block")
        function, plain, given = self.compiled(model), self.compiled(other), x.clone()

        def step(function, model, given):
            model.zero_grad(set_to_none=True)
            function(given).square().mean().backward()
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(3):
                step(function, model, given)
        torch.cuda.current_stream().wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        model.zero_grad(set_to_none=True)
        with torch.cuda.graph(graph, capture_error_mode="thread_local"):
            step(function, model, given)
        for seed in range(3):
            given.copy_(torch.randn(x.shape, generator=torch.Generator().manual_seed(seed)))
            graph.replay()
            step(plain, other, given)
            for (name, one), two in zip(model.named_parameters(), other.parameters()):
                if two.grad is not None:
                    self.assertTrue(torch.equal(one.grad, two.grad), name)


if __name__ == "__main__":
    unittest.main()
