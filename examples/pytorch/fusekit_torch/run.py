# SPDX-License-Identifier: MIT
"""torch.ops.fusekit_jit.run(x, tensors, plan): a plan on PyTorch's tensors and current stream.

A run is prepared once for each layout, type, device and address of its arguments, and kept; x and y may move. The C
library allocates nothing: y and workspace are PyTorch's.
"""

import dataclasses
import functools
import warnings
import weakref

import torch

from . import library, reference
from .derived import CAPTURED, ENTRIES, derived, fold, is_capturing, is_exact
from .steps import Sequence, Step, foldable

TYPES = {torch.float32: 0, torch.float16: 1, torch.bfloat16: 2}
ROLE = {"conv": 0, "gemm": 0, "bias": 1, "residual": 2, "binary": 2}
NORM_ROLES = (3, 4, 5, 6)
RUNS_OF_A_PLAN = 1024
ALIGNED_ADDRESS = 4096  # of tensors whose elements are not read
PLANS = {}
calls = 0  # of the C library, by this process


def dense_strides(tensor):
    """A tensor's strides. PyTorch gives a mode of one element any stride: it is replaced by that of a dense tensor."""
    strides, step = list(tensor.stride()), 1
    if tensor.dim() == 4:
        channels_last = tensor.shape[1] > 1 and strides[1] == 1
        for mode in (1, 3, 2, 0) if channels_last else (3, 2, 1, 0):
            if tensor.shape[mode] == 1:
                strides[mode] = step
            step = strides[mode] * tensor.shape[mode]
    return strides


def c_tensor(tensor, data=None):
    result = library.Tensor(tensor.data_ptr() if data is None else data, TYPES[tensor.dtype], tensor.dim())
    result.extents[:tensor.dim()], result.strides[:tensor.dim()] = tensor.shape, dense_strides(tensor)
    return result


def output_shape(sequence, x, tensors):
    """The shape of y; of symbolic extents, too."""
    n, c, *extents = (*x.shape, 1, 1) if sequence.rows else x.shape
    for step, own in sequence.split(tensors):
        if step.kind in ("conv", "gemm"):
            c = own[0].shape[0]
        if step.kind == "global_average":
            extents = [1, 1]
        elif step.window:
            extents = [(extent + 2 * pad - dilation * (size - 1) - 1) // stride + 1
                       for extent, size, stride, pad, dilation in zip(extents, *step.window)]
    return (n, c) if sequence.rows else (n, c, *extents)


def new_output(sequence, x, tensors):
    order = torch.channels_last if sequence.channels_last else torch.contiguous_format
    shape = output_shape(sequence, x, tensors)
    if sequence.rows:
        return torch.empty(shape, dtype=x.dtype, device=x.device)
    return torch.empty(shape, dtype=x.dtype, device=x.device, memory_format=order)


def without_values(key, sources, compute):
    """derived() for fake tensors."""
    return compute()


def with_floats(pair, derive=derived):
    """A batch norm, or a factor for each channel, with four parameters of floats; other operators unchanged."""
    step, own = pair
    if step.kind not in ("norm", "channels"):
        return pair
    if step.kind == "channels":
        scale, shift, mean, variance = own[0], None, None, None
        step = dataclasses.replace(step, kind="norm", numbers=(0.0,))
    else:
        scale, shift, mean, variance = reference.norm_parameters(step, own)
    known = scale if mean is None else mean

    def constant(value):
        return derive(value, [known], lambda: torch.full((known.numel(),), value, dtype=torch.float32,
                                                         device=known.device))

    def floats(tensor):
        if tensor.dtype == torch.float32 and tensor.dim() == 1:
            return tensor
        # detach(): a view of the parameter itself would keep it alive
        return derive("float", [tensor], lambda: tensor.detach().reshape(-1).float())
    given = [constant(usual) if each is None else floats(each)
             for each, usual in zip((scale, shift, mean, variance), (1.0, 0.0, 0.0, 1.0))]
    return dataclasses.replace(step, given=(1, 1, 1, 1)), given


