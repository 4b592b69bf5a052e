#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Times layers of real networks (layers.csv, norms.csv) on an NVIDIA GPU beside the faster of PyTorch's ways.

Forward, gradients by x and by the weights, batch norm, and 1x1 layers beside cuBLASLt (linear), of torch.ops.fusekit and,
for gradients, libzoo_gradients.so. The peers have cudnn.benchmark and no TF32. Calls are captured into CUDA graphs, their
buffers rotated past twice the L2 cache; times are medians of interleaved samples, beside an elementwise kernel that moves
the same bytes. Each of our results is compared with double. Rows are appended to OUTPUT; a run stops after --seconds, and
the same command resumes. When no row remains, the report is printed and its charts are written beside OUTPUT.
"""

import argparse
import datetime
import pathlib
import sys

import layers
import report
import sweep

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PASSES = {"forward": ("forward",), "linear": ("linear",), "input": ("input",), "weights": ("weights",),
          "batch_norm": ("norm_inference", "norm_forward", "norm_backward")}


def words(known=None):
    """Returns a type for argparse: a list of `known` words, separated by commas."""
    def parse(text):
        for word in text.split(","):
            if known and word not in known:
                raise argparse.ArgumentTypeError(f"expected some of {','.join(known)}, got '{word}'")
        return text.split(",")
    return parse


def numbers(text):
    return [int(word) for word in text.split(",")]


def keys(options):
    """Rows to measure, in order: pass, batch, layer."""
    convolutions = layers.distinct(layers.convolutions(), options.networks)
    norms = [norm for network, norm, _ in layers.norms() if not options.networks or network in options.networks]
    for kind in (each for name in options.passes for each in PASSES[name]):
        for batch in options.batch:
            for layer in dict.fromkeys(norms) if kind.startswith("norm") else convolutions:
                if applies(kind, layer, batch, options.layout):
                    yield {"pass": kind, "dtype": options.dtype, "layout": options.layout, "batch": batch, "threads": "",
                           "layer": layer.name}


def applies(kind, layer, batch, layout):
    if kind == "linear":
        return layout == "nhwc" and layer.r == layer.s == layer.stride == layer.groups == 1
    if kind in ("norm_forward", "norm_backward"):
        return batch * layer.h * layer.w > 1  # a variance
    return True


class Measure:
    """Function object for sweep.run: measure(key) times the subjects of a row by `timer`, in microseconds."""

    def __init__(self, form, timer, gradients=None):
        import norm_subjects
        import subjects
        import torch
        self.torch, self.form, self.timer = torch, form, timer
        self.tables = report.layer_tables()
        self.makers = {"forward": subjects.forward, "linear": subjects.linear, "norm_inference": norm_subjects.inference,
                       "norm_forward": norm_subjects.training, "norm_backward": norm_subjects.training_backward}
        if gradients:
            self.makers["input"] = lambda layer, batch, form: subjects.gradient(
                layer, batch, form, [True, False, False], gradients.by_input)
            self.makers["weights"] = lambda layer, batch, form: subjects.gradient(
                layer, batch, form, [False, True, False], gradients.by_weights)

    def __call__(self, key):
        layer, _ = self.tables["norm" if key["pass"].startswith("norm") else "conv"][key["layer"]]
        with self.torch.no_grad():
            made = self.makers[key["pass"]](layer, key["batch"], self.form)
            with self.torch.backends.cudnn.flags(enabled=True, benchmark=False, allow_tf32=False):
                error = made.error()  # in double: a search for the fastest algorithm would take longer than it saves
            ways = {name: way for name, way in made.ways.items() if runs(way)}
            if not ways:
                raise RuntimeError("PyTorch does not support this layer")
            ours, copy, *peers = self.timer([made.ours, made.copy, *ways.values()], made.pairs)
        peer, way = min(zip(peers, ways))
        return {"ours_us": round(ours, 3), "peer_us": round(peer, 3), "peer": way, "copy_us": round(copy, 3),
                "error": float(f"{error:.3g}")}


def runs(way):
    """True if PyTorch accepts the call; the first call also lets cuDNN choose its algorithm."""
    try:
        way(0)
        return True
    except RuntimeError:
        return False


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--layout", choices=("nhwc", "nchw"), default="nhwc")
    parser.add_argument("--dtype", choices=("half", "bfloat16", "float"), default="half")
    parser.add_argument("--batch", type=numbers, default=[1, 32, 64], help="a list, as 1,32")
    parser.add_argument("--pass", dest="passes", type=words(PASSES), default=["forward"], help=",".join(PASSES))
    parser.add_argument("--networks", type=words(), help="a list; all by default")
    parser.add_argument("--seconds", type=float, default=480, help="stop after this time; run again to resume")
    parser.add_argument("--samples", type=int, default=7)
    parser.add_argument("--index", type=int, default=0, help="which GPU")
    parser.add_argument("--gradients", type=pathlib.Path, default=ROOT / "build/cuda/bench/libzoo_gradients.so")
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path("bench-output/zoo.csv"), help="a CSV")
    return parser.parse_args(arguments)


def measure_on_gpu(options):
    """The measurement, and the facts that every row has."""
    for folder in (ROOT / "examples/pytorch", ROOT / "bench/peers"):
        sys.path.insert(0, str(folder))
    import inductor
    import torch
    import fusekit_torch  # noqa: F401: registers torch.ops.fusekit
    import gradients
    import subjects
    torch.backends.cudnn.benchmark = True
    torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = False
    torch.manual_seed(1)
    torch.cuda.set_device(options.index)
    stream = torch.cuda.Stream()
    dtype = {"half": torch.float16, "bfloat16": torch.bfloat16, "float": torch.float32}[options.dtype]
    order = torch.channels_last if options.layout == "nhwc" else torch.contiguous_format
    cache = torch.cuda.get_device_properties(options.index).L2_cache_size
    form = subjects.Form(dtype, order, "cuda", 2 * cache)
    wants_gradients = {"input", "weights"} & set(options.passes)
    measure = Measure(form, lambda timed, pairs: inductor.medians(stream, timed, pairs, options.samples),
                      gradients.Gradients(options.gradients, stream) if wants_gradients else None)

    def measured(key):
        try:
            with torch.cuda.stream(stream):
                return measure(key)
        except RuntimeError as error:
            try:
                torch.cuda.synchronize()  # after an illegal access no later layer can be measured
            except RuntimeError:
                raise SystemExit(f"{key['layer']}: {error}")
            raise
        finally:
            torch.cuda.empty_cache()

    return measured, {
        "machine": torch.cuda.get_device_name(options.index), "date": datetime.date.today().isoformat(),
        "versions": f"PyTorch {torch.__version__}, CUDA {torch.version.cuda}, cuDNN {torch.backends.cudnn.version()}",
        "command": " ".join(["gpu.py", *(each for each in sys.argv[1:] if "/" not in each)])}


def main(arguments=None, prepare=measure_on_gpu):
    options = parse(arguments)
    wanted = list(keys(options))
    measure, facts = prepare(options)
    remaining = sweep.run(wanted, measure, sweep.Rows(options.output, facts), options.seconds)
    if remaining:
        print(f"{remaining} of {len(wanted)} rows remain: run the same command again")
        return 0
    return 0 if report.write([options.output], options.output.parent, options.networks) else 1


if __name__ == "__main__":
    sys.exit(main())
