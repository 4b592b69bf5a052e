# SPDX-License-Identifier: MIT
"""Inductor's decompositions, in steps: those before partition(), which reads silu or batch norm whole; in a joint graph of
training, those between fuse_norms() and AOTAutograd's partitioner; and those after partition()."""

import operator

from torch import fx
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils._pytree import tree_flatten, tree_unflatten

from .aten import HEADS, NORMS, OWN_UNARY, POOLS, UNARY
from .training import BACKWARD, FORWARD, SLOPES

READ = {*HEADS, *POOLS, *NORMS, *UNARY, *OWN_UNARY, "gelu", "leaky_relu", "elu", "softplus", "hardtanh", "clamp",
        "clamp_min", "clamp_max", "rsub", "pow", *FORWARD, *BACKWARD, *SLOPES, "convolution_backward"}
# Operators that plans of a training graph may have: a value that a gradient reads ends a plan, and the gradients of others
# read the values before them. AOTAutograd's partitioner chooses best what to store among decomposed ones.
READ_IN_TRAINING = {*HEADS, "relu", "sigmoid", "tanh", "convolution_backward"}
KEPT_METADATA = ("recompute", "ac_graph_id", "partitioner_tag", "stack_trace", "nn_module_stack", "seq_nr")


def is_one_of(overload, names):
    return str(overload).startswith("aten.") and str(overload).split(".")[1] in names


def is_read_in_training(overload):
    return is_one_of(overload, READ_IN_TRAINING)


def split_table(table):
    """The decompositions of a table before partition(), and the operators that are decomposed after it."""
    def is_read(overload):
        return is_one_of(overload, READ)
    early = {overload: function for overload, function in table.items() if not is_read(overload)}
    return early, {overload for overload in table if is_read(overload)}


def unique_name(module, name):
    while hasattr(module, name):
        name += "_"
    return name


def inline(module, node, late, table):
    """Replaces a node by its decomposition, one of `late`, and the parts by theirs, of `table`."""
    flat, spec = tree_flatten((node.args, node.kwargs))
    at = [index for index, each in enumerate(flat) if isinstance(each, fx.Node)]

    def decomposed(*values):
        given = list(flat)
        for index, value in zip(at, values):
            given[index] = value
        args, kwargs = tree_unflatten(given, spec)
        return late[node.target](*args, **kwargs)

    inner, known = make_fx(decomposed, decomposition_table=table)(*(flat[index].meta["val"] for index in at)), {}
    inputs = iter([flat[index] for index in at])
    graph = module.graph
    with graph.inserting_before(node):
        for each in inner.graph.nodes:
            if each.op == "placeholder":
                known[each] = next(inputs)
            elif each.op == "get_attr":
                name = unique_name(module, f"fusekit_{each.target}")
                setattr(module, name, getattr(inner, each.target))
                known[each] = graph.get_attr(name)
                known[each].meta = {**each.meta}
            elif each.op != "output":
                known[each] = graph.node_copy(each, lambda one: known[one])
                known[each].meta.update({key: node.meta[key] for key in KEPT_METADATA if key in node.meta})
    results = fx.node.map_arg(next(iter(reversed(inner.graph.nodes))).args[0], lambda one: known[one])
    if isinstance(results, fx.Node):
        node.replace_all_uses_with(results)
    else:
        for user in list(node.users):
            if user.target is not operator.getitem:
                raise RuntimeError(f"fusekit: {node.target}: expected results that are used one by one")
            user.replace_all_uses_with(results[user.args[1]])
            graph.erase_node(user)
    graph.erase_node(node)


def decompose(module, late, table):
    """Replaces the nodes that partition() has not taken by their decompositions. `late`: the operators that are not
    decomposed yet; `table`: all decompositions."""
    for node in list(module.graph.nodes):
        if node.op != "call_function" or node.target not in late:
            continue
        try:
            inline(module, node, table, table)
        except NotImplementedError:
            pass  # the decomposition does not have this case: Inductor lowers the operator itself
    module.graph.lint()
    module.recompile()
    return module
