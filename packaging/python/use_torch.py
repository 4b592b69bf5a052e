#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""use_torch.py: one call of PyTorch's operators as the wheel has them, beside PyTorch in double. Prints where the plans are
from: the compiled library in the wheel, or the extension that the import compiled."""
import pathlib
import warnings

import torch

import fusekit
import fusekit_torch

warnings.simplefilter("error")  # where ATen replaces a plan, a warning says so
assert pathlib.Path(fusekit_torch.__file__).parent.parent == pathlib.Path(fusekit.__file__).parent.parent
generator = torch.Generator().manual_seed(1)


def integers(*extents):
    """Small integers, whose sums are exact."""
    return torch.randint(-4, 5, extents, generator=generator).float()


x, weight, bias = integers(2, 6, 9, 7), integers(10, 3, 3, 3), integers(10)
y = torch.ops.fusekit.conv_bias_act(x, weight, bias, padding=1, stride=2, groups=2, activation="relu")
expected = torch.nn.functional.conv2d(x.double(), weight.double(), bias.double(), stride=2, padding=1, groups=2)
assert torch.equal(y.double(), expected.relu()), (y.double() - expected.relu()).abs().max()
assert y.count_nonzero() > 20

of_wheel = str(pathlib.Path(fusekit.__file__).parent / "lib/libfusekit_runtime.so.0")
if fusekit.get_library() is not None:
    assert fusekit_torch.library.why_none("cpu") is None
    assert of_wheel in pathlib.Path("/proc/self/maps").read_text()
    print("compiled library")
else:
    assert fusekit_torch.library.library_of("cpu") is None
    print("extension")
