# SPDX-License-Identifier: MIT
"""Derivatives of the activations, by ATen's operators; at kinks those of include/fusekit/ops/activation/."""

import math

import torch


def inside(x, low, high):
    return ((x > low) & (x < high)).to(x.dtype)


def hard_swish(x):
    return torch.where(x < -3, 0.0, torch.where(x > 3, 1.0, x / 3 + 0.5)).to(x.dtype)


def gelu(x):
    return 0.5 * (1 + torch.erf(x / math.sqrt(2))) + x * torch.exp(-x * x / 2) / math.sqrt(2 * math.pi)


def gelu_tanh(x):
    inner, cubic = math.sqrt(2 / math.pi), 0.044715
    t = torch.tanh(inner * (x + cubic * x ** 3))
    return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * inner * (1 + 3 * cubic * x * x)


def silu(x):
    s = torch.sigmoid(x)
    return s * (1 + x * (1 - s))


def mish(x):
    t = torch.tanh(torch.nn.functional.softplus(x))
    return t + x * (1 - t * t) * torch.sigmoid(x)


def logistic(x):
    s = torch.sigmoid(x)
    return s * (1 - s)


SLOPES = {
    "passthru": torch.ones_like, "relu": lambda x: (x > 0).to(x.dtype), "abs": torch.sign, "logistic": logistic,
    "tanh": lambda x, alpha, beta: alpha * beta * (1 - torch.tanh(alpha * x) ** 2), "soft_relu": torch.sigmoid,
    "power": lambda x, alpha, beta, gamma: beta * gamma * (alpha + beta * x) ** (gamma - 1),
    "clipped_relu": lambda x, alpha: inside(x, 0, alpha), "clamp": inside,
    "leaky_relu": lambda x, alpha: torch.where(x > 0, 1.0, alpha).to(x.dtype),
    "elu": lambda x, alpha: torch.where(x > 0, torch.ones_like(x), alpha * torch.exp(x)),
    "gelu": gelu, "gelu_tanh": gelu_tanh, "silu": silu, "mish": mish, "hard_swish": hard_swish,
    "hard_sigmoid": lambda x, alpha, beta: alpha * inside(alpha * x + beta, 0, 1),
    "softsign": lambda x: 1 / (1 + x.abs()) ** 2,
}
