# SPDX-License-Identifier: MIT
"""torch.compile(model, backend="fusekit"): plans of the library, and Inductor for the rest of the graph.

AOTAutograd gives a functional graph of ATen's operators, in which mutations are copies at its end and aliases are
explicit; partition() replaces chains by plans before Inductor decomposes them.
"""

import importlib.util

import torch

from . import run  # noqa: F401
from .concatenation import concatenate
from .convolutions import split
from .derived import is_capturing
from .lowering import decompose, inline, is_read_in_training, split_table
from .measuring import faster_gradients, times
from .partition import partition
from .reference import evaluate
from .running import move_in_place
from .steps import Sequence
from .training import fuse_norms, is_joint
from .values import set_values
from .warming import compile_plans, share_workspace


INFERENCE, FORWARD, BACKWARD = "inference", "forward", "backward"  # parts of a training graph, and one without


def fused(module, inputs, report=None, rules_of=None, in_slices=True, part=INFERENCE, faster=None):
    """The module, with plans in place of chains; in a backward graph, of gradients of convolutions. `in_slices`: plans
    write into concatenations; `faster`: chooses plans of gradients, as in convolutions.split()."""
    set_values(module, inputs)
    if part == BACKWARD:
        found, without = split(module.graph, rules_of, faster)
    else:
        found, without = partition(module.graph, rules_of, part == FORWARD)
        move_in_place(module.graph)
    concatenations = concatenate(module.graph) if in_slices else 0
    module.recompile()
    if report is not None:
        report.add(found, without, module.graph, concatenations)
    return module


def drop_slow(module, table):
    """Replaces plans that are slower than ATen's kernels by these."""
    from torch._subclasses.fake_tensor import unset_fake_temporarily
    with unset_fake_temporarily():
        slow = [node for node, (own, other) in times(module.graph).items() if own > other]
    for node in slow:
        inline(module, node, {node.target: lambda x, tensors, plan: evaluate(Sequence.of(plan), x, tensors)}, table)


def faster(gradients):
    """For each Gradient of a convolution True if its plan is faster than ATen's kernel."""
    from torch._subclasses.fake_tensor import unset_fake_temporarily
    with unset_fake_temporarily():
        return faster_gradients(gradients)


def joint_pass(function, before):
    """Inductor's pass over a joint graph: `before`, the user's, and function. With a uuid() Inductor caches what it compiles;
    the key has the graph after the pass."""
    from torch._inductor.custom_graph_pass import CustomGraphPass
    passes = [] if before is None else list(before) if isinstance(before, (list, tuple)) else [before]

    class Pass(CustomGraphPass):
        def __call__(self, graph):
            for each in (*passes, function):
                each(graph)

        def uuid(self):
            known = [each.uuid() if isinstance(each, CustomGraphPass) else None for each in passes]
            return None if None in known else ("fusekit", *known)

        def __reduce__(self):  # PyTorch 2.6 pickles it as a part of the key
            return str, (str(self.uuid()),)
    return Pass()


def with_inductor(module, inputs, options, measure):
    from torch._functorch import config
    from torch._inductor import config as of_inductor
    from torch._inductor.compile_fx import compile_fx, compile_fx_inner
    from torch._inductor.decomposition import select_decomp_table

    table = select_decomp_table()
    early, late = split_table(table)
    not_read = {each for each in late if not is_read_in_training(each)}
    before = options.get("joint_custom_pre_pass", of_inductor.joint_custom_pre_pass)

    def joint(graph):
        if is_joint(graph):
            fuse_norms(graph)
            decompose(graph.owning_module, not_read, table)

    def inner(graph_module, values, *rest, **named):
        part = BACKWARD if named.get("is_backward") else INFERENCE if named.get("is_inference", True) else FORWARD
        rewritten = fused(graph_module, values, in_slices=False, part=part, faster=faster if measure else None)
        compile_plans(rewritten.graph)
        if measure:
            drop_slow(rewritten, table)
        if concatenate(rewritten.graph):
            compile_plans(rewritten.graph)
        share_workspace(rewritten.graph)
        return compile_fx_inner(decompose(rewritten, late, table), values, *rest, **named)

    # The key of AOTAutograd's cache is the graph before inner(): it would return what Inductor alone compiled.
    with config.patch(enable_autograd_cache=False):
        return compile_fx(module, inputs, inner_compile=inner, decompositions=early,
                          config_patches={**options, "joint_custom_pre_pass": joint_pass(joint, before)})


def partitioner(partition_fn, report, rules_of):
    """A partition_fn of AOTAutograd's whose joint graphs have plans."""
    def partitioned(graph_module, values, **named):
        set_values(graph_module, values)
        found, without = fuse_norms(graph_module.graph, rules_of)
        graph_module.recompile()
        if report is not None:
            report.add_norms(found, without)
        return partition_fn(graph_module, values, **named)
    return partitioned


def without_inductor(module, inputs, report=None, rules_of=None):
    """The plans, and ATen's kernels for the rest."""
    from functorch.compile import make_boxed_func, min_cut_rematerialization_partition
    from torch._dynamo.backends.common import aot_autograd

    def compiler(part):
        return lambda graph_module, values: make_boxed_func(
            fused(graph_module, values, report, rules_of, part=part).forward)
    return aot_autograd(fw_compiler=compiler(FORWARD), bw_compiler=compiler(BACKWARD),
                        inference_compiler=compiler(INFERENCE),
                        partition_fn=partitioner(min_cut_rematerialization_partition, report, rules_of))(module, inputs)


def without_dynamo(model, report=None, rules_of=None):
    """The model with plans in its training graphs, by PyTorch 1.13's functorch. It moves buffers while it traces, too, and
    norms alone move them later."""
    from functorch.compile import aot_module, default_partition, make_boxed_func

    def compiler(part):
        return lambda graph_module, values: make_boxed_func(
            fused(graph_module, values, report, rules_of, part=part).forward)
    return aot_module(model, fw_compiler=compiler(FORWARD), bw_compiler=compiler(BACKWARD),
                      partition_fn=partitioner(default_partition, report, rules_of))


def backend(module, inputs, options=None, mode=None):
    """A backend of torch.compile. `options` are Inductor's configuration, such as {"triton.cudagraphs": True}; `mode`
    is one of Inductor's, such as "reduce-overhead". On a GPU, plans that are slower than ATen's kernels are left to
    Inductor: measuring them takes some seconds, and the option "fusekit.measure": False omits it."""
    if importlib.util.find_spec("torch._inductor") is None:
        return without_inductor(module, inputs)
    options = dict(options or {})
    measure = options.pop("fusekit.measure", True) and torch.cuda.is_available() and not is_capturing()
    if mode:
        from torch._inductor import list_mode_options
        options = {**list_mode_options(mode), **options}
    return with_inductor(module, inputs, options, measure)


if importlib.util.find_spec("torch._dynamo") is not None:
    from torch._dynamo import register_backend
    register_backend(backend, name="fusekit")
