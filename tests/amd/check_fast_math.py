#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that AMD code keeps the instructions that implement rounding under fast math.

usage: check_fast_math.py CLANG TARGET SOURCE OPTION...

A kernel `rounds_*` adds 0x1.8p23 and subtracts it again: fast math must leave as many subtractions as there are without
it. `power` must not be an exponential and a logarithm of float, whose error grows with their product.
"""
import re
import subprocess
import sys

clang, target, source, *options = sys.argv[1:]
SUBTRACTED = "0xcb400000"  # -0x1.8p23


def kernels(*flags):
    """Instructions of each kernel."""
    command = [clang, "-xhip", "-std=c++20", "-O3", "-Wall", "-Wextra", "-Werror", *flags, f"--offload-arch={target}", "--cuda-device-only",
               "--no-gpu-bundle-output", *options, "-S", source, "-o", "-"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)}\n{done.stderr}")
    return dict(re.findall(r"^(\w+):(.*?)s_endpgm", done.stdout, re.MULTILINE | re.DOTALL))


failures = []
exact = kernels()
for flag in ("-ffast-math", "-funsafe-math-optimizations"):
    fast = kernels(flag)
    rounding = [name for name in exact if name.startswith("rounds_")]
    if len(rounding) != 5:
        failures.append(f"expected 5 kernels that round, got {rounding}")
    for name in rounding:
        want, got = exact[name].count(SUBTRACTED), fast[name].count(SUBTRACTED)
        if want == 0 or got != want:
            failures.append(f"{name}, {flag}: expected {want} subtractions of 0x1.8p23, at least one, got {got}")
if re.search("v_(exp|log)_f32", kernels("-ffast-math")["power"]):
    failures.append("power, -ffast-math: expected no v_exp_f32 and no v_log_f32")
print("\n".join(failures) or "as without fast math")
sys.exit(bool(failures))
