# SPDX-License-Identifier: MIT
"""fuse(model): a model for inference whose convolutions are one kernel each with what follows them."""

import operator
import warnings

import torch
from torch import fx, nn

from .modules import FusedConv, FusedLinear, FusedStem, GlobalAverage, MaxPool, can_fold
from .tracing import IN_PLACE, copied, has_hooks, is_lazy, trace

ADDITIONS = (operator.add, torch.add)
RELUS = (torch.relu, nn.functional.relu, torch.relu_)
WRITERS = {operator.setitem, operator.delitem, *(getattr(operator, name) for name in IN_PLACE)}
METADATA = ("dtype", "device", "shape", "ndim")
NEW = (nn.Conv2d, nn.BatchNorm2d, nn.Linear, FusedConv, FusedStem, FusedLinear)  # their output is memory of its own


def is_plain(module, kind):
    """A module that computes what its class says: no subclass, hooks, or methods and parameters of the object's own."""
    return (type(module) is kind and not has_hooks(module) and set(module._parameters) <= {"weight", "bias"}
            and all(each is None or type(each) is nn.Parameter and each.is_floating_point() and not each.is_meta
                    for each in module._parameters.values())
            and not any(name in module._parameters or callable(getattr(kind, name, None)) for name in vars(module)))


def is_conv(module):
    return (is_plain(module, nn.Conv2d) and module.padding_mode == "zeros" and not isinstance(module.padding, str)
            and module.weight.numel() > 0)


def is_norm(module, channels):
    return (is_plain(module, nn.BatchNorm2d) and not module.training and module.running_mean is not None
            and module.running_var is not None and module.num_features == channels)


def is_3x3_pool(pool):
    pairs = [(each, each) if isinstance(each, int) else tuple(each)
             for each in (pool.kernel_size, pool.stride, pool.padding, pool.dilation)]
    return pairs == [(3, 3), (2, 2), (1, 1), (1, 1)] and not pool.ceil_mode and not pool.return_indices


def only_input(node):
    """The argument of a call that has one; else None."""
    given = [*node.args, *node.kwargs.values()]
    named = not node.kwargs or set(node.kwargs) == {"input"}
    return given[0] if len(given) == 1 and named and isinstance(given[0], fx.Node) else None


def memory_of(tensor):
    storage = tensor.untyped_storage() if hasattr(tensor, "untyped_storage") else tensor.storage()
    return storage.data_ptr()


