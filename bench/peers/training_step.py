#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Times training steps with torch.compile(backend="fusekit") against PyTorch: eager, and torch.compile.

    training_step.py [--networks resnet50 ...] [--batch 64] [--type half] [--ways eager compile fusekit] [--repeats N]
                     [--curve STEPS] [--output FOLDER] [--device cuda] [--details]

A step is forward under autocast, cross entropy, backward by a scaled loss, GradScaler and SGD with momentum, whose kernels
read the scale on the GPU. Random images of channels_last, random weights; parameters are float. Each way's whole step is
one CUDA graph, with its own copy of the network; they are replayed in turn, and the times are medians. cuDNN's benchmark
mode is on. Before, gradients of one step without the optimizer: the relative difference of all of them from those of
the network in float, without TF32; the exit status is 1 if fusekit's exceeds four times eager's. --curve trains each way
for STEPS steps from the same weights, on the same batches, and prints the losses. FUSEKIT_JIT_LIBRARY names
libfusekit_jit. On a CPU (--device cpu), nothing is captured and the times are those of calls: it tests the program.
"""

import argparse
import copy
import csv
import datetime
import os
import pathlib
import statistics
import sys
import time

os.environ.setdefault("FUSEKIT_TORCH_LIBRARY", "")  # no extension is built
import torch  # noqa: E402
import torch.nn.functional as functional  # noqa: E402
import torchvision  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "examples" / "pytorch"))
import fusekit_torch  # noqa: E402, F401

BARS = {"compile": 1.15, "eager": 1.5}
ERRORS_OF_EAGER = 4  # times eager's error
TYPES = {"half": torch.float16, "bfloat16": torch.bfloat16, "float": torch.float32}
BATCHES = 8  # different ones of a curve
WARM = 4
SCALE = 1024.0  # of a new GradScaler: with its default, 2^16, the first steps of a network of random weights overflow


def network_of(name, given):
    torch.manual_seed(1)
    named = {"init_weights": False} if name in ("inception_v3", "googlenet") else {}
    model = getattr(torchvision.models, name)(weights=None, num_classes=given.classes, **named)
    return model.to(given.device).train().to(memory_format=torch.channels_last)


def batch_of(given, seed):
    generator = torch.Generator(given.device).manual_seed(seed)
    x = torch.randn(given.batch, 3, given.size, given.size, device=given.device, generator=generator)
    labels = torch.randint(given.classes, (given.batch,), device=given.device, generator=generator)
    return x.contiguous(memory_format=torch.channels_last), labels


class Way:
    """A network, its optimizer, and one training step. On a GPU the step is captured when it has run WARM times."""

    def __init__(self, way, network, given):
        self.name, self.given, self.network = way, given, copy.deepcopy(network)
        self.on_gpu = given.device == "cuda"
        torch._dynamo.reset()
        self.function = self.network
        if way != "eager":
            self.function = torch.compile(self.network, **({"backend": "fusekit"} if way == "fusekit" else {}))
        self.optimizer = torch.optim.SGD(self.network.parameters(), given.rate, 0.9, **(
            {"fused": True} if self.on_gpu else {}))
        self.scaler = torch.amp.GradScaler(given.device, SCALE, enabled=given.type == "half" and self.on_gpu)
        self.x, self.labels = batch_of(given, 0)
        self.graph = None

    def forward_and_backward(self):
        dtype = TYPES[self.given.type]
        with torch.autocast(self.given.device, dtype, enabled=dtype != torch.float32, cache_enabled=False):
            y = self.function(self.x)
            y = y[0] if isinstance(y, tuple) else y  # inception_v3 and googlenet have further results
        loss = functional.cross_entropy(y.float(), self.labels)
        self.scaler.scale(loss).backward()
        return loss.detach()

    def step(self):
        self.optimizer.zero_grad(set_to_none=True)
        loss = self.forward_and_backward()
        self.scaler.step(self.optimizer)
        self.scaler.update()
        return loss

    def gradients(self):
        """All gradients, of the loss."""
        self.optimizer.zero_grad(set_to_none=True)
        self.forward_and_backward()
        scale = self.scaler.get_scale()
        found = torch.cat([each.grad.flatten().double() for each in self.network.parameters()
                           if each.grad is not None]) / scale
        self.optimizer.zero_grad(set_to_none=True)
        return found

    def restore(self, kept):
        """Weights, statistics, momenta and scale of a new training, in the tensors that a graph reads."""
        with torch.no_grad():
            for one, other in zip(self.network.state_dict().values(), kept.values()):
                one.copy_(other)
            for state in self.optimizer.state.values():
                for each in state.values():
                    if isinstance(each, torch.Tensor):
                        each.zero_()
            if self.scaler.is_enabled() and self.scaler._scale is not None:
                self.scaler._scale.fill_(SCALE), self.scaler._growth_tracker.zero_()

    def capture(self):
        if not self.on_gpu:
            for _ in range(2):
                self.loss = self.step()
            return
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(WARM):
                self.step()
        torch.cuda.current_stream().wait_stream(stream)
        torch.cuda.synchronize()
        self.graph = torch.cuda.CUDAGraph()
        self.optimizer.zero_grad(set_to_none=True)
        with torch.cuda.graph(self.graph, capture_error_mode="thread_local"):
            self.loss = self.step()

    def run(self):
        if self.graph is None:
            self.loss = self.step()
        else:
            self.graph.replay()

    def microseconds(self):
        if not self.on_gpu:
            begin = time.perf_counter()
            self.run()
            return (time.perf_counter() - begin) * 1e6
        first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        first.record(), self.run(), self.run(), last.record()
        last.synchronize()
        return first.elapsed_time(last) * 1000 / 2

    def kernels(self):
        """Names and microseconds of a step's kernels, their times added by name."""
        total = {}
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
            self.run()
            torch.cuda.synchronize()
        for each in profile.events():
            count, took = total.get(each.name, (0, 0.0))
            total[each.name] = count + 1, took + each.time_range.elapsed_us()
        return sorted(total.items(), key=lambda one: -one[1][1])


