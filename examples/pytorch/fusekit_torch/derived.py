# SPDX-License-Identifier: MIT
"""Tensors that are computed once from parameters: folded weights and biases, weights of channels last.

An entry holds weak references to its sources, and is computed again after a source was replaced, moved or written in
place (`_version`). PyTorch does not count writes through `.data`: run.forget() is for these.
"""

import concurrent.futures
import weakref

import torch

ENTRIES, MOST = {}, 4096
CAPTURED = {}  # tensors that CUDA graphs read, which stay


def state(tensor):
    return tensor.data_ptr(), tensor._version, tensor.shape, tensor.stride(), tensor.dtype


def is_capturing():
    return torch.cuda.is_available() and torch.cuda.is_current_stream_capturing()


def computed(compute, device):
    """compute(), on a GPU by another thread: allocations of this one may go to the memory pool of a CUDA graph, which
    has the results of the graph only. In a capture the graph computes the value at each replay."""
    if device.type != "cuda" or is_capturing():
        with torch.no_grad():
            return compute()
    caller = torch.cuda.current_stream(device)

    def work():
        with torch.no_grad(), torch.cuda.device(device):
            own = torch.cuda.current_stream(device)
            own.wait_stream(caller)
            value = compute()
            caller.wait_stream(own)
            return value
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        return pool.submit(work).result()


def derived(key, sources, compute):
    """compute(), stored under `key` while the sources are the same objects, unchanged."""
    if any(each.is_inference() for each in sources):
        return computed(compute, sources[0].device)  # these count no writes
    key = (key, *(id(each) for each in sources))
    entry = ENTRIES.get(key)
    states = tuple(map(state, sources))
    if entry is not None and entry[1] == states and all(
            reference() is each for reference, each in zip(entry[0], sources)):
        if is_capturing():
            CAPTURED[id(entry[2])] = entry[2]
        return entry[2]
    value = computed(compute, sources[0].device)
    if not is_capturing():  # a captured tensor has its value during a replay only
        if len(ENTRIES) >= MOST:
            ENTRIES.clear()
        ENTRIES[key] = ([weakref.ref(each, lambda _: ENTRIES.pop(key, None)) for each in sources], states, value)
    return value


def fold(weight, bias, parameters, epsilon):
    """Weights and bias, in double, of a convolution and the batch norm after it. `parameters`: scale, shift, mean and
    variance; None for those that are not given."""
    scale, shift, mean, variance = (None if each is None else each.detach().double() for each in parameters)
    factor = 1 / torch.sqrt(variance + epsilon)
    factor = factor if scale is None else factor * scale
    offset = -mean * factor if shift is None else shift - mean * factor
    if bias is not None:
        offset = offset + bias.detach().double() * factor
    return weight.detach().double() * factor.view(-1, 1, 1, 1), offset


def is_exact(weight, dtype):
    """Every folded weight is finite in dtype, and its rounding error is at most eps of its channel's largest weight."""
    flat = weight.flatten(1)
    error = (flat.to(dtype).double() - flat).abs().amax(1)
    return bool((error <= torch.finfo(dtype).eps * flat.abs().amax(1)).all())
