#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Times networks with torch.compile(backend="fusekit") against PyTorch: eager, torch.compile, and torch.compile with
Inductor's freezing, which folds batch norm.

    compiled.py [--networks resnet50 ...] [--batches 1 64] [--ways compile frozen] [--measure] [--after FILE]

Half, channels_last, inference, random weights. All run in CUDA graphs, in turn, in one process; the median of repeats,
with cuDNN's benchmark mode on. Errors are the largest differences from the network in float; the exit status is 1 if
the backend's exceeds four times eager's. FUSEKIT_JIT_LIBRARY names libfusekit_jit; networks are torchvision's. With
--after several processes compile at once: each writes FILE.PID when its graphs are ready, waits for FILE, and is timed
while it has a lock. It has the lock in eager's first run too, in which cuDNN times its algorithms.
"""

import argparse
import contextlib
import copy
import datetime
import fcntl
import itertools
import os
import pathlib
import statistics
import sys
import time

os.environ.setdefault("FUSEKIT_TORCH_LIBRARY", "")  # no extension is built
import torch  # noqa: E402
import torchvision  # noqa: E402
from torch import nn  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "examples" / "pytorch"))
import fusekit_torch  # noqa: E402

NETWORKS = ("resnet18", "resnet50", "mobilenet_v2", "vgg16_bn", "efficientnet_b0", "convnext_tiny")
REPEATS = 11


def network(name):
    """The network in float and in half, with random weights and statistics of random images."""
    torch.manual_seed(1)
    model = getattr(torchvision.models, name)(weights=None).cuda().train()
    for module in model.modules():
        if isinstance(module, nn.BatchNorm2d):
            module.momentum = None
            nn.init.uniform_(module.weight, 0.5, 1.0), nn.init.uniform_(module.bias, -0.2, 0.2)
    with torch.no_grad():
        model(torch.randn(32, 3, 224, 224, device="cuda"))
    model.eval()
    return model, copy.deepcopy(model).half().to(memory_format=torch.channels_last)


def captured(function, x):
    """A CUDA graph of function(x), and its result."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            function(x)
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = function(x)
    graph.replay()
    torch.cuda.synchronize()
    return graph, y


def microseconds(graph, calls):
    first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    first.record()
    for _ in range(calls):
        graph.replay()
    last.record(), last.synchronize()
    return first.elapsed_time(last) * 1000 / calls


def capture_eager(batch, kept, model, exact):
    """x, the result in float, and eager's graph and result. `kept`: the models whose parameters the graphs read."""
    x = torch.randn(batch, 3, 224, 224, device="cuda").half().contiguous(memory_format=torch.channels_last)
    kept.append(copy.deepcopy(model))
    return x, exact(x.float()), captured(kept[-1], x)


def capture_all(batch, kept, model, exact, ways, lock):
    """The graphs of a network by way, and their errors."""
    with lock():
        x, expected, (graph, y) = capture_eager(batch, kept, model, exact)
    graphs, results, calls = {"eager": graph}, [y], 0
    for way, named in ways.items():
        torch._dynamo.reset()
        before = fusekit_torch.run.calls
        kept.append(copy.deepcopy(model))
        graphs[way], y = captured(torch.compile(kept[-1], **named), x)
        calls = (fusekit_torch.run.calls - before) // 4
        results.append(y)
    return graphs, [(y - expected).abs().max().item() / expected.abs().max().item() for y in results], calls


def timed(name, batch, graphs, errors, calls):
    times = {way: [] for way in graphs}
    for _ in range(REPEATS):
        for way, graph in graphs.items():
            times[way].append(microseconds(graph, 4 if batch > 8 else 16))
    middle = {way: statistics.median(each) for way, each in times.items()}
    best = min(middle[way] for way in middle if way not in ("eager", "fusekit"))
    print(f"{name:18}{batch:6}", *(f"{each:9.1f}" for each in middle.values()),
          f"  {best / middle['fusekit']:.2f}, {calls}, {' '.join(f'{each:.1e}' for each in errors)}", flush=True)


@contextlib.contextmanager
def locked(path):
    """A lock among the processes that have the same FILE."""
    if path is None:
        yield
        return
    with open(f"{path}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
        torch.cuda.synchronize()


def wait_for(path):
    pathlib.Path(f"{path}.{os.getpid()}").touch()
    while not os.path.exists(path):
        time.sleep(0.05)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--networks", nargs="*", default=NETWORKS)
    parser.add_argument("--batches", nargs="*", type=int, default=(1, 64))
    parser.add_argument("--ways", nargs="+", default=("compile", "frozen"), help="Inductor's, beside eager and fusekit")
    parser.add_argument("--measure", action="store_true", help="the backend's option fusekit.measure")
    parser.add_argument("--after", metavar="FILE")
    given = parser.parse_args()
    torch.backends.cudnn.benchmark = True
    ways = {"compile": {}, "frozen": {"options": {"freezing": True}}}
    ways = {**{way: ways[way] for way in given.ways},
            "fusekit": {"backend": "fusekit", "options": {"fusekit.measure": given.measure}}}
    rows, kept, models = [], [], {}

    def lock():
        return locked(given.after)
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, {datetime.date.today()}, us, half, "
          f"channels_last, CUDA graphs, the median of {REPEATS}")
    print(f"{'network':18}{'batch':>6}", *(f"{way:>9}" for way in ("eager", *ways)),
          "  best compile / fusekit, plans' calls, errors", flush=True)
    for batch, name in itertools.product(given.batches, given.networks):
        with torch.no_grad():
            if name not in models:
                with lock():
                    models[name] = network(name)
            exact, model = models[name]
            rows.append((name, batch, *capture_all(batch, kept, model, exact, ways, lock)))
        if given.after is None:
            timed(*rows[-1])
    if given.after is not None:
        wait_for(given.after)
        with lock():
            for row in rows:
                timed(*row)
    sys.exit(any(not errors[-1] <= 4 * errors[0] for _, _, _, errors, _ in rows))


if __name__ == "__main__":
    main()
