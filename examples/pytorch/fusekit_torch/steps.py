# SPDX-License-Identifier: MIT
"""A plan's operators as PyTorch sees them: their text for torch.ops.fusekit_jit.run, and their C structures."""

import dataclasses
import json

from . import library

# name: (number in the C interface, number of tensors)
KINDS = {"conv": (0, 1), "gemm": (1, 1), "bias": (2, 1), "norm": (3, 4), "activation": (5, 0), "residual": (6, 1),
         "scale": (7, 0), "pool": (9, 0), "global_average": (10, 0), "binary": (15, 1), "own": (64, 0),
         "channels": (3, 1)}  # a factor for each channel: a batch norm whose other parameters are 0 and 1
# Operators of training plans, and their numbers.
TRAINING = {"norm_training": 4, "norm_backward": 13, "activation_backward": 14, "transposed_conv": 27,
            "weight_gradient": 28, "residual_backward": 29}
ACTIVATIONS = {"passthru": 0, "logistic": 1, "tanh": 2, "relu": 3, "soft_relu": 4, "abs": 5, "power": 6,
               "clipped_relu": 7, "leaky_relu": 8, "elu": 9, "clamp": 10, "gelu": 11, "gelu_tanh": 12, "silu": 13,
               "mish": 14, "hard_swish": 15, "hard_sigmoid": 16, "softsign": 17}
# alpha, beta and gamma of activations that have them, by default.
USUAL = {"tanh": (1.0, 1.0), "power": (0.0, 1.0, 1.0), "clipped_relu": (6.0,), "leaky_relu": (0.01,), "elu": (1.0,),
         "clamp": (0.0, 6.0), "hard_sigmoid": (1 / 6, 0.5)}
BINARIES = {"add": 0, "sub": 1, "mul": 2, "div": 3, "maximum": 4, "minimum": 5}
POOLS = {"max": 0, "average": 1}
# Pointwise operators that the library does not have: their values in C++ and in PyTorch, of x and a number.
OWN = {
    "neg": ("-x", lambda x, a: -x),
    "add": ("x + args.a", lambda x, a: x + a),
    "rsub": ("args.a - x", lambda x, a: a - x),
    "square": ("x * x", lambda x, a: x * x),
    "exp": ("fusekit::math::exp(x)", lambda x, a: x.exp()),
    "clamp_min": ("(fusekit::math::max)(x, args.a)", lambda x, a: x.clamp(min=a)),
    "clamp_max": ("(fusekit::math::min)(x, args.a)", lambda x, a: x.clamp(max=a)),
}
SOURCE = """struct fusekit_torch_%s {
    static constexpr auto stage = fusekit::Stage::pointwise;
    struct Args { float a; };
    template <class V> FUSEKIT_HD static constexpr V apply(V x, [[maybe_unused]] Args const& args) { return %s; }
};
"""


@dataclasses.dataclass(frozen=True)
class Step:
    """One operator. `numbers`: alpha, beta, gamma of an activation or of one given as source; a residual's or scale's
    factor; a batch norm's epsilon. `window`: size, stride, padding, dilation of a filter or pool. `given`: which of a
    batch norm's scale, shift, mean and variance there are."""

    kind: str
    mode: str = ""
    numbers: tuple = ()
    window: tuple = ()
    groups: int = 1
    given: tuple = ()

    def tensors(self):
        return sum(self.given) if self.kind == "norm" else KINDS[self.kind][1]

    def operator(self, of):
        """The C structure, for library `of`."""
        kind, mode = TRAINING[self.kind] if self.kind in TRAINING else KINDS[self.kind][0], 0
        if self.kind in ("norm", "channels", "norm_training", "norm_backward"):
            mode = 1  # per channel
        elif self.kind == "own":
            name = f"fusekit_torch_{self.mode}"
            mode = of.own_mode(name, SOURCE % (self.mode, OWN[self.mode][0])) if of.backend == library.JIT else 0
        elif self.mode:
            mode = {"activation": ACTIVATIONS, "activation_backward": ACTIVATIONS, "binary": BINARIES, "pool": POOLS}[self.kind][self.mode]
        result = library.Operator(kind, mode)
        if self.window:
            pairs = [(library.c_int32 * 2)(*each) for each in self.window]
            size, stride, padding, dilation = pairs
            result.filter = library.Filter(size, padding, padding, stride, dilation, self.groups)
        return result


def foldable(steps):
    """Index of the batch norm that is folded into the convolution before it; 0 if there is none."""
    kinds = [each.kind for each in steps[:3]]
    return kinds.index("norm") if kinds[:2] == ["conv", "norm"] or kinds == ["conv", "bias", "norm"] else 0


def folded(steps):
    """The steps that run where batch norm is folded."""
    at = foldable(steps)
    return [steps[0], Step("bias"), *steps[at + 1:]] if at else list(steps)


@dataclasses.dataclass(frozen=True)
class Sequence:
    """A plan: its operators, y's memory order, and, with `rows`, x of M x C as M images of one pixel. `fresh`: parameters
    are new in each call, and nothing that is derived from them is kept."""

    steps: tuple
    channels_last: bool
    rows: bool = False
    fresh: bool = False

    def text(self):
        return json.dumps([[dataclasses.astuple(each) for each in self.steps], self.channels_last, self.rows, self.fresh])

    @staticmethod
    def of(text):
        def frozen(value):
            return tuple(map(frozen, value)) if isinstance(value, list) else value
        steps, *rest = json.loads(text)
        return Sequence(tuple(Step(*frozen(each)) for each in steps), *rest)

    def pixels(self, z):
        """With `rows`, a tensor that broadcasts to M x K as one that broadcasts to M x K x 1 x 1."""
        return z[..., None, None] if self.rows and z.dim() else z

    def split(self, tensors):
        """Pairs of a step and its tensors."""
        at, pairs = 0, []
        for step in self.steps:
            pairs.append((step, tensors[at:at + step.tensors()]))
            at += step.tensors()
        return pairs
