# SPDX-License-Identifier: MIT
"""fuse_norms(graph): in a joint graph, forward and backward, batch norm [+ sum] [+ activation] and its gradient become
norm_training and norm_backward.

The graph is functional, so a use by a hook, a view or a mutation is a node. A norm is replaced with the operators after
it if nothing else reads the values between them. Names of ATen's operators that differ between versions of PyTorch are
in FORWARD and BACKWARD.
"""

import dataclasses
import operator

import torch
from torch.fx.passes.shape_prop import _extract_tensor_metadata

from .aten import activation, name_of, value_of
from .norms import backward_steps, forward_steps
from .partition import Found, drop_unused, in_order, rules_for, writes
from .run import TYPES

FORWARD = ("_native_batch_norm_legit_functional", "_native_batch_norm_legit", "native_batch_norm")
BACKWARD = ("native_batch_norm_backward",)
# The gradient of an activation: the position of the value that it reads, and True if that is the activation's result.
SLOPES = {"threshold_backward": (1, True), "sigmoid_backward": (1, True), "tanh_backward": (1, True),
          "silu_backward": (1, False), "hardswish_backward": (1, False), "hardsigmoid_backward": (1, False),
          "gelu_backward": (1, False), "hardtanh_backward": (1, False), "leaky_relu_backward": (1, False),
          "mish_backward": (1, False)}
SLOPE_OF = {"relu": "threshold_backward", "sigmoid": "sigmoid_backward", "tanh": "tanh_backward",
            "silu": "silu_backward", "hardswish": "hardswish_backward", "hardsigmoid": "hardsigmoid_backward",
            "gelu": "gelu_backward", "hardtanh": "hardtanh_backward", "leaky_relu": "leaky_relu_backward",
            "mish": "mish_backward"}
SAME = ("detach", "alias")


def is_joint(graph):
    """True for a graph of AOTAutograd's that has a backward part: its inputs have gradients of results, too."""
    return any(node.op == "placeholder" and node.name.startswith("tangents") for node in graph.nodes)


def source(node):
    """The node whose value this one is."""
    while name_of(node) in SAME:
        node = node.args[0]
    return node


def readers(node):
    """The nodes that read a value, also by another name."""
    found = []
    for user in node.users:
        found += readers(user) if name_of(user) in SAME else [user]
    return found


def results_of(node):
    """The results of a node that are used, by number; None if they are not used one by one."""
    found = {}
    for user in node.users:
        if user.target is not operator.getitem or user.args[1] in found:
            return None
        found[user.args[1]] = user
    return found


@dataclasses.dataclass
class Norm:
    """A batch norm of training and its gradient. `end`: the last node of the forward part; `gradient`: of `end`'s value,
    which the backward part reads; `slope`: the node of the activation's gradient; `z`: the second tensor of a sum."""

    node: object
    x: object
    scale: object
    shift: object
    running: tuple
    momentum: float
    epsilon: float
    results: dict
    backward: object
    gradients: dict
    end: object
    gradient: object
    between: list = dataclasses.field(default_factory=list)
    slope: object = None
    z: object = None
    activation: tuple = ("passthru", ())

    def forward(self):
        return forward_steps(self.epsilon, 1.0, self.z is not None, *self.activation)

    def backward_steps(self):
        return backward_steps(self.epsilon, self.z is not None and self.slope is not None, *self.activation)


def norm_of(node):
    """The Norm that begins at a node, without operators after it, or why there is none."""
    without = str(node.target).endswith("no_stats")
    x, scale, shift, *rest = node.args
    running, (training, momentum, epsilon) = ((None, None), rest) if without else (tuple(rest[:2]), rest[2:])
    value, results = value_of(x), results_of(node)
    if not training:
        return "it has given statistics"
    if value is None or value.dim() != 4 or value.dtype not in TYPES or results is None or 0 not in results:
        return "images of float, half or bfloat16 are expected"
    if not is_dense(value):
        return "dense x, contiguous or channels last, is expected"
    if any(each is not None and value_of(each).dtype != torch.float32 for each in (scale, shift, *running)):
        return "parameters of float are expected"
    if type(momentum) is not float or type(epsilon) is not float or (running[0] is None) != (running[1] is None):
        return "numbers for its momentum and epsilon are expected"
    of = [[user for user in readers(results[each]) if name_of(user) in BACKWARD] if each in results else []
          for each in (1, 2)]
    if len(of[0]) != 1 or of[0] != of[1]:
        return "one gradient is expected"
    backward = of[0][0]
    gradients = results_of(backward)
    if source(backward.args[1]) is not x or backward.args[7] is not True or not backward.args[9][0] or not gradients:
        return "a gradient with respect to x is expected"
    return Norm(node, x, scale, shift, running, momentum, epsilon, results, backward, gradients, results[0],
                backward.args[0])


