# SPDX-License-Identifier: MIT
"""ATen's nodes as operators of a plan.

head(node) and following(node, value) return a Part: steps and the nodes of their tensors, or why there are none.
`value` is the plan's result so far, one of the node's arguments.
"""

import dataclasses
import numbers
import operator

import torch
from torch import fx

from .steps import USUAL, Step

TYPES = (torch.float32, torch.float16, torch.bfloat16)
UNARY = {"relu": "relu", "sigmoid": "logistic", "tanh": "tanh", "abs": "abs", "silu": "silu", "mish": "mish",
         "hardswish": "hard_swish", "hardsigmoid": "hard_sigmoid", "softsign": "softsign"}
OWN_UNARY = {"neg": "neg", "exp": "exp", "square": "square"}
NORMS = {"native_batch_norm": 5, "_native_batch_norm_legit": 5, "cudnn_batch_norm": 5, "batch_norm": 5,
         "miopen_batch_norm": 5, "_native_batch_norm_legit_no_training": None, "_batch_norm_no_update": None}


@dataclasses.dataclass
class Part:
    """`x`: what a head reads; `end`: the node whose value the steps give, which is a getitem after a batch norm;
    `images`: the part makes N x C x H x W of N x H x W x C rows; `otherwise`: a Part for a library that refuses this
    one."""

    steps: list
    tensors: list
    end: object
    x: object = None
    rows: bool = False
    nodes: tuple = ()
    images: bool = False
    otherwise: object = None


def name_of(node):
    """The name of an ATen operator, without its overload; "" for other nodes."""
    packet = getattr(node.target, "overloadpacket", node.target)
    name = str(packet) if node.op == "call_function" else ""
    return name.split(".")[-1] if name.startswith(("aten.", "torch.ops.aten.")) else ""


def value_of(node):
    """The tensor that a node has in the trace; None if it has none."""
    value = node.meta.get("val") if isinstance(node, fx.Node) else None
    return value if isinstance(value, torch.Tensor) else None


def stored(node):
    """The input or attribute of the graph that a node is, or is in another type: a parameter, as tensors that are
    derived from it are kept. None for a tensor that the graph computes."""
    while name_of(node) == "_to_copy" and set(node.kwargs) <= {"dtype"} or "convert_element_type" in str(node.target):
        node = node.args[0]
    return node if node.op in ("placeholder", "get_attr") else None


def all_stored(nodes, fresh=False):
    """The nodes' parameters; None if the graph computes one. With `fresh` the nodes themselves: a training graph computes
    weights of another type in each step."""
    found = list(nodes) if fresh else [stored(each) for each in nodes]
    return None if None in found else found


COMPUTED = "its parameters are computed in the graph"


def argument(node, at, name, usual=None):
    return node.args[at] if len(node.args) > at else node.kwargs.get(name, usual)


def pair(value):
    values = [value] if isinstance(value, int) else list(value)
    return tuple((values * 2)[:2])


def is_number(value):
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def is_fixed(values):
    return all(type(each) is int for each in values)


def convolution(node, fresh=False):
    short = name_of(node) == "conv2d"
    x, weight = value_of(node.args[0]), value_of(node.args[1])
    if x is None or weight is None or weight.dim() != 4 or x.dim() != 4:
        return "a convolution of images of two modes is expected"
    if not short and node.args[6]:
        return "a transposed convolution is no operator of plans of the runtime"
    stride, padding, dilation = (argument(node, at, each, usual) for at, each, usual in
                                 ((3, "stride", 1), (4, "padding", 0), (5, "dilation", 1)))
    if isinstance(padding, str) or weight.dtype != x.dtype or not is_fixed(weight.shape):
        return "a convolution with numbers for its padding and weights of x's type is expected"
    window = (tuple(weight.shape[2:]), pair(stride), pair(padding), pair(dilation))
    steps = [Step("conv", window=window, groups=argument(node, 6 if short else 8, "groups", 1))]
    bias = argument(node, 2, "bias")
    tensors = [node.args[1]]
    if bias is not None:
        steps, tensors = [*steps, Step("bias")], [*tensors, bias]
    tensors = all_stored(tensors, fresh)
    return COMPUTED if tensors is None else Part(steps, tensors, node, node.args[0])


def transposed(node):
    """The matrix whose transpose a node is; None if it is none."""
    if name_of(node) == "t" or name_of(node) == "permute" and list(node.args[1]) == [1, 0]:
        return node.args[0]
    if name_of(node) == "transpose" and sorted(each % 2 for each in node.args[1:]) == [0, 1]:
        return node.args[0]
    return None


