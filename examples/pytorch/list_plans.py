#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Lists the plans of an exported model, and the reason why each ends.

    list_plans.py model.pt2         a model that torch.export.save has written

The rules are those of libfusekit_jit, which needs no GPU: FUSEKIT_JIT_LIBRARY names its file.
"""

import os
import sys

import torch

os.environ.setdefault("FUSEKIT_TORCH_LIBRARY", "")  # no operator is called
from fusekit_torch import Report, library, partition  # noqa: E402


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    rules = library.load("fusekit_jit", library.JIT)
    if rules is None:
        sys.exit("expected libfusekit_jit, in the loader's path or in FUSEKIT_JIT_LIBRARY, got none")
    graph, report = torch.export.load(sys.argv[1]).graph, Report()
    report.add(*partition.partition(graph, lambda device: rules), graph)
    print(report)


if __name__ == "__main__":
    main()
