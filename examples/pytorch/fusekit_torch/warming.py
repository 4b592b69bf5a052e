# SPDX-License-Identifier: MIT
"""Compiles the kernels of a graph's plans in parallel, before the graph runs."""

import concurrent.futures
import contextlib
import os

import torch

from .aten import value_of
from .library import Refused
from .run import plan_of


def is_static(value):
    return value is not None and all(type(each) is int for each in (*value.shape, *value.stride()))


def compile_plans(graph):
    """Compiles plans whose tensors are on a GPU and have constant shapes; others compile when they first run. A refusal
    comes again in the run."""
    requests = []
    for node in graph.nodes:
        if node.op != "call_function" or node.target is not torch.ops.fusekit_jit.run.default:
            continue
        x, *tensors = map(value_of, (node.args[0], *node.args[1]))
        if is_static(x) and x.is_cuda and x.numel() and all(map(is_static, tensors)):
            plan = plan_of(node.args[2], "cuda")
            with getattr(x, "fake_mode", contextlib.nullcontext()), contextlib.suppress(Refused):
                requests.append((plan.library, plan.request_for(x, tensors)))

    def prepare(request):
        with contextlib.suppress(Refused):
            request[0].prepare(*request[1])

    if requests:
        with concurrent.futures.ThreadPoolExecutor(min(len(requests), len(os.sched_getaffinity(0)))) as pool:
            list(pool.map(prepare, requests))
