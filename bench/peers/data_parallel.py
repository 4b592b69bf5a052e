#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Times a training step of ResNet-50 on 1 and 2 GPUs: DistributedDataParallel with fusekit_torch.SyncBatchNorm beside
torch.nn.SyncBatchNorm, and one GPU with BatchNorm2d.

Half under autocast with a constant loss scale, channels_last, SGD with momentum, batch 64 per GPU and, on one GPU, 128;
images are random and on the GPU. Each is timed eagerly and, where the capture succeeds, as one CUDA graph of a step.
Prints images per second, the median of repeats, and their ratios; every process of a run starts at a barrier.
"""

import argparse
import datetime
import os
import pathlib
import statistics
import sys
import tempfile
import time

import torch
import torchvision
from torch import distributed, multiprocessing, nn

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "examples" / "pytorch"))
import fusekit_torch  # noqa: E402

SCALE = 1024.0  # of the loss, against underflow of half gradients
NORMS = {"fusekit": fusekit_torch.SyncBatchNorm.convert_sync_batchnorm,
         "torch": nn.SyncBatchNorm.convert_sync_batchnorm, "alone": lambda model: model}


def step_of(norm, batch, device):
    """A function that trains a step on one process's images, and the model."""
    torch.manual_seed(1)
    model = NORMS[norm](torchvision.models.resnet50()).to(device, memory_format=torch.channels_last)
    if distributed.get_world_size() > 1:
        model = nn.parallel.DistributedDataParallel(model, device_ids=[device.index], gradient_as_bucket_view=True,
                                                    static_graph=False, broadcast_buffers=False)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1 / SCALE, momentum=0.9, foreach=True)
    x = torch.randn(batch, 3, 224, 224, device=device).contiguous(memory_format=torch.channels_last)
    labels = torch.randint(1000, (batch,), device=device)

    def step():
        optimizer.zero_grad(set_to_none=False)
        with torch.autocast("cuda", torch.float16, cache_enabled=False):
            loss = nn.functional.cross_entropy(model(x), labels) * SCALE
        loss.backward()
        optimizer.step()
        return loss
    return step


def seconds(step, times):
    """The median duration of a step of runs of `times` steps."""
    durations = []
    for _ in range(3):
        distributed.barrier()
        torch.cuda.synchronize()
        begin = time.perf_counter()
        for _ in range(times):
            step()
        torch.cuda.synchronize()
        durations.append((time.perf_counter() - begin) / times)
    return statistics.median(durations)


def run(rank, world, folder, cases, results):
    os.environ["TORCH_NCCL_ASYNC_ERROR_HANDLING"] = "0"  # its events would end a capture
    device = torch.device("cuda", rank)
    torch.cuda.set_device(device)
    torch.backends.cudnn.benchmark = True
    distributed.init_process_group("nccl", init_method=f"file://{folder}/{world}", rank=rank, world_size=world,
                                   timeout=datetime.timedelta(seconds=60))
    for norm, batch in cases:
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            step = step_of(norm, batch, device)
            for _ in range(12):  # DistributedDataParallel rebuilds its buckets in the first 11
                loss = step()
            taken = {"eager": seconds(step, 10)}
            try:
                graph = torch.cuda.CUDAGraph()
                torch.cuda.synchronize()
                with torch.cuda.graph(graph, stream=stream, capture_error_mode="thread_local"):
                    loss = step()
                taken["graph"] = seconds(graph.replay, 20)
            except RuntimeError as error:
                if rank == 0:
                    print(f"  {world} GPUs, {norm}: no graph: {str(error).splitlines()[0]}", flush=True)
        if rank == 0:
            for how, duration in taken.items():
                results.put((world, norm, batch, how, world * batch / duration, loss.item() / SCALE))
        del step, loss
        torch.cuda.empty_cache()
    distributed.barrier()
    if rank == 0:
        results.put(None)
    os._exit(0)  # a process group whose collectives were captured may wait at its end


def measure(world, cases):
    context = multiprocessing.get_context("spawn")
    results, rows = context.Queue(), []
    with tempfile.TemporaryDirectory() as folder:
        processes = [context.Process(target=run, args=(rank, world, folder, cases, results)) for rank in range(world)]
        for each in processes:
            each.start()
        try:
            while (row := results.get(timeout=120)) is not None:
                rows.append(row)
                print("{} GPU(s)  {:8}  batch {:4} each  {:6} {:9.0f} images/s  loss {:.3f}".format(*row), flush=True)
        finally:
            time.sleep(1)
            for each in processes:
                each.kill()
    return {(norm, batch, how): rate for _, norm, batch, how, rate, _ in rows}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gpus", type=int, default=min(2, torch.cuda.device_count()))
    arguments = parser.parse_args()
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, {datetime.date.today()}")
    one = measure(1, [("alone", 64), ("alone", 128), ("fusekit", 64)])
    if arguments.gpus < 2:
        return
    several = measure(arguments.gpus, [("fusekit", 64), ("torch", 64)])
    for (norm, batch, how), rate in several.items():
        for base in (64, 128):
            if ("alone", base, how) in one:
                print(f"{arguments.gpus} GPUs, {norm}, {how}: {rate / one['alone', base, how]:.3f} times one GPU with "
                      f"batch {base}")


if __name__ == "__main__":
    main()
