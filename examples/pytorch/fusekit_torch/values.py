# SPDX-License-Identifier: MIT
"""The values of a graph's nodes: fake tensors, in meta["val"]."""

import torch
from torch import fx
from torch._subclasses import FakeTensorMode
from torch.utils._pytree import tree_map


class Values(fx.Interpreter):
    """Runs a graph on fake tensors and stores each node's value."""

    def __init__(self, module):
        super().__init__(module)
        self.mode = FakeTensorMode()

    def fetch_attr(self, target):
        value = super().fetch_attr(target)
        return self.mode.from_tensor(value) if isinstance(value, torch.Tensor) else value

    def run_node(self, node):
        node.meta["val"] = super().run_node(node)
        return node.meta["val"]


def has_values(module):
    """Gives parameters that are attributes their values; True if every other node has one, as AOTAutograd's have."""
    modes = [node.meta["val"].fake_mode for node in module.graph.nodes
             if hasattr(node.meta.get("val"), "fake_mode")]
    for node in module.graph.nodes:
        if node.op == "get_attr" and "val" not in node.meta:
            value = module
            for name in node.target.split("."):
                value = getattr(value, name)
            node.meta["val"] = modes[0].from_tensor(value) if modes and isinstance(value, torch.Tensor) else value
    return all("val" in node.meta for node in module.graph.nodes if node.op != "output")


def set_values(module, inputs):
    """Computes the values of a graph that has none, for inputs."""
    if not has_values(module):
        values = Values(module)
        with values.mode, torch.no_grad():
            values.run(*tree_map(lambda each: values.mode.from_tensor(each) if isinstance(each, torch.Tensor) else each,
                                 tuple(inputs)))
