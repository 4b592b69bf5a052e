# SPDX-License-Identifier: MIT
"""Runs of plans whose tensors are new in each call, as those of a training step are: fusekit_execute() binds all
addresses at each call, and nothing is prepared for one address. The C structures of each layout are kept.
"""

import functools

import torch

from . import library
from .run import ALIGNED_ADDRESS, TYPES, c_tensor, count_call, warn

LAYOUTS_OF_A_PLAN = 1024


def layout(tensor):
    return tensor.shape, tensor.stride(), tensor.dtype


def numbers_of(argument, step):
    """Stores a step's numbers in the C structure of its arguments."""
    if step.kind in ("norm", "norm_training", "norm_backward"):
        argument.epsilon = step.numbers[0]
        argument.momentum = step.numbers[1] if len(step.numbers) > 1 else 1.0
    elif step.kind in ("residual", "residual_backward", "scale"):
        argument.factor = step.numbers[0]
    elif step.numbers:
        argument.alpha, argument.beta, argument.gamma = (*step.numbers, 0.0, 0.0)[:3]


class Bound:
    """A plan for an element type of x and one of y, of the library of one kind of device."""

    def __init__(self, steps, kind, types):
        self.steps, self.library, self.layouts = steps, library.library_of(kind), {}
        self.plan = self.library.plan([each.operator(self.library) for each in steps], types)

    def structures(self, x, y, tensors, address=None):
        """The C structures of x, y and the operators' tensors, which a dict for each operator gives by their roles."""
        arguments = self.library.arguments(len(self.steps))
        for argument, step, own in zip(arguments, self.steps, tensors):
            numbers_of(argument, step)
            for role, tensor in own.items():
                argument.tensors[role] = c_tensor(tensor, address)
        return arguments, c_tensor(x, address), c_tensor(y, address)

    def prepare(self, x, y, tensors):
        """Compiles the kernel for these layouts, and returns the bytes of its workspace; the tensors' elements are not
        read."""
        arguments, c_x, c_y = self.structures(x, y, tensors, ALIGNED_ADDRESS)
        return self.library.prepare(self.plan, x.device.index or 0, arguments, c_x, c_y, 16).workspace_bytes

    def __call__(self, x, y, tensors, workspace=None):
        index = x.device.index or 0
        flat = [(at, role, tensor) for at, own in enumerate(tensors) for role, tensor in own.items()]
        addresses = [tensor.data_ptr() for _, _, tensor in flat]
        x_address, y_address = x.data_ptr(), y.data_ptr()
        alignment = functools.reduce(int.__or__, addresses, x_address | y_address) & 15
        key = (index, alignment, layout(x), layout(y), *[(at, role, *layout(tensor)) for at, role, tensor in flat])
        kept = self.layouts.get(key)
        if kept is None:
            structures = self.structures(x, y, tensors)
            kept = (*structures, self.library.workspace_bytes(self.plan, index, *structures))
            if len(self.layouts) >= LAYOUTS_OF_A_PLAN:
                self.layouts.clear()
            self.layouts[key] = kept
        arguments, c_x, c_y = (type(each).from_buffer_copy(each) for each in kept[:3])  # other threads read them
        for (at, role, _), address in zip(flat, addresses):
            arguments[at].tensors[role].data = address
        c_x.data, c_y.data = x_address, y_address
        size = kept[3]
        if size and (workspace is None or workspace.numel() < size):
            workspace = torch.zeros(size, dtype=torch.uint8, device=x.device)
        address = workspace.data_ptr() if size else None
        stream = torch.cuda.current_stream(x.device).cuda_stream if x.is_cuda else None
        count_call()
        self.library.execute(self.plan, index, stream, arguments, c_x, c_y, address, size)


@functools.lru_cache(None)
def bound(steps, kind, types):
    """The plan, or why there is none."""
    if library.library_of(kind) is None:
        return library.why_none(kind)
    try:
        return Bound(steps, kind, types)
    except library.Refused as error:
        return str(error)


def execute(steps, x, y, tensors, workspace=None):
    """Runs the plan and returns True; False if no library has it or it refuses the tensors, for which nothing is written.
    `workspace`: bytes that were 0 before their first run; if they are fewer than the plan's, it has its own."""
    if x.dtype not in TYPES or not x.numel() or library.library_of(x.device.type) is None:
        return False
    plan = bound(tuple(steps), x.device.type, (TYPES[x.dtype], TYPES[y.dtype]))
    try:
        if isinstance(plan, Bound):
            if x.is_cuda:
                with torch.cuda.device(x.device):
                    plan(x, y, tensors, workspace)
            else:
                plan(x, y, tensors, workspace)
            return True
        warn(plan)
    except library.Refused as error:
        warn(str(error))
    return False
