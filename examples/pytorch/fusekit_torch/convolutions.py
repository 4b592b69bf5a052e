# SPDX-License-Identifier: MIT
"""Gradients of a convolution: torch.ops.fusekit_jit.conv_input_gradient and conv_weight_gradient, and split(graph), which
replaces ATen's convolution_backward by them in a backward graph.

    dx = TransposedConv(dy, w),  dw[k, c, r, s] = sum over n, p, q of dy[n, k, p, q] * x[n, c, h(p, r), w(q, s)]

dx is N x C x H x W for the H x W of `extents`; dw has the weights' shape, K x C / groups x R x S, and with `wide` is of
float, as autocast's parameters are.
"""

import dataclasses
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


def backward_by_aten(dy, x, weight, stride, padding, dilation, groups, mask):
    return torch.ops.aten.convolution_backward(dy, x, weight, None, list(stride), list(padding), list(dilation), False,
                                               [0, 0], groups, mask)


def new_input(dy, weight, extents, groups, channels_last):
    return torch.empty((dy.shape[0], weight.shape[1] * groups, *extents), dtype=dy.dtype, device=dy.device,
                       memory_format=order_of(channels_last))


def new_weight(dy, x, size, groups, channels_last, wide=False):
    shape, dtype = (dy.shape[1], x.shape[1] // groups, *size), torch.float32 if wide else x.dtype
    return torch.empty(shape, dtype=dtype, device=x.device, memory_format=order_of(channels_last))


def input_by_aten(dy, weight, extents, stride, padding, dilation, groups, channels_last):
    x = new_input(dy, weight, extents, groups, channels_last)  # its shape is read, and its elements are not
    return backward_by_aten(dy, x, weight, stride, padding, dilation, groups, MASKS["dx"])[0]


def weight_by_aten(dy, x, size, stride, padding, dilation, groups, channels_last, wide):
    weight = new_weight(dy, x, size, groups, channels_last)
    dw = backward_by_aten(dy, x, weight, stride, padding, dilation, groups, MASKS["dw"])[1]
    return dw.float() if wide else dw


def input_request(dy, weight, extents, stride, padding, dilation, groups, channels_last):
    """A new dx, and the plan that computes it: its operators, x, y and tensors by role."""
    step = step_of("transposed_conv", weight.shape[2:], stride, padding, dilation, groups)
    return (step,), dy, new_input(dy, weight, extents, groups, channels_last), [{WEIGHTS: weight}]


def weight_request(dy, x, size, stride, padding, dilation, groups, channels_last, wide):
    step = step_of("weight_gradient", size, stride, padding, dilation, groups)
    return (step,), x, new_weight(dy, x, size, groups, channels_last, wide), [{Z: dy}]


def conv_input_gradient(dy, weight, extents, stride, padding, dilation, groups, channels_last, workspace=None):
    request = input_request(dy, weight, extents, stride, padding, dilation, groups, channels_last)
    dx = request[2]
    if bound.execute(*request, workspace):
        return dx
    return dx.copy_(input_by_aten(dy, weight, extents, stride, padding, dilation, groups, channels_last))


def conv_weight_gradient(dy, x, size, stride, padding, dilation, groups, channels_last, wide, workspace=None):
    request = weight_request(dy, x, size, stride, padding, dilation, groups, channels_last, wide)
    dw = request[2]
    if dy.numel() and bound.execute(*request, workspace):
        return dw
    return dw.copy_(weight_by_aten(dy, x, size, stride, padding, dilation, groups, channels_last, wide))


def fake_input(dy, weight, extents, stride, padding, dilation, groups, channels_last, workspace=None):
    return new_input(dy, weight, extents, groups, channels_last)


def fake_weight(dy, x, size, stride, padding, dilation, groups, channels_last, wide, workspace=None):
    return new_weight(dy, x, size, groups, channels_last, wide)


REST = "int[2] stride, int[2] padding, int[2] dilation, int groups, bool channels_last"
LAST = "Tensor? workspace=None) -> Tensor"
register("conv_input_gradient", f"(Tensor dy, Tensor weight, int[2] extents, {REST}, {LAST}", conv_input_gradient,
         fake_input)
register("conv_weight_gradient", f"(Tensor dy, Tensor x, int[2] size, {REST}, bool wide, {LAST}", conv_weight_gradient,
         fake_weight)
INPUT, WEIGHT = (getattr(torch.ops.fusekit_jit, name).default for name in
                 ("conv_input_gradient", "conv_weight_gradient"))


def gradient_by_aten(target, *arguments):
    return (input_by_aten if target is INPUT else weight_by_aten)(*arguments)


def is_last(value):
    """True if a tensor is channels last, False if contiguous, None for other strides."""
    if value.shape[1] > 1 and value.is_contiguous(memory_format=torch.channels_last):
        return True
    return False if value.is_contiguous() else None


@dataclasses.dataclass
class Gradient:
    """A gradient of a convolution_backward, "x" or "weights", as a plan: the operator's target and arguments, and the
    plan's step and types. `end`: the node that it replaces, which is a conversion to float after it, or its result."""

    name: str
    node: object
    end: object
    target: object
    arguments: tuple
    step: Step
    types: tuple


def conversion(node):
    """The node that alone reads a gradient and converts it to float, or None."""
    user = next(iter(node.users)) if len(node.users) == 1 else None
    converts = user is not None and ("convert_element_type" in str(user.target) and user.args[1] == torch.float32 or
                                     name_of(user) == "_to_copy" and user.kwargs == {"dtype": torch.float32})
    return user if converts and value_of(user).stride() == value_of(node).stride() else None


def gradients_of(node):
    """The Gradients of a convolution_backward, each with its forms, best first; or why there are none."""
    dy, x, weight, _, stride, padding, dilation, transposed, _, groups, mask = node.args
    values = [value_of(each) for each in (dy, x, weight)]
    if any(each is None or each.dim() != 4 or each.dtype != values[0].dtype for each in values):
        return "images of one type are expected"
    if values[0].dtype not in TYPES or transposed:
        return "a convolution of float, half or bfloat16, not transposed, is expected"
    results, found = results_of(node), []
    if results is None:
        return "its gradients are not used one by one"
    size, extents = list(values[2].shape[2:]), list(values[1].shape[2:])
    geometry = [list(pair(each)) for each in (stride, padding, dilation)]
    if not all(type(each) is int for each in (*values[2].shape, *extents)):
        return "images of constant height and width are expected"
    own = TYPES[values[0].dtype]
    last = [is_last(value_of(results[at])) if at in results and mask[at] else None for at in (0, 1)]
    if last[0] is not None:
        step = step_of("transposed_conv", size, *geometry, groups)
        arguments = (dy, weight, extents, *geometry, groups, last[0])
        found.append([Gradient("x", node, results[0], INPUT, arguments, step, (own, own))])
    if last[1] is not None:
        step, end = step_of("weight_gradient", size, *geometry, groups), conversion(results[1])
        arguments = (dy, x, size, *geometry, groups, last[1])
        plain = Gradient("weights", node, results[1], WEIGHT, (*arguments, False), step, (own, own))
        wide = Gradient("weights", node, end, WEIGHT, (*arguments, True), step, (own, TYPES[torch.float32]))
        found.append([plain] if end is None or own == TYPES[torch.float32] else [wide, plain])
    return found or "its gradients are neither contiguous nor channels last"


def by_plans(graph, node, chosen):
    """Replaces a convolution_backward by the `chosen` Gradients, and ATen's operator for the others."""
    results, mask = results_of(node), list(node.args[-1])
    left = {0: "dx", 1: "dw"}
    with graph.inserting_before(node):
        if 2 in results and mask[2]:
            value = value_of(results[2])
            results[2].replace_all_uses_with(pointwise(
                graph, torch.ops.aten.sum.dim_IntList, (node.args[0], [0, 2, 3]), value, node))
        for each in chosen:
            left.pop(0 if each.target is INPUT else 1)
            inputs = [in_order(graph, one, each.arguments[7]) for one in each.arguments[:2]]
            each.end.replace_all_uses_with(pointwise(graph, each.target, (*inputs, *each.arguments[2:]),
                                                     value_of(each.end), node))
        for at, key in left.items():
            if at in results and mask[at]:
                rest = graph.call_function(node.target, (*node.args[:3], None, *node.args[4:-1], MASKS[key]), node.kwargs)
                rest.meta = {key: each for key, each in node.meta.items() if key != "tensor_meta"}
                results[at].replace_all_uses_with(pointwise(graph, operator.getitem, (rest, at), value_of(results[at]),
                                                            node))
    for each in (*(one.end for one in chosen if one.end not in results.values()), *results.values(), node):
        graph.erase_node(each)


def split(graph, rules_of=None, faster=None):
    """Replaces convolution_backward nodes of a graph whose nodes have values ("val"). Returns the plans, and pairs of a node
    that has none and why. `faster(gradients)`: for each Gradient True if the plan is faster than ATen's kernel."""
    found, without, candidates = [], [], []
    for node in [each for each in graph.nodes if name_of(each) == "convolution_backward"]:
        gradients = gradients_of(node)
        rules = (rules_of or rules_for)(node.args[0].meta["val"].device)
        why = rules if isinstance(rules, str) else gradients if isinstance(gradients, str) else None
        if why:
            without.append((str(node), why))
        for forms in () if why else gradients:
            refusals = [rules.refusal([each.step.operator(rules)], each.types) for each in forms]
            if None in refusals:
                candidates.append((forms[refusals.index(None)], rules))
            else:
                without.append((f"{node}, the gradient of {forms[0].name}", refusals[-1]))
    choices = [True] * len(candidates) if faster is None else faster([each for each, _ in candidates])
    chosen = {}
    for (each, rules), is_faster in zip(candidates, choices):
        if is_faster:
            chosen.setdefault(each.node, []).append(each)
            name = rules.plan_name([each.step.operator(rules)], each.types)
            found.append(Found(name, [str(each.node)], f"it is the gradient of {each.name}"))
        else:
            without.append((f"{each.node}, the gradient of {each.name}", "ATen's kernel is faster"))
    for node, own in chosen.items():
        by_plans(graph, node, own)
    drop_unused(graph)
    graph.lint()
    return found, without