class Plan:
    """A sequence on one device: its C plan for each form that it takes, and its prepared runs."""

    def __init__(self, text, kind):
        self.sequence, self.library = Sequence.of(text), library.library_of(kind)
        self.plans, self.runs, self.seconds, at = {}, {}, set(), 0
        for step in self.sequence.steps:
            if step.kind in ("residual", "binary"):
                self.seconds.add(at)
            at += step.tensors()
        channels_last = self.sequence.channels_last and not self.sequence.rows
        self.order = torch.channels_last if channels_last else torch.contiguous_format

    def folded(self, x, tensors):
        """The steps and tensors that run: batch norm folded into weights and bias where this loses nothing, weights of
        x's memory order. Derived tensors are kept."""
        pairs = self.sequence.split(tensors)
        if pairs[0][0].kind != "conv":
            return pairs
        weight, window = pairs[0][1][0], pairs[0][0].window[0]
        order = torch.channels_last if x.dim() < 4 or x.stride(1) == 1 else torch.contiguous_format
        at = foldable([step for step, _ in pairs])
        if at:
            norm, own = pairs[at]
            bias = pairs[1][1][0] if at == 2 else None
            sources = [weight, *([] if bias is None else [bias]), *own]

            def compute():
                filters, offset = fold(weight.reshape(*weight.shape[:2], *window), bias,
                                       reference.norm_parameters(norm, own), norm.numbers[0])
                if not is_capturing() and not is_exact(filters, x.dtype):
                    return None
                return filters.to(x.dtype).contiguous(memory_format=order), offset.float()

            result = derived(("fold", at, norm, x.dtype, order), sources, compute)
            if result is not None:
                return [(pairs[0][0], [result[0]]), (Step("bias"), [result[1]]), *map(with_floats, pairs[at + 1:])]
        if weight.dtype != x.dtype:
            given = weight
            weight = derived(("type", x.dtype), [given], lambda: given.to(x.dtype))
        if weight.dim() == 2:
            weight = weight[:, :, None, None]
        elif not weight.is_contiguous(memory_format=order):
            given = weight
            weight = derived(("order", order), [given], lambda: given.contiguous(memory_format=order))
        return [(pairs[0][0], [weight]), *map(with_floats, pairs[1:])]

    def parameters(self, step, own, y):
        """An operator's tensors by their roles."""
        if step.kind == "norm":
            return dict(zip(NORM_ROLES, own))
        if step.kind in ("residual", "binary"):
            z = self.sequence.pixels(own[0])
            return {2: z if z.shape == y.shape else z.expand(y.shape)}
        return {ROLE[step.kind]: own[0]} if own else {}

    def layouts(self, x, tensors):
        """folded(), of tensors without values: new ones have the same layouts."""
        steps, own = zip(*self.sequence.split(tensors))
        first, at = [], foldable(steps)
        if steps[0].kind == "conv":
            order = torch.channels_last if x.stride(1) == 1 else torch.contiguous_format
            weight = own[0][0].reshape(*own[0][0].shape[:2], *steps[0].window[0])
            first = [(steps[0], [torch.empty_like(weight, dtype=x.dtype, memory_format=order)])]
            if at:
                first.append((Step("bias"), [torch.empty_like(own[at][-1], dtype=torch.float32)]))
            at += 1
        return [*first, *(with_floats(pair, without_values) for pair in zip(steps[at:], own[at:]))]

    def request_for(self, x, tensors, y=None):
        """Arguments of the library's prepare() for tensors without values."""
        y = new_output(self.sequence, x, tensors) if y is None else y
        if self.sequence.rows:
            x, y = x[:, :, None, None], y[:, :, None, None]
        return self.request(self.layouts(x, tensors), x, y, 16, ALIGNED_ADDRESS)

    def request(self, pairs, x, y, alignment, address=None):
        data_type = TYPES[x.dtype]
        form = (tuple(step for step, _ in pairs), data_type)
        if form not in self.plans:
            self.plans[form] = self.library.plan([step.operator(self.library) for step, _ in pairs], data_type)
        arguments = self.library.arguments(len(pairs))
        for argument, (step, own) in zip(arguments, pairs):
            for role, tensor in self.parameters(step, own, y).items():
                argument.tensors[role] = c_tensor(tensor, address)
            if step.kind == "norm":
                argument.epsilon = step.numbers[0]
            elif step.kind in ("residual", "scale"):
                argument.factor = step.numbers[0]
            elif step.numbers:
                argument.alpha, argument.beta, argument.gamma = (*step.numbers, 0.0, 0.0)[:3]
        return self.plans[form], x.device.index or 0, arguments, c_tensor(x, 0), c_tensor(y, 0), alignment

    def prepare(self, x, tensors, y, key):
        """A new run for these tensors' layouts and the tensors' addresses, which ends with the parameters."""
        alignment = 16
        while (x.data_ptr() | y.data_ptr()) % alignment:
            alignment //= 2
        image, result = (x[:, :, None, None], y[:, :, None, None]) if self.sequence.rows else (x, y)
        pairs = self.folded(image, tensors)
        run = self.library.prepare(*self.request(pairs, image, result, alignment))
        given = set(map(id, tensors))
        made = [each for _, own in pairs for each in own if id(each) not in given]
        if x.is_cuda and not is_capturing():
            for each in made:  # another thread has allocated it, on another stream
                each.record_stream(torch.cuda.current_stream(x.device))
        return Kept(run, y.shape, tensors, self.seconds, made, lambda _: self.runs.pop(key, None))

    def bound(self, x, tensors, y, workspace):
        """y, with all addresses bound in this call."""
        from . import bound
        result = new_output(self.sequence, x, tensors) if y is None else y
        steps, own = self.bindings(x, tensors, result)
        image, written = (x[:, :, None, None], result[:, :, None, None]) if self.sequence.rows else (x, result)
        return result if bound.execute(steps, image, written, own, workspace) else self.by_aten(x, tensors, y)

    def bindings(self, x, tensors, y):
        """The operators of a sequence with fresh parameters, and their tensors by role."""
        pairs = [with_floats(pair, without_values) for pair in self.sequence.split(tensors)]
        if pairs[0][0].kind == "conv":
            weight = pairs[0][1][0]
            pairs[0] = pairs[0][0], [weight.reshape(*weight.shape[:2], *pairs[0][0].window[0])]
        image = y[:, :, None, None] if self.sequence.rows else y
        return tuple(step for step, _ in pairs), [self.parameters(step, own, image) for step, own in pairs]

    def by_aten(self, x, tensors, y):
        result = reference.run(self.sequence, x, tensors)
        return result if y is None else y.copy_(result)

    def __call__(self, x, tensors, strict=False, y=None, workspace=None):
        """y, a new tensor if it is None. A plan with fresh parameters uses the workspace."""
        if x.shape[0] == 0:
            return new_output(self.sequence, x, tensors) if y is None else y
        if x.numel() == 0 or self.library is None or x.dtype not in TYPES:
            return self.by_aten(x, tensors, y)
        if self.sequence.fresh:
            return self.bound(x, tensors, y, workspace)
        address = x.data_ptr()
        stream = torch.cuda.current_stream(x.device).cuda_stream if x.is_cuda else None
        key = (x.shape, x.stride(), x.dtype, x.device, stream, address & 15, *[each.data_ptr() for each in tensors])
        if y is not None:
            key += (y.stride(), y.data_ptr() & 15)
        kept, given = self.runs.get(key), y
        if kept is not None and kept.holds(tensors):
            if kept.derived and is_capturing():
                CAPTURED[id(kept)] = kept
        else:
            try:
                y = new_output(self.sequence, x, tensors) if y is None else y
                kept = self.prepare(x, tensors, y, key)
            except library.Refused as error:
                if strict and error.status == library.REFUSED:
                    raise
                warn(str(error))
                return self.by_aten(x, tensors, given)
            if not any(each.is_inference() for each in tensors) and not is_capturing():
                if len(self.runs) >= RUNS_OF_A_PLAN:
                    self.runs.clear()
                self.runs[key] = kept
        if y is None:
            y = torch.empty(kept.shape, dtype=x.dtype, device=x.device, memory_format=self.order)
        workspace, size = None, kept.run.workspace_bytes
        if size:
            zeros = torch.zeros(size, dtype=torch.uint8, device=x.device)
            workspace = zeros.data_ptr()
        count_call()
        kept.run(stream, address, y.data_ptr(), workspace)
        return y


