# SPDX-License-Identifier: MIT
"""Compiles the kernels of a graph's plans in parallel, before the graph runs."""

import concurrent.futures
import contextlib
import os

import torch

from .aten import value_of
from .concatenation import slices
from .library import Refused
from .run import plan_of


def is_static(value):
    return value is not None and all(type(each) is int for each in (*value.shape, *value.stride()))


def plans_of(node):
    """Pairs of a plan's text and its tensors x, y or None and parameters, of a node that runs plans."""
    if node.target is torch.ops.fusekit_jit.run.default:
        return [(node.args[2], value_of(node.args[0]), None, list(map(value_of, node.args[1])))]
    inputs, tensors, texts = node.args
    values = list(map(value_of, inputs)), list(map(value_of, tensors))
    if not all(map(is_static, (*values[0], *values[1]))):
        return []
    with getattr(values[0][0], "fake_mode", contextlib.nullcontext()):
        return [(text, x, y, own) for x, own, text, y in slices(*values, texts)[1] if text is not None]


def compile_plans(graph):
    """Compiles plans whose tensors are on a GPU and have constant shapes; others compile when they first run. A refusal
    comes again in the run."""
    requests = []
    for node in graph.nodes:
        if node.op != "call_function" or "fusekit_jit" not in str(node.target):
            continue
        for text, x, y, tensors in plans_of(node):
            if is_static(x) and x.is_cuda and x.numel() and all(map(is_static, tensors)):
                plan = plan_of(text, "cuda")
                with getattr(x, "fake_mode", contextlib.nullcontext()), contextlib.suppress(Refused):
                    requests.append((plan.library, plan.request_for(x, tensors, y)))

    def prepare(request):
        with contextlib.suppress(Refused):
            request[0].prepare(*request[1])

    if requests:
        with concurrent.futures.ThreadPoolExecutor(min(len(requests), len(os.sched_getaffinity(0)))) as pool:
            list(pool.map(prepare, requests))