def is_dense(x):
    return x.is_contiguous() or x.shape[1] > 1 and x.is_contiguous(memory_format=torch.channels_last)


def same_layout(one, other):
    return one is not None and (one.shape, one.stride(), one.dtype, one.device) == (
        other.shape, other.stride(), other.dtype, other.device)


def with_sum(norm):
    """The Norm with a sum that alone reads its y, or None."""
    users = readers(norm.end)
    if len(users) != 1 or name_of(users[0]) != "add" or users[0].kwargs.get("alpha", 1) != 1:
        return None
    first, second = users[0].args[:2]
    z = second if source(first) is norm.end else first
    if first is second or not same_layout(value_of(z), value_of(norm.end)):
        return None
    return dataclasses.replace(norm, end=users[0], z=z, between=[*norm.between, users[0]])


def with_activation(norm):
    """The Norm with an activation, whose gradient alone reads the value before it, or None."""
    users = readers(norm.end)
    acts = [each for each in users if name_of(each) in SLOPE_OF]
    if len(acts) != 1:
        return None
    act, found = acts[0], activation(acts[0])
    at, of_result = SLOPES[SLOPE_OF[name_of(act)]]
    saved = act if of_result else norm.end
    slopes = [each for each in readers(saved) if name_of(each) == SLOPE_OF[name_of(act)] and
              source(each.args[at]) is saved]
    if found is None or len(slopes) != 1 or users != ([act] if of_result else [each for each in users
                                                                               if each in (act, slopes[0])]):
        return None
    slope = slopes[0]
    rest = [each for index, each in enumerate(slope.args) if index not in (0, at)]
    if not is_slope_of(act, rest, slope.kwargs) or source(norm.gradient) is not slope:
        return None
    return dataclasses.replace(norm, end=act, slope=slope, gradient=slope.args[0], activation=found,
                               between=[*norm.between, act])


def is_slope_of(act, rest, named):
    """True if the numbers of an activation's gradient are those of the activation."""
    name, numbers = name_of(act), list(act.args[1:])
    if name == "relu":
        return [float(each) for each in rest] == [0.0]
    if name == "hardtanh":
        return [float(each) for each in rest] == [float(each) for each in (*numbers, *(-1.0, 1.0)[len(numbers):])]
    if name == "leaky_relu":
        return [float(rest[0]), bool(rest[1])] == [float(numbers[0]) if numbers else 0.01, False]
    return not rest and not numbers and named == act.kwargs


def candidates(norm):
    """A Norm with the operators after it, longest first."""
    sums = with_sum(norm)
    plain = with_activation(norm)
    whole = with_activation(sums) if sums is not None else None
    return [each for each in (whole, sums, plain, norm) if each is not None]


def moves_in_place(norm):
    """True if the node itself moves the running statistics: PyTorch 1.13's does, though its schema does not say so."""
    return name_of(norm.node) != "_native_batch_norm_legit_functional" and norm.running[0] is not None


def fits(norm, order):
    """True if the forward part can run at its end, and the backward part at its first node."""
    last, place = order[norm.end], norm.slope or norm.backward
    gradient = value_of(norm.gradient)
    if gradient is None or gradient.dtype != value_of(norm.x).dtype or last >= order[place]:
        return False
    if any(order[user] < last for at, each in norm.results.items() if at for user in each.users):
        return False
    if moves_in_place(norm) and any(order[norm.node] < order[user] < last for each in norm.running for user in each.users):
        return False
    if norm.slope is not None and norm.z is None and readers(norm.slope) != [norm.backward]:
        return False
    return order[norm.gradient] < order[place]


def metadata(value, old):
    """Metadata of a node with this value, else that of a node that it replaces. A node of several results has no
    "tensor_meta", by which partitioners know it."""
    meta = {key: each for key, each in old.meta.items() if key != "tensor_meta"}
    return {**meta, "val": value, **({} if isinstance(value, tuple) else {"tensor_meta": _extract_tensor_metadata(value)})}


def new(graph, target, arguments, values, old):
    """A node of several results, and its results, with the metadata of a node that they replace."""
    node = graph.call_function(target, arguments)
    node.meta = metadata(tuple(values), old)
    results = [graph.call_function(operator.getitem, (node, at)) for at in range(len(values))]
    for result, value in zip(results, values):
        result.meta = metadata(value, old)
    return results


def pointwise(graph, target, arguments, value, old):
    node = graph.call_function(target, arguments)
    node.meta = metadata(value, old)
    return node


