# SPDX-License-Identifier: MIT
"""trace(make): the graph of a model, in which each module that fx would trace wrongly is one opaque call.

fx runs forward() once, on proxies, and records the operations on them. The graph is wrong for a forward that asks
Python about a value (`isinstance`, `is None`), changes its module, creates tensors or draws random numbers; and it has
no hooks of modules that were traced into. Such modules are called instead, and run as in eager.
"""

import builtins
import contextlib
import copy
import dis
import inspect
import operator
import random
import sys

import torch
from torch import fx, nn
from torch.nn.modules import module as nn_module

TraceError = fx.proxy.TraceError
IN_PLACE = ("iadd", "isub", "imul", "imatmul", "itruediv", "ifloordiv", "imod", "ipow", "ilshift", "irshift", "iand",
            "ixor", "ior")
HOOKS = ("_forward_pre_hooks", "_forward_hooks", "_backward_pre_hooks", "_backward_hooks")


def has_hooks(module):
    return any(getattr(module, name, None) for name in HOOKS)


def has_global_hooks():
    return any(value for name, value in vars(nn_module).items()
               if name.startswith("_global_") and ("forward" in name or "backward" in name) and isinstance(value, dict))


def has_own_call(module):
    """True if the class overrides __call__, which has run when fx sees the call, and would run again in the graph."""
    return any("__call__" in vars(base) and not base.__module__.startswith("torch.") for base in type(module).__mro__)


def copied(model):
    """A deep copy. A tensor that a hook computes, such as weight_norm's weight, is no leaf of autograd's graph, and
    deepcopy refuses it: the copy has a detached one."""
    memo = {id(value): value.detach().clone() for module in model.modules() for value in vars(module).values()
            if isinstance(value, torch.Tensor) and not value.is_leaf}
    return copy.deepcopy(model, memo)


def is_lazy(tensor):
    """A parameter or buffer of a lazy module that has not run yet."""
    return isinstance(tensor, nn.parameter.UninitializedTensorMixin)


def fingerprint(value, keep, depth=4):
    """Differs after an attribute was set, a list was appended to, or a tensor was written in place. Objects are
    compared by address; `keep` holds them, so that no address is reused."""
    keep.append(value)
    if is_lazy(value):
        return id(value)
    if isinstance(value, torch.Tensor):
        return id(value), None if value.is_inference() else value._version
    if isinstance(value, dict) and depth:
        return id(value), tuple((id(key), fingerprint(each, keep, depth - 1)) for key, each in value.items())
    if isinstance(value, (list, tuple, set)) and depth:
        return id(value), tuple(fingerprint(each, keep, depth - 1) for each in value)
    return value if type(value) in (bool, int, float, str) else id(value)


def state_of(model, keep):
    return {name: fingerprint(vars(module), keep) for name, module in model.named_modules()}


def random_state():
    return random.getstate(), torch.get_rng_state().tolist()


def asked_by_user():
    """The function that calls this was called by neither PyTorch nor this package."""
    return not sys._getframe(2).f_globals.get("__name__", "").startswith(("torch.", "fusekit_torch."))


def refusing(function):
    def ask(value, *rest):
        if issubclass(type(value), fx.Proxy) and asked_by_user():
            raise TraceError(f"it calls {function.__name__}() of a value")
        return function(value, *rest)
    return ask


def set_attribute(proxy, name, value):
    if asked_by_user():
        raise TraceError(f"it sets {name} of a value")
    object.__setattr__(proxy, name, value)


def enter_autocast(context):
    raise TraceError("it sets autocast")


def in_place(function):
    return lambda proxy, other: proxy.tracer.create_proxy("call_function", function, (proxy, other), {})


@contextlib.contextmanager
def exact_proxies():
    """fx records y += x as y + x, and answers isinstance() for the proxy instead of its tensor. In this context y += x
    is recorded as an operation in place; isinstance(), hasattr() and assignments to attributes of a proxy raise, and so
    does autocast, which a graph does not record."""
    changed = [(builtins, "isinstance", refusing(isinstance)), (builtins, "hasattr", refusing(hasattr)),
               (torch.autocast, "__enter__", enter_autocast), (fx.Proxy, "__setattr__", set_attribute)]
    changed += [(fx.Proxy, f"__{name}__", in_place(getattr(operator, name))) for name in IN_PLACE]
    before = [(owner, name, vars(owner).get(name)) for owner, name, _ in changed]
    try:
        for each in changed:
            setattr(*each)
        yield
    finally:
        for owner, name, value in before:
            if value is None:
                delattr(owner, name)
            else:
                setattr(owner, name, value)


