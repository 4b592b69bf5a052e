#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Times batch norm + ReLU at inference against PyTorch: eager, and TorchInductor's compiled kernel.

The 8 layers of MIOpen's chart, spatial, float and half, NCHW and NHWC, all in one process: calls captured into graphs
of one stream, inputs and outputs rotated past twice the L2 cache, median of repeats taken in turn. fusekit's plan is
in the shared library inductor_plans (build preset `cuda`). Needs PyTorch with CUDA, and Triton.
"""

import argparse
import collections
import ctypes
import csv
import datetime
import json
import math
import pathlib
import statistics
import sys

import torch
import torch._dynamo
import torch.nn.functional as functional

from graph_calls import graph_calls

LAYERS = [(512, 7, 7), (2048, 7, 7), (256, 14, 14), (1024, 14, 14), (128, 28, 28), (512, 28, 28), (64, 55, 55),
          (256, 55, 55)]
EPSILON = 1e-5
BOUND = {torch.float32: 1e-5, torch.float16: 2e-3}  # of the largest value: float sums, and two roundings to half


class Problem(ctypes.Structure):
    """Mirrors the struct of peers/inductor_plans.cpp."""

    _fields_ = [("n", ctypes.c_int64), ("c", ctypes.c_int64), ("h", ctypes.c_int64), ("w", ctypes.c_int64),
                ("channels_last", ctypes.c_int), ("is_half", ctypes.c_int), ("device", ctypes.c_int),
                ("stream", ctypes.c_void_p), ("mean", ctypes.c_void_p), ("variance", ctypes.c_void_p),
                ("scale", ctypes.c_void_p), ("shift", ctypes.c_void_p), ("epsilon", ctypes.c_float),
                ("saved_mean", ctypes.c_void_p), ("saved_inverse_deviation", ctypes.c_void_p),
                ("running_mean", ctypes.c_void_p), ("running_variance", ctypes.c_void_p),
                ("scale_gradient", ctypes.c_void_p), ("shift_gradient", ctypes.c_void_p)]


class Plans:
    """Shared library of peers/inductor_plans.cpp."""

    def __init__(self, path):
        self.library = ctypes.CDLL(str(path.resolve()))
        self.library.fusekit_message.restype = ctypes.c_char_p
        self.library.fusekit_norm_relu.restype = ctypes.c_void_p
        self.library.fusekit_norm_relu.argtypes = [ctypes.POINTER(Problem), ctypes.c_int]
        self.library.fusekit_run.argtypes = [ctypes.c_void_p] * 3
        self.library.fusekit_run_backward.argtypes = [ctypes.c_void_p] * 4
        self.library.fusekit_delete.argtypes = [ctypes.c_void_p]
        self.library.fusekit_delete.restype = None

    def norm_relu(self, problem, training=False):
        layer = self.library.fusekit_norm_relu(ctypes.byref(problem), training)
        self.check(layer)
        return layer

    def run(self, layer, x, y):
        self.check(not self.library.fusekit_run(layer, x.data_ptr(), y.data_ptr()))

    def run_backward(self, layer, x, dy, dx):
        self.check(not self.library.fusekit_run_backward(layer, x.data_ptr(), dy.data_ptr(), dx.data_ptr()))

    def check(self, succeeded):
        if not succeeded:
            raise RuntimeError(self.library.fusekit_message().decode())


class Graph:
    """Calls 0 to `calls` - 1 of a subject, captured."""

    def __init__(self, stream, subject, calls):
        self.stream, self.calls, self.graph = stream, calls, torch.cuda.CUDAGraph()
        self.begin, self.end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        with torch.cuda.graph(self.graph, stream=stream, capture_error_mode="thread_local"):
            for call in range(calls):
                subject(call)

    def microseconds(self):
        """A call. The graph runs twice and is timed the second time, which is queued while the first one runs."""
        with torch.cuda.stream(self.stream):
            self.graph.replay()
            self.begin.record(self.stream)
            self.graph.replay()
            self.end.record(self.stream)
        self.end.synchronize()
        return 1e3 * self.begin.elapsed_time(self.end) / self.calls


def medians(stream, subjects, rotation, repeats):
    """Microseconds per call of each subject, from interleaved samples."""
    graphs = []
    for subject in subjects:
        estimate = Graph(stream, subject, rotation).microseconds()
        graphs.append(Graph(stream, subject, graph_calls(estimate, rotation)))
    samples = [[] for _ in subjects]
    for _ in range(repeats):
        for graph, taken in zip(graphs, samples):
            taken.append(graph.microseconds())
    return [statistics.median(taken) for taken in samples]


def difference(result, expected):
    """Largest difference over the largest expected value; NaN if a value is NaN."""
    error = (result.double() - expected).abs().max() / expected.abs().max()
    return error.item()


def measure(plans, stream, shape, dtype, channels_last, options):
    """Microseconds of eager, compiled and ours, and the largest difference of each from a result in double."""
    device = torch.device("cuda", options.index)
    order = torch.channels_last if channels_last else torch.contiguous_format
    c = shape[1]
    values = torch.empty(shape, dtype=torch.float32, device=device).uniform_(-1, 1).to(dtype)
    values = values.contiguous(memory_format=order)
    mean, scale, shift = (torch.empty(c, device=device).uniform_(-1, 1) for _ in range(3))
    variance = torch.empty(c, device=device).uniform_(0.5, 1.5)

    cache = torch.cuda.get_device_properties(device).L2_cache_size
    pairs = 1 + 2 * cache // (2 * values.numel() * values.element_size())
    inputs = [values.clone(memory_format=torch.preserve_format) for _ in range(pairs)]
    outputs = [torch.full_like(values, float("nan")) for _ in range(pairs)]

    def norm_relu(x):
        return functional.relu(functional.batch_norm(x, mean, variance, scale, shift, False, 0.0, EPSILON))

    torch._dynamo.reset()
    compiled = torch.compile(norm_relu, dynamic=False)

    problem = Problem(shape[0], c, shape[2], shape[3], int(channels_last), int(dtype == torch.float16), options.index,
                      stream.cuda_stream, mean.data_ptr(), variance.data_ptr(), scale.data_ptr(), shift.data_ptr(),
                      EPSILON)
    plan = plans.norm_relu(problem)

    def kept(function):
        """A subject: results of the last `pairs` calls live, so that each call writes to memory of its own."""
        results = collections.deque(maxlen=pairs)
        return lambda call: results.append(function(inputs[call % pairs]))

    def ours(call):
        plans.run(plan, inputs[call % pairs], outputs[call % pairs])

    wide = values.double()
    shown = [each.double().view(1, c, 1, 1) for each in (mean, variance, scale, shift)]
    expected = torch.relu(shown[2] * (wide - shown[0]) / torch.sqrt(shown[1] + EPSILON) + shown[3])
    with torch.no_grad(), torch.cuda.stream(stream):
        stream.wait_stream(torch.cuda.default_stream(device))
        errors = [difference(norm_relu(inputs[0]), expected), difference(compiled(inputs[0]), expected)]
        ours(0)
        errors.append(difference(outputs[0], expected))
        stream.synchronize()
    del wide, expected
    with torch.no_grad():
        times = medians(stream, [kept(norm_relu), kept(compiled), ours], pairs, options.repeats)
    plans.library.fusekit_delete(plan)
    return times, errors


def geometric_mean(values):
    return math.exp(sum(math.log(each) for each in values) / len(values))


def run_form(plans, stream, dtype, channels_last, options, rows):
    """Times the 8 layers in one element type and layout; returns True if all results are correct."""
    form = ("float" if dtype == torch.float32 else "half", "nhwc" if channels_last else "nchw")
    print(f"\n{form[0]}, {form[1]}\n{'layer':<14}{'eager us':>10}{'compiled us':>13}{'ours us':>10}{'GB/s':>8}"
          f"{'over eager':>12}{'over compiled':>15}{'error':>10}")
    over_compiled, over_eager, right = [], [], True
    for c, h, w in LAYERS:
        shape, name = (options.batch, c, h, w), f"{c}-{h}-{w}"
        (eager, compiled, ours), errors = measure(plans, stream, shape, dtype, channels_last, options)
        good = all(error <= BOUND[dtype] for error in errors)
        size = math.prod(shape) * (4 if dtype == torch.float32 else 2)
        rate = 2e-3 * size / ours
        print(f"{name:<14}{eager:>10.2f}{compiled:>13.2f}{ours:>10.2f}{rate:>8.0f}{eager / ours:>12.2f}"
              f"{compiled / ours:>15.2f}{errors[2]:>10.1e}{'' if good else f'  WRONG: errors {errors}'}", flush=True)
        rows.append({"layer": name, "batch": options.batch, "dtype": form[0], "layout": form[1],
                     "eager_us": round(eager, 3), "compiled_us": round(compiled, 3), "fusekit_us": round(ours, 3),
                     "gigabytes_a_second": round(rate, 1), "over_eager": round(eager / ours, 4),
                     "over_compiled": round(compiled / ours, 4), "error": errors[2], "right": good})
        over_eager.append(eager / ours)
        over_compiled.append(compiled / ours)
        right = right and good
        torch.cuda.empty_cache()
    bar = 1.3 if form == ("half", "nchw") else 1.0
    mean = geometric_mean(over_compiled)
    print(f"geometric mean over eager {geometric_mean(over_eager):.3f}, over compiled {mean:.3f}; the bar is {bar}: "
          f"{'PASS' if mean >= bar else 'FALLS SHORT'}")
    return right


def parse_options(description, library="libinductor_plans.so", further=()):
    """`further` options are names and what add_argument takes."""
    here = pathlib.Path(__file__).resolve().parent
    usual = here.parent.parent / "build" / "cuda" / "bench" / library
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", type=pathlib.Path, default=usual, help=library)
    parser.add_argument("--index", type=int, default=0, help="which GPU")
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--dtype", choices=["float", "half", "all"], default="all")
    parser.add_argument("--layout", choices=["nchw", "nhwc", "all"], default="all")
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path("bench-output"))
    for name, argument in further:
        parser.add_argument(name, **argument)
    return parser.parse_args()


def prepare(options):
    """A stream to run on, and the facts that results are kept with."""
    torch.manual_seed(1)
    torch.cuda.set_device(options.index)
    return torch.cuda.Stream(), {
        "machine": torch.cuda.get_device_name(options.index), "torch": torch.__version__, "cuda": torch.version.cuda,
        "date": datetime.date.today().isoformat(),
        "command": " ".join([pathlib.Path(sys.argv[0]).name, *sys.argv[1:]])}


def forms(options):
    """The element types and layouts that were asked for: (torch.float32, False) and so on."""
    return [(dtype, layout == "nhwc") for dtype, name in ((torch.float32, "float"), (torch.float16, "half"))
            for layout in ("nchw", "nhwc") if options.dtype in (name, "all") and options.layout in (layout, "all")]


def write_results(options, name, facts, rows, right):
    options.output.mkdir(parents=True, exist_ok=True)
    with open(options.output / f"{name}.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, [*rows[0], *facts], lineterminator="\n")
        writer.writeheader()
        writer.writerows({**row, **facts} for row in rows)
    (options.output / f"{name}.json").write_text(json.dumps({**facts, "rows": rows}, indent=1) + "\n")
    print(f"\nwrote {options.output / name}.csv and .json")
    print("results agree" if right else "FAILED: results differ")
    return 0 if right else 1


def main():
    options = parse_options(__doc__)

    stream, facts = prepare(options)
    plans = Plans(options.library)
    print(f"{facts['machine']}, PyTorch {facts['torch']}, CUDA {facts['cuda']}; batch norm (spatial) + ReLU, "
          f"inference, batch {options.batch}\ncalls captured into graphs, in turn, the median of {options.repeats} samples")
    rows, right = [], True
    for dtype, channels_last in forms(options):
        right = run_form(plans, stream, dtype, channels_last, options, rows) and right
    return write_results(options, "inductor", facts, rows, right)


if __name__ == "__main__":
    sys.exit(main())