def matrix_product(node, fresh=False):
    """x times the transpose of K x C weights: a convolution of images of one pixel."""
    name, bias = name_of(node), None
    if name == "linear":
        x, weight, bias = node.args[0], node.args[1], argument(node, 2, "bias")
    else:
        if name == "addmm":
            bias = node.args[0]
            if node.kwargs.get("beta", 1) != 1 or node.kwargs.get("alpha", 1) != 1:
                return "addmm with a beta and an alpha of 1 is expected"
        x, weight = node.args[-2], transposed(node.args[-1])
    one, two = value_of(x), value_of(weight)
    if one is None or two is None or one.dim() != 2 or one.dtype != two.dtype:
        return "a product of rows and the transpose of weights of their type is expected"
    if bias is not None and (value_of(bias) is None or value_of(bias).dim() != 1):
        return "a bias of one mode is expected"
    tensors = all_stored([weight] + ([] if bias is None else [bias]), fresh)
    if tensors is None:
        return COMPUTED
    conv = Step("conv", window=((1, 1), (1, 1), (0, 0), (1, 1)))
    return Part([conv] + ([] if bias is None else [Step("bias")]), tensors, node, x, True)


def norm(node, fresh=False):
    training = NORMS[name_of(node)]
    if training is not None and node.args[training]:
        return "a batch norm with the batch's statistics reads all of x first"
    users = list(node.users)
    single = name_of(node) == "batch_norm"
    if not single and (len(users) != 1 or users[0].target is not operator.getitem or users[0].args[1] != 0):
        return "more than a batch norm's y is used"
    if any(each is None for each in node.args[3:5]):
        return "a batch norm with running statistics is expected"
    epsilon = node.args[6 if name_of(node) == "_native_batch_norm_legit_no_training" else 7]
    if name_of(node) == "_batch_norm_no_update":
        epsilon = node.args[6]
    tensors = all_stored([each for each in node.args[1:5] if each is not None], fresh)
    if tensors is None:
        return COMPUTED
    step = Step("norm", numbers=(float(epsilon),), given=tuple(int(each is not None) for each in node.args[1:5]))
    end = node if single else users[0]
    return Part([step], tensors, end, node.args[0], nodes=() if single else (node,))


def pool(node):
    name = name_of(node)
    if name in ("mean", "_adaptive_avg_pool2d", "adaptive_avg_pool2d"):
        modes = [each % 4 for each in node.args[1]] if name == "mean" and len(node.args) > 2 and node.args[2] else []
        if sorted(modes) != [2, 3] and (name == "mean" or list(node.args[1]) != [1, 1]):
            return "a mean of whole planes is expected"
        return Part([Step("global_average")], [], node, node.args[0])
    size = pair(node.args[1])
    stride, padding = pair(argument(node, 2, "stride") or size), pair(argument(node, 3, "padding", 0))
    if name.startswith("max"):
        dilation, ceil = pair(argument(node, 4, "dilation", 1)), argument(node, 5, "ceil_mode", False)
    else:
        dilation, ceil = (1, 1), argument(node, 4, "ceil_mode", False)
        ceil = ceil or any(padding) or argument(node, 6, "divisor_override") is not None
    if ceil or dilation != (1, 1):
        return "a pool without ceil_mode, dilation and averages of padding is expected"
    users = list(node.users)
    if name.endswith("indices") and (len(users) != 1 or users[0].args[1] != 0):
        return "a pool's indices are used"
    step = Step("pool", "max" if name.startswith("max") else "average", window=(size, stride, padding, (1, 1)))
    indices = name.endswith("indices")
    return Part([step], [], users[0] if indices else node, node.args[0], nodes=(node,) if indices else ())


def view(node, value):
    """A view of a product's rows, such as that after a linear layer of more modes: it keeps the last mode."""
    y, given = value_of(node), value_of(value)
    if y is None or y.dim() < 2 or y.shape[-1] != given.shape[-1]:
        return f"{node.target} is no operator of the library's"
    return Part([], [], node)


def permute(node, value):
    """Rows of N x H x W pixels as images of channels last."""
    if value_of(value).dim() != 4 or [each % 4 for each in node.args[1]] != [0, 3, 1, 2]:
        return f"{node.target} is no operator of the library's"
    return Part([], [], node, images=True)


VIEWS = ("view", "_unsafe_view", "reshape", "_reshape_alias")
HEADS = {"convolution": convolution, "conv2d": convolution, "mm": matrix_product, "addmm": matrix_product,
         "linear": matrix_product}
POOLS = {"max_pool2d_with_indices", "max_pool2d", "avg_pool2d", "mean", "_adaptive_avg_pool2d", "adaptive_avg_pool2d"}


def activation(node):
    """The activation of a node and its numbers; None if it is none."""
    name, rest = name_of(node), node.args[1:]
    if name in UNARY:
        return UNARY[name], USUAL.get(UNARY[name], ())
    if name == "gelu":
        return ("gelu_tanh" if node.kwargs.get("approximate") == "tanh" else "gelu"), ()
    if name == "leaky_relu":
        return name, (float(rest[0]) if rest else 0.01,)
    if name == "elu" and all(float(each) == 1 for each in rest[1:]):
        return name, (float(rest[0]) if rest else 1.0,)
    if name == "softplus" and (not rest or float(rest[0]) == 1) and len(rest) < 2:
        return "soft_relu", ()
    if name == "hardtanh":
        return "clamp", tuple(map(float, (*rest, *(-1.0, 1.0)[len(rest):])))
    if name == "clamp" and len(rest) == 2 and all(map(is_number, rest)):
        return "clamp", tuple(map(float, rest))
    if name in ("clamp", "clamp_min") and rest and rest[0] == 0 and all(each is None for each in rest[1:]):
        return "relu", ()
    return None


