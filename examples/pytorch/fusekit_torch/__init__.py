# SPDX-License-Identifier: MIT
"""fusekit's plans as operators of PyTorch: torch.ops.fusekit.conv_bias_act and its like, and fuse(model)."""

import os
import pathlib

import torch

if "FUSEKIT_TORCH_BUILDING" not in os.environ:
    built = sorted(pathlib.Path(__file__).resolve().parent.glob("_operators*.so"))
    given = os.environ.get("FUSEKIT_TORCH_LIBRARY")
    if given or built:
        torch.ops.load_library(given or str(built[0]))
    else:
        from . import build
        build.load()
    from . import operators  # noqa: F401
    from .operators import batch_norm_act, batch_norm_act_training, conv_bias_act  # noqa: F401
    from .fuse import fuse  # noqa: F401
