#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""fuse(model) against eager PyTorch: small models that share, alias, hook, mutate, parametrize and broadcast."""

import copy
import io
import operator
import os
import random
import unittest
import warnings

import torch
import torch.nn.functional as functional
from torch import nn
from torch.nn.utils import prune

import fusekit_torch
from fusekit_torch.fuse import FusedConv, FusedLinear, FusedStem
from test_operators import Block, Case, DEVICES, REGISTERS, TYPES, double

C = 8


class Parts(nn.Module):
    """Layers for a model below: `compute` is its forward, and `setup` changes the layers first."""

    def __init__(self, compute, setup=None):
        super().__init__()
        self.conv, self.other = nn.Conv2d(C, C, 3, padding=1), nn.Conv2d(C, C, 1, bias=False)
        self.norm, self.second_norm = nn.BatchNorm2d(C), nn.BatchNorm2d(C)
        self.relu, self.relu_, self.pool = nn.ReLU(), nn.ReLU(True), nn.AdaptiveAvgPool2d(1)
        self.linear = nn.Linear(C, C)
        self.compute, self.stuck = compute, None
        if setup:
            setup(self)

    def train(self, mode=True):
        super().train(mode)
        if self.stuck is not None:
            self.stuck.train()
        return self

    def forward(self, x):
        return self.compute(self, x)


def statement(function):
    """A forward that calls function for its effect on y = conv(x) alone."""
    def compute(m, x):
        y = m.conv(x)
        function(m, x, y)
        return y
    return compute


def hooked(name, register):
    return lambda m: getattr(getattr(m, name), register)(lambda *given: 0.5 * given[-1] if "pre" not in register
                                                         else tuple(2 * each for each in given[-1]))


def parts_of_output(m, x):
    first, second = m.conv(x).chunk(2, 1)
    first.mul_(2)
    return torch.relu(second), first


def residual_overwritten(m, x):
    z = m.other(x)
    y = m.conv(x) + z
    z.zero_()
    return torch.relu(y)


def input_overwritten(m, x):
    x = x * 1
    y = m.conv(x)
    x.add_(1)
    return torch.relu(m.norm(y))


def input_overwritten_before_addition(m, x):
    x = x * 1
    y = m.conv(x)
    x.mul_(2)
    return torch.relu(y + x)


def view_of_output(m, x):
    y = m.conv(x)
    y.view(-1).mul_(3)
    return torch.relu(y)


def accumulated(m, x):
    total = m.other(x)
    kept = total.view(-1)
    total += m.conv(x)
    return total, kept


def x_added(m, x):
    x += m.conv(x)
    return x


def every_in_place_operator(m, x):
    y, z = m.conv(x), m.other(x)
    kept, data = y.view(-1), z.data
    y += x
    y -= 0.1
    y *= z
    y /= 2
    data += 1
    return torch.relu(y), kept, z


def nested(m, x):
    def branch(conv, y):
        return m.relu(m.norm(conv(y)))
    return branch(m.conv, branch(m.other, x))


def shared_levels(m, x):
    levels = [x, functional.max_pool2d(x, 2), x[:, :, ::2]]
    return [norm(m.conv(level)) for level, norm in zip(levels, (m.norm, m.second_norm, m.norm))]


def counts(m, x):
    m.calls = getattr(m, "calls", 0) + 1
    return m.conv(x) * m.calls


def half_of_weights(m, x):
    m.conv.weight.data.mul_(0.5)
    return m.conv(x)


def in_autocast(m, x):
    with torch.autocast("cpu", torch.bfloat16):
        y = torch.mm(x[0, 0], x[0, 1].t())
    return m.conv(x).mean() + y


def swallows(m, x):
    try:
        return m.conv(x) if x.sum() > 1e9 else m.other(x)
    except Exception:
        return x