def with_number(node):
    """The step of a node that combines x and a number; None if it does not."""
    name, rest = name_of(node), node.args[1:]
    number = float(rest[0]) if rest and is_number(rest[0]) else None
    if name in OWN_UNARY:
        return Step("own", OWN_UNARY[name], (0.0,))
    if name == "pow" and number == 2:
        return Step("own", "square", (0.0,))
    if name in ("clamp_min", "clamp_max") and number is not None:
        return Step("own", name, (number,))
    if number is None or node.kwargs.get("alpha", 1) != 1:
        return None
    if name == "mul" or name == "div" and number and not node.kwargs:
        return Step("scale", numbers=(number if name == "mul" else 1 / number,))
    if name in ("add", "sub"):
        return Step("own", "add", (number if name == "add" else -number,))
    return Step("own", "rsub", (number,)) if name == "rsub" and len(rest) == 1 else None


def is_of_channels(z, y, rows):
    """True for a tensor of a value per channel of y; with `rows`, its last mode has the channels."""
    channel = 1 if rows else 3
    shape = [1] * (y.dim() - z.dim()) + list(z.shape)
    return (len(shape) == y.dim() and shape[-channel] == y.shape[-channel]
            and all(extent == 1 for mode, extent in enumerate(shape) if mode != y.dim() - channel))


def two_tensors(node, value, rows, fresh=False):
    """The step of a node that combines the value and a second tensor, and the second tensor. `rows`: the value's last
    mode has its channels."""
    name, (first, second) = name_of(node), node.args[:2]
    if name not in ("add", "sub", "mul", "div", "maximum", "minimum") or node.kwargs.get("rounding_mode"):
        return f"{node.target} is no operator of the library's"
    if first is second:
        return "its value is used twice"
    other, alpha = (second, node.kwargs.get("alpha", 1)) if first is value else (first, node.kwargs.get("alpha", 1))
    if first is not value and (name == "div" or name in ("add", "sub") and alpha != 1 or name == "sub"):
        return f"{node.target} with the plan's value as its second argument is no operator of the library's"
    z, y = value_of(other), value_of(value)
    if z is None or z.dtype != y.dtype or z.device != y.device:
        return "a second tensor of the same type and device is expected"
    if name in ("add", "sub"):
        step = Step("residual", numbers=(float(alpha if name == "add" else -alpha),))
    else:
        step = Step("binary", name)
    part = Part([step], [other], node)
    if step == Step("residual", numbers=(1.0,)) and rows and z.dim() == 1 and z.shape[0] == y.shape[-1]:
        return Part([Step("bias")], [other], node, otherwise=part)
    factor = other if fresh else stored(other)
    if name == "mul" and factor is not None and is_of_channels(z, y, rows):
        return Part([Step("channels")], [factor], node, otherwise=part)
    return part


def head(node, fresh=False):
    """The Part with which a plan begins at the node, or why none does."""
    make = HEADS.get(name_of(node))
    if name_of(node) in POOLS or name_of(node) in NORMS:
        return "a plan begins at a convolution or a product with weights: Inductor fuses pools and norms itself"
    if make is None:
        return f"{node.target} is no operator of the library's"
    x = value_of(node.args[-2 if make is matrix_product else 0])
    if x is None or x.dtype not in TYPES:
        return "x of float, half or bfloat16 is expected"
    return make(node, fresh)


def following(node, value, rows=False, images=False, fresh=False):
    """The Part that a node adds to a plan whose result is `value`, or why the node ends the plan. `images`: the plan's
    rows have become N x C x H x W; `fresh`: its parameters are read in each call, as the graph has them."""
    name = name_of(node)
    if name == "clone" and value_of(node) is not None and value_of(node).stride() == value_of(value).stride():
        return Part([], [], node)  # a dropout for inference
    if name in VIEWS and rows and not images:
        return view(node, value)
    if name == "permute" and rows and not images:
        return permute(node, value)
    if name in HEADS or name in NORMS or name in POOLS:
        if rows and value_of(value).dim() != 2:
            return f"{node.target} has its channels in another mode than a product of rows"
        part = head(node, fresh) if name in HEADS else norm(node, fresh) if name in NORMS else pool(node)
        if not isinstance(part, str) and part.x is not value:
            return "its value is a parameter of the next operator"
        return part
    if not node.args or all(each is not value for each in node.args[:2]):
        return f"{node.target} is no operator of the library's"
    found = activation(node) if node.args[0] is value else None
    if found is not None:
        return Part([Step("activation", found[0], found[1])], [], node)
    step = with_number(node) if node.args[0] is value else None
    if step is not None:
        return Part([step], [], node)
    if len(node.args) < 2 or not isinstance(node.args[0], fx.Node) or not isinstance(node.args[1], fx.Node):
        return f"{node.target} is no operator of the library's"
    return two_tensors(node, value, rows and not images, fresh)
