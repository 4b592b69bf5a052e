# SPDX-License-Identifier: MIT
"""torch.compile(model, backend="fusekit"): plans of the library, and Inductor for the rest of the graph.

AOTAutograd gives a functional graph of ATen's operators, in which mutations are copies at its end and aliases are
explicit; partition() replaces chains by plans before Inductor decomposes them.
"""

import importlib.util

import torch

from . import run  # noqa: F401
from .concatenation import concatenate
from .derived import is_capturing
from .lowering import decompose, inline, split_table
from .measuring import times
from .partition import partition
from .reference import evaluate
from .steps import Sequence
from .values import set_values
from .warming import compile_plans


def fused(module, inputs, report=None, rules_of=None, in_slices=True):
    """The module, with plans in place of chains. `in_slices`: plans write into concatenations."""
    set_values(module, inputs)
    found, without = partition(module.graph, rules_of)
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


def with_inductor(module, inputs, options, measure):
    from torch._functorch import config
    from torch._inductor.compile_fx import compile_fx, compile_fx_inner
    from torch._inductor.decomposition import select_decomp_table

    table = select_decomp_table()
    early, late = split_table(table)

    def inner(graph_module, values, *rest, **named):
        rewritten = fused(graph_module, values, in_slices=False)
        compile_plans(rewritten.graph)
        if measure:
            drop_slow(rewritten, table)
        if concatenate(rewritten.graph):
            compile_plans(rewritten.graph)
        return compile_fx_inner(decompose(rewritten, late, table), values, *rest, **named)

    # The key of AOTAutograd's cache is the graph before inner(): it would return what Inductor alone compiled.
    with config.patch(enable_autograd_cache=False):
        return compile_fx(module, inputs, inner_compile=inner, config_patches=options, decompositions=early)


def without_inductor(module, inputs, report=None, rules_of=None):
    """The plans, and ATen's kernels for the rest."""
    from functorch.compile import make_boxed_func
    from torch._dynamo.backends.common import aot_autograd

    def compiler(graph_module, values):
        return make_boxed_func(fused(graph_module, values, report, rules_of).forward)
    return aot_autograd(fw_compiler=compiler)(module, inputs)


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
