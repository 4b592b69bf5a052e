# SPDX-License-Identifier: MIT
"""move_in_place(graph): in a forward graph, norms' kernels move the running statistics, which the graph otherwise computes
and copies: norm_training becomes norm_training_.

    copy_(running, running * (1 - momentum) + batch * momentum)
"""

import torch

from .aten import name_of
from .training import results_of

TRAINING, MOVING = (getattr(torch.ops.fusekit_jit, name).default for name in ("norm_training", "norm_training_"))


def moves_of(batch):
    """The copy_ node, running statistic and momentum with which the graph moves a statistic by one of the batch; None if
    the graph reads either one elsewhere, but for the batch's."""
    for part in batch.users:
        if name_of(part) != "mul" or part.args[0] is not batch or len(part.users) != 1:
            continue
        sum_, momentum = next(iter(part.users)), part.args[1]
        if name_of(sum_) != "add" or sum_.args[1] is not part or sum_.kwargs or len(sum_.users) != 1:
            continue
        kept, copy = sum_.args[0], next(iter(sum_.users))
        if name_of(kept) != "mul" or len(kept.users) != 1 or name_of(copy) != "copy_" or copy.args[1] is not sum_:
            continue
        running = copy.args[0]
        if (kept.args == (running, 1 - momentum) and set(running.users) == {kept, copy} and not copy.users
                and running.op == "placeholder"):
            return copy, running, momentum
    return None


def move_in_place(graph):
    """Replaces norms whose statistics are moved in the graph. Returns their number."""
    count = 0
    for node in list(graph.nodes):
        results = results_of(node) if node.target is TRAINING else None
        moves = [moves_of(results[at]) for at in (1, 3)] if results and 1 in results and 3 in results else [None]
        if None in moves or moves[0][2] != moves[1][2] or len(results[3].users) != 1:
            continue
        (copy, mean, momentum), (other, variance, _) = moves
        with graph.inserting_before(node):
            new = graph.call_function(MOVING, (*node.args[:4], mean, variance, momentum, *node.args[4:]))
        new.meta = {**node.meta, "val": node.meta["val"][:3]}
        for each in (copy, other):
            sum_ = each.args[1]
            kept, part = sum_.args
            for unused in (each, sum_, kept, part):
                graph.erase_node(unused)
        graph.erase_node(results[3])
        node.replace_all_uses_with(new)
        graph.erase_node(node)
        count += 1
    graph.lint()
    return count
