# SPDX-License-Identifier: MIT
"""Gradients of a convolution: torch.ops.fusekit_jit.conv_input_gradient and conv_weight_gradient, and split(graph), which
replaces ATen's convolution_backward by them in a backward graph.

    dx = TransposedConv(dy, w),  dw[k, c, r, s] = sum over n, p, q of dy[n, k, p, q] * x[n, c, h(p, r), w(q, s)]

dx is N x C x H x W for the H x W of `extents`; dw has the weights' shape, K x C / groups x R x S.
"""

import operator

import torch

from . import bound
from .aten import name_of, pair, value_of
from .partition import Found, drop_unused, in_order, order_of, rules_for
from .run import TYPES, register
from .steps import Step
from .training import pointwise, results_of

WEIGHTS, Z = 0, 2
MASKS = {"dx": [True, False, False], "dw": [False, True, False]}


def step_of(kind, size, stride, padding, dilation, groups):
    return Step(kind, window=tuple(map(tuple, (size, stride, padding, dilation))), groups=groups)


def like_shape(given, shape, channels_last):
    return torch.empty(shape, dtype=given.dtype, device=given.device, memory_format=order_of(channels_last))


def backward_by_aten(dy, x, weight, stride, padding, dilation, groups, mask):
    return torch.ops.aten.convolution_backward(dy, x, weight, None, list(stride), list(padding), list(dilation), False,
                                               [0, 0], groups, mask)


def new_input(dy, weight, extents, groups, channels_last):
    return like_shape(dy, (dy.shape[0], weight.shape[1] * groups, *extents), channels_last)


