# SPDX-License-Identifier: MIT
"""The modules that fuse() inserts. For inputs that an operator refuses, they run eager PyTorch."""

import torch
from torch import nn

functional = nn.functional
TYPES = (torch.float32, torch.float16, torch.bfloat16)


def fold(conv, norm):
    """Weights and bias of a Conv2d and the BatchNorm2d that follows it, in double."""
    weight = conv.weight.detach().double()
    bias = torch.zeros(weight.shape[0], dtype=torch.double, device=weight.device)
    if conv.bias is not None:
        bias = conv.bias.detach().double()
    if norm is not None:
        scale = 1 / torch.sqrt(norm.running_var.double() + norm.eps)
        shift = -norm.running_mean.double() * scale
        if norm.weight is not None:
            scale, shift = scale * norm.weight.detach().double(), shift * norm.weight.detach().double()
        if norm.bias is not None:
            shift = shift + norm.bias.detach().double()
        weight, bias = weight * scale.view(-1, 1, 1, 1), bias * scale + shift
    return weight, bias


def can_fold(conv, norm, dtype):
    """Every folded weight is finite in dtype, and its rounding error is at most eps of its channel's largest weight:
    more is lost where weights become subnormal."""
    weight = fold(conv, norm)[0].flatten(1)
    error = (weight.to(dtype).double() - weight).abs().amax(1)
    return bool((error <= torch.finfo(dtype).eps * weight.abs().amax(1)).all())


