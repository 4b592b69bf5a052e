# SPDX-License-Identifier: MIT
"""Plans that are slower than ATen's kernel and one pass over y, measured on the GPU when a graph is compiled."""

import torch
import torch.nn.functional as functional

from . import reference
from .aten import value_of
from .convolutions import gradient_by_aten
from .derived import CAPTURED
from .run import plan_of
from .steps import Sequence
from .warming import compile_all, is_static, requests_of

CALLS, REPEATS = 8, 5
GRADIENTS = {}  # microseconds of plans and of ATen's kernels


def captured(function):
    """A CUDA graph of several calls."""
    stream, graph = torch.cuda.Stream(), torch.cuda.CUDAGraph()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(2):
            function()
    torch.cuda.synchronize()
    with torch.cuda.graph(graph, capture_error_mode="thread_local"):
        for _ in range(CALLS):
            function()
    return graph


def microseconds(graph):
    """The least time of a call."""
    times = []
    for _ in range(REPEATS):
        first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        first.record(), graph.replay(), last.record()
        last.synchronize()
        times.append(first.elapsed_time(last) * 1000 / CALLS)
    return min(times)


def alternative(sequence, x, tensors):
    """ATen's convolution or product, and one kernel for the operators after it: a pool, a sum or relu."""
    (conv, own), *rest = sequence.split(tensors)
    if sequence.rows and rest and rest[0][0].kind == "bias":
        y, rest = functional.linear(x, own[0].to(x.dtype), rest[0][1][0].to(x.dtype)), rest[1:]
    else:
        y = reference.value_of(conv, own, x)
    for step, given in reversed(rest):
        if step.kind in ("residual", "binary", "pool"):
            return reference.value_of(step, given, y)
    return torch.relu(y) if rest else y


def real(value):
    """A tensor of a fake one's layout, in which elements may overlap."""
    size = 1 + sum(max(extent - 1, 0) * stride for extent, stride in zip(value.shape, value.stride()))
    memory = torch.empty(size, dtype=value.dtype, device=value.device).uniform_(0.5, 1)
    return memory.as_strided(value.shape, value.stride())


def measured(text, values):
    """Microseconds of a plan and of ATen's kernels, on tensors of these layouts."""
    sequence, plan = Sequence.of(text), plan_of(text, "cuda")
    with torch.no_grad(), torch.cuda.device(values[0].device):
        x, *tensors = map(real, values)
        result = (microseconds(captured(lambda: plan(x, tensors))),
                  microseconds(captured(lambda: alternative(sequence, x, tensors))))
    for kept in list(plan.runs.values()):
        if kept.holds(tensors):
            CAPTURED.pop(id(kept), None)  # its graph has ended
    return result


def times(graph):
    """Microseconds of a plan and of ATen's kernels, for nodes of plans on a GPU that have constant shapes."""
    result, known = {}, {}
    for node in graph.nodes:
        if node.op != "call_function" or node.target is not torch.ops.fusekit_jit.run.default:
            continue
        values = [value_of(each) for each in (node.args[0], *node.args[1])]
        if not all(map(is_static, values)) or not values[0].is_cuda:
            continue
        key = (node.args[2], *((each.shape, each.stride(), each.dtype) for each in values))
        if key not in known:
            known[key] = measured(node.args[2], values)
        result[node] = known[key]
    return result


def key_of(gradient):
    return (gradient.target, str(gradient.arguments[2:]),
            *((each.shape, each.stride(), each.dtype) for each in map(value_of, gradient.arguments[:2])))


def faster_gradients(gradients):
    """For each Gradient of a convolution True if its plan takes less time than ATen's kernel. Tensors of varying shapes are
    not measured: ATen's kernel computes their gradient. Kernels are compiled in parallel before."""
    measurable = [each for each in gradients if all(is_static(value_of(one)) and value_of(one).is_cuda
                                                    for one in each.arguments[:2])]
    new = {key_of(each): each for each in measurable if key_of(each) not in GRADIENTS}
    compile_all([request for each in new.values() for request in requests_of(each) if request is not None])
    for key, each in new.items():
        values = list(map(value_of, each.arguments[:2]))
        with torch.no_grad(), torch.cuda.device(values[0].device):
            first, second = map(real, values)
            GRADIENTS[key] = [microseconds(captured(function)) for function in (
                lambda: each.target(first, second, *each.arguments[2:]),
                lambda: gradient_by_aten(each.target, first, second, *each.arguments[2:]))]
    return [each in measurable and GRADIENTS[key_of(each)][0] <= GRADIENTS[key_of(each)][1] for each in gradients]
