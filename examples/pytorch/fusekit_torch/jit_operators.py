# SPDX-License-Identifier: MIT
"""torch.ops.fusekit without the extension: convolutions and norms are plans of the C libraries, which compile them when
they are first called; pools, training and gradients are ATen's. The operators, their arguments and the sentences of
their refusals are those of csrc/operators.cpp.
"""

import torch

from . import library, reference, run, slopes
from .steps import ACTIVATIONS, USUAL, Sequence, Step

REST = "str activation='relu', float? alpha=None, float? beta=None, float? gamma=None)"
SCHEMAS = {
    "conv_bias_act": "(Tensor x, Tensor weight, Tensor bias, Tensor? residual=None, int[2] stride=1, int[2] padding=0, "
                     f"int[2] dilation=1, int groups=1, {REST} -> Tensor",
    "batch_norm_act": "(Tensor x, Tensor scale, Tensor shift, Tensor mean, Tensor variance, float epsilon=1e-05, "
                      f"{REST} -> Tensor",
    "batch_norm_act_training": f"(Tensor x, Tensor scale, Tensor shift, float epsilon=1e-05, {REST} -> (Tensor y, "
                               "Tensor mean, Tensor inverse_deviation, Tensor variance)",
    "batch_norm_act_backward": "(Tensor dy, Tensor x, Tensor scale, Tensor shift, Tensor mean, Tensor spread, bool "
                               "training, float epsilon, str activation, float? alpha=None, float? beta=None, "
                               "float? gamma=None) -> (Tensor dx, Tensor dscale, Tensor dshift)",
    "channel_statistics": "(Tensor x) -> Tensor",
    "merge_statistics": "(Tensor gathered, Tensor running_mean, Tensor running_variance, float momentum) -> "
                        "(Tensor mean, Tensor variance, Tensor count, Tensor running_mean, Tensor running_variance)",
    "batch_norm_act_sums": "(Tensor dy, Tensor x, Tensor scale, Tensor shift, Tensor mean, Tensor variance, "
                           "float epsilon, str activation, float? alpha=None, float? beta=None, float? gamma=None) -> "
                           "Tensor",
    "batch_norm_act_synchronized_backward": "(Tensor dy, Tensor x, Tensor scale, Tensor shift, Tensor mean, "
                                            "Tensor variance, Tensor sums, Tensor count, float epsilon, str activation, "
                                            "float? alpha=None, float? beta=None, float? gamma=None) -> Tensor",
    "activation_backward": "(Tensor dy, Tensor x, str activation, float? alpha=None, float? beta=None, "
                           "float? gamma=None) -> Tensor",
    "max_pool_3x3": "(Tensor x) -> Tensor",
    "global_average": "(Tensor x) -> Tensor",
}


def require(holds, argument, expected, given):
    if not holds:
        raise RuntimeError(f"fusekit: {argument}: expected {expected}, got {given}")


def shape_of(tensor):
    return " x ".join(map(str, tensor.shape)) or "a scalar"


def type_of(tensor):
    return {torch.float32: "Float", torch.float16: "Half", torch.bfloat16: "BFloat16", torch.float64: "Double",
            torch.int32: "Int"}.get(tensor.dtype, str(tensor.dtype))


def require_floating(tensor, x, argument, modes=None):
    if modes is not None:
        require(tensor.dim() == modes, argument, f"{modes} modes", shape_of(tensor))
    require(tensor.device == x.device, argument, f"a tensor on {x.device}, as x", tensor.device)
    require(tensor.dtype in run.TYPES, argument, "elements of float, half or bfloat16", type_of(tensor))


def activation_of(name, *given):
    """The step of an activation."""
    require(name in ACTIVATIONS, "activation", "one of " + ", ".join(ACTIVATIONS), name)
    numbers = list(USUAL.get(name, ()))
    for index, (value, argument) in enumerate(zip(given, ("alpha", "beta", "gamma"))):
        if value is not None:
            require(index < len(numbers), argument, f"nothing, as {name} has no {argument}", value)
            numbers[index] = float(value)
    return Step("activation", name, tuple(numbers))


def is_channels_last(x):
    return x.shape[1] > 1 and x.stride(1) == 1


def apply(steps, x, tensors):
    """A plan of x, whose y has x's memory order."""
    try:
        return run.run(x, tensors, Sequence(tuple(steps), is_channels_last(x)).text(), strict=True)
    except library.Refused as error:
        raise RuntimeError(f"fusekit: {error}") from None


def broadcasts(shape, to):
    return len(shape) <= len(to) and all(own in (1, other) for own, other in zip(shape[::-1], to[::-1]))


