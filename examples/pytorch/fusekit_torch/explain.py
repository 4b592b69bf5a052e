# SPDX-License-Identifier: MIT
"""explain(model, x): the plans of a model, and why each ends."""

import contextlib

import torch
from torch.utils._pytree import tree_flatten

from . import backend


class Report:
    """Plans of all graphs of a model, and the operators that are in none."""

    def __init__(self):
        self.plans, self.without, self.other, self.concatenations = [], [], 0, 0

    def add(self, found, without, graph, concatenations=0):
        self.plans += found
        self.without += without
        self.concatenations += concatenations
        self.other += sum(node.op == "call_function" and "fusekit_jit" not in str(node.target) for node in graph.nodes)

    def add_norms(self, found, without):
        """Plans of a joint graph, whose forward and backward parts add() is called for."""
        self.plans += found
        self.without += without

    def __str__(self):
        lines = [f"plan {at}: {plan}" for at, plan in enumerate(self.plans, 1)]
        lines += [f"no plan: {node}: {why}" for node, why in self.without]
        if self.concatenations:
            lines.append(f"plans write into slices of {self.concatenations} concatenations")
        return "\n".join([*lines, f"{len(self.plans)} plans; {self.other} nodes are in none"])


def in_training(model, inputs, call):
    """Calls the model, and computes gradients, whose graph is compiled with the first ones. Parameters get none, and
    buffers keep their values."""
    kept = [(each, each.clone()) for each in model.buffers()]
    results = call(*inputs)
    results = [results] if isinstance(results, torch.Tensor) else tree_flatten(results)[0]
    total = sum(each.float().sum() for each in results if isinstance(each, torch.Tensor) and each.requires_grad)
    torch.autograd.grad(total, [each for each in model.parameters() if each.requires_grad], allow_unused=True)
    with torch.no_grad():
        for buffer, value in kept:
            buffer.copy_(value)


def explain(model, *inputs, rules_of=None):
    """A Report of the plans of model(*inputs): for inference, and for a model in training mode those of a step, forward and
    backward. `rules_of(device)` gives the library that states the rules; by default the one that runs plans on the
    device."""
    report = Report()
    training = getattr(model, "training", False) and any(each.requires_grad for each in model.parameters())
    with contextlib.nullcontext() if training else torch.no_grad():
        if hasattr(torch, "compile"):
            def call(*given):
                return model(*given)
            call.__code__ = call.__code__.replace()  # Dynamo counts the graphs of a code object
            call = torch.compile(call, backend=lambda module, values: backend.without_inductor(
                module, values, report, rules_of))
            in_training(model, inputs, call) if training else call(*inputs)
        elif training:
            in_training(model, inputs, backend.without_dynamo(model, report, rules_of))
        else:
            from torch.fx.experimental.proxy_tensor import make_fx
            backend.fused(make_fx(model)(*inputs), inputs, report, rules_of)
    return report
