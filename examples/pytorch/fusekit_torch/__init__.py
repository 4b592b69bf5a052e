# SPDX-License-Identifier: MIT
"""fusekit's plans as operators of PyTorch: torch.ops.fusekit.conv_bias_act and its like, fuse(model), and the backend
"fusekit" of torch.compile.

The operators are those of the extension, if it is built or FUSEKIT_TORCH_LIBRARY names it; else those of the C
libraries fusekit_jit and fusekit_runtime, if one is installed or FUSEKIT_TORCH_LIBRARY is empty; else the extension is
built.
"""

import os
import pathlib

import torch

from . import library

if "FUSEKIT_TORCH_BUILDING" not in os.environ:
    built = sorted(pathlib.Path(__file__).resolve().parent.glob("_operators*.so"))
    given = os.environ.get("FUSEKIT_TORCH_LIBRARY")
    if given or built:
        torch.ops.load_library(given or str(built[0]))
    elif given == "" or any(library.library_of(each) is not None for each in ("cuda", "cpu")):
        from . import jit_operators  # noqa: F401
    else:
        from . import build
        build.load()
    from . import backend, operators, run  # noqa: F401
    from .explain import Report, explain  # noqa: F401
    from .fuse import fuse  # noqa: F401
    from .run import forget  # noqa: F401
    from .operators import batch_norm_act, batch_norm_act_training, conv_bias_act  # noqa: F401
    from .synchronized import SyncBatchNorm  # noqa: F401
