#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that check_kernels.py reports planted defects.

usage: self_test.py CLANG TARGET FOLDER OPTION...
"""
import argparse
import csv
import pathlib
import re
import subprocess
import sys

import check_kernels
import matrix_share
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

# A loop with a path that loads and one that does not, and a block that no step needs.
disassembly = """
0000000000001900 <plain>:
\tv_add_u32_e32 v0, 1, v0                                    // 000000001900: 68000081
\ts_endpgm                                                   // 000000001904: BF810000

0000000000002000 <kernel>:
\ts_mov_b32 s0, 0                                            // 000000002000: BE800080
0000000000002004 <L0>:
\tds_read_b128 v[0:3], v4                                    // 000000002004: D9FE0000 00000004
\ts_cbranch_vccnz L2                                         // 00000000200C: BF870002
\ts_cbranch_scc1 L1                                          // 000000002010: BF870002
\tv_mov_b32_e32 v9, 0                                        // 000000002014: 7E120280
0000000000002018 <L1>:
\tglobal_load_dwordx4 v[4:7], v[8:9], off                    // 000000002018: DC5C8000 047F0008
0000000000002020 <L2>:
\tv_mfma_f32_32x32x8f16 a[0:15], v[0:1], v[2:3], a[0:15]     // 000000002020: D3CC0000 04020500
\ts_cbranch_scc1 L0                                          // 000000002028: BF87FFF6
\ts_endpgm                                                   // 00000000202C: BF810000
"""
functions = matrix_share.functions(disassembly)
if matrix_share.matrix_share("gfx90a", functions["plain"], True) != (0, None, None, None):
    failures.append("a function without matrix instructions has a share of them")
if matrix_share.matrix_share("gfx90a", functions["kernel"], True) != (1, 64 / (64 + 4 * 5), None, None):
    failures.append(f"the share of 64 cycles beside 5 instructions is "
                    f"{matrix_share.matrix_share('gfx90a', functions['kernel'], True)}")
sparse = disassembly.replace("v_mfma_f32_32x32x8f16 a[0:15], v[0:1], v[2:3], a[0:15]",
                             "v_smfmac_i32_32x32x32_i8 v[0:15], v[20:21], v[16:19], v22")
if matrix_share.matrix_share("gfx942", matrix_share.functions(sparse)["kernel"], True) != (1, 32 / (32 + 4 * 5), None, None):
    failures.append("a sparse product of gfx942 takes 32 cycles")
four = "\tbuffer_load_dwordx4 v[4:7], v8, s[4:7], s8 offen"
load = "\tglobal_load_dwordx4 v[4:7], v[8:9], off"
in_rows = disassembly.replace(load, f"{four.replace('x4 v[4:7]', 'x2 v[2:3]')}  // 000000002018: E0541000 08010208\n{four}")
for may_have_rows, shares in [(True, (1, None, None, 64 / (64 + 4 * 6))), (False, (1, 64 / (64 + 4 * 6), None, None))]:
    if matrix_share.matrix_share("gfx90a", matrix_share.functions(in_rows)["kernel"], may_have_rows) != shares:
        failures.append("a loop that loads 8 bytes at a scalar offset is of rows where a function may have some, and only there")
one = "\tbuffer_load_ushort v4, v8, s[4:7], 0 offen                      // 000000002018: E0501000 80010408"
singles = disassembly.replace(load, f"{one}\n{one}\n{load}")
for is_gradient, share in [(True, 64 / (64 + 4 * 7)), (False, None)]:
    if matrix_share.matrix_share("gfx90a", matrix_share.functions(singles)["kernel"], is_gradient)[2] != share:
        failures.append("a loop of more single elements than packets is of singles in gradients by the weights alone")
# A loop with one product and five other instructions per step, and a tail-tap loop with six: one step in nine.
begin, end, rest = disassembly.rpartition("\ts_endpgm")
other_loop = disassembly[disassembly.index("0000000000002004 <L0>"):disassembly.rindex("\ts_endpgm")]
other_loop = re.sub(r"\ts_cbranch_(vccnz L2|scc1 L1) .*\n", "", other_loop).replace("<L", "<L1").replace(" L0", " L10")
other_loop = other_loop.replace(load, "\n".join(one.replace("0 offen", f"s{i} offen") for i in range(3)))
left_over = matrix_share.functions(f"{begin}{other_loop}{end}{rest}")["kernel"]
shares = matrix_share.left_over_share("gfx90a", left_over, 1 / 9)
if shares != (64 / (64 + 4 * 6), 1 / (1 + (8 / 9 * 4 * 5 + 1 / 9 * 4 * 6) / 64)):
    failures.append(f"the shares of taps left over and of all are {shares}")
if matrix_share.left_over_share("gfx90a", functions["kernel"], 1 / 9) != (None, None):
    failures.append("a loop of packets alone has taps left over")
for kernel, part in [("Plan<Conv<filter(3, 3).pad(1)>, B>, ImplicitGemm<NativeGemm<64, 64, 6>, half, half, pixel>", 1 / 9),
                     ("Plan<TransposedConv<filter(3, 3)>>, ImplicitGemm<NativeGemm<64, 64, 6>, int8, int8, pixel>", 1 / 9),
                     ("Plan<Conv<filter(2, 2)>, B>, ImplicitGemm<NativeGemm<64, 64, 6>, half, half, pixel>", 0),
                     ("Plan<Conv<filter(3, 3)>, B>, ImplicitGemm<NativeGemm<64, 64, 6>, half, half, channel>", 0)]:
    if check_kernels.part_left_over(kernel) != part:
        failures.append(f"{kernel}: {check_kernels.part_left_over(kernel)} of taps are left over")
small = disassembly.replace("v_mfma_f32_32x32x8f16", "v_mfma_f32_16x16x16f16")
if matrix_share.matrix_share("gfx90a", matrix_share.functions(small)["kernel"], False)[1] != 32 / (32 + 4 * 5):
    failures.append("a product of 16 x 16 x 16 does not take half as long as one of 32 x 32 x 8")
begin, end, rest = disassembly.replace("<kernel>:", "<kernel>:\n0000000000002000 <L3>:").rpartition("\ts_endpgm")
in_loop = f"{begin}\ts_cbranch_scc0 L3                                          // 00000000202C: BF84FFF4\n{end}{rest}"
if matrix_share.matrix_share("gfx90a", matrix_share.functions(in_loop)["kernel"], True) != (1, 64 / (64 + 4 * 5), None, None):
    failures.append("a loop in a loop is not looked at alone")

row = dict.fromkeys(check_kernels.COLUMNS, 0) | {"occupancy": 8}
for target, kernel, matrix, count in [
        ("gfx90a", "Plan<G>, ImplicitGemm<NativeGemm<64, 64, 6>, half, half, channel>", 0, 1),
        ("gfx90a", "Plan<G>, ImplicitGemm<NativeGemm<64, 64, 6>, half, half, channel>", 16, 0),
        ("gfx90a", "Plan<G>, ImplicitGemm<Gemm<64, 64, 8, 6>, int8, float, pixel>", 0, 1),
        ("gfx90a", "Plan<G>, ImplicitGemm<NativeGemm<64, 64, 6>, float, float, channel>", 0, 1),
        ("gfx1100", "Plan<G>, ImplicitGemm<NativeGemm<64, 64, 6>, float, float, channel>", 0, 0),
        ("gfx908", "Plan<ConvWeightGradient<filter(3, 3)>>, WeightGradient<float, float, WeightGradientTile>", 0, 1),
        ("gfx1100", "Plan<ConvWeightGradient<filter(3, 3)>>, WeightGradient<half, half, WeightGradientTile>", 16, 0),
        ("gfx1201", "Plan<ConvWeightGradient<filter(3, 3)>>, WeightGradient<half, half, WideWeightGradientTile>", 0, 1),
        ("gfx1100", "Plan<ConvWeightGradient<filter(3, 3)>>, WeightGradient<half, half, WideWeightGradientTile>", 0, 0)]:
    limits = argparse.Namespace(target=target, lds=65536, waves=2)
    found = list(check_kernels.findings(row | {"target": target, "kernel": kernel, "matrix": matrix}, limits))
    if len(found) != count:
        failures.append(f"{kernel} on {target} with {matrix} matrix instructions: {found}")

sys.exit("\n".join(failures) if failures else 0)
