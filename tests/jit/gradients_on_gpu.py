# SPDX-License-Identifier: MIT
"""gradients_on_gpu.py LIBRARY CACHE [--compile INDEX COUNT]: runs random gradients on a GPU, and compares them with
PyTorch's in double, as on_gpu.py does for other plans: transposed convolutions, weight gradients, and gradients of
batch norms, residuals and activations. With --compile it prepares each COUNT-th plan from INDEX on, and runs nothing."""
import ctypes
import math
import random
import time

from interface import OWN_STREAM, Arguments, Filter, Operator, Tensor, Types
from on_gpu import (BFLOAT16, BIASES, EPSILON, FACTOR, FLOAT, GELU, HALF, HARD_SWISH, LEAKY_RELU, MEAN, RELU, SCALE,
                    SHIFT, SILU, SLOPE, TANH, TOLERANCE, VARIANCE, WEIGHTS, Z, compiles, measure, strides, window)

if not compiles:
    import torch
    import torch.nn.functional as F
    from on_gpu import TORCH

KINDS = dict(bias=2, inference=3, activation=5, residual=6, norm_back=13, activation_back=14, transposed=27,
             weight_gradient=28, residual_back=29)
SAVED_MEAN, SAVED_INVERSE, FORWARD_X, SCALE_GRADIENT, SHIFT_GRADIENT, OUTPUT = 7, 8, 11, 12, 13, 14
SPATIAL = 1
# pre-activations this close to a kink of an activation may have either slope: 100 roundings of floats up to 8
NEAR = 1e-4
KINKS = {RELU: (0,), LEAKY_RELU: (0,), HARD_SWISH: (-3, 3)}

addresses = iter(range(1 << 33, 1 << 62, 1 << 32))


class Memory:
    """A tensor of random values from `low` to low + 2, of given values, or of NaN, for an output; an address where
    nothing runs."""

    def __init__(self, shape, element, last, low=-1.0, values=None, is_output=False):
        self.of, self.element = None, element
        data = next(addresses)
        if not compiles:
            self.of = torch.empty_strided(shape, strides(shape, last), dtype=TORCH[element], device="cuda")
            if is_output:
                self.of.fill_(math.nan)
            elif values is not None:
                self.of.copy_(values)
            else:
                self.of.copy_(torch.rand(shape, device="cuda", dtype=torch.float64) * 2 + low)
            data = self.of.data_ptr()
        padding = (0,) * (5 - len(shape))
        self.view = Tensor(data, element, len(shape), (*shape, *padding), (*strides(shape, last), *padding))

    def wide(self):
        return self.of.double()

    def error(self, expected, spare=0.0):
        """Largest error in tolerances, which grow by `spare` (of expected's shape, or a number)."""
        unit = TOLERANCE[self.element] * max(1, expected.abs().max().item())
        return ((self.wide() - expected).abs() / (unit + spare)).nan_to_num(math.inf).max().item()


def activation(mode, v):
    return {TANH: torch.tanh, RELU: torch.relu, GELU: F.gelu, LEAKY_RELU: lambda t: F.leaky_relu(t, SLOPE),
            SILU: F.silu, HARD_SWISH: F.hardswish}[mode](v)


class Case:
    """Operators (kind, mode, filter) with tensors by role, x, y; check() returns the largest error."""

    def __init__(self, head, element, last):
        self.head, self.element, self.last, self.operators, self.roles = head, element, last, [], []

    def add(self, kind, mode=0, of=None, **_):
        self.operators.append((kind, mode, of or Filter()))
        self.roles.append({})
        return self.roles[-1]

    def __str__(self):
        operators = " ".join(f"{kind}:{mode}" for kind, mode, _ in self.operators)
        x, y = (tuple(one.view.extents[:4]) for one in (self.x, self.y))
        return f"{operators}, x {x}, y {y}, type {self.element} to {self.y.element}, channels last: {self.last}"

    def image(self, shape, **how):
        return Memory(shape, self.element, self.last, **how)

    def floats(self, count, **how):
        return Memory((count,), FLOAT, False, **how)


def output(extent, taps, pad, stride, dilation):
    return (extent + 2 * pad - dilation * (taps - 1) - 1) // stride + 1


def geometry(source):
    """Taps, padding, stride, dilation and groups."""
    pick = source.choice
    return pick([(1, 0, 1, 1, 1), (1, 0, 2, 1, 1), (3, 1, 1, 1, 1), (3, 1, 1, 1, 1), (3, 1, 2, 1, 1), (5, 2, 1, 1, 1),
                 (7, 3, 2, 1, 1), (3, 2, 1, 2, 1), (3, 2, 2, 2, 1), (4, 1, 2, 1, 1), (4, 0, 4, 1, 1), (2, 0, 5, 1, 1),
                 (3, 1, 1, 1, 8), (3, 1, 2, 1, 8), (3, 1, 1, 1, 32), (5, 2, 2, 1, 32), (7, 3, 1, 1, 32), (1, 0, 1, 1, 4),
                 (9, 4, 1, 1, 16), (17, 8, 1, 1, 1)])


