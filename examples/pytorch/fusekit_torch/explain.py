# SPDX-License-Identifier: MIT
"""explain(model, x): the plans of a model, and why each ends."""

import torch

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

    def __str__(self):
        lines = [f"plan {at}: {plan}" for at, plan in enumerate(self.plans, 1)]
        lines += [f"no plan: {node}: {why}" for node, why in self.without]
        if self.concatenations:
            lines.append(f"plans write into slices of {self.concatenations} concatenations")
        return "\n".join([*lines, f"{len(self.plans)} plans; {self.other} nodes are in none"])


def explain(model, *inputs, rules_of=None):
    """A Report of the plans of model(*inputs), for inference. `rules_of(device)` gives the library that states the
    rules; by default the one that runs plans on the device."""
    report = Report()
    with torch.no_grad():
        if hasattr(torch, "compile"):
            def call(*given):
                return model(*given)
            call.__code__ = call.__code__.replace()  # Dynamo counts the graphs of a code object
            torch.compile(call, backend=lambda module, values: backend.without_inductor(
                module, values, report, rules_of))(*inputs)
        else:
            from torch.fx.experimental.proxy_tensor import make_fx
            backend.fused(make_fx(model)(*inputs), inputs, report, rules_of)
    return report
