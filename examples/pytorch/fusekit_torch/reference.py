# SPDX-License-Identifier: MIT
"""A plan by ATen's operators: for tensors that no kernel of the library takes, such as an empty batch."""

import torch
import torch.nn.functional as functional

from .steps import OWN


def clamp(x, low, high):
    return x.clamp(low, high)


ACTIVATIONS = {
    "passthru": lambda x: x, "logistic": torch.sigmoid, "relu": torch.relu, "abs": torch.abs,
    "tanh": lambda x, alpha, beta: beta * torch.tanh(alpha * x),
    "soft_relu": functional.softplus, "clipped_relu": lambda x, alpha: clamp(x, 0, alpha),
    "power": lambda x, alpha, beta, gamma: (alpha + beta * x) ** gamma,
    "leaky_relu": lambda x, alpha: functional.leaky_relu(x, alpha),
    "elu": lambda x, alpha: functional.elu(x, alpha), "clamp": lambda x, alpha, beta: clamp(x, alpha, beta),
    "gelu": functional.gelu, "gelu_tanh": lambda x: functional.gelu(x, approximate="tanh"), "silu": functional.silu,
    "mish": functional.mish, "hard_swish": functional.hardswish, "softsign": functional.softsign,
    "hard_sigmoid": lambda x, alpha, beta: (alpha * x + beta).clamp(0, 1),
}
BINARIES = {"add": torch.add, "sub": torch.sub, "mul": torch.mul, "div": torch.div, "maximum": torch.maximum,
            "minimum": torch.minimum}


def norm_parameters(step, tensors):
    """Scale, shift, mean and variance; None for those that are not given."""
    left = list(tensors)
    return [left.pop(0) if each else None for each in step.given]


def value_of(step, tensors, value):
    """The step applied to a value."""
    size, stride, padding, dilation = step.window or [None] * 4
    if step.kind == "conv" and value.dim() == 2:
        return functional.linear(value, tensors[0].to(value.dtype))
    if step.kind == "conv":
        weight = tensors[0].to(value.dtype).reshape(*tensors[0].shape[:2], *size)
        return functional.conv2d(value, weight, None, stride, padding, dilation, step.groups)
    if step.kind == "bias":
        return value + tensors[0].to(value.dtype).view(-1, *[1] * (value.dim() - 2))
    if step.kind == "norm":
        scale, shift, mean, variance = norm_parameters(step, tensors)
        return functional.batch_norm(value, mean, variance, scale, shift, eps=step.numbers[0])
    if step.kind == "channels":
        return value * tensors[0].to(value.dtype).view(-1, *[1] * (value.dim() - 2))
    if step.kind == "activation":
        return ACTIVATIONS[step.mode](value, *step.numbers)
    if step.kind == "residual":
        return torch.add(value, tensors[0], alpha=step.numbers[0])
    if step.kind == "binary":
        return BINARIES[step.mode](value, tensors[0])
    if step.kind == "scale":
        return value * step.numbers[0]
    if step.kind == "own":
        return OWN[step.mode][1](value, step.numbers[0])
    if step.kind == "pool" and step.mode == "max":
        return functional.max_pool2d(value, size, stride, padding)
    if step.kind == "pool":
        return functional.avg_pool2d(value, size, stride, padding)
    return value.mean((2, 3), keepdim=True)


def evaluate(sequence, x, tensors):
    """y of the sequence, of any strides."""
    y = x
    if x.device.type == "cpu":  # whose kernels do not have every type
        y, tensors = y.float().contiguous(), [each.float() for each in tensors]
    for step, own in sequence.split(tensors):
        y = value_of(step, own, y)
    return y.to(x.dtype)


def run(sequence, x, tensors):
    """y of the sequence, dense in its memory order."""
    y = evaluate(sequence, x, tensors)
    if sequence.rows:
        return y.contiguous()
    order = torch.channels_last if sequence.channels_last else torch.contiguous_format
    result = torch.empty(y.shape, dtype=x.dtype, device=x.device, memory_format=order)
    return result.copy_(y)
