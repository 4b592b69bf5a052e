#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Times networks with torch.compile(backend="fusekit") against PyTorch: eager, torch.compile, and torch.compile with
Inductor's freezing, which folds batch norm.

    compiled.py [--networks resnet50 ...] [--batches 64 1] [--ways compile frozen] [--jobs N] [--seconds S]
                [--details FOLDER] [--compile-only]

Half, channels_last, inference, random weights. All run in CUDA graphs, in turn; the median of repeats, with cuDNN's
benchmark mode on. Errors are the largest differences from the network in float, over its largest value; the exit status
is 1 if the backend's exceeds four times eager's, or if a network raises. FUSEKIT_JIT_LIBRARY names libfusekit_jit;
networks are torchvision's.

A process compiles each network, N at once. A process that measures stops the others (SIGSTOP) for as long, and
cuDNN times its algorithms in one process at a time. Processes that have not ended after S seconds are killed. A
row is printed when it is measured. --details writes each plan's time beside ATen's and the kernels of a replay.
--compile-only fills the caches of Inductor and fusekit.
"""

import argparse
import contextlib
import copy
import datetime
import fcntl
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import traceback

os.environ.setdefault("FUSEKIT_TORCH_LIBRARY", "")  # no extension is built
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
NETWORKS = ("efficientnet_b0", "resnext50_32x4d", "convnext_tiny", "inception_v3", "densenet121", "shufflenet_v2_x1_0",
            "vgg16_bn", "mobilenet_v3_large", "mobilenet_v2", "resnet50")
WAYS = {"compile": {}, "frozen": {"options": {"freezing": True}}}
REPEATS = 9
ERRORS_OF_EAGER = 4  # times eager's error


class Card:
    """The GPU among processes that compile at once. Each process has a file in `folder`."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.others = set()
        (self.folder / str(os.getpid())).touch()

    def leave(self):
        (self.folder / str(os.getpid())).unlink(missing_ok=True)

    @contextlib.contextmanager
    def locked(self, name):
        with open(self.folder / f"{name}.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def send(self, number):
        for file in self.folder.iterdir():
            if file.name.isdigit() and int(file.name) != os.getpid():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(int(file.name), number)

    @contextlib.contextmanager
    def alone(self, seconds=0.05):
        """The other processes are stopped. `seconds`: for kernels that they have launched."""
        import torch
        with self.locked("alone"):
            self.send(signal.SIGSTOP)
            try:
                torch.cuda.synchronize()
                time.sleep(seconds)
                yield
                torch.cuda.synchronize()
            finally:
                self.send(signal.SIGCONT)


class Network:
    """A network of torchvision in float and in half, with random weights and statistics of random images."""

    def __init__(self, name):
        import torch
        import torchvision
        from torch import nn
        torch.manual_seed(1)
        self.size = 299 if name == "inception_v3" else 224
        given = {"init_weights": False} if name in ("inception_v3", "googlenet") else {}
        self.exact = getattr(torchvision.models, name)(weights=None, **given).cuda().train()
        for module in self.exact.modules():
            if isinstance(module, nn.BatchNorm2d):
                module.momentum = None
                nn.init.uniform_(module.weight, 0.5, 1.0), nn.init.uniform_(module.bias, -0.2, 0.2)
            if hasattr(module, "layer_scale"):
                nn.init.uniform_(module.layer_scale, 0.2, 1.0)
        with torch.no_grad(), torch.backends.cudnn.flags(benchmark=False):
            self.exact(torch.randn(32, 3, self.size, self.size, device="cuda"))
        self.exact.eval()
        self.half = copy.deepcopy(self.exact).half().to(memory_format=torch.channels_last)

    def inputs(self, batch):
        """x, and the result in float."""
        import torch
        x = torch.randn(batch, 3, self.size, self.size, device="cuda").half()
        x = x.contiguous(memory_format=torch.channels_last)
        with torch.backends.cudnn.flags(benchmark=False, allow_tf32=False):
            return x, self.exact(x.float())


def captured(function, x):
    """A CUDA graph of function(x), and its result."""
    import torch
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(2):
            function(x)
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, capture_error_mode="thread_local"):
        y = function(x)
    graph.replay()
    torch.cuda.synchronize()
    return graph, y


