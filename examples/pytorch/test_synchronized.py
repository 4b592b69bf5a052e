#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""SyncBatchNorm in two processes against BatchNorm over the whole batch in double, on the CPU by gloo.

With a GPU also there, by gloo, and with 2 GPUs on one each, by NCCL.
"""

import copy
import datetime
import tempfile
import unittest

import torch
from torch import distributed, multiprocessing, nn

import fusekit_torch

PROCESSES = 2
BOUND = 2e-5  # error of a float result, of the largest value


def agree(result, expected, what):
    assert tuple(result.shape) == tuple(expected.shape), (what, result.shape, expected.shape)
    if expected.numel():
        error = (result.detach().cpu().double() - expected.detach()).abs().max().item()
        least = max(expected.abs().max().item(), 1e-2)
        assert error <= BOUND * least, (what, error / least)  # NaN is not


def compare(device, rank, model, shape, images, name, activation=None, mean=0.0):
    """Trains `model` for two steps, with images[r] of x's images in process r, and evaluates it; compares with its
    double copy over all of x. `activation` follows the copy."""
    torch.manual_seed(3)
    reference = copy.deepcopy(model).double()
    for module in model.modules():
        if isinstance(module, nn.modules.batchnorm._BatchNorm) and module.affine:
            with torch.no_grad():
                module.weight.uniform_(0.5, 2)
                module.bias.uniform_(-1, 1)
    reference.load_state_dict(model.state_dict())
    own = fusekit_torch.SyncBatchNorm.convert_sync_batchnorm(model).to(device)
    assert not any(type(each) in (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d) for each in own.modules())
    if activation:
        own.activation, after = (activation[0], None, None, None), activation[1]
    trained = own
    if any(each.requires_grad for each in own.parameters()) and all(images):
        gpus = None if device.index is None else [device.index]
        trained = nn.parallel.DistributedDataParallel(own, device_ids=gpus)
    first = sum(images[:rank])
    part = slice(first, first + images[rank])
    for step in range(2):
        x = torch.randn(sum(images), *shape) + mean
        factor = torch.randn(reference(x.double()).shape) if step == 0 else factor
        reference.load_state_dict({key: value.cpu().double() for key, value in own.state_dict().items()})
        whole = x.double().requires_grad_()
        reference.zero_grad(), own.zero_grad()
        y = reference(whole)
        y = after(y) if activation else y
        (y * factor.double()).sum().backward()
        given = x[part].to(device).requires_grad_()
        result = trained(given)
        (result * factor[part].to(device)).sum().backward()
        agree(result, y[part], (name, "y"))
        agree(given.grad, whole.grad[part], (name, "dx"))
        for (key, parameter), other in zip(own.named_parameters(), reference.parameters()):
            gradient = parameter.grad * PROCESSES  # DistributedDataParallel divides by the number of processes
            if trained is own:
                gradient = parameter.grad.clone()
                distributed.all_reduce(gradient)
            agree(gradient, other.grad, (name, key))
        for (key, buffer), other in zip(own.named_buffers(), reference.buffers()):
            agree(buffer, other.double(), (name, key))
    own.eval(), reference.eval()
    y = reference(x[part].double())
    agree(own(x[part].to(device)), after(y) if activation else y, (name, "evaluated"))


def check(device, rank):
    network = nn.Sequential(nn.Conv2d(3, 8, 3, bias=False), nn.BatchNorm2d(8), nn.ReLU(inplace=True),
                            nn.Conv2d(8, 5, 3, bias=False), nn.Sequential(nn.BatchNorm2d(5)), nn.ReLU())
    compare(device, rank, network, (3, 9, 7), (5, 2), "network")
    compare(device, rank, nn.BatchNorm2d(6), (6, 3, 5), (4, 0), "a process without images")
    compare(device, rank, nn.BatchNorm2d(3), (3, 4, 4), (1, 2), "large means", mean=100.0)
    compare(device, rank, nn.BatchNorm2d(4, momentum=None), (4, 5, 3), (2, 3), "mean of all batches")
    compare(device, rank, nn.BatchNorm2d(4, affine=False), (4, 2, 3), (3, 1), "no parameters")
    compare(device, rank, nn.BatchNorm2d(4, track_running_stats=False), (4, 2, 3), (3, 1), "no running statistics")
    compare(device, rank, nn.BatchNorm1d(7), (7,), (1, 3), "a process with one value per channel")
    compare(device, rank, nn.BatchNorm1d(7), (7, 5), (1, 2), "signals")
    compare(device, rank, nn.BatchNorm3d(2), (2, 3, 2, 4), (1, 2), "volumes")
    for name, function in (("silu", nn.functional.silu), ("relu", torch.relu)):
        compare(device, rank, nn.BatchNorm2d(6), (6, 4, 5), (2, 3), name, (name, function))


def check_mistakes(device, rank):
    """A process whose call is refused has sent nothing, so that one process alone may make a mistake."""
    outside = fusekit_torch.SyncBatchNorm(3, process_group=distributed.new_group([0])).to(device)
    x = torch.randn(2, 3, 4, 4, device=device)
    if rank == 0:
        assert outside(x).shape == x.shape
    else:
        refused(lambda: outside(x), ValueError, "process_group: expected a group that this process is in, got another")
    norm = fusekit_torch.SyncBatchNorm(3).to(device)
    refused(lambda: norm(torch.randn(2, 3 + 1 + rank, 4, 4, device=device)), ValueError,
            f"x: expected 3 channels (num_features), got {4 + rank}")


def refused(call, error, sentence):
    try:
        call()
    except error as given:
        assert sentence in str(given), given
    else:
        raise AssertionError(f"accepted: {sentence}")


def run(rank, folder, device, backend):
    """One process of two, in which no other group exists."""
    distributed.init_process_group(backend, init_method=f"file://{folder}/{backend}", rank=rank, world_size=PROCESSES,
                                   timeout=datetime.timedelta(seconds=60))
    try:
        device = torch.device(device, rank % torch.cuda.device_count()) if device == "cuda" else torch.device(device)
        if device.type == "cuda":
            torch.cuda.set_device(device)
            torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
        check(device, rank)
        check_mistakes(device, rank)
    finally:
        distributed.destroy_process_group()


class TwoProcesses(unittest.TestCase):
    def run_processes(self, *where):
        """This process and another."""
        with tempfile.TemporaryDirectory() as folder:
            other = multiprocessing.get_context("spawn").Process(target=run, args=(1, folder, *where))
            other.start()
            try:
                run(0, folder, *where)
                other.join(60)
                self.assertEqual(other.exitcode, 0)
            finally:
                other.kill()

    @unittest.skipUnless(distributed.is_available() and getattr(distributed, "is_gloo_available", lambda: True)(),
                         "no gloo")
    def test_cpu(self):
        self.run_processes("cpu", "gloo")

    @unittest.skipUnless(torch.cuda.device_count() >= PROCESSES, "no two GPUs")
    def test_gpus(self):
        self.run_processes("cuda", "nccl")

    @unittest.skipUnless(torch.cuda.is_available() and distributed.is_available(), "no GPU")
    def test_one_gpu(self):
        self.run_processes("cuda", "gloo")


class OneProcess(unittest.TestCase):
    def test_without_distributed(self):
        torch.manual_seed(1)
        norm = nn.BatchNorm2d(5)
        own, x = fusekit_torch.SyncBatchNorm.convert_sync_batchnorm(copy.deepcopy(norm)), torch.randn(3, 5, 4, 2)
        agree(own(x), norm.double()(x.double()), "y")
        agree(own.running_var, norm.running_var, "running_var")
        with self.assertRaisesRegex(ValueError, "more than 1 value per channel"):
            own(torch.zeros(1, 5, 1, 1))
        with self.assertRaisesRegex(ValueError, "2 to 5 modes, N x C x ..., got 1"):
            own(torch.zeros(5))

    def test_second_derivatives_are_refused(self):
        x = torch.randn(4, 3, 5, 5, requires_grad=True)
        y = fusekit_torch.SyncBatchNorm(3)(x)
        gradient, = torch.autograd.grad((y ** 3).sum(), x, create_graph=True)
        with self.assertRaisesRegex(RuntimeError, "once_differentiable"):
            gradient.square().sum().backward()

    def test_a_refused_call_counts_no_batch(self):
        norm = fusekit_torch.SyncBatchNorm(3)
        with self.assertRaisesRegex(ValueError, r"x: expected 3 channels \(num_features\), got 4"):
            norm(torch.randn(2, 4, 3, 3))
        self.assertEqual(int(norm.num_batches_tracked), 0)
        norm.num_batches_tracked = None
        norm(torch.randn(2, 3, 3, 3))

    def test_running_statistics_move_as_those_of_batch_norm(self):
        x = torch.randn(4, 3, 5, 2) + 2
        for momentum, change in ((0.1, {"track_running_stats": False}), (None, {"num_batches_tracked": None}),
                                 (0.1, {"num_batches_tracked": None})):
            norm = nn.BatchNorm2d(3, momentum=momentum)
            for name, value in change.items():
                setattr(norm, name, value)
            own = fusekit_torch.SyncBatchNorm.convert_sync_batchnorm(copy.deepcopy(norm))
            norm, what = norm.double(), (momentum, change)
            agree(own(x), norm(x.double()), (what, "y"))
            for name in ("running_mean", "running_var"):
                agree(getattr(own, name), getattr(norm, name), (what, name))
            self.assertEqual(own.num_batches_tracked, norm.num_batches_tracked, what)
            own.eval(), norm.eval()
            agree(own(x), norm(x.double()), (what, "evaluated"))

    def test_refusals_are_sentences(self):
        ops, zeros = torch.ops.fusekit, torch.zeros
        for sentence, call in (
                ("x: expected 4 modes, N x C x H x W, got 2 x 3", lambda: ops.channel_statistics(zeros(2, 3))),
                ("gathered: expected rows of 2 C . 1 floats, got 2 x 4",
                 lambda: ops.merge_statistics(zeros(2, 4), zeros(2), zeros(2), 0.1)),
                (r"running_variance: expected 2 \(C\), got 3",
                 lambda: ops.merge_statistics(zeros(2, 5), zeros(2), zeros(3), 0.1))):
            with self.assertRaisesRegex(RuntimeError, sentence):
                call()


if __name__ == "__main__":
    unittest.main()
