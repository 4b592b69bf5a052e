# SPDX-License-Identifier: MIT
"""concatenate(graph): plans write their results into slices of one tensor, where a concatenation of them is stored.

Inductor copies all parts in one kernel. Here one kernel copies the part that no plan computes. A concatenation of two
or more such parts is unchanged, and so is one with operators after it that Inductor fuses into the copy.
"""

import json

import torch

from .aten import argument, name_of, value_of
from .partition import call, drop_unused, writes
from .run import output_shape, register
from .run import run as run_plan
from .steps import Sequence

PLAN = torch.ops.fusekit_jit.run.default
# Inductor stores the operands of these: a window reads a value several times.
READERS = ("convolution", "mm", "addmm", "max_pool2d_with_indices", "max_pool2d", "avg_pool2d")


def parts_of(node):
    """Images that a node concatenates along their channels, also those of a concatenation that it alone reads; empty if
    it does not."""
    y = value_of(node)
    if name_of(node) != "cat" or y is None or y.dim() != 4 or argument(node, 1, "dim", 0) not in (1, -3):
        return []
    if y.shape[1] == 1 or not y.is_contiguous(memory_format=torch.channels_last):
        return []
    parts = []
    for each in node.args[0]:
        inner = parts_of(each) if len(each.users) == 1 else []
        parts += inner or [each]
    values = list(map(value_of, parts))
    return parts if all(each is not None and each.dtype == y.dtype and each.dim() == 4 for each in values) else []


def is_stored(node):
    """True if a kernel reads the node's value from memory, in which no pass over it can be fused."""
    return any(user.target is PLAN or name_of(user) in READERS for user in node.users)


def writes_slice(node, last):
    """True for a plan of images whose y is used once, and may be written when `last` runs."""
    if node.target is not PLAN or len(node.users) != 1:
        return False
    sequence = Sequence.of(node.args[2])
    while node is not last:
        node = node.next
        if writes(node):
            return False
    return sequence.channels_last and not sequence.rows


def concatenate(graph):
    """Replaces concatenations in a graph with plans. Returns their number."""
    count = 0
    for node in reversed(list(graph.nodes)):
        parts = parts_of(node) if node.users else []
        plans = [parts.count(each) == 1 and writes_slice(each, node) for each in parts]
        if not any(plans) or plans.count(False) > 1 or not is_stored(node):
            continue
        inputs, tensors, texts = [], [], []
        for each, is_plan in zip(parts, plans):
            x, own, text = each.args if is_plan else (each, [], None)
            inputs.append(x), texts.append((text, len(own)))
            tensors += own
        with graph.inserting_before(node):
            new = call(graph, torch.ops.fusekit_jit.concatenate.default, (inputs, tensors, json.dumps(texts)),
                       value_of(node))
        node.replace_all_uses_with(new)
        count += 1
    drop_unused(graph)
    graph.lint()
    return count


def slices(inputs, tensors, texts):
    """y, and for each part its input, tensors, plan or None, and slice of y."""
    parts, used = [], 0
    for x, (text, count) in zip(inputs, json.loads(texts)):
        own = tensors[used:used + count]
        used += count
        parts.append((x, own, text, x.shape if text is None else output_shape(Sequence.of(text), x, own)))
    (n, _, h, w), x, at = parts[0][3], inputs[0], 0
    y = torch.empty((n, sum(shape[1] for *_, shape in parts), h, w), dtype=x.dtype, device=x.device,
                    memory_format=torch.channels_last)
    result = []
    for x, own, text, shape in parts:
        result.append((x, own, text, y.narrow(1, at, shape[1])))
        at += shape[1]
    return y, result


def run(inputs, tensors, texts):
    y, parts = slices(inputs, tensors, texts)
    for x, own, text, part in parts:
        if text is None:
            part.copy_(x)
        else:
            run_plan(x, own, text, y=part)
    return y


def fake(inputs, tensors, texts):
    return slices(inputs, tensors, texts)[0]


register("concatenate", "(Tensor[] inputs, Tensor[] tensors, str plans) -> Tensor", run, fake)
