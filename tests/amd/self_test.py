#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""That check_kernels.py reports what it is there to report.

usage: self_test.py CLANG TARGET FOLDER OPTION...
"""
import csv
import pathlib
import subprocess
import sys

from kernel_name import shortened

here = pathlib.Path(__file__).parent
clang, target, folder, *options = sys.argv[1:]
failures = []


def check(source, *limits):
    table = pathlib.Path(folder) / "self_test.csv"
    table.unlink(missing_ok=True)
    command = [sys.executable, "-B", here / "check_kernels.py", "--clang", clang, "--target", target, "--output", table]
    done = subprocess.run([*command, *limits, source, "--", *options], capture_output=True, text=True)
    names = []
    if table.exists():
        with table.open(newline="") as file:
            names = sorted(row["kernel"] for row in csv.DictReader(file))
    return done, names


def expect(what, holds, done):
    if not holds:
        failures.append(f"{what}:\n{done.stdout}{done.stderr}")


done, names = check(here / "self_test.cpp", "--lds", "1000")
lines = done.stderr.splitlines()
expect("a failure", done.returncode != 0, done)
for kernel, words in [("crowded<200, 1024>", " spilled VGPRs; the limit is 0"),
                      ("crowded<200, 1024>", " bytes of scratch; the limit is 0"),
                      ("scalars<120>", " spilled SGPRs; the limit is 0"),
                      ("indexed", " bytes of scratch; the limit is 0"),
                      ("lonely", "an occupancy of 1 waves per SIMD; the floor is 2"),
                      ("lonely", ": 65536 bytes of LDS; the limit is 1000")]:
    found = [line for line in lines if line.startswith(f"{kernel}, {target}: ") and line.endswith(words)]
    expect(f"one line for {kernel} that says '{words}'", len(found) == 1, done)
expect("no word about the modest kernel", not any(line.startswith("modest") for line in lines), done)
expect(f"a table of all kernels, not of {names}",
       names == ["crowded<200, 1024>", "indexed", "lonely", "modest", "scalars<120>"], done)

no_kernel = pathlib.Path(folder) / "no_kernel.cpp"
no_kernel.write_text("void launches_nothing() {}\n")
done, _ = check(no_kernel)
expect("a failure without kernels", done.returncode != 0 and "no kernel was compiled" in done.stderr, done)

wrong = pathlib.Path(folder) / "wrong.cpp"
wrong.write_text("static_assert(false);\n")
done, _ = check(wrong)
expect("the compiler's words", done.returncode != 0 and "static assertion failed" in done.stderr, done)

static = ("fusekit::detail::FusedPlan<fusekit::Conv<fusekit::Filter<2>{fusekit::PerMode<2>{3, 5}, fusekit::PerMode<2>{1}, "
          "fusekit::PerMode<2>{}, fusekit::PerMode<2>{2, 1}, fusekit::PerMode<2>{1, 1}, 32}>, fusekit::Bias>")
volume = ("fusekit::detail::FusedPlan<"
          "fusekit::Conv<fusekit::Filter<3>{fusekit::PerMode<3>{3, 1, 3}, fusekit::PerMode<3>{1}, "
          "fusekit::PerMode<3>{1}, fusekit::PerMode<3>{1, 1, 1}, fusekit::PerMode<3>{1, 1, 1}, 1}>>")
dynamic = "fusekit::detail::FusedPlan<fusekit::Conv<fusekit::Dynamic{}>>"
for demangled, name in [
        ("modest(float*)", "modest"),
        ("void crowded<200, 1024>(float*, float const*, int)", "crowded<200, 1024>"),
        (f"void fusekit::hip::fused<{static}, "
         f"fusekit::hip::X<{static}, fusekit::hip::Gemm<8>, (fusekit::detail::Axis)1>>(int)",
         "Plan<Conv<filter(3, 5).pad(1, 0, 0, 0).stride(2, 1).groups(32)>, Bias>, X<Gemm<8>, pixel>"),
        (f"void fusekit::hip::fused<{volume}, fusekit::hip::X<1>>(int)",
         "Plan<Conv<filter(3, 1, 3).pad(1, 0, 0)>>, X<1>"),
        (f"void fusekit::hip::fused<{dynamic}, fusekit::hip::X<1>>(fusekit::hip::X<1>::Params)",
         "Plan<Conv<dynamic>>, X<1>")]:
    if shortened(demangled) != name:
        failures.append(f"{demangled}\nis shortened to {shortened(demangled)}\nand not to {name}")

sys.exit("\n".join(failures) if failures else 0)
