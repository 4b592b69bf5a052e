# SPDX-License-Identifier: MIT
"""fuse(model): a model for inference whose convolutions are one kernel each with what follows them."""

import copy
import operator

import torch
from torch import fx, nn

ADDITIONS = (operator.add, operator.iadd, torch.add)
RELUS = (torch.relu, nn.functional.relu, torch.relu_)


def fold(conv, norm):
    """Weights and bias of a Conv2d and the BatchNorm2d that follows it, in double."""
    weight = conv.weight.detach().double()
    bias = torch.zeros(weight.shape[0], dtype=torch.double, device=weight.device)
    if conv.bias is not None:
        bias = conv.bias.detach().double()
    if norm is not None:
        scale = 1 / torch.sqrt(norm.running_var.double() + norm.eps)
        shift = -norm.running_mean.double() * scale
        if norm.affine:
            scale, shift = scale * norm.weight.detach().double(), shift * norm.weight.detach().double()
            shift = shift + norm.bias.detach().double()
        weight, bias = weight * scale.view(-1, 1, 1, 1), bias * scale + shift
    return weight, bias


class FusedConv(nn.Module):
    """y = activation(conv(x) + bias + residual) in one kernel. Its bias stays float."""

    def __init__(self, conv, norm, activation, dtype):
        super().__init__()
        weight, bias = fold(conv, norm)
        self.register_buffer("weight", weight.to(dtype).contiguous(memory_format=torch.channels_last))
        self.register_buffer("bias", bias.float())
        self.stride, self.padding, self.dilation = list(conv.stride), list(conv.padding), list(conv.dilation)
        self.groups, self.activation = conv.groups, activation

    def forward(self, x, residual=None):
        return torch.ops.fusekit.conv_bias_act(x, self.weight, self.bias, residual, self.stride, self.padding,
                                               self.dilation, self.groups, self.activation)

    def extra_repr(self):
        k, c, r, s = self.weight.shape
        return f"{c * self.groups}, {k}, filter({r}, {s}), stride={self.stride}, {self.activation}"


class FusedStem(nn.Module):
    """A convolution of 1 to 4 channels and an even stride, as a network's first. A row of its window is read as one
    vector of channels: pixels of 4 channels lie together, so that those under a window of S columns are 4 S
    neighbours, and the step to the next window is a multiple of 16 bytes, as bulk copies need it."""

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
        self.size = s

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
        pixels = nn.functional.pad(x.permute(0, 2, 3, 1), (0, 4 - c, left, width - w - left))
        return pixels.as_strided((n, 4 * self.columns, h, q), (4 * h * width, 1, 4 * width, 4 * self.stride[1]))

    def convolve(self, windows):
        return torch.ops.fusekit.conv_bias_act(windows, self.weight, self.bias, None, [self.stride[0], 1],
                                               [self.padding[0], 0], 1, 1, self.activation)

    def forward(self, x):
        return self.convolve(self.windows(x))


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
        return y.view(*x.shape[:-1], -1)


class MaxPool(nn.Module):
    def forward(self, x):
        return torch.ops.fusekit.max_pool_3x3(x)


class GlobalAverage(nn.Module):
    def forward(self, x):
        return torch.ops.fusekit.global_average(x)


def is_3x3_pool(pool):
    pairs = [(each, each) if isinstance(each, int) else tuple(each)
             for each in (pool.kernel_size, pool.stride, pool.padding, pool.dilation)]
    return pairs == [(3, 3), (2, 2), (1, 1), (1, 1)] and not pool.ceil_mode and not pool.return_indices


def fuse(model, dtype=torch.half, stem=True, pools=True, linear=True):
    """A copy of `model`, for inference, with its parameters in `dtype`: Conv2d, then BatchNorm2d, an addition and ReLU
    where they follow, each group as one operator. Batch norm is folded into weights and bias in double. Max pools of
    3 x 3, stride 2, padding 1, global averages and fully connected layers are operators too. What is anything else
    stays as it is. Feed it channels_last."""
    traced = fx.symbolic_trace(copy.deepcopy(model).eval())
    modules, graph = dict(traced.named_modules()), traced.graph

    def module(node, kind):
        return isinstance(node, fx.Node) and node.op == "call_module" and type(modules[node.target]) is kind

    def only_user(node):
        return next(iter(node.users)) if len(node.users) == 1 else None

    def is_call(node, functions, method):
        return (node.op == "call_function" and node.target in functions
                or node.op == "call_method" and node.target in (method, method + "_"))

    def replace(last, name, new, arguments):
        name = f"fused_{name.replace('.', '_')}"
        traced.add_module(name, new)
        with graph.inserting_after(last):
            last.replace_all_uses_with(node := graph.call_module(name))
        node.args = arguments

    for node in list(graph.nodes):
        if module(node, nn.Conv2d):
            conv, norm, residual, activation, last = modules[node.target], None, None, "passthru", node
            if conv.padding_mode != "zeros" or isinstance(conv.padding, str):
                continue
            after = only_user(last)
            if after is not None and module(after, nn.BatchNorm2d) and modules[after.target].track_running_stats:
                norm, last = modules[after.target], after
                after = only_user(last)
            if after is not None and is_call(after, ADDITIONS, "add") and len(after.args) == 2 and not after.kwargs:
                other = after.args[1] if after.args[0] is last else after.args[0]
                if isinstance(other, fx.Node) and other is not last:
                    residual, last = other, after
                    after = only_user(last)
            if after is not None and (module(after, nn.ReLU) or is_call(after, RELUS, "relu")):
                activation, last = "relu", after
            if stem and residual is None and FusedStem.suits(conv):
                replace(last, node.target, FusedStem(conv, norm, activation, dtype), node.args)
            else:
                arguments = node.args if residual is None else (*node.args, residual)
                replace(last, node.target, FusedConv(conv, norm, activation, dtype), arguments)
        elif pools and module(node, nn.MaxPool2d) and is_3x3_pool(modules[node.target]):
            replace(node, node.target, MaxPool(), node.args)
        elif pools and module(node, nn.AdaptiveAvgPool2d) and modules[node.target].output_size in (1, (1, 1)):
            replace(node, node.target, GlobalAverage(), node.args)
        elif linear and module(node, nn.Linear):
            replace(node, node.target, FusedLinear(modules[node.target], dtype), node.args)
    graph.eliminate_dead_code()
    graph.lint()
    traced.recompile()
    traced.delete_all_unused_submodules()
    for name, parameter in [*traced.named_parameters()]:
        parameter.data = parameter.data.to(dtype)
    return traced
