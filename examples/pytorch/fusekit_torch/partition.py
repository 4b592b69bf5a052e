# SPDX-License-Identifier: MIT
"""partition(graph): replaces chains of a functional graph of ATen's operators by plans.

A chain grows while the library accepts its operators as the beginning of a plan and one node alone uses its value; the
plan is the longest beginning of the chain that the library accepts as a whole. A plan runs where its last node was: a
chain ends before a node that writes a tensor. A functional graph has such nodes at its end only.
"""

import dataclasses

import torch
from torch import fx

from . import library
from .aten import TYPES, VIEWS, following, head, name_of, value_of
from .run import TYPES as NUMBERS
from .run import output_shape
from .steps import Sequence, folded


PIXELS, IMAGES = [0, 2, 3, 1], [0, 3, 1, 2]  # modes of N x H x W x C and of N x C x H x W, of the other


@dataclasses.dataclass
class Found:
    """A plan of a graph: its name, its first and last nodes, and why it ends there."""

    name: str
    nodes: list
    why: str

    def __str__(self):
        return f"{self.name}\n    {' + '.join(self.nodes)}\n    ends: {self.why}"


class Chain:
    """Steps that nodes of a graph compute one after the other. `shape`: with rows, the shape in which the graph has the
    value, None for M x K; `images`: the graph has it permuted, from N x H x W x C to N x C x H x W."""

    def __init__(self, part, rules, first, fresh=False):
        self.shape, self.images, self.fresh = None, False, fresh
        self.x, self.rows, self.rules, self.first = part.x, part.rows, rules, first
        self.steps, self.tensors, self.nodes, self.ends, self.why = [], [], [], [], None

    @property
    def value(self):
        return self.ends[-1][0]

    def operators(self, steps):
        return [each.operator(self.rules) for each in (steps if self.fresh else folded(steps))]

    def refusal(self, steps, data_type=None):
        try:
            return self.rules.refusal(self.operators(steps), data_type)
        except library.Refused as error:
            return str(error)

    def shape_with(self, part):
        """The shape that the graph has for the value after the part."""
        if name_of(part.end) in VIEWS or part.images:
            return value_of(part.end).shape
        if self.shape is not None:
            return value_of(self.value).shape
        sequence = Sequence((*self.steps, *part.steps), False, self.rows)
        return output_shape(sequence, value_of(self.x), list(map(value_of, self.tensors + part.tensors)))

    def add(self, part):
        """Appends the part, and returns True, if the library accepts it."""
        self.why = self.refusal([*self.steps, *part.steps]) if part.steps else None
        if self.why is None:
            y = value_of(part.end)
            if y is None or y.dtype != value_of(self.x).dtype:
                self.why = f"{part.end} has another type"
            elif tuple(self.shape_with(part)) != tuple(y.shape):
                self.why = f"{part.end} has another shape than the plan's y"
            elif self.shape is not None and any(
                    value_of(z).shape != y.shape and (value_of(z).dim() > 1 or self.images)
                    for z in part.tensors if part.steps[0].kind != "channels"):
                self.why = "a second tensor of y's shape, or of one mode, is expected after a product of more modes"
        if self.why is None:
            self.steps, self.tensors = self.steps + part.steps, self.tensors + part.tensors
            self.nodes += [*part.nodes, part.end]
            if name_of(part.end) in VIEWS:
                self.shape = part.end.args[1]
            self.images = self.images or part.images
            self.ends.append((part.end, len(self.steps), len(self.tensors), len(self.nodes), self.shape, self.images))
        return self.why is None

    def grow(self, taken):
        while self.why is None:
            users = list(self.value.users)
            if len(users) != 1:
                self.why = f"its value is used {len(users)} times"
            elif users[0].op == "output":
                self.why = "it is a result of the graph"
            elif users[0] in taken:
                self.why = f"{users[0]} belongs to another plan"
            elif self.written_before(users[0]):
                self.why = f"{self.written_before(users[0])} may write a tensor before {users[0]}"
            else:
                part = following(users[0], self.value, self.rows, self.images, self.fresh)
                if isinstance(part, str):
                    self.why = part
                elif not self.add(part) and part.otherwise is not None:
                    self.add(part.otherwise)

    def written_before(self, last):
        """A node between the first and the last that writes a tensor; None in a functional graph."""
        node = self.first
        while node is not last:
            node = node.next
            if writes(node):
                return node
        return None

    def pixels(self, value):
        """N x H x W x C of the value that the graph has as images."""
        return value.permute(PIXELS) if self.images else value

    def order(self):
        """True if the value is channels last, False if contiguous, None for other strides."""
        y = self.pixels(value_of(self.value))
        if self.rows:
            return False if y.is_contiguous() else None
        if y.dim() == 4 and y.shape[1] != 1 and y.is_contiguous(memory_format=torch.channels_last):
            return True
        return False if y.is_contiguous() else None

    def shorten(self):
        """Drops operators until a whole plan remains; returns False if none does."""
        data_type = NUMBERS[value_of(self.x).dtype]
        while self.ends:
            why = self.refusal(self.steps, data_type)
            if why is None and self.order() is not None:
                return True
            self.why = why or "y is neither contiguous nor channels last"
            self.ends.pop()
            if self.ends:
                _, steps, tensors, nodes, self.shape, self.images = self.ends[-1]
                del self.steps[steps:], self.tensors[tensors:], self.nodes[nodes:]
        return False

    def as_rows(self, graph, z, channels):
        """A second tensor of the graph's shape as M x K."""
        if value_of(z).dim() <= 2:
            return z
        if self.images:
            z = call(graph, torch.ops.aten.permute.default, (z, PIXELS), self.pixels(value_of(z)))
        return call(graph, torch.ops.aten.reshape.default, (z, [-1, channels]), value_of(z).reshape(-1, channels))

    def input_of(self, graph, channels_last):
        """x, in y's memory order if the graph computes it in another one, as a channel shuffle does: Inductor stores it
        so, and the fastest kernels read channels last."""
        x = value_of(self.x)
        if (self.rows or not channels_last or x.shape[1] == 1 or x.stride(1) == 1 or self.x.op != "call_function"
                or "fusekit_jit" in str(self.x.target)):
            return self.x
        return in_order(graph, self.x, True)

    def weights_of(self, graph, channels_last):
        """The tensors, with weights that are not kept in y's memory order."""
        if not self.fresh or self.rows or self.steps[0].kind != "conv":
            return list(self.tensors)
        return [in_order(graph, self.tensors[0], channels_last), *self.tensors[1:]]

    def replace(self, graph):
        """Calls the plan in place of the nodes."""
        sequence, last = Sequence(tuple(self.steps), self.order(), self.rows, self.fresh), self.value
        target, y = torch.ops.fusekit_jit.run.default, self.pixels(value_of(last))
        with graph.inserting_before(last):
            tensors = self.weights_of(graph, sequence.channels_last)
            if self.shape is not None:
                tensors = [self.as_rows(graph, each, y.shape[-1]) if step.kind in ("residual", "binary") else each
                           for step, own in sequence.split(tensors) for each in own]
                y = y.reshape(-1, y.shape[-1])
            x = self.input_of(graph, sequence.channels_last)
            result = node = call(graph, target, (x, tensors, sequence.text()), y)
            if self.shape is not None:
                result = call(graph, torch.ops.aten.view.default, (node, self.shape), self.pixels(value_of(last)))
            if self.images:
                result = call(graph, torch.ops.aten.permute.default, (result, IMAGES), value_of(last))
        last.replace_all_uses_with(result)
        for each in reversed(self.nodes):
            graph.erase_node(each)
        name = self.rules.plan_name(self.operators(self.steps), NUMBERS[value_of(self.x).dtype])
        return node, Found(name, [str(each) for each in self.nodes], self.why)