def new_weight(dy, x, size, groups, channels_last):
    return like_shape(x, (dy.shape[1], x.shape[1] // groups, *size), channels_last)


def input_by_aten(dy, weight, extents, stride, padding, dilation, groups, channels_last):
    x = new_input(dy, weight, extents, groups, channels_last)  # its shape is read, and its elements are not
    return backward_by_aten(dy, x, weight, stride, padding, dilation, groups, MASKS["dx"])[0]


def weight_by_aten(dy, x, size, stride, padding, dilation, groups, channels_last):
    weight = new_weight(dy, x, size, groups, channels_last)
    return backward_by_aten(dy, x, weight, stride, padding, dilation, groups, MASKS["dw"])[1]


def input_request(dy, weight, extents, stride, padding, dilation, groups, channels_last):
    """A new dx, and the plan that computes it: its operators, x, y and tensors by role."""
    step = step_of("transposed_conv", weight.shape[2:], stride, padding, dilation, groups)
    return (step,), dy, new_input(dy, weight, extents, groups, channels_last), [{WEIGHTS: weight}]


def weight_request(dy, x, size, stride, padding, dilation, groups, channels_last):
    step = step_of("weight_gradient", size, stride, padding, dilation, groups)
    return (step,), x, new_weight(dy, x, size, groups, channels_last), [{Z: dy}]


def conv_input_gradient(dy, weight, extents, stride, padding, dilation, groups, channels_last, workspace=None):
    request = input_request(dy, weight, extents, stride, padding, dilation, groups, channels_last)
    dx = request[2]
    if bound.execute(*request, workspace):
        return dx
    return dx.copy_(input_by_aten(dy, weight, extents, stride, padding, dilation, groups, channels_last))


def conv_weight_gradient(dy, x, size, stride, padding, dilation, groups, channels_last, workspace=None):
    request = weight_request(dy, x, size, stride, padding, dilation, groups, channels_last)
    dw = request[2]
    if dy.numel() and bound.execute(*request, workspace):
        return dw
    return dw.copy_(weight_by_aten(dy, x, size, stride, padding, dilation, groups, channels_last))


def fake_input(dy, weight, extents, stride, padding, dilation, groups, channels_last, workspace=None):
    return new_input(dy, weight, extents, groups, channels_last)


def fake_weight(dy, x, size, stride, padding, dilation, groups, channels_last, workspace=None):
    return new_weight(dy, x, size, groups, channels_last)


REST = "int[2] stride, int[2] padding, int[2] dilation, int groups, bool channels_last, Tensor? workspace=None) -> Tensor"
register("conv_input_gradient", f"(Tensor dy, Tensor weight, int[2] extents, {REST}", conv_input_gradient, fake_input)
register("conv_weight_gradient", f"(Tensor dy, Tensor x, int[2] size, {REST}", conv_weight_gradient, fake_weight)
INPUT, WEIGHT = (getattr(torch.ops.fusekit_jit, name).default for name in
                 ("conv_input_gradient", "conv_weight_gradient"))


def gradient_by_aten(target, *arguments):
    return (input_by_aten if target is INPUT else weight_by_aten)(*arguments)


def is_last(value):
    """True if a tensor is channels last, False if contiguous, None for other strides."""
    if value.shape[1] > 1 and value.is_contiguous(memory_format=torch.channels_last):
        return True
    return False if value.is_contiguous() else None


def parts_of(node):
    """For each gradient of a convolution_backward that a plan may compute, "dx" and "dw": the operator's target, arguments
    and step; or why there is none."""
    dy, x, weight, _, stride, padding, dilation, transposed, _, groups, mask = node.args
    values = [value_of(each) for each in (dy, x, weight)]
    if any(each is None or each.dim() != 4 or each.dtype != values[0].dtype for each in values):
        return "images of one type are expected"
    if values[0].dtype not in TYPES or transposed:
        return "a convolution of float, half or bfloat16, not transposed, is expected"
    results, parts = results_of(node), {}
    if results is None:
        return "its gradients are not used one by one"
    size, extents = list(values[2].shape[2:]), list(values[1].shape[2:])
    geometry = [list(pair(each)) for each in (stride, padding, dilation)]
    if not all(type(each) is int for each in (*values[2].shape, *extents)):
        return "images of constant height and width are expected"
    for at, key, target, kind, first in ((0, "dx", INPUT, "transposed_conv", (dy, weight, extents)),
                                         (1, "dw", WEIGHT, "weight_gradient", (dy, x, size))):
        last = is_last(value_of(results[at])) if at in results and mask[at] else None
        if last is not None:
            parts[key] = target, (*first, *geometry, groups, last), step_of(kind, size, *geometry, groups)
    return parts or "its gradients are neither contiguous nor channels last"


def by_plans(graph, node, parts, chosen):
    """Replaces a convolution_backward by plans for the `chosen` gradients, and ATen's operator for the other one."""
    results, mask = results_of(node), list(node.args[-1])
    with graph.inserting_before(node):
        if 2 in results and mask[2]:
            value = value_of(results[2])
            results[2].replace_all_uses_with(pointwise(
                graph, torch.ops.aten.sum.dim_IntList, (node.args[0], [0, 2, 3]), value, node))
        for at, key in enumerate(("dx", "dw")):
            if key in chosen:
                target, arguments, _ = parts[key]
                arguments = [in_order(graph, each, arguments[-1]) for each in arguments[:2]] + list(arguments[2:])
                results[at].replace_all_uses_with(pointwise(graph, target, tuple(arguments), value_of(results[at]), node))
            elif at in results and mask[at]:
                rest = graph.call_function(node.target, (*node.args[:3], None, *node.args[4:-1], MASKS[key]), node.kwargs)
                rest.meta = {key: each for key, each in node.meta.items() if key != "tensor_meta"}
                results[at].replace_all_uses_with(pointwise(graph, operator.getitem, (rest, at), value_of(results[at]),
                                                            node))
    for each in (*results.values(), node):
        graph.erase_node(each)


def split(graph, rules_of=None, faster=None):
    """Replaces convolution_backward nodes of a graph whose nodes have values ("val"). Returns the plans, and pairs of a node
    that has none and why. `faster(target, arguments)`: True for a gradient that the plan computes faster than ATen."""
    found, without = [], []
    for node in list(graph.nodes):
        if name_of(node) != "convolution_backward":
            continue
        parts = parts_of(node)
        rules = (rules_of or rules_for)(node.args[0].meta["val"].device)
        why = rules if isinstance(rules, str) else parts if isinstance(parts, str) else None
        chosen = []
        for key, (target, arguments, step) in () if why else parts.items():
            data_type = TYPES[value_of(node.args[0]).dtype]
            refusal = rules.refusal([step.operator(rules)], data_type)
            if refusal is None and faster is not None and not faster(target, arguments):
                refusal = "ATen's kernel is faster"
            if refusal is None:
                chosen.append(key)
                found.append(Found(rules.plan_name([step.operator(rules)], data_type), [str(node)],
                                   f"it is the gradient with respect to {'x' if key == 'dx' else 'weights'}"))
            else:
                without.append((f"{node}, {key}", refusal))
        if why:
            without.append((str(node), why))
        if chosen:
            by_plans(graph, node, parts, chosen)
    drop_unused(graph)
    graph.lint()
    return found, without
