#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Lists the chains of an exported model that become plans, and the reason why others do not.

    list_plans.py libfusekit_runtime.so                 a small network, exported here
    list_plans.py libfusekit_runtime.so model.pt2       a model that torch.export.save has written

The library is asked: fusekit_explain() says of a sequence whether its set has a plan that begins so, which rule it
breaks, or what comes nearest. A chain goes on while it says yes and its value is used once.
"""

import ctypes
import sys

import torch
from torch import nn


class Filter(ctypes.Structure):
    _fields_ = [("size", ctypes.c_int32 * 2), ("pad_before", ctypes.c_int32 * 2), ("pad_after", ctypes.c_int32 * 2),
                ("stride", ctypes.c_int32 * 2), ("dilation", ctypes.c_int32 * 2), ("groups", ctypes.c_int32)]


class Operator(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int32), ("mode", ctypes.c_int32), ("filter", Filter)]


class Explanation(ctypes.Structure):
    _fields_ = [("reason", ctypes.c_int32), ("position", ctypes.c_int32), ("rule", ctypes.c_char_p),
                ("sentence", ctypes.c_char_p)]


HOST, SUPPORTED = 0, 0
CONV, GEMM, BIAS, NORM, NORM_TRAINING, ACTIVATION, RESIDUAL, POOL, GLOBAL_AVERAGE = 0, 1, 2, 3, 4, 5, 6, 9, 10
MODES = {"sigmoid": 1, "tanh": 2, "relu": 3, "softplus": 4, "abs": 5, "leaky_relu": 8, "elu": 9, "hardtanh": 10,
         "gelu": 11, "silu": 13, "mish": 14, "hardswish": 15, "hardsigmoid": 16}


class Library:
    def __init__(self, path):
        self.library = ctypes.CDLL(path)
        self.library.fusekit_last_message.restype = ctypes.c_char_p
        self.library.fusekit_explain.argtypes = [ctypes.c_int32, ctypes.POINTER(Operator), ctypes.c_int32,
                                                 ctypes.c_void_p, ctypes.POINTER(Explanation)]

    def refusal(self, operators):
        """None if a plan begins with the sequence; otherwise the reason."""
        explanation = Explanation()
        given = (Operator * len(operators))(*operators)
        status = self.library.fusekit_explain(HOST, given, len(operators), None, ctypes.byref(explanation))
        if status == 0 and explanation.reason == SUPPORTED:
            return None
        return (explanation.sentence or b"").decode() or self.library.fusekit_last_message().decode()


def pair(values):
    values = [values] if isinstance(values, int) else list(values)
    return (ctypes.c_int32 * 2)(*(values * 2)[:2])


def filter_of(size, stride, padding, dilation=1, groups=1):
    return Filter(pair(size), pair(padding), pair(padding), pair(stride), pair(dilation), groups)


def operators_of(node):
    """Operators of a plan for an ATen node; empty if the library has none."""
    name = str(node.target).replace("aten.", "").split(".")[0].rstrip("_")

    def argument(index, usual):
        return node.args[index] if len(node.args) > index else usual

    if name in ("conv2d", "convolution"):
        size = node.args[1].meta["val"].shape[2:]
        groups = argument(6 if name == "conv2d" else 8, 1)
        if len(size) != 2 or name == "convolution" and node.args[6]:
            return []
        conv = Operator(CONV, 0, filter_of(size, argument(3, 1), argument(4, 0), argument(5, 1), groups))
        return [conv] + ([Operator(BIAS)] if argument(2, None) is not None else [])
    if name == "linear":
        return [Operator(GEMM)] + ([Operator(BIAS)] if argument(2, None) is not None else [])
    if name == "batch_norm":
        return [Operator(NORM_TRAINING if node.args[5] else NORM, 1)]
    if name == "_native_batch_norm_legit_no_training":
        return [Operator(NORM, 1)]
    if name == "add" and len(node.args) == 2 and all(isinstance(each, torch.fx.Node) for each in node.args):
        return [Operator(RESIDUAL)]
    if name in MODES:
        return [Operator(ACTIVATION, MODES[name])]
    if name == "max_pool2d":
        return [Operator(POOL, 0, filter_of(node.args[1], argument(2, None) or node.args[1], argument(3, 0)))]
    if name == "adaptive_avg_pool2d" and list(node.args[1]) in ([1], [1, 1]):
        return [Operator(GLOBAL_AVERAGE)]
    return []


def list_plans(graph, library):
    """Prints the chains of a graph of ATen's operators."""
    taken, plans, alone = set(), 0, 0
    for first in graph.nodes:
        if first.op != "call_function" or first in taken:
            continue
        chain, operators, node, why = [], [], first, None
        while why is None:
            added = operators_of(node)
            why = (library.refusal(operators + added) if added
                   else f"{node.target} is no operator of the library's")
            if why is not None:
                break
            chain, operators = [*chain, node], operators + added
            taken.add(node)
            users = list(node.users)
            if len(users) != 1:
                why = f"its value is used {len(users)} times"
            elif users[0].op != "call_function":
                why = "it is the model's result"
            elif users[0] in taken:
                why = f"{users[0]} belongs to a chain above"
            else:
                node = users[0]
        if not chain:
            alone += 1
            print(f"none     {first}: {why}")
            continue
        plans += 1
        at = "" if node in chain else f" before {node}"
        print(f"plan {plans:<4}{' + '.join(str(each) for each in chain)}\n         ends{at}: {why}")
    print(f"{plans} plans; {alone} nodes are in none")


class Network(nn.Module):
    """One chain of each kind: a whole block, a second user, and an order that no kernel has."""

    def __init__(self):
        super().__init__()
        self.stem, self.norm = nn.Conv2d(3, 16, 3, 2, 1, bias=False), nn.BatchNorm2d(16)
        self.first, self.second = nn.Conv2d(16, 16, 3, 1, 1), nn.Conv2d(16, 16, 1)
        self.after, self.classifier = nn.BatchNorm2d(16), nn.Linear(16, 10)

    def forward(self, x):
        x = torch.relu(self.norm(self.stem(x)))
        y = torch.relu(self.first(x) + x)
        y = self.after(torch.sigmoid(self.second(y)))
        return self.classifier(torch.flatten(nn.functional.adaptive_avg_pool2d(y, 1), 1))


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    if len(sys.argv) > 2:
        exported = torch.export.load(sys.argv[2])
    else:
        exported = torch.export.export(Network().eval(), (torch.zeros(1, 3, 32, 32),))
    list_plans(exported.graph, Library(sys.argv[1]))