def moved(graph, running, batch, momentum, old):
    """PyTorch's running statistic after the batch."""
    aten, value = torch.ops.aten, value_of(running)
    kept = pointwise(graph, aten.mul.Tensor, (running, 1 - momentum), value, old)
    return pointwise(graph, aten.add.Tensor, (kept, pointwise(graph, aten.mul.Tensor, (batch, momentum), value, old)),
                     value, old)


def forward_node(graph, norm):
    """Adds the forward part. Returns y and the results that replace those of the norm, by number."""
    ops, statistic = torch.ops.fusekit_jit, value_of(norm.results[1])
    first, rest = (norm.x, norm.scale, norm.shift, norm.z), (norm.epsilon, norm.activation[0], list(norm.activation[1]))
    if moves_in_place(norm):
        y, mean, inverse = new(graph, ops.norm_training_.default, (*first, *norm.running, norm.momentum, *rest),
                               (value_of(norm.end), *[statistic] * 2), norm.end)
        return y, {1: mean, 2: inverse}
    y, mean, inverse, variance = new(graph, ops.norm_training.default, (*first, *rest),
                                     (value_of(norm.end), *[statistic] * 3), norm.end)
    return y, {1: mean, 2: inverse, **{
        at: moved(graph, running, batch, norm.momentum, norm.end)
        for at, running, batch in ((3, norm.running[0], mean), (4, norm.running[1], variance)) if at in norm.results}}


def backward_node(graph, norm, statistics, z, residual_gradient):
    """Adds the backward part. Returns the gradients of x, z, scale and shift."""
    value, rest = value_of(norm.x), (norm.epsilon, norm.activation[0], list(norm.activation[1]))
    channels = value.new_empty(value.shape[1], dtype=torch.float32)
    dy = in_order(graph, norm.gradient, not value.is_contiguous())
    arguments = (dy, norm.x, norm.scale, norm.shift, z, *statistics, *rest, residual_gradient)
    return new(graph, torch.ops.fusekit_jit.norm_backward.default, arguments,
               (value, value if residual_gradient else value.new_empty(0), channels, channels), norm.backward)


def replace(graph, norm):
    """Calls the plans in place of the nodes. Without an activation the gradient of a sum is dy."""
    with graph.inserting_before(norm.end.next):
        y, after = forward_node(graph, norm)
    z = norm.z if norm.slope is not None else None
    is_read = z is not None and readers(norm.slope) != [norm.backward]
    with graph.inserting_before(norm.slope or norm.backward):
        dx, dz, *parameters = backward_node(graph, norm, (after[1], after[2]), z, is_read)
    norm.end.replace_all_uses_with(y)
    for at, result in after.items():
        norm.results[at].replace_all_uses_with(result)
    for at, result in enumerate((dx, *parameters)):
        if at in norm.gradients:
            norm.gradients[at].replace_all_uses_with(result)
    for each in (*norm.gradients.values(), norm.backward):
        graph.erase_node(each)
    if is_read:
        norm.slope.replace_all_uses_with(dz)
    drop_unused(graph)
    if writes(norm.node):
        graph.erase_node(norm.node)


def fuse_norms(graph, rules_of=None):
    """Replaces norms in a joint graph whose nodes have values ("val"). Returns the plans, and pairs of a norm that is in
    none and why. `rules_of(device)` gives the library that states the rules, or why there is none."""
    found, without = [], []
    for node in list(graph.nodes):
        norm = norm_of(node) if name_of(node) in FORWARD else None
        if norm is None:
            continue
        if isinstance(norm, str):
            without.append((str(node), norm))
            continue
        value, order = value_of(norm.x), {each: at for at, each in enumerate(graph.nodes)}
        rules = (rules_of or rules_for)(value.device)
        why = rules if isinstance(rules, str) else None
        for one in [] if why else candidates(norm):
            plans = [[step.operator(rules) for step in steps] for steps in (one.forward(), one.backward_steps())]
            refusals = [rules.refusal(each, TYPES[value.dtype]) for each in plans]
            if not fits(one, order):
                why = why or "values of its batch are read before its end"
            elif any(refusals):
                why = why or next(filter(None, refusals))
            else:
                nodes = [str(each) for each in (one.node, *one.between)], [
                    str(each) for each in (one.slope, one.backward) if each is not None]
                found += [Found(rules.plan_name(each, TYPES[value.dtype]), own, "its gradient is the next plan" if not at
                                else "it is the gradient of the plan before it")
                          for at, (each, own) in enumerate(zip(plans, nodes))]
                replace(graph, one)
                why = None
                break
        if why:
            without.append((str(node), why))
    graph.lint()
    return found, without
