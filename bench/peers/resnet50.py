#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Times ResNet-50 with fusekit's operators against PyTorch: eager, eager in a CUDA graph, and torch.compile.

Half, channels_last, inference. The swap is examples/pytorch's fuse(). All are timed in turn in one process, the median
of repeats, with cuDNN's benchmark mode on. Weights are random, and batch norm's running statistics those of random
inputs. Then top-1 of 1,000 random inputs, each of which is a class of its own (tell_apart), and each convolution of the
network beside cuDNN's: alone, and with what the swap fuses into it, unfused.
"""

import argparse
import copy
import csv
import datetime
import pathlib
import statistics
import sys

import torch
import torch.nn.functional as functional
import torchvision
from torch import nn

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "examples" / "pytorch"))
import fusekit_torch  # noqa: E402
from fusekit_torch.fuse import FusedConv, FusedLinear, FusedStem  # noqa: E402


def images(count, generator):
    """Random images: noise of several scales and colours."""
    made = torch.zeros(count, 3, 224, 224, device="cuda")
    for size in (1, 4, 16, 56, 224):
        noise = torch.randn(count, 3, size, size, device="cuda", generator=generator)
        made += functional.interpolate(noise, 224, mode="bilinear" if size > 1 else "nearest")
    return made


def network(generator):
    """ResNet-50 of random weights, with statistics as of a trained one."""
    torch.manual_seed(1)
    model = torchvision.models.resnet50(weights=None).cuda().train()
    for module in model.modules():
        if isinstance(module, nn.BatchNorm2d):
            module.momentum = None  # the mean of all batches
            nn.init.uniform_(module.weight, 0.5, 1.0), nn.init.uniform_(module.bias, -0.2, 0.2)
    with torch.no_grad():
        for _ in range(4):
            model(images(64, generator))
    return model.eval()


def tell_apart(model, count):
    """Gives the network a class for each of `count` random inputs: the classifier's weights are the inputs' features,
    centred and of length 1. Every layer's output thus affects the predicted class."""
    features, generator = [], torch.Generator("cuda").manual_seed(2)
    hook = model.avgpool.register_forward_hook(lambda _, __, y: features.append(y.flatten(1)))
    with torch.no_grad():
        for _ in range(count // 50):
            model(images(50, generator))
        hook.remove()
        features = torch.cat(features)
        mean = features.mean(0)
        model.fc.weight.copy_(functional.normalize(features - mean, dim=1))
        model.fc.bias.copy_(-(model.fc.weight @ mean))


def captured(function, calls=1):
    """A CUDA graph of calls 0 to `calls` - 1, and the last result."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream), torch.no_grad():
        for _ in range(3):
            function(0)
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.no_grad(), torch.cuda.graph(graph):
        for call in range(calls):
            result = function(call)
    return graph.replay, result


def microseconds(subjects, repeats, calls):
    """Median and minimum time per call of each subject, of interleaved samples of `calls` calls."""
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    samples = [[] for _ in subjects]
    for repeat in range(repeats + 1):
        for subject, taken in zip(subjects, samples):
            subject()
            begin.record()
            for _ in range(calls):
                subject()
            end.record()
            end.synchronize()
            if repeat:
                taken.append(1e3 * begin.elapsed_time(end) / calls)
    return [(statistics.median(taken), min(taken)) for taken in samples]


def measure_networks(model, options, rows):
    swap = fusekit_torch.fuse(model, torch.half)
    half = model.half().to(memory_format=torch.channels_last)
    for batch in options.batch:
        x = images(batch, None).half().contiguous(memory_format=torch.channels_last)
        torch._dynamo.reset()
        compiled = torch.compile(half)
        with torch.no_grad():
            for _ in range(3):
                compiled(x), half(x), swap(x)

            def without_gradients(function):
                def call():
                    with torch.no_grad():
                        function(x)
                return call

            subjects = {
                "eager": without_gradients(half),
                "eager, CUDA graph": captured(lambda _: half(x))[0],
                "torch.compile": without_gradients(compiled),
                "torch.compile, CUDA graph": captured(lambda _: compiled(x))[0],
                "fusekit": without_gradients(swap),
                "fusekit, CUDA graph": captured(lambda _: swap(x))[0],
            }
        times = microseconds(list(subjects.values()), options.repeats, 20 if batch > 8 else 100)
        by_name = dict(zip(subjects, times))
        ours = by_name["fusekit, CUDA graph"][0]
        print(f"\nbatch {batch:<24}{'median us':>12}{'least us':>12}{'over ours in a graph':>22}")
        for name, (median, least) in by_name.items():
            print(f"{name:<30}{median:>12.1f}{least:>12.1f}{median / ours:>22.3f}")
            rows.append({"subject": name, "batch": batch, "median_us": round(median, 2), "least_us": round(least, 2)})
        for other in ("eager, CUDA graph", "torch.compile"):
            print(f"over {other}: {by_name[other][0] / ours:.3f}: {'PASS' if by_name[other][0] >= ours else 'FALLS SHORT'}")
    return half, swap


def agreement(model, half, swap, count):
    """Returns the number of tell_apart()'s inputs whose top-1 class is that of eager half; prints the margins of the
    others."""
    generator = torch.Generator("cuda").manual_seed(2)
    same = swap_as_float = half_as_float = 0
    margins, classes = [], set()
    with torch.no_grad():
        for first in range(0, count, 50):
            x = images(50, generator)
            exact = model(x)
            given = x.half().contiguous(memory_format=torch.channels_last)
            ours, theirs = swap(given).float(), half(given).float()
            equal = ours.argmax(1) == theirs.argmax(1)
            same += equal.sum().item()
            swap_as_float += (ours.argmax(1) == exact.argmax(1)).sum().item()
            half_as_float += (theirs.argmax(1) == exact.argmax(1)).sum().item()
            top = exact.topk(2, 1).values
            margins += ((top[:, 0] - top[:, 1]) / exact.std(1))[~equal].tolist()
            classes |= set(exact.argmax(1).tolist())
    print(f"\ntop-1 of {count} random inputs, of {len(classes)} classes: the swap agrees with eager half on {same}; with "
          f"eager float the swap agrees on {swap_as_float}, eager half on {half_as_float}")
    if margins:
        print("where they differ, float's first and second logit are this apart, in standard deviations of its logits: "
              + ", ".join(f"{each:.4f}" for each in sorted(margins)))
    return same


def measure_layers(swap, batch, options, rows):
    """Times each kind of convolution fused, with cuDNN's alone, and with the chain unfused."""
    layers, hooks = {}, []

    def note(module, inputs, y):
        x, residual = inputs[0], inputs[1] if len(inputs) > 1 else None
        shape = "x".join(map(str, x.shape[1:]))
        key = (shape, module.weight.shape if not isinstance(module, FusedStem) else "stem",
               tuple(module.stride) if hasattr(module, "stride") else (1, 1), residual is not None)
        layers.setdefault(key, [module, x, residual, 0])[3] += 1

    for module in swap.modules():
        if isinstance(module, (FusedConv, FusedStem, FusedLinear)):
            hooks.append(module.register_forward_hook(note))
    with torch.no_grad():
        swap(images(batch, None).half().contiguous(memory_format=torch.channels_last))
    for hook in hooks:
        hook.remove()
    print(f"\nlayers at batch {batch}{'':<28}{'times':>6}{'ours us':>10}{'cuDNN conv':>12}{'unfused':>10}{'ours/conv':>11}")
    lost = total = total_conv = 0
    for key, (module, x, residual, count) in layers.items():
        if isinstance(module, FusedLinear):
            weight, bias = module.weight[:, :, 0, 0].contiguous(), module.bias.half()
            conv = chain = lambda at, w=weight, b=bias: functional.linear(at, w, b)
            name = f"linear {tuple(weight.shape)}"
        else:
            if isinstance(module, FusedStem):
                weight = torch.randn(64, 3, 7, 7, device="cuda", dtype=torch.half)
                stride, padding = [2, 2], [3, 3]
            else:
                weight, stride, padding = module.weight, module.stride, module.padding
            weight, bias = weight.contiguous(memory_format=torch.channels_last), module.bias.half()
            conv = lambda at, w=weight, s=stride, p=padding: functional.conv2d(at, w, None, s, p)  # noqa: E731
            k, c, r, s = weight.shape
            name = f"{key[0]} -> {k}, {r}x{s}, stride {stride[0]}{', residual' if residual is not None else ''}"
            scale = torch.ones(k, device="cuda", dtype=torch.half)
            zero = torch.zeros_like(scale)

            def chain(at, conv=conv, module=module, residual=residual, scale=scale, zero=zero):
                y = functional.batch_norm(conv(at), zero, scale, scale, zero)
                if residual is not None:
                    y += residual
                return functional.relu_(y) if module.activation == "relu" else y

        inputs = [x.clone(memory_format=torch.preserve_format)
                  for _ in range(max(1, min(8, 2 * 10**8 // (2 * x.numel()))))]
        own = (lambda at: module(at)) if residual is None else (lambda at: module(at, residual))
        calls = 20
        with torch.no_grad():
            replays = [captured(lambda call, f=function: f(inputs[call % len(inputs)]), calls)[0]
                       for function in (own, conv, chain)]
        ours, alone, unfused = (least / calls for _, least in microseconds(replays, 3, 1))
        print(f"{name:<44}{count:>6}{ours:>10.2f}{alone:>12.2f}{unfused:>10.2f}{ours / alone:>11.2f}", flush=True)
        total, total_conv = total + count * ours, total_conv + count * alone
        lost += count * max(0, ours - alone)
        rows.append({"subject": name, "batch": batch, "count": count, "median_us": round(ours, 2),
                     "cudnn_conv_us": round(alone, 2), "unfused_us": round(unfused, 2)})
    stem = next(module for module in swap.modules() if isinstance(module, FusedStem))
    x = images(batch, None).half().contiguous(memory_format=torch.channels_last)
    with torch.no_grad():
        windows = stem.windows(x)
        replays = [captured(lambda _, f=function: f(), 20)[0]
                   for function in (lambda: stem.windows(x), lambda: stem.convolve(windows))]
    packing, product = (least / 20 for _, least in microseconds(replays, 3, 1))
    print(f"the first convolution: {packing:.1f} us to pack x, {product:.1f} us to convolve")
    print(f"all: ours {total:.0f} us, cuDNN's convolutions alone {total_conv:.0f} us; lost to them where ours is slower "
          f"{lost:.0f} us")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--batch", type=int, nargs="*", default=[64, 1])
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--no-layers", action="store_true")
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path("bench-output"))
    options = parser.parse_args()
    torch.backends.cudnn.benchmark = True
    facts = {"machine": torch.cuda.get_device_name(), "torch": torch.__version__, "cuda": torch.version.cuda,
             "cudnn": torch.backends.cudnn.version(), "date": datetime.date.today().isoformat(),
             "command": " ".join(["resnet50.py", *(each for each in sys.argv[1:] if "/" not in each and each != "--output")])}
    print("ResNet-50, half, channels_last, inference\n" + ", ".join(f"{key} {value}" for key, value in facts.items()))
    generator = torch.Generator("cuda").manual_seed(1)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    model, rows = network(generator), []
    tell_apart(model, 1000)
    half, swap = measure_networks(copy.deepcopy(model), options, rows)
    same = agreement(model, half, swap, 1000)
    rows.append({"subject": "top-1 of 1000 as eager half", "count": same})
    if not options.no_layers:
        for batch in options.batch:
            measure_layers(swap, batch, options, rows)
    options.output.mkdir(parents=True, exist_ok=True)
    fields = ["subject", "batch", "count", "median_us", "least_us", "cudnn_conv_us", "unfused_us", *facts]
    with open(options.output / "resnet50.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, fields, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows({**row, **facts} for row in rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