class Tracer(fx.Tracer):
    """Calls the modules of `opaque`, and adds to it those whose forward cannot be traced, with the reason. GraphModules
    that are loaded from a file are traced again, by a Tracer() without arguments."""

    proxy_buffer_attributes = True

    def __init__(self, opaque=None):
        super().__init__()
        self.opaque, self.failures = {} if opaque is None else opaque, 0

    def trace(self, root, concrete_args=None):
        with exact_proxies():
            return super().trace(root, concrete_args)

    def is_leaf_module(self, module, name):
        if has_hooks(module) and any(True for _ in module.children()):
            self.opaque.setdefault(name, "it has hooks")
        own = type(module).__module__.startswith("fusekit_torch.")
        return (name in self.opaque or own or has_hooks(module) or isinstance(module, torch.jit.ScriptModule)
                or super().is_leaf_module(module, name))

    def call_module(self, module, forward, args, kwargs):
        name = self.path_of_module(module)
        if self.is_leaf_module(module, name):
            if has_own_call(module):
                raise TraceError(f"{name} has a __call__ of its own")
            return super().call_module(module, forward, args, kwargs)
        last, stack = next(iter(reversed(self.graph.nodes))), [*getattr(self, "module_stack", {}).items()]
        failures = self.failures
        try:
            result = super().call_module(module, forward, args, kwargs)
            if self.failures > failures:
                raise TraceError("it catches an error of tracing")
            return result
        except Exception as error:
            self.opaque[name] = first_line(error)
        self.failures = failures
        for node in reversed([*self.graph.nodes]):
            if node is last:
                break
            self.graph.erase_node(node)
        if hasattr(self, "module_stack"):  # PyTorch 2.1; an exception leaves the module on it
            self.module_stack.clear()
            self.module_stack.update(stack)
        return self.call_module(module, forward, args, kwargs)

    def to_bool(self, value):
        self.failures += 1
        result = super().to_bool(value)
        self.failures -= 1
        return result

    def create_arg(self, value):
        if (issubclass(type(value), torch.Tensor) and not issubclass(type(value), nn.Parameter)
                and value not in self.tensor_attrs and all(value is not each for each in self.root.buffers())):
            raise TraceError("it creates a tensor")
        return super().create_arg(value)


def why_opaque(model):
    """Why a whole model is not traced, or None."""
    forward = type(model).forward
    parameters = [*inspect.signature(forward).parameters.values()]
    if has_global_hooks():
        return "there are global module hooks"
    if has_hooks(model):
        return "it has hooks"
    if has_own_call(model) or "forward" in vars(model) or isinstance(model, torch.jit.ScriptModule):
        return "its forward is not its class's"
    if any(each.default is not each.empty for each in parameters):
        return "its forward has optional arguments"
    if len(parameters) > 2 and any(each.opname == "IS_OP" or each.opname.endswith("NONE")
                                   for each in dis.get_instructions(forward)):
        return "its forward may ask whether an argument is None"
    return None


def first_line(error):
    return str(error).split("\n")[0] or type(error).__name__


def trace(make):
    """A GraphModule of make()'s model, or None; and the names of modules that are opaque, "" for the model, with the
    reason of each. make() returns a new copy at each call, because a forward that is traced may change its modules."""
    opaque = {}
    while True:
        model, keep, known = make(), [], len(opaque)
        reason = why_opaque(model)
        if reason:
            return None, {"": reason}
        before, numbers, tracer = state_of(model, keep), random_state(), Tracer(opaque)
        try:
            graph = tracer.trace(model)
            if tracer.failures:
                reason = "it catches an error of tracing"
        except Exception as error:
            reason = first_line(error)
        if len(opaque) > known:
            continue  # the graph may refer to erased nodes of a forward that failed
        after = state_of(model, keep)
        changed = [name for name in before if before[name] != after.get(name)]
        if random_state() != numbers:
            reason = reason or "it draws random numbers"
        elif "" in changed or any(name in opaque for name in changed):
            reason = reason or "its forward changes a module"
        if reason:
            return None, {"": reason}
        if not changed:
            return fx.GraphModule(model, graph, type(model).__name__), opaque
        opaque.update((name, "its forward changes it") for name in changed)