def convolution(source, kind):
    """Extents of x, dy and the weights of a convolution, and its filter."""
    pick = source.choice
    taps, pad, stride, dilation, groups = geometry(source)
    of_group = 1 if groups >= 16 else pick([4, 8])
    c = groups * of_group if groups > 1 else pick([3, 8, 16, 32, 64, 72])
    k = groups * of_group if groups > 1 else pick([8, 24, 64, 100])
    h, w = pick([7, 14, 19, 28]) + taps, pick([9, 14, 28]) + taps
    n, of = pick([1, 2, 5]), window(taps, taps, pad, stride, groups, dilation)
    p, q = (output(extent, taps, pad, stride, dilation) for extent in (h, w))
    return (n, c, h, w), (n, k, p, q), (k, c // groups, taps, taps), of, (stride, pad, dilation, groups)


def transposed(source, element, last):
    of_x, of_dy, of_w, of, options = convolution(source, "transposed")
    case = Case("TransposedConv", element, last)
    weights = case.add("transposed", 0, of)[WEIGHTS] = case.image(of_w)
    end, mode = source.choice(["none", "activation", "residual"]), source.choice([RELU, GELU])
    if end == "activation":
        bias = case.add("bias")[BIASES] = case.floats(of_x[1])
        case.add("activation", mode)
    elif end == "residual":
        z = case.add("residual")[Z] = case.image(of_x)
    case.x, case.y = case.image(of_dy), case.image(of_x, is_output=True)

    def check():
        expected = torch.nn.grad.conv2d_input(of_x, weights.wide(), case.x.wide(), *options)
        if end == "activation":
            expected = activation(mode, expected + bias.wide().reshape(1, -1, 1, 1))
        elif end == "residual":
            expected = expected + FACTOR * z.wide()
        return case.y.error(expected)

    case.check = check
    return case


def weight_gradient(source, element, last):
    of_x, of_dy, of_w, of, options = convolution(source, "weights")
    case = Case("ConvWeightGradient", element, last)
    head = case.add("weight_gradient", 0, of)
    dy = head[Z] = case.image(of_dy)
    if source.random() < 0.5:
        head[BIASES] = case.floats(of_dy[1], is_output=True)
    accumulates = source.random() < 0.3
    if accumulates:
        z = case.add("residual")[Z] = case.image(of_w)
    case.x = case.image(of_x)
    case.y = Memory(of_w, source.choice([element, FLOAT]), last, is_output=True)

    def check():
        expected = torch.nn.grad.conv2d_weight(case.x.wide(), of_w, dy.wide(), *options)
        if accumulates:
            expected = expected + FACTOR * z.wide()
        # sums in float, and on tensor cores with products cut off: the tolerance of x's type, also for a y of float
        case.y.element = case.element
        error = case.y.error(expected)
        return max(error, head[BIASES].error(dy.wide().sum((0, 2, 3)))) if BIASES in head else error

    case.check = check
    return case


def norm_gradient(source, element, last):
    pick = source.choice
    shape = (pick([1, 2, 5]), pick([3, 13, 32, 64, 96]), pick([7, 14, 28]), pick([9, 14, 17]))
    norm, has_residual = pick(["training", "training", "inference", None]), source.random() < 0.5
    mode = pick([None, TANH, RELU, LEAKY_RELU, GELU, SILU, HARD_SWISH])
    if norm != "training" and mode is None:
        mode = RELU
    case = Case(f"Backward, {norm or 'no norm'}", element, last)
    channels, x = shape[1], case.image(shape)
    if norm:
        of_norm = case.add("norm_back" if norm == "training" else "inference", SPATIAL)
        of_norm[SCALE], of_norm[SHIFT] = case.floats(channels), case.floats(channels)
        of_norm[SCALE_GRADIENT] = case.floats(channels, is_output=True)
        of_norm[SHIFT_GRADIENT] = case.floats(channels, is_output=True)
        if norm == "inference":
            of_norm[MEAN], of_norm[VARIANCE] = case.floats(channels), case.floats(channels, low=0.5)
        else:
            mean = variance = None
            if not compiles:
                mean, variance = x.wide().mean((0, 2, 3)), x.wide().var((0, 2, 3), correction=0)
            of_norm[SAVED_MEAN] = case.floats(channels, values=mean)
            of_norm[SAVED_INVERSE] = case.floats(
                channels, values=None if compiles else 1 / torch.sqrt(variance + EPSILON))
    if has_residual:
        of_residual = case.add("residual_back")
        of_residual[Z], of_residual[OUTPUT] = case.image(shape), case.image(shape, is_output=True)
    if mode is not None:
        case.add("activation_back", mode)
    case.roles[0][FORWARD_X] = x
    case.x, case.y = case.image(shape), case.image(shape, is_output=True)

    def check():
        own, dy = x.wide().requires_grad_(), case.x.wide()
        v, normalized = own, None
        if norm:
            scale, shift = of_norm[SCALE].wide().requires_grad_(), of_norm[SHIFT].wide().requires_grad_()
            if norm == "training":
                mean, variance = own.mean((0, 2, 3), keepdim=True), own.var((0, 2, 3), correction=0, keepdim=True)
            else:
                mean, variance = (of_norm[role].wide().reshape(1, -1, 1, 1) for role in (MEAN, VARIANCE))
            normalized = (own - mean) / torch.sqrt(variance + EPSILON)
            v = normalized * scale.reshape(1, -1, 1, 1) + shift.reshape(1, -1, 1, 1)
        if has_residual:
            z = of_residual[Z].wide().requires_grad_()
            v = v + FACTOR * z
        near = torch.zeros_like(dy)
        for kink in KINKS.get(mode, ()):
            near += (v.detach() - kink).abs() < NEAR
        spare = dy.abs() * near  # the slopes on both sides of a kink differ by 1 at most
        (activation(mode, v) if mode is not None else v).backward(dy)
        per_dx = (1.0 if not norm else (scale.detach().abs().reshape(1, -1, 1, 1) / torch.sqrt(variance.detach() + EPSILON)))
        means = spare.sum((0, 2, 3), keepdim=True) * (norm == "training")  # each dx depends on the channel's sums
        error = case.y.error(own.grad, (spare + means) * per_dx)
        if norm:
            with_x = (spare * normalized.detach().abs()).sum((0, 2, 3))
            error = max(error, of_norm[SCALE_GRADIENT].error(scale.grad, with_x),
                        of_norm[SHIFT_GRADIENT].error(shift.grad, spare.sum((0, 2, 3))))
        return max(error, of_residual[OUTPUT].error(z.grad, FACTOR * spare)) if has_residual else error

    case.check = check
    return case


def cases():
    """Functions that make the cases, the same in every process: their tensors are allocated one case at a time."""
    result = []
    for number in range(60):
        for make in (transposed, weight_gradient, norm_gradient):
            def one(make=make, number=number):
                source = random.Random(f"{make.__name__} {number}")
                if not compiles:
                    torch.manual_seed(number)
                return make(source, source.choice([FLOAT, HALF, HALF, BFLOAT16]), source.choice([True, True, False]))
            result.append(one)
    return result


def run(library, case):
    """Seconds of the preparation, and the largest error in tolerances; 0 where nothing runs."""
    count, element = len(case.operators), case.element
    operators = (Operator * count)(*[Operator(KINDS[kind], mode, of) for kind, mode, of in case.operators])
    plan, prepared, arguments = ctypes.c_void_p(), ctypes.c_void_p(), (Arguments * count)()
    library.call("fusekit_find", 2, operators, count, ctypes.byref(Types(element, case.y.element, element)),
                 ctypes.byref(plan))
    for (_, mode, _), roles, to in zip(case.operators, case.roles, arguments):
        library.call("fusekit_arguments_init", ctypes.byref(to))
        to.alpha, to.beta, to.factor, to.epsilon = SLOPE if mode == LEAKY_RELU else 1, 1, FACTOR, EPSILON
        for role, memory in roles.items():
            to.tensors[role] = memory.view
    begin = time.perf_counter()
    library.call("fusekit_prepare", plan, library.device, arguments, count, ctypes.byref(case.x.view),
                 ctypes.byref(case.y.view), 16, ctypes.byref(prepared))
    seconds, error = time.perf_counter() - begin, 0
    if not compiles:
        torch.cuda.synchronize()
        library.call("fusekit_run_execute", prepared, library.device, OWN_STREAM, ctypes.c_void_p(case.x.view.data),
                     ctypes.c_void_p(case.y.view.data), None, ctypes.c_size_t(0))
        library.call("fusekit_device_synchronize", library.device)
        error = case.check()
    library.call("fusekit_run_destroy", prepared)
    library.call("fusekit_plan_destroy", plan)
    return seconds, error


if __name__ == "__main__":
    measure(lambda pick: (make() for make in cases()[pick]), run)