class Residual(nn.Module):
    """A module with an optional argument, and one that asks Python about it."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(C, C, 1)

    def forward(self, x, z=None):
        return self.conv(x) if z is None else torch.relu(self.conv(x) + z)


class Asks(Residual):
    def forward(self, x):
        return self.conv(x) if isinstance(x, torch.Tensor) else self.conv(x[0]) * 2


class Writes(nn.Module):
    def __init__(self, conv):
        super().__init__()
        self.conv = conv

    def forward(self, x):
        self.conv.weight.data.mul_(2)
        return x if isinstance(x, torch.Tensor) else None


class Counter(Residual):
    def __init__(self):
        super().__init__()
        self.register_buffer("steps", torch.zeros(()))

    def forward(self, x):
        self.steps += 1
        return self.conv(x) * self.steps


class OwnCall(Residual):
    def __call__(self, x):
        return super().__call__(2 * x) + 1


class Subclass(nn.Conv2d):
    def forward(self, x):
        return super().forward(x) + 1


def add(name, module):
    return lambda m: m.add_module(name, module())


def set_forward(m):
    forward = m.conv.forward
    m.conv.forward = lambda x: forward(x) * 2


def tie(m):
    m.other = nn.Conv2d(C, C, 3, padding=1)
    m.other.weight = m.conv.weight


def underscores(m):
    m.block = nn.Sequential()
    m.block.add_module("conv", nn.Conv2d(C, C, 1))
    m.block_conv = nn.Conv2d(C, C, 1)


def small_scale(m):
    nn.init.constant_(m.norm.running_var, 1e14)
    nn.init.constant_(m.norm.weight, 1e-1)
    nn.init.zeros_(m.norm.bias), nn.init.zeros_(m.norm.running_mean)


def parameter(name, *shape):
    return lambda m: setattr(m, name, nn.Parameter(torch.rand(shape) - 0.5))


# name: (forward, setup or None). Each is compared with eager at two calls: outputs, and x after the call.
MODELS = {
    # shared
    "norm of one of two convolutions": (lambda m, x: (m.norm(m.conv(x)), m.conv(x + 1)), None),
    "sum of a convolution and its norm": (lambda m, x: m.conv(x) + m.norm(m.conv(x + 1)), None),
    "a norm for each level": (shared_levels, None),
    "relu of one of two": (lambda m, x: (torch.relu(m.conv(x)), m.conv(x)), None),
    "called twice in a row": (lambda m, x: m.conv(m.conv(x)), None),
    "value used twice": (lambda m, x: (lambda y: (y, torch.relu(y), y + y))(m.norm(m.conv(x))), None),
    "one value is both addends": (lambda m, x: (lambda y: torch.relu(y + y))(m.conv(x)), None),
    "product with itself": (lambda m, x: (lambda y: y * y)(m.conv(x)), None),
    "returned twice": (lambda m, x: [m.conv(x)] * 2, None),
    "one norm of two convolutions": (lambda m, x: m.norm(m.conv(x)) + m.norm(m.other(x)), None),
    "names that meet": (lambda m, x: m.block.conv(x) * m.block_conv(x), underscores),
    "names of indices": (lambda m, x: m.net(x), add("net", lambda: nn.Sequential(
        nn.Conv2d(C, C, 1), nn.Sequential(nn.Conv2d(C, C, 1), nn.ReLU()), nn.Conv2d(C, C, 1)))),
    "tied weights": (lambda m, x: m.conv(x) + m.other(x), tie),
    "weights read by the forward": (lambda m, x: m.conv(x) + functional.conv2d(x, m.conv.weight, None, 1, 1), None),
    "nested functions": (nested, None),
    # in place
    "y.add_(x), a statement": (statement(lambda m, x, y: y.add_(x)), None),
    "self.relu(y) in place, a statement": (statement(lambda m, x, y: m.relu_(y)), None),
    "functional relu in place, a statement": (statement(lambda m, x, y: functional.relu(y, inplace=True)), None),
    "torch.add with out, a statement": (statement(lambda m, x, y: torch.add(y, x, out=y)), None),
    "output written through a view": (view_of_output, None),
    "detached output written": (statement(lambda m, x, y: y.detach().clamp_(0, 0.1)), None),
    "in place on an output used once": (lambda m, x: m.relu_(m.norm(m.conv(x)).add_(x)), None),
    "in-place relu of x, which others read": (lambda m, x: m.conv(m.relu_(x)) + x, None),
    "residual overwritten": (residual_overwritten, None),
    "input overwritten": (input_overwritten, None),
    "input overwritten before the addition": (input_overwritten_before_addition, None),
    "addition into the other operand": (accumulated, None),
    "x += conv(x)": (x_added, None),
    "every operator in place": (every_in_place_operator, None),
    "data of an output replaced": (statement(lambda m, x, y: setattr(y, "data", y.data * 2)), None),
    "an element of an output set": (statement(lambda m, x, y: y.__setitem__((0, 0), 1)), None),
    # hooks
    **{f"{register} of {name}": (lambda m, x: m.relu(m.norm(m.conv(x)) + x), hooked(name, register))
       for name in ("conv", "norm", "relu") for register in ("register_forward_hook", "register_forward_pre_hook")},
    "hook of a Sequential": (lambda m, x: m.net(x), lambda m: add("net", lambda: nn.Sequential(m.conv, m.norm))(m) or
                             m.net.register_forward_hook(lambda _, __, y: y + 1) and None),
    "hook of the model": (lambda m, x: m.conv(x), lambda m: m.register_forward_hook(lambda _, __, y: y + 1) and None),
    "spectral_norm": (lambda m, x: m.norm(m.conv(x)), lambda m: nn.utils.spectral_norm(m.conv) and None),
    "weight_norm": (lambda m, x: m.norm(m.conv(x)), lambda m: nn.utils.weight_norm(m.conv) and None),
    "pruned": (lambda m, x: m.norm(m.conv(x)),
               lambda m: prune.l1_unstructured(m.conv, "weight", 0.5) and None),
    "parametrization": (lambda m, x: m.norm(m.conv(x)),
                        lambda m: nn.utils.parametrizations.spectral_norm(m.conv) and None),
    "parametrized linear": (lambda m, x: m.linear(x.mean((2, 3))),
                            lambda m: nn.utils.parametrizations.orthogonal(m.linear) and None),
    "a forward of the object's own": (lambda m, x: m.conv(x), set_forward),
    "a class's own __call__": (lambda m, x: torch.relu(m.own(x)), add("own", OwnCall)),
    "subclass of Conv2d": (lambda m, x: m.norm(m.own(x)), add("own", lambda: Subclass(C, C, 1))),
    # broadcast, and other additions
    "+ 1 x C x 1 x 1": (lambda m, x: torch.relu(m.conv(x) + m.pos), parameter("pos", 1, C, 1, 1)),
    "+ 1 x 1 x H x W": (lambda m, x: m.conv(x) + m.pos, parameter("pos", 1, 1, 6, 8)),
    "+ C x 1 x 1": (lambda m, x: m.norm(m.conv(x)) + m.pos, parameter("pos", C, 1, 1)),
    "+ N x C x 1 x 1": (lambda m, x: torch.relu(m.conv(x) + m.pool(x)), None),
    "+ a scalar parameter": (lambda m, x: torch.relu(m.conv(x) + m.pos), parameter("pos")),
    "+ x.size(1)": (lambda m, x: torch.relu(m.conv(x) + x.size(1)), None),
    "+ 2, torch.add with alpha": (lambda m, x: torch.add(m.conv(x) + 2, x, alpha=3), None),
    "y made larger by the addition": (lambda m, x: torch.relu(m.conv(m.pool(x)) + x), None),
    "+ a tensor of another type": (lambda m, x: torch.relu(m.conv(x) + x.double()), None),
    "- x": (lambda m, x: torch.relu(m.conv(x) - x), None),
    # arguments, shapes and modes
    "conv(input=x)": (lambda m, x: m.relu(input=m.norm(input=m.conv(input=x))), None),
    "one image, N left out": (lambda m, x: torch.relu(m.conv(x[0]) + x[0]), None),
    "view of an output": (lambda m, x: m.conv(x).view(x.size(0), -1), None),
    "view of a 1 x 1 image's output": (lambda m, x: functional.pad(m.conv(m.pool(x)), (1, 1)).reshape(-1), None),
    "dropout": (lambda m, x: functional.dropout(m.conv(x), 0.5, m.training), None),
    "dropout in training": (lambda m, x: functional.dropout(m.conv(x)), None),
    "norm before its convolution": (lambda m, x: m.conv(m.relu(m.norm(x))), None),
    "norm without statistics": (lambda m, x: m.own(m.conv(x)),
                                add("own", lambda: nn.BatchNorm2d(C, track_running_stats=False))),
    "norm without affine": (lambda m, x: m.own(m.conv(x)), add("own", lambda: nn.BatchNorm2d(C, affine=False))),
    "linear of images": (lambda m, x: m.linear(m.conv(x).permute(0, 2, 3, 1)), None),
    "lazy modules": (lambda m, x: m.own(m.conv(x)), add("own", lambda: nn.LazyConv2d(C, 1))),
    "a scripted module": (lambda m, x: m.own(m.conv(x)), add("own", lambda: torch.jit.script(nn.ReLU6()))),
    # Python in a forward
    "optional argument": (lambda m, x: m.own(m.conv(x)), add("own", Residual)),
    "optional argument given": (lambda m, x: m.own(m.conv(x), x), add("own", Residual)),
    "isinstance of a value": (lambda m, x: m.own(m.conv(x)), add("own", Asks)),
    "a branch on a value": (lambda m, x: m.conv(x) if x.sum() > 0 else m.other(x), None),
    "a branch on a value in a try": (swallows, None),
    "a counter of calls": (counts, None),
    "a buffer that counts calls": (lambda m, x: m.own(m.conv(x)), add("own", Counter)),
    "weights written by the forward": (half_of_weights, None),
    "type of a weight": (lambda m, x: m.conv(x.to(m.conv.weight.dtype)), None),
    "norm in training": (lambda m, x: m.relu(m.norm(m.conv(x))), lambda m: setattr(m, "stuck", m.norm)),
    "parts of an output, one written": (parts_of_output, None),
    "weights written by an opaque module": (lambda m, x: (m.conv(x), m.own(x), m.conv(x)),
                                            lambda m: m.add_module("own", Writes(m.conv))),
    "autocast in the forward": (in_autocast, None),
    "a tensor made by the forward": (lambda m, x: m.conv(x) + torch.tensor(0.5), None),
}

try:  # PyTorch is to lose it
    from torch.ao.quantization import DeQuantStub, QuantStub
    MODELS["stubs of quantization"] = (lambda m, x: m.own(m.conv(m.stub(x))), lambda m: (
        m.add_module("stub", QuantStub()), m.add_module("own", DeQuantStub())) and None)
except ImportError:
    pass


def setUpModule():
    torch.backends.cudnn.allow_tf32 = False  # eager convolutions of float on GPUs


class Program(nn.Module):
    """A random sequence of operations on a list of values; some are views of others."""

    STEPS = {
        "conv": lambda m, a, b: m.convs[0](a), "other conv": lambda m, a, b: m.convs[1](a),
        "norm": lambda m, a, b: m.norms[0](a), "other norm": lambda m, a, b: m.norms[1](a),
        "relu": lambda m, a, b: m.relus[0](a), "relu in place": lambda m, a, b: m.relus[1](a),
        "torch.relu": lambda m, a, b: torch.relu(a), "functional": lambda m, a, b: functional.relu(a, inplace=True),
        "a + b": lambda m, a, b: a + b, "add": lambda m, a, b: torch.add(a, b), "a += b": lambda m, a, b: a.add_(b),
        "iadd": lambda m, a, b: operator.iadd(a, b), "mul_": lambda m, a, b: a.mul_(0.5),
        "half": lambda m, a, b: a * 0.5, "view": lambda m, a, b: a.view(a.shape), "clone": lambda m, a, b: a.clone(),
        "channel": lambda m, a, b: a.mean((2, 3), keepdim=True) + torch.zeros_like(a), "relu_": lambda m, a, b: a.relu_(),
        "chain": lambda m, a, b: m.relus[1](m.norms[1](m.convs[1](a)) + b),
        "chain in place": lambda m, a, b: m.norms[0](m.convs[0](a)).add_(b).relu_(),
    }

    def __init__(self, seed):
        super().__init__()
        choose = random.Random(seed)
        self.convs = nn.ModuleList([nn.Conv2d(C, C, 3, padding=1), nn.Conv2d(C, C, 1, bias=False)])
        self.norms = nn.ModuleList([nn.BatchNorm2d(C), nn.BatchNorm2d(C)])
        self.relus = nn.ModuleList([nn.ReLU(), nn.ReLU(True)])
        self.steps, count = [], 1
        for _ in range(choose.randint(3, 14)):
            latest = choose.random() < 0.6  # chains are of latest values
            self.steps.append((choose.choice([*self.STEPS, "conv", "norm", "chain"]),
                               count - 1 if latest else choose.randrange(count), choose.randrange(count)))
            count += self.steps[-1][0] != "mul_"
        self.kept = [choose.randrange(count), count - 1]

    def forward(self, x):
        values = [x]
        for name, first, second in self.steps:
            made = self.STEPS[name](self, values[first], values[second])
            values += [] if name == "mul_" else [made]
        return [values[each] for each in self.kept]


def randomize(model):
    for module in model.modules():
        if isinstance(module, nn.BatchNorm2d):
            for tensor, least in ((module.running_mean, -1), (module.running_var, 0.5), (module.weight, 0.5),
                                  (module.bias, -1)):
                if tensor is not None:
                    nn.init.uniform_(tensor, least, least + 1.5)
    return model.eval()


def flat(outputs):
    return [outputs] if isinstance(outputs, torch.Tensor) else [*outputs]


def fuse(model, *arguments, **named):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return fusekit_torch.fuse(model, *arguments, **named)


class Fuse(Case):
    def seeded(self, model, x):
        torch.manual_seed(9)
        return flat(model(x))

    def same(self, make, device, name, bound=2e-5, dtype=torch.float32, shape=(2, C, 6, 8), change=lambda x: x):
        """The fused model changes outputs and x as eager does, in a first and a second call."""
        models = []
        for _ in range(2):
            torch.manual_seed(5)
            models.append(randomize(make()).to(device))
        with torch.no_grad():
            fused, eager = fuse(models[0], dtype), models[1].to(dtype)
            for call in range(2):
                x = change((torch.rand(shape, device=device) - 0.4).to(dtype))
                given = [x.clone(), x.clone()] if x.is_contiguous() else [x, x]
                expected, results = (self.seeded(each, one) for each, one in zip((eager, fused), given))
                self.assertEqual(len(results), len(expected), name)
                for own, other in zip([*results, given[1]], [*expected, given[0]]):
                    self.assertEqual(own.dtype, other.dtype, name)
                    self.agree(own, double(other), bound, f"{name}, {device}, call {call}")
        return fused

    def test_family(self):
        for device in DEVICES:
            for name, (compute, setup) in MODELS.items():
                with self.subTest(name, device=device):
                    self.same(lambda: Parts(compute, setup), device, name)

    def test_formats(self):
        """Batches of 0, channels_last and strided x; float, half and bfloat16."""
        names = ("a norm for each level", "relu of one of two", "in place on an output used once", "+ 1 x C x 1 x 1",
                 "norm before its convolution", "tied weights", "residual overwritten", "linear of images",
                 "a counter of calls", "+ N x C x 1 x 1")
        changes = {"channels_last": lambda x: x.contiguous(memory_format=torch.channels_last),
                   "transposed": lambda x: x.transpose(2, 3), "steps of 2": lambda x: x[:, :, :, ::2],
                   "no images": lambda x: x[:0], "one image": lambda x: x[:1]}
        for device in DEVICES:
            for dtype, bound in TYPES.items():
                if dtype == torch.float16 and device == "cpu":
                    continue  # PyTorch 1.13 has no convolution of half on the CPU
                for name in names:
                    for what, change in changes.items():
                        with self.subTest(name, device=device, dtype=dtype, change=what):
                            self.same(lambda: Parts(*MODELS[name]), device, name, 4 * bound, dtype, change=change)

    def test_programs(self):
        """FUSEKIT_TORCH_PROGRAMS is how many random programs each device gets (60)."""
        for device in DEVICES:
            for seed in range(int(os.environ.get("FUSEKIT_TORCH_PROGRAMS", "60"))):
                self.same(lambda: Program(seed), device, f"{seed}: {Program(seed).steps}", 1e-4)

    def test_what_is_fused(self):
        """The number of operators in the fused model, so that leaving everything alone does not pass."""
        for name, convolutions, linears in (
                ("a norm for each level", 2, 0), ("sum of a convolution and its norm", 2, 0), ("names that meet", 2, 0),
                ("names of indices", 3, 0), ("in place on an output used once", 1, 0), ("input overwritten", 1, 0),
                ("residual overwritten", 2, 0), ("conv(input=x)", 1, 0), ("tied weights", 2, 0),
                ("nested functions", 2, 0),
                ("+ 1 x C x 1 x 1", 1, 0), ("linear of images", 1, 1), ("called twice in a row", 1, 0),
                ("register_forward_hook of conv", 0, 0), ("register_forward_hook of norm", 1, 0),
                ("spectral_norm", 0, 0), ("type of a weight", 1, 0), ("norm in training", 1, 0),
                ("weights written by an opaque module", 0, 0),
                ("weights read by the forward", 0, 0), ("hook of the model", 0, 0), ("optional argument", 2, 0),
                ("isinstance of a value", 1, 0), ("a buffer that counts calls", 1, 0)):
            kinds = [type(each) for each in fuse(randomize(Parts(*MODELS[name])), torch.float32).modules()]
            self.assertEqual((kinds.count(FusedConv), kinds.count(FusedLinear)), (convolutions, linears), name)

    def test_one_kernel(self):
        """A bottleneck's end: convolution, norm, shortcut and relu, the shortcut a convolution of its own."""
        model = Parts(lambda m, x: m.relu_(m.norm(m.conv(x)).add_(m.second_norm(m.other(x)))))
        fused = fuse(randomize(model), torch.float32)
        self.assertEqual([each.op for each in fused.graph.nodes], ["placeholder", *["call_module"] * 2, "output"])

    def test_global_hooks(self):
        for register, hook in ((nn.modules.module.register_module_forward_hook, lambda _, __, y: 2 * y),
                               (nn.modules.module.register_module_forward_pre_hook, lambda _, x: (x[0] + 1,))):
            handle = register(hook)
            try:
                self.same(lambda: Parts(lambda m, x: torch.relu(m.norm(m.conv(x)))), "cpu", "global hook")
            finally:
                handle.remove()

    def test_hooks_see_the_calls(self):
        """A hook that keeps what passes, as a feature extractor does, is called as often and sees the same."""
        for name in ("conv", "norm", "relu", "net"):
            model, seen = Parts(lambda m, x: m.relu(m.norm(m.conv(m.net(x))))), []
            model.net = nn.Sequential(nn.Conv2d(C, C, 1), nn.BatchNorm2d(C))
            getattr(model, name).register_forward_hook(lambda _, __, y: seen.append(y.clone()))
            randomize(model)
            fused, x = fuse(model, torch.float32), torch.rand(1, C, 4, 4)
            with torch.no_grad():
                model(x), fused(x)
            self.assertEqual(len(seen), 2, name)
            self.agree(seen[1], double(seen[0]), 2e-5, name)

    def test_backward_hooks(self):
        called = []
        for register in ("register_full_backward_hook", "register_backward_hook"):
            model = randomize(Parts(lambda m, x: m.norm(m.conv(x))))
            getattr(model.conv, register)(lambda *_: called.append(register))
            fuse(model, torch.float32)(torch.rand(1, C, 4, 4, requires_grad=True)).sum().backward()
        self.assertEqual(called, ["register_full_backward_hook", "register_backward_hook"])

    @unittest.skipUnless(REGISTERS, "PyTorch before 2.4 has no register_fake")
    def test_compile(self):
        x = torch.rand(2, 3, 33, 38)
        with torch.no_grad():
            fused = fuse(randomize(Block()), torch.float32)
            torch._dynamo.reset()
            self.agree(torch.compile(fused, fullgraph=True, backend="aot_eager")(x), double(fused(x)), 1e-6)

    def test_saved(self):
        """fx traces a model again that is loaded."""
        for name in ("addition into the other operand", "names that meet", "y.add_(x), a statement", "+ x.size(1)",
                     "a norm for each level", "x += conv(x)"):
            fused, file = fuse(randomize(Parts(*MODELS[name])), torch.float32), io.BytesIO()
            torch.save(fused, file)
            file.seek(0)
            loaded, given = torch.load(file, weights_only=False), [torch.rand(2, C, 6, 8)] * 2
            with torch.no_grad():
                results = [[*flat(model(x)), x] for model, x in zip((fused, loaded), map(torch.clone, given))]
            for own, other in zip(*results):
                self.agree(own, double(other), 0, name)

    def test_fused_again(self):
        model, x = randomize(Block()), torch.rand(2, 3, 33, 38)
        with torch.no_grad():
            self.agree(fuse(fuse(model, torch.float32), torch.float32)(x), double(model(x)), 2e-5)

    def test_model_is_unchanged(self):
        """Neither fuse() nor its model changes the given one, which may be in training; copies of a fused model run."""
        model = randomize(Parts(lambda m, x: m.relu(m.norm(m.conv(x))))).train()
        before = copy.deepcopy(model.state_dict())
        x = torch.rand(2, C, 4, 4)
        with torch.no_grad():
            fused = fuse(model, torch.bfloat16)
            self.assertTrue(model.training and not fused.training)
            fused = fuse(model, torch.float32)
            expected = fused(x)
            self.agree(copy.deepcopy(fused)(x), double(expected), 0)
            self.agree(fuse(copy.deepcopy(model), torch.float32)(x), double(expected), 0)
            model.conv.weight.zero_()
            self.agree(fused(x), double(expected), 0)
            model.load_state_dict(before)
            self.agree(fused(x), double(model.eval()(x)), 2e-5)

    def test_unrepresentable_folds(self):
        """A norm whose scale would make weights of half or bfloat16 subnormal or infinite is not folded."""
        for factor, dtype in ((1e-7, torch.float16), (1e7, torch.float16), (1e-39, torch.bfloat16)):
            model = randomize(Parts(lambda m, x: m.norm(m.conv(x))))
            nn.init.constant_(model.norm.weight, factor)
            kinds = [type(each) for each in fuse(model, dtype).modules()]
            self.assertIn(nn.BatchNorm2d, kinds, factor)
            self.assertIn(FusedConv, kinds, factor)

    def test_stem(self):
        for device in DEVICES:
            for geometry in ((3, 7, 2, 3), (4, 4, 2, 0), (4, 2, 2, 0), (1, 3, 2, 1), (2, 5, 4, 2)):
                channels, size, stride, padding = geometry
                for what, change in (("contiguous", lambda x: x), ("no images", lambda x: x[:0]),
                                     ("channels_last", lambda x: x.contiguous(memory_format=torch.channels_last))):
                    def make():
                        viewed = (lambda y: y.view(y.shape[0], -1)) if what == "contiguous" else lambda y: y
                        model = Parts(lambda m, x: viewed(m.relu(m.norm(m.stem(x)))))
                        model.stem = nn.Conv2d(channels, C, size, stride, padding)
                        return model
                    fused = self.same(make, device, f"{geometry} {what}", shape=(2, channels, 16, 18),
                                      change=change)
                    self.assertEqual([type(each) for each in fused.modules()].count(FusedStem), 1)
            self.refused("x: expected N x 2 x H x W, got 1 x 1 x 9 x 9", fused, torch.rand(1, 1, 9, 9, device=device))

    def test_warnings(self):
        """A warning names each module that is not fused, and the reason."""
        for name, sentence in (("isinstance of a value", r"own \(Asks\) is not fused: it calls isinstance\(\)"),
                               ("a buffer that counts calls", r"own \(Counter\) is not fused: "),
                               ("hook of a Sequential", r"net \(Sequential\) is not fused: it has hooks"),
                               ("hook of the model", r"the model \(Parts\) is not fused: it has hooks"),
                               ("a tensor made by the forward", r"\(Parts\) is not fused: it creates a tensor"),
                               ("a counter of calls", r"the model \(Parts\) is not fused: its forward changes")):
            with self.assertWarnsRegex(UserWarning, sentence):
                fusekit_torch.fuse(randomize(Parts(*MODELS[name])), torch.float32)
        with warnings.catch_warnings():
            warnings.filterwarnings("error", "fusekit")
            fusekit_torch.fuse(randomize(Block()), torch.float32)
        with self.assertRaisesRegex(ValueError, "dtype: expected torch.float32, torch.float16 or torch.bfloat16"):
            fusekit_torch.fuse(Block(), torch.float64)

    def test_optional_arguments(self):
        """A model whose forward has optional arguments takes them still."""
        model, x, z = randomize(Residual()), torch.rand(2, C, 4, 4), torch.rand(2, C, 4, 4)
        fused = fuse(model, torch.float32)
        with torch.no_grad():
            for given in ((x,), (x, z)):
                self.agree(fused(*given), double(model(*given)), 2e-5)


if __name__ == "__main__":
    unittest.main(verbosity=2)