class Swap:
    """Replaces modules of a traced model by fused ones. `source` is the model in its original type, to fold from."""

    def __init__(self, traced, source, dtype, opaque):
        self.traced, self.graph, self.source, self.dtype = traced, traced.graph, source, dtype
        self.nodes = [*self.graph.nodes]
        self.order = {node: index for index, node in enumerate(self.nodes)}
        self.made, self.gone = {}, set()
        # Parameters that code reads may also be written by it, at every call.
        read = [self.attribute(node.target) for node in self.nodes if node.op == "get_attr"
                and not all(user.target is getattr and user.args[1] in METADATA for user in node.users)]
        for inner in map(traced.get_submodule, opaque):
            read += [*inner.parameters(), *inner.buffers()]
        self.shared = {memory_of(each) for each in read if isinstance(each, torch.Tensor) and not is_lazy(each)}

    def attribute(self, target):
        value = self.traced
        for name in target.split("."):
            value = getattr(value, name)
        return value

    def module(self, node):
        """The module that a node calls with one argument, unless other code reads its parameters; else None."""
        if not isinstance(node, fx.Node) or node.op != "call_module" or only_input(node) is None:
            return None
        module = self.traced.get_submodule(node.target)
        tensors = [*module.parameters(), *module.buffers()]
        return None if any(not is_lazy(each) and memory_of(each) in self.shared for each in tensors) else module

    @staticmethod
    def only_user(node):
        return next(iter(node.users)) if len(node.users) == 1 else None

    def is_relu(self, node, value):
        if node.op == "call_method":
            return node.target in ("relu", "relu_") and node.args == (value,) and not node.kwargs
        if node.op == "call_function":
            first = node.args[0] if node.args else node.kwargs.get("input")
            return node.target in RELUS and first is value and set(node.kwargs) <= {"input", "inplace"}
        return is_plain(self.module(node), nn.ReLU)

    def addend(self, node, value):
        """The other operand of a node that adds to `value`, and True for an addition in place; or None."""
        function = node.op == "call_function" and node.target in (*ADDITIONS, operator.iadd)
        method = node.op == "call_method" and node.target in ("add", "add_")
        if not (function or method) or len(node.args) != 2 or node.kwargs:
            return None
        in_place = node.target in (operator.iadd, "add_")
        other = node.args[1] if node.args[0] is value else node.args[0]
        if not isinstance(other, fx.Node) or other is value or in_place and node.args[0] is not value:
            return None
        return other, in_place

    def may_write(self, node, first):
        """A node may write memory that is older than node `first`, as in-place operations and unknown code may."""
        if node.op not in ("call_module", "call_method", "call_function") or node in self.gone:
            return False
        if node.op == "call_module":
            inner = [*self.traced.get_submodule(node.target).modules()]
            if any(has_hooks(each) or not type(each).__module__.startswith(("torch.nn.modules.", "fusekit_torch."))
                   for each in inner):
                return True
            writes = any(getattr(each, "inplace", False) for each in inner)
        elif node.op == "call_method":
            writes = node.target.endswith("_") and not node.target.endswith("__") or node.target.startswith("__i")
        else:
            try:
                name = fx.node._get_qualified_name(node.target)
            except (RuntimeError, AttributeError):
                return True  # a function that no module has
            if not name.startswith(("torch.", "_operator.", "math.", "builtins.")) or name.startswith("torch.ops."):
                return True
            writes = (node.target in WRITERS or name.endswith("_") or any(each is True for each in node.args)
                      or bool(node.kwargs.get("inplace")))
        if "out" in node.kwargs:
            return True
        return writes and not self.is_new(node.args[0] if node.args else node.kwargs.get("input"), first)

    def is_new(self, value, first):
        """A value's memory was allocated after node `first`."""
        while isinstance(value, fx.Node) and self.order.get(value, -1) > self.order[first]:
            if value.op == "call_module" and type(self.traced.get_submodule(value.target)) in NEW:
                return True
            if value.op == "call_module" and not getattr(self.traced.get_submodule(value.target), "inplace", False):
                return False
            value = value.args[0] if value.args and value.op == "call_module" else None
        return False

    def replace(self, chain, at, key, make, arguments):
        """Calls a module instead of the nodes of a chain, at the place of node `at`."""
        if key not in self.made:
            name = "fused_" + chain[0].target.replace(".", "_")
            while hasattr(self.traced, name):
                name += "_"
            self.traced.add_module(name, make())
            self.made[key] = name
        with self.graph.inserting_after(at):
            node = self.graph.call_module(self.made[key], arguments)
        self.order[node] = self.order[at]
        chain[-1].replace_all_uses_with(node)
        for each in reversed(chain):
            self.graph.erase_node(each)
        self.gone.update(chain)

    def convolution(self, node, conv, stem):
        """Replaces a Conv2d and the chain of operations after it that one kernel computes. A chain without an addition
        runs where the convolution was. With one it runs where the addition was, because the other operand may be
        written until then; x may not be written in between."""
        source, norm, addend, activation = self.source.get_submodule(node.target), None, None, "passthru"
        chain, at, arguments = [node], node, (only_input(node),)
        after = self.only_user(node)
        if after is not None and is_norm(self.module(after), conv.out_channels):
            norm = self.source.get_submodule(after.target)
            if can_fold(source, norm, self.dtype):
                chain.append(after)
                after = self.only_user(after)
            else:
                norm, after = None, None
        if after is not None:
            addend = self.addend(after, chain[-1])
            between = self.nodes[self.order[node] + 1:self.order[after]]
            if addend and any(self.may_write(each, node) for each in between if each not in chain):
                addend = None
        if addend:
            chain.append(after)
            at, arguments = after, (*arguments, addend[0])
            after = self.only_user(after)
        if after is not None and self.is_relu(after, chain[-1]):
            activation = "relu"
            chain.append(after)
        if stem and not addend and FusedStem.suits(conv):
            kind, options = FusedStem, ()
        else:
            kind, options = FusedConv, (bool(addend and addend[1]),)
        key = (kind, node.target, None if norm is None else chain[1].target, activation, *options)
        self.replace(chain, at, key, lambda: kind(source, norm, activation, self.dtype, *options), arguments)

    def run(self, stem, pools, linear):
        for node in self.nodes:
            module = None if node in self.gone else self.module(node)
            single = ([node], node, (node.op, node.target))
            if is_conv(module):
                self.convolution(node, module, stem)
            elif pools and is_plain(module, nn.MaxPool2d) and is_3x3_pool(module):
                self.replace(*single, MaxPool, (only_input(node),))
            elif pools and is_plain(module, nn.AdaptiveAvgPool2d) and module.output_size in (1, (1, 1)):
                self.replace(*single, GlobalAverage, (only_input(node),))
            elif linear and is_plain(module, nn.Linear) and module.weight.numel() > 0:
                source = self.source.get_submodule(node.target)
                self.replace(*single, lambda: FusedLinear(source, self.dtype), (only_input(node),))
        self.graph.lint()
        self.traced.recompile()
        self.traced.delete_all_unused_submodules()
        return self.traced


def fuse(model, dtype=torch.half, stem=True, pools=True, linear=True):
    """A copy of `model` for inference, `model.eval().to(dtype)`, that runs each group of Conv2d, BatchNorm2d, an
    addition and ReLU as one operator. Batch norm is folded into weights and bias in double. Max pools of 3 x 3, stride
    2, padding 1, global averages and fully connected layers are operators too. Everything else stays unchanged, and so
    do modules with hooks, parametrizations or methods of their own. A module whose forward cannot be traced is called
    as a whole, with nothing fused in it: a warning says which, and why. Feed it channels_last. `dtype` is float32,
    float16 or bfloat16; any other is a ValueError."""
    if dtype not in (torch.float32, torch.float16, torch.bfloat16):
        raise ValueError(f"fusekit: dtype: expected torch.float32, torch.float16 or torch.bfloat16, got {dtype}")

    def make():
        return copied(model).eval().to(dtype)

    traced, opaque = trace(make)
    for name, reason in opaque.items():
        if not any(name.startswith(outer + ".") for outer in opaque):
            kind = type(model.get_submodule(name)).__name__
            warnings.warn(f"fusekit: fuse: {name or 'the model'} ({kind}) is not fused: {reason}", stacklevel=2)
    if traced is None:
        return make()
    return Swap(traced, copied(model).eval(), dtype, opaque).run(stem, pools, linear)