class Kept:
    """A prepared run, the parameters whose state it was prepared for, tensors derived from them, and the layouts of
    second tensors."""

    def __init__(self, run, shape, tensors, seconds, derived_tensors, end):
        self.run, self.shape, self.derived = run, shape, derived_tensors
        self.others = [(at, each.shape, each.stride(), each.dtype)
                       for at, each in enumerate(tensors) if at in seconds]
        self.parameters = [(at, weakref.ref(each, end), 0 if each.is_inference() else each._version)
                           for at, each in enumerate(tensors) if at not in seconds]

    def holds(self, tensors):
        for at, reference_to, version in self.parameters:
            each = tensors[at]
            if reference_to() is not each or each._version != version:
                return False
        for at, shape, stride, dtype in self.others:
            each = tensors[at]
            if each.shape != shape or each.stride() != stride or each.dtype != dtype:
                return False
        return True


def count_call():
    global calls
    calls += 1


@functools.lru_cache(None)
def warn(message):
    warnings.warn(f"fusekit: ATen computes a plan that the library refused: {message}", stacklevel=4)


def plan_of(text, kind):
    if (text, kind) not in PLANS:
        PLANS[text, kind] = Plan(text, kind)
    return PLANS[text, kind]


def forget():
    """Drops tensors that were derived from parameters, and the runs that contain them."""
    for entries in (ENTRIES, *(plan.runs for plan in PLANS.values())):
        entries.clear()