def exact_gradients(network, given):
    """All gradients of the network in float; on a GPU without TF32."""
    plain = argparse.Namespace(**{**vars(given), "type": "float"})
    with torch.backends.cudnn.flags(benchmark=False, allow_tf32=False):
        allowed, torch.backends.cuda.matmul.allow_tf32 = torch.backends.cuda.matmul.allow_tf32, False
        found = Way("eager", network, plain).gradients()
        torch.backends.cuda.matmul.allow_tf32 = allowed
    return found


def curve(ways, kept, given):
    """Prints the loss of each step of each way, on the same batches from the same weights."""
    losses = {way.name: [] for way in ways}
    batches = [batch_of(given, seed) for seed in range(BATCHES)]
    for way in ways:
        way.restore(kept)
        for step in range(given.curve):
            x, labels = batches[step % BATCHES]
            way.x.copy_(x), way.labels.copy_(labels)
            way.run()
            losses[way.name].append(float(way.loss))
    print("step", *losses)
    for step, row in enumerate(zip(*losses.values())):
        print(f"{step:4}", *(f"{each:9.5f}" for each in row))
    last = max(1, given.curve // 10)
    for name, own in losses.items():
        difference = statistics.fmean(abs(one - two) for one, two in zip(own, losses["eager"]))
        print(f"{name}: mean of the last {last} losses {statistics.fmean(own[-last:]):.5f}; mean difference from eager's "
              f"losses {difference:.5f}", flush=True)
    return losses


def measure(name, given):
    """A row: microseconds, ratios and errors of each way."""
    network = network_of(name, given)
    kept, exact = copy.deepcopy(network.state_dict()), exact_gradients(network, given)
    ways, errors, seconds = [], {}, {}
    for each in given.ways:
        begin = time.monotonic()
        way = Way(each, network, given)
        errors[each] = float((way.gradients() - exact).norm() / exact.norm())
        way.capture()
        ways.append(way)
        seconds[each] = time.monotonic() - begin
    times = {way.name: [] for way in ways}
    for _ in range(given.repeats):
        for way in ways:
            times[way.name].append(way.microseconds())
    took = {each: statistics.median(own) for each, own in times.items()}
    row = {"network": name, "batch": given.batch, "type": given.type, **{f"{each}_us": round(own, 1) for each, own in
                                                                       took.items()},
           **{f"{each}_error": f"{own:.2e}" for each, own in errors.items()},
           **{f"{each}_seconds": round(own) for each, own in seconds.items()}}
    print(name, f"batch {given.batch}, {given.type}:", ", ".join(
        f"{each} {own:.1f} us (error {errors[each]:.1e}, {seconds[each]:.0f} s)" for each, own in took.items()))
    for each, bar in BARS.items():
        if each in took and "fusekit" in took:
            ratio = took[each] / took["fusekit"]
            row[f"over_{each}"] = round(ratio, 4)
            print(f"  over {each}: {ratio:.3f} (bar {bar}: {'PASS' if ratio >= bar else 'FALLS SHORT'})", flush=True)
    if given.details:
        for way in ways:
            print(f"{way.name}:", *(f"  {took:9.1f} us {count:4} {name[:200]}" for name, (count, took) in way.kernels()),
                  sep="\n")
    losses = curve(ways, kept, given) if given.curve else None
    right = "fusekit" not in errors or errors["fusekit"] <= ERRORS_OF_EAGER * errors.get("eager", float("inf"))
    return {**row, "right": right}, losses


def write(folder, rows, curves):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "training_step.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]))
        writer.writeheader(), writer.writerows(rows)
    for name, losses in curves.items():
        with open(folder / f"training_curve_{name}.csv", "w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(("step", *losses)), writer.writerows((at, *row) for at, row in enumerate(zip(*losses.values())))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--networks", nargs="+", default=["resnet50"])
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--type", default="half", choices=TYPES)
    parser.add_argument("--ways", nargs="+", default=["eager", "compile", "fusekit"], choices=("eager", "compile", "fusekit"))
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--rate", type=float, default=0.02, help="of learning")
    parser.add_argument("--size", type=int, default=224, help="height and width of the images")
    parser.add_argument("--classes", type=int, default=1000)
    parser.add_argument("--curve", type=int, default=0, metavar="STEPS")
    parser.add_argument("--output", metavar="FOLDER")
    parser.add_argument("--device", default="cuda", choices=("cuda", "cpu"))
    parser.add_argument("--details", action="store_true", help="kernels of each way")
    given = parser.parse_args()
    torch.backends.cudnn.benchmark = True
    machine = torch.cuda.get_device_name() if given.device == "cuda" else "CPU"
    print(f"{machine}, PyTorch {torch.__version__}, {datetime.date.today()}, training step, {given.type}, channels_last, "
          f"the median of {given.repeats}", flush=True)
    rows, curves = [], {}
    for name in given.networks:
        row, losses = measure(name, given)
        rows.append(row)
        if losses:
            curves[name] = losses
    if given.output:
        write(given.output, rows, curves)
    sys.exit(not all(row["right"] for row in rows))


if __name__ == "__main__":
    main()