def addends_of(bias, residual, y):
    """A value per channel, and an optional tensor that broadcasts to y; two that vary over pixels are added first."""
    if bias.dim() == 1:
        return bias.expand(y[1]) if bias.shape[0] == 1 else bias, residual
    require(broadcasts(bias.shape, y), "bias", f"{y[1]} (K), or a shape that broadcasts to y", shape_of(bias))
    shape = (1,) * (4 - bias.dim()) + tuple(bias.shape)
    if shape[0] == shape[2] == shape[3] == 1:
        return bias.reshape(-1).expand(y[1]), residual
    none = torch.zeros(y[1], device=bias.device)
    return none, bias if residual is None else bias.float() + residual.float()


def conv_bias_act(x, weight, bias, residual=None, stride=(1,), padding=(0,), dilation=(1,), groups=1,
                  activation="relu", alpha=None, beta=None, gamma=None):
    require(x.dim() == 4, "x", "4 modes, N x C x H x W", shape_of(x))
    require(weight.dim() == 4, "weight", "4 modes, K x C/groups x R x S", shape_of(weight))
    stride, padding, dilation = (tuple((list(each) * 2)[:2]) for each in (stride, padding, dilation))
    for each in stride:
        require(each >= 1, "stride", "1 or more", each)
    act = activation_of(activation, alpha, beta, gamma)
    require_floating(x, x, "x")
    require_floating(bias, x, "bias")
    c, k = x.shape[1], weight.shape[0]
    require(groups >= 1 and c % groups == 0 and k % groups == 0, "groups", "groups that divide C and K", groups)
    require(weight.shape[1] == c // groups, "weight", f"{c // groups} (C/groups) in mode 1", shape_of(weight))
    require(weight.dtype == x.dtype, "weights", "elements of x's type, " + type_of(x).lower(), type_of(weight).lower())
    conv = Step("conv", window=(tuple(weight.shape[2:]), stride, padding, dilation), groups=groups)
    y = run.output_shape(Sequence((conv,), False), x, [weight])
    require(min(y[2:]) >= 1, "x", "an output of at least 1 x 1", " x ".join(map(str, y)))
    bias, residual = addends_of(bias, residual, y)
    require(bias.shape == (k,), "Bias.bias", f"{k} (K)", shape_of(bias))
    tensors, steps = [weight, bias], [conv, Step("bias")]
    if residual is not None:
        require(broadcasts(residual.shape, y), "Residual.z", " x ".join(map(str, y)), shape_of(residual))
        require_floating(residual, x, "residual")
        tensors, steps = [*tensors, residual], [*steps, Step("residual", numbers=(1.0,))]
    return apply([*steps, act], x, tensors)


def require_channels(x, **parameters):
    require(x.dim() == 4, "x", "4 modes, N x C x H x W", shape_of(x))
    for name, each in parameters.items():
        require_floating(each, x, name, 1)
        require(each.dtype == torch.float32, name, "elements of float", type_of(each))
        require(each.shape[0] == x.shape[1], name, f"{x.shape[1]} (C)", each.shape[0])


def batch_norm_act(x, scale, shift, mean, variance, epsilon=1e-5, activation="relu", alpha=None, beta=None, gamma=None):
    require_channels(x, scale=scale, shift=shift, mean=mean, variance=variance)
    norm = Step("norm", numbers=(epsilon,), given=(1, 1, 1, 1))
    return apply([norm, activation_of(activation, alpha, beta, gamma)], x, [scale, shift, mean, variance])


def like(x, value):
    order = torch.channels_last if is_channels_last(x) else torch.contiguous_format
    return value.to(x.dtype).contiguous(memory_format=order)


def channels(values):
    return values.view(-1, 1, 1)


def batch_norm_act_training(x, scale, shift, epsilon=1e-5, activation="relu", alpha=None, beta=None, gamma=None):
    require_channels(x, scale=scale, shift=shift)
    require(x.numel() > 0, "x", "a value or more per channel, for the batch's statistics", shape_of(x))
    act, count = activation_of(activation, alpha, beta, gamma), x.numel() // x.shape[1]
    value = x.double() if x.dtype == torch.float32 else x.float()
    variance, mean = torch.var_mean(value, (0, 2, 3), unbiased=False)
    spread = 1 / torch.sqrt(variance + epsilon)
    y = (value - channels(mean)) * channels(spread * scale) + channels(shift)
    unbiased = variance * (count / (count - 1)) if count > 1 else torch.full_like(variance, float("nan"))
    y = reference.ACTIVATIONS[act.mode](y, *act.numbers)
    return like(x, y), mean.float(), spread.float(), unbiased.float()


def activation_backward(dy, x, activation, alpha=None, beta=None, gamma=None):
    require(dy.dtype == x.dtype, "dy", "elements of x's type", type_of(dy))
    act = activation_of(activation, alpha, beta, gamma)
    return like(x, dy.float() * slopes.SLOPES[act.mode](x.float(), *act.numbers))


def normal_and_gradient(dy, x, scale, shift, mean, spread, activation, *given):
    """(x - mean) * spread, and dy times the slope of a clamp that follows the scale and shift."""
    act = activation_of(activation, *given)
    require(act.mode in ("passthru", "relu", "clipped_relu", "clamp"), "activation",
            "passthru, relu, clipped_relu or clamp", activation)
    require(dy.dtype == x.dtype, "dy", "elements of x's type", type_of(dy))
    normal = (x.float() - channels(mean)) * channels(spread)
    return normal, dy.float() * slopes.SLOPES[act.mode](normal * channels(scale) + channels(shift), *act.numbers)


def channel_statistics(x):
    require(x.dim() == 4, "x", "4 modes, N x C x H x W", shape_of(x))
    require_floating(x, x, "x")
    count = x.numel() // x.shape[1] if x.shape[1] else 0
    value = x.double() if x.dtype == torch.float32 else x.float()
    zeros = torch.zeros(x.shape[1], device=x.device)
    variance, mean = torch.var_mean(value, (0, 2, 3), unbiased=False) if count else (zeros, zeros)
    return torch.cat([mean.float(), variance.float(), torch.full((1,), float(count), device=x.device)])


def merge_statistics(gathered, running_mean, running_variance, momentum):
    require(gathered.dim() == 2 and gathered.shape[1] % 2 == 1, "gathered", "rows of 2 C + 1 floats", shape_of(gathered))
    require(gathered.dtype == torch.float32, "gathered", "elements of float", type_of(gathered))
    count = gathered.shape[1] // 2
    for name, each in (("running_mean", running_mean), ("running_variance", running_variance)):
        require(tuple(each.shape) == (count,), name, f"{count} (C)", shape_of(each))
    counts = gathered[:, -1:].double()
    means, variances = (torch.where(counts > 0, each.double(), torch.zeros_like(counts))
                        for each in (gathered[:, :count], gathered[:, count:-1]))
    total = counts.sum()
    mean = (counts * means).sum(0) / total.clamp(min=1)
    squares = (counts * (variances + (means - mean) ** 2)).sum(0)
    moves = momentum * (total > 1)
    moved = (running + moves * (to - running) for running, to in
             ((running_mean.double(), mean), (running_variance.double(), squares / (total - 1).clamp(min=1))))
    return (mean.float(), (squares / total.clamp(min=1)).float(), total.float().reshape(1),
            *(each.float() for each in moved))


def batch_norm_act_sums(dy, x, scale, shift, mean, variance, epsilon, activation, alpha=None, beta=None, gamma=None):
    normal, gradient = normal_and_gradient(dy, x, scale, shift, mean, 1 / torch.sqrt(variance + epsilon), activation,
                                           alpha, beta, gamma)
    return torch.stack([(gradient * normal).sum((0, 2, 3)), gradient.sum((0, 2, 3))])


def batch_norm_act_synchronized_backward(dy, x, scale, shift, mean, variance, sums, count, epsilon, activation,
                                         alpha=None, beta=None, gamma=None):
    require(sums.dim() == 2 and sums.shape[0] == 2, "sums", "2 x C floats", shape_of(sums))
    spread = 1 / torch.sqrt(variance + epsilon)
    normal, gradient = normal_and_gradient(dy, x, scale, shift, mean, spread, activation, alpha, beta, gamma)
    dscale, dshift = sums / count
    return like(x, (gradient - channels(dshift) - normal * channels(dscale)) * channels(scale * spread))


def batch_norm_act_backward(dy, x, scale, shift, mean, spread, training, epsilon, activation, alpha=None, beta=None,
                            gamma=None):
    spread = spread if training else 1 / torch.sqrt(spread + epsilon)
    normal, gradient = normal_and_gradient(dy, x, scale, shift, mean, spread, activation, alpha, beta, gamma)
    dscale, dshift = (gradient * normal).sum((0, 2, 3)), gradient.sum((0, 2, 3))
    if training and x.numel():
        count = x.numel() / x.shape[1]
        gradient = gradient - channels(dshift / count) - normal * channels(dscale / count)
    return like(x, gradient * channels(scale * spread)), dscale, dshift


def max_pool_3x3(x):
    steps = (Step("pool", "max", window=((3, 3), (2, 2), (1, 1), (1, 1))),)
    return run.run(x, [], Sequence(steps, is_channels_last(x)).text())


def global_average(x):
    return run.run(x, [], Sequence((Step("global_average"),), is_channels_last(x)).text())


namespace = torch.library.Library("fusekit", "DEF")
for name, schema in SCHEMAS.items():
    namespace.define(name + schema)
    for key in ("CPU", "CUDA"):
        namespace.impl(name, globals()[name], key)