def microseconds(graph, calls):
    import torch
    first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    first.record()
    for _ in range(calls):
        graph.replay()
    last.record(), last.synchronize()
    return first.elapsed_time(last) * 1000 / calls


def kernels_of(graph):
    """Name and microseconds of each kernel of a replay, in order."""
    import torch
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
        graph.replay()
        torch.cuda.synchronize()
    events = [each for each in profile.events() if "CUDA" in str(each.device_type) and each.time_range.elapsed_us() > 0]
    return [(each.name, each.time_range.elapsed_us()) for each in sorted(events, key=lambda one: one.time_range.start)]


class Row:
    """The graphs of a network and batch, by way."""

    def __init__(self, network, batch, ways, card, eager=True):
        import torch
        from fusekit_torch import backend, measuring
        self.network, self.batch, self.ways, self.card = network, batch, ways, card
        self.graphs, self.errors, self.seconds, self.kept, self.plans = {}, {}, {}, [], []
        self.x, self.expected = network.inputs(batch)
        alternative_of, microseconds_of, times_of = measuring.alternative, measuring.microseconds, backend.times

        def alternative_in_turn(*given):
            with card.locked("cudnn"):
                return alternative_of(*given)

        def microseconds_alone(graph):
            with card.alone(0.01):
                return microseconds_of(graph)

        def times(graph):
            found = times_of(graph)
            self.plans = [(*took, str(node.args[2]), tuple(node.args[0].meta["val"].shape))
                          for node, took in found.items()]
            return found

        measuring.alternative, measuring.microseconds, backend.times = alternative_in_turn, microseconds_alone, times
        try:
            self.capture("fusekit")
        finally:
            measuring.alternative, measuring.microseconds, backend.times = alternative_of, microseconds_of, times_of
        if eager:
            with card.locked("cudnn"):
                self.capture("eager")
        for way in ways:
            self.capture(way)

    def capture(self, way):
        import torch
        named = {"backend": "fusekit"} if way == "fusekit" else WAYS.get(way)
        model = copy.deepcopy(self.network.half)
        self.kept.append(model)  # the graph reads its parameters
        if named is not None:
            torch._dynamo.reset()
            model = torch.compile(model, **named)
        begin = time.monotonic()
        self.graphs[way], y = captured(model, self.x)
        self.seconds[way] = time.monotonic() - begin
        self.errors[way] = ((y - self.expected).abs().max() / self.expected.abs().max()).item()

    def measure(self):
        times = {way: [] for way in self.graphs}
        calls = 4 if self.batch > 8 else 16
        with self.card.alone():
            for _ in range(REPEATS):
                for way, graph in self.graphs.items():
                    times[way].append(microseconds(graph, calls))
        self.times = {way: statistics.median(each) for way, each in times.items()}

    def is_right(self):
        return self.errors["fusekit"] <= ERRORS_OF_EAGER * self.errors["eager"]

    def __str__(self):
        own, order = self.times["fusekit"], ["eager", *self.ways, "fusekit"]
        left = sum(own > other for own, other, *_ in self.plans)
        return " ".join([*(f"{self.times[way]:9.1f}" for way in order),
                         f"{min(self.times[way] for way in self.ways) / own:7.2f} {self.times['eager'] / own:6.2f}",
                         f"{len(self.plans):6}{left:5}  ", *(f"{self.errors[way]:.1e}" for way in order),
                         *(f"{self.seconds[way]:5.0f}" for way in order[1:])])

    def details(self):
        """The times of plans, and the kernels of each way."""
        for own, other, text, shape in sorted(self.plans, key=lambda one: one[1] - one[0]):
            yield f"plan {own:8.1f} us, ATen {other:8.1f}: {'x'.join(map(str, shape))} {text}"
        for way in (*self.ways, "fusekit"):
            with self.card.alone():
                found = kernels_of(self.graphs[way])
            yield f"{way}: {len(found)} kernels, {sum(took for _, took in found):.1f} us"
            for name, took in found:
                yield f"  {took:8.1f} {name[:300]}"