def call(graph, target, arguments, value):
    """A node with its value."""
    node = graph.call_function(target, arguments)
    node.meta["val"] = value
    return node


def order_of(channels_last):
    return torch.channels_last if channels_last else torch.contiguous_format


def in_order(graph, node, channels_last):
    """The node, or a copy of it in the memory order of a plan's result, which the fastest
    kernels read: Inductor stores it so."""
    value, order = value_of(node), order_of(channels_last)
    if value.is_contiguous(memory_format=order):
        return node
    result = call(graph, torch.ops.aten.clone.default, (node,), value.contiguous(memory_format=order))
    result.kwargs = {"memory_format": order}
    return result


def writes(node):
    """True if a node writes its arguments, or may."""
    schema = getattr(node.target, "_schema", None)
    return node.op in ("call_method", "call_module") or schema is not None and any(
        each.alias_info is not None and each.alias_info.is_write for each in schema.arguments)


def drop_unused(graph):
    """eliminate_dead_code() of PyTorch 1.13 drops writes."""
    for node in reversed(graph.nodes):
        if node.op in ("call_function", "get_attr") and not node.users and not (node.is_impure() or writes(node)):
            graph.erase_node(node)


def start(node, rules, fresh=False):
    """A chain that begins with the node, or why there is none."""
    part = head(node, fresh)
    if isinstance(part, str):
        return part
    chain = Chain(part, rules, node, fresh)
    return chain if chain.add(part) else chain.why


def partition(graph, rules_of=None, fresh=False):
    """Replaces plans in a torch.fx.Graph whose nodes have values ("val"). Returns the plans, and pairs of a node of a
    convolution, product, norm or pool that is in none, and the reason. `rules_of(device)` gives the library that states
    the rules, or a reason. `fresh`: a training graph, whose parameters change in each step."""
    drop_unused(graph)
    found, without, taken = [], [], set()
    for node in list(graph.nodes):
        if node.op != "call_function" or node in taken or not name_of(node):
            continue
        value = value_of(node.args[0]) if node.args and isinstance(node.args[0], fx.Node) else None
        if value is None or value.dtype not in TYPES:
            continue
        part = head(node, fresh)
        if isinstance(part, str) and part.endswith("is no operator of the library's"):
            continue
        rules = (rules_of or rules_for)(value.device)
        chain = rules if isinstance(rules, str) else start(node, rules, fresh)
        if not isinstance(chain, str):
            chain.grow(taken)
            if not chain.shorten():
                chain = chain.why
        if isinstance(chain, str):
            without.append((str(node), chain))
            continue
        taken.update(chain.nodes)
        node, plan = chain.replace(graph)
        taken.add(node)
        found.append(plan)
    drop_unused(graph)
    graph.lint()
    return found, without


def rules_for(device):
    """The library that runs plans on a device, or why there is none."""
    return library.why_none(device.type, device.index or 0) or library.library_of(device.type)