def run(x, tensors, plan, workspace=None, strict=False, y=None):
    """y, a new tensor if it is None. With `strict`, arguments that the library refuses raise; else, and for plans that it does not have, ATen's
    operators compute them."""
    if x.is_cuda:
        with torch.cuda.device(x.device):
            return plan_of(plan, "cuda")(x, tensors, strict, y, workspace)
    return plan_of(plan, x.device.type)(x, tensors, strict, y, workspace)


def fake(x, tensors, plan, workspace=None):
    return new_output(Sequence.of(plan), x, tensors)


namespace = torch.library.Library("fusekit_jit", "DEF")
# Inductor keeps the strides that tensors have in the graph. Without the tag it gives what it computes an order of its own,
# contiguous, and plans read that by slower kernels.
FIXED_STRIDES = getattr(getattr(torch, "Tag", None), "needs_fixed_stride_order", None)


def register(name, schema, compute, compute_fake):
    """torch.ops.fusekit_jit.name, on CPUs and CUDA's GPUs."""
    namespace.define(name + schema, **({} if FIXED_STRIDES is None else {"tags": (FIXED_STRIDES,)}))
    for key in ("CPU", "CUDA"):
        namespace.impl(name, compute, key)
    if hasattr(torch.library, "register_fake"):  # PyTorch 2.4
        torch.library.register_fake(f"fusekit_jit::{name}")(compute_fake)
    else:
        namespace.impl(name, compute_fake, "Meta")


register("run", "(Tensor x, Tensor[] tensors, str plan, Tensor? workspace=None) -> Tensor", run, fake)