def extents(size, weight, stride, padding, dilation):
    return [(size[i] + 2 * padding[i] - dilation[i] * (weight[i] - 1) - 1) // stride[i] + 1 for i in range(2)]


class FusedConv(nn.Module):
    """y = activation(conv(x) + bias) or activation(conv(x) + bias + residual) in one kernel. The bias stays float.
    `in_place`: the model adds the residual in place, which keeps y's type and shape."""

    def __init__(self, conv, norm, activation, dtype, in_place=False):
        super().__init__()
        weight, bias = fold(conv, norm)
        self.register_buffer("weight", weight.to(dtype).contiguous(memory_format=torch.channels_last))
        self.register_buffer("bias", bias.float())
        self.stride, self.padding, self.dilation = list(conv.stride), list(conv.padding), list(conv.dilation)
        self.groups, self.activation, self.in_place = conv.groups, activation, in_place
        self.normalizes = norm is not None

    def joins(self, x, residual):
        """The operator can add the residual: it has x's type and broadcasts to conv(x)."""
        if (x.dim() != 4 or not isinstance(residual, torch.Tensor) or residual.dtype != x.dtype
                or residual.device != x.device):
            return False
        shape = (x.shape[0], self.weight.shape[0],
                 *extents(x.shape[2:], self.weight.shape[2:], self.stride, self.padding, self.dilation))
        return residual.dim() <= 4 and all([own in (1, other)
                                            for own, other in zip(residual.shape[::-1], shape[::-1])])

    def convolve(self, x, residual, activation):
        return torch.ops.fusekit.conv_bias_act(x, self.weight, self.bias, residual, self.stride, self.padding,
                                               self.dilation, self.groups, activation)

    def forward(self, x, *residual):
        if x.dim() == 3 and not self.normalizes:  # one image, which BatchNorm2d refuses
            y = self.convolve(x[None], None, "passthru" if residual else self.activation)[0]
        elif residual and self.joins(x, *residual):
            return self.convolve(x, *residual, self.activation)
        else:
            y = self.convolve(x, None, "passthru" if residual else self.activation)
        if residual:
            y = y.add_(*residual) if self.in_place else y + residual[0]
            y = torch.relu(y) if self.activation == "relu" else y
        return y

    def extra_repr(self):
        k, c, r, s = self.weight.shape
        return f"{c * self.groups}, {k}, filter({r}, {s}), stride={self.stride}, {self.activation}"


class FusedStem(nn.Module):
    """A convolution of 1 to 4 channels and an even stride, such as a network's first. x is padded to 4 channels and
    stored channels last, and a row of a window of S columns is read as one pixel of 4 S channels: windows then start
    at multiples of 16 bytes, the alignment that TMA loads require."""

    def __init__(self, conv, norm, activation, dtype):
        super().__init__()
        weight, bias = fold(conv, norm)
        k, c, r, s = weight.shape
        self.columns = s + s % 2
        packed = weight.new_zeros(k, r, self.columns, 4)
        packed[:, :, :s, :c] = weight.permute(0, 2, 3, 1)
        packed = packed.view(k, r, 1, 4 * self.columns).permute(0, 3, 1, 2).to(dtype)
        self.register_buffer("weight", packed.contiguous(memory_format=torch.channels_last))
        self.register_buffer("bias", bias.float())
        self.stride, self.padding, self.activation = list(conv.stride), list(conv.padding), activation
        self.channels, self.size, self.normalizes = c, s, norm is not None

    @staticmethod
    def suits(conv):
        return (conv.in_channels <= 4 and conv.groups == 1 and list(conv.dilation) == [1, 1]
                and conv.stride[1] % 2 == 0)

    def windows(self, x):
        """x as rows of windows: N x 4 S x H x Q, which overlap in memory."""
        n, c, h, w = x.shape
        q = (w + 2 * self.padding[1] - self.size) // self.stride[1] + 1
        width = max(w + 2 * self.padding[1], (q - 1) * self.stride[1] + self.columns)
        width += width % 2
        left = self.padding[1]
        pixels = nn.functional.pad(x.permute(0, 2, 3, 1), (0, 4 - c, left, width - w - left)).contiguous()
        return pixels.as_strided((n, 4 * self.columns, h, q), (4 * h * width, 1, 4 * width, 4 * self.stride[1]))

    def convolve(self, windows):
        return torch.ops.fusekit.conv_bias_act(windows, self.weight, self.bias, None, [self.stride[0], 1],
                                               [self.padding[0], 0], 1, 1, self.activation)

    def forward(self, x):
        """y is channels_last where x is, else contiguous."""
        if x.dim() == 3 and not self.normalizes:
            return self.forward(x[None])[0]
        if x.dim() != 4 or x.shape[1] != self.channels:
            raise RuntimeError(f"fusekit: x: expected N x {self.channels} x H x W, got {' x '.join(map(str, x.shape))}")
        y = self.convolve(self.windows(x))
        return y if self.channels > 1 and x.stride(1) == 1 else y.contiguous()


class FusedLinear(nn.Module):
    """A fully connected layer: a convolution of images of one pixel."""

    def __init__(self, linear, dtype):
        super().__init__()
        self.register_buffer("weight", linear.weight.detach().to(dtype)[:, :, None, None].contiguous())
        bias = torch.zeros(linear.out_features, device=linear.weight.device) if linear.bias is None else linear.bias
        self.register_buffer("bias", bias.detach().float())

    def forward(self, x):
        y = torch.ops.fusekit.conv_bias_act(x.reshape(-1, x.shape[-1], 1, 1), self.weight, self.bias, None, 1, 0, 1, 1,
                                            "passthru")
        return y.view(*x.shape[:-1], self.weight.shape[0])


def pools(x):
    """The pools' operators take x: four modes, a type they have, and no gradient of x to compute."""
    return x.dim() == 4 and x.dtype in TYPES and not (x.requires_grad and torch.is_grad_enabled())


class MaxPool(nn.Module):
    def forward(self, x):
        return torch.ops.fusekit.max_pool_3x3(x) if pools(x) else functional.max_pool2d(x, 3, 2, 1)


class GlobalAverage(nn.Module):
    def forward(self, x):
        return torch.ops.fusekit.global_average(x) if pools(x) else functional.adaptive_avg_pool2d(x, 1)