def run_one(given):
    """The rows of a network, in this process."""
    import torch
    sys.path.insert(0, str(ROOT / "examples" / "pytorch"))
    import fusekit_torch  # noqa: F401
    torch.backends.cudnn.benchmark = not given.compile_only
    card, right, name = Card(given.folder), True, given.networks[0]
    try:
        with torch.no_grad():
            network = Network(name)
            for batch in given.batches:
                try:
                    row = Row(network, batch, given.ways, card, not given.compile_only)
                    if given.compile_only:
                        seconds = (f"{way} {each:.0f}" for way, each in row.seconds.items())
                        print(f"{name:20}{batch:6} seconds", *seconds, flush=True)
                        continue
                    row.measure()
                    print(f"{name:20}{batch:6} {row}", flush=True)
                    right = right and row.is_right()
                    if given.details:
                        with open(pathlib.Path(given.details) / f"{name}_{batch}.txt", "w") as file:
                            file.writelines(f"{line}\n" for line in row.details())
                except Exception as error:
                    right = False
                    traceback.print_exc()
                    print(f"{name:20}{batch:6} raises {type(error).__name__}: {str(error)[:200]}", flush=True)
    finally:
        card.leave()
    sys.exit(not right)


def run_all(given):
    """A process for each network."""
    import torch
    order = ["eager", *given.ways, "fusekit"]
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, {datetime.date.today()}, us, half, "
          f"channels_last, CUDA graphs, the median of {REPEATS}")
    print(f"{'network':20}{'batch':>6} ", " ".join(f"{way:>9}" for way in order), "best/fusekit eager/fusekit plans, "
          f"left to ATen, errors of {', '.join(order)}, seconds of {', '.join(order[1:])}", flush=True)
    begin, waiting, running, statuses = time.monotonic(), list(given.networks), {}, []
    with tempfile.TemporaryDirectory() as folder:
        def end_all():
            for process in list(running.values()):
                process.kill()
        timer = threading.Timer(given.seconds, end_all)
        timer.daemon = True
        timer.start()
        while waiting or running:
            while waiting and len(running) < given.jobs and time.monotonic() - begin < given.seconds:
                name = waiting.pop(0)
                command = [sys.executable, __file__, "--folder", folder, "--networks", name, "--batches",
                           *map(str, given.batches), "--ways", *given.ways]
                command += ["--details", given.details] if given.details else []
                running[name] = subprocess.Popen(command + ["--compile-only"] * given.compile_only)
            for name, process in list(running.items()):
                if process.poll() is not None:
                    statuses.append(process.returncode)
                    if process.returncode < 0:
                        for other in list(running.values()):
                            other.send_signal(signal.SIGCONT)  # it may have stopped them
                    (pathlib.Path(folder) / str(process.pid)).unlink(missing_ok=True)
                    if process.returncode < 0:
                        print(f"{name}: ended by signal {-process.returncode} after {time.monotonic() - begin:.0f} s")
                    del running[name]
            if time.monotonic() - begin >= given.seconds:
                waiting.clear()
            time.sleep(0.1)
        timer.cancel()
    print(f"{time.monotonic() - begin:.0f} s", flush=True)
    sys.exit(any(statuses))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--networks", nargs="+", default=NETWORKS)
    parser.add_argument("--batches", nargs="+", type=int, default=(64, 1))
    parser.add_argument("--ways", nargs="+", default=("compile", "frozen"), choices=WAYS,
                        help="Inductor's, beside eager and fusekit")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=36000)
    parser.add_argument("--details", metavar="FOLDER")
    parser.add_argument("--compile-only", action="store_true")
    parser.add_argument("--folder", help=argparse.SUPPRESS)  # of a process of one network
    given = parser.parse_args()
    run_one(given) if given.folder else run_all(given)


if __name__ == "__main__":
    main()
