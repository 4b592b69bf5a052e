# SPDX-License-Identifier: MIT
"""Batch norm whose statistics in training are those of all processes' images: SyncBatchNorm, as torch.nn.SyncBatchNorm.

Forward each process writes its mean, variance and count of each channel, 2 C + 1 floats, which are gathered from all
processes and merged; counts, means and variances of parts cannot be added up. Backward 2 C sums are added over all
processes. Processes may have different numbers of images, or none.
"""

import torch
from torch import distributed
from torch.autograd.function import once_differentiable

from .operators import CLAMPS

ops = torch.ops.fusekit
ALONE = object()  # a group of this process


def size_of(group):
    """The number of processes; 1 without torch.distributed."""
    if group is ALONE or not distributed.is_available() or not distributed.is_initialized():
        return 1
    size = distributed.get_world_size(group)
    if size < 1:
        raise ValueError("process_group: expected a group that this process is in, got another")
    return size


def gather(row, group):
    """A row of each process, P x row."""
    size = size_of(group)
    if size == 1:
        return row[None]
    rows = row.new_empty(size, row.shape[0])
    if distributed.get_backend(group) == "nccl":
        distributed.all_gather_into_tensor(rows, row, group=group)
    else:
        distributed.all_gather(list(rows), row, group=group)
    return rows


class Synchronized(torch.autograd.Function):
    """y, and the running statistics moved."""

    @staticmethod
    def forward(ctx, x, scale, shift, running_mean, running_variance, momentum, epsilon, group, activation):
        mean, variance, count, *running = ops.merge_statistics(
            gather(ops.channel_statistics(x), group), running_mean, running_variance, momentum)
        ctx.save_for_backward(x, scale, shift, mean, variance, count)
        ctx.epsilon, ctx.group, ctx.activation = epsilon, group, activation
        ctx.mark_non_differentiable(*running)
        return (ops.batch_norm_act(x, scale, shift, mean, variance, epsilon, *activation), *running)

    @staticmethod
    @once_differentiable
    def backward(ctx, dy, *_):
        x, scale, shift, mean, variance, count = ctx.saved_tensors
        activation, dy = ctx.activation, dy.to(x.dtype)
        if activation[0] not in CLAMPS:
            before = ops.batch_norm_act(x, scale, shift, mean, variance, ctx.epsilon, "passthru")
            dy, activation = ops.activation_backward(dy, before, *activation), ("passthru",)
        norm = (dy, x, scale, shift, mean, variance)
        own = ops.batch_norm_act_sums(*norm, ctx.epsilon, *activation)
        dx = None
        if ctx.needs_input_grad[0]:
            sums = own
            if size_of(ctx.group) > 1:
                sums = own.clone()
                distributed.all_reduce(sums, group=ctx.group)
            dx = ops.batch_norm_act_synchronized_backward(*norm, sums, count, ctx.epsilon, *activation)
        return (dx, *own, *[None] * 6)


class SyncBatchNorm(torch.nn.modules.batchnorm._BatchNorm):
    """torch.nn.SyncBatchNorm, followed by an activation: y = activation(batch norm(x)), with the statistics, in
    training, of all processes of `process_group` (None: all). x: N x C x ..., float, half or bfloat16. Raises
    ValueError, before processes communicate, where C is not num_features or this process is not in process_group. In
    eval mode, gradients need PyTorch 2.4 or newer."""

    def __init__(self, num_features, eps=1e-5, momentum=0.1, affine=True, track_running_stats=True, process_group=None,
                 device=None, dtype=None, *, activation="passthru", alpha=None, beta=None, gamma=None):
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device=device, dtype=dtype)
        self.process_group, self.activation = process_group, (activation, alpha, beta, gamma)

    def _check_input_dim(self, x):
        if not 2 <= x.dim() <= 5:
            raise ValueError(f"expected 2 to 5 modes, N x C x ..., got {x.dim()}")
        if x.shape[1] != self.num_features:
            raise ValueError(f"x: expected {self.num_features} channels (num_features), got {x.shape[1]}")

    def forward(self, x):
        self._check_input_dim(x)
        images = x if x.dim() == 4 else x[:, :, None, None] if x.dim() == 2 else x.flatten(2)[..., None]
        scale = self.weight.float() if self.affine else torch.ones(x.shape[1], device=x.device)
        shift = self.bias.float() if self.affine else torch.zeros(x.shape[1], device=x.device)
        tracked = self.running_mean is not None
        if not self.training and tracked:
            y = ops.batch_norm_act(images, scale, shift, self.running_mean.float(), self.running_var.float(), self.eps,
                                   *self.activation)
            return y if x.dim() == 4 else y.reshape(x.shape)
        group = self.process_group if self.training else ALONE
        if self.training and size_of(group) == 1 and x.numel() == x.shape[1]:
            raise ValueError(f"Expected more than 1 value per channel when training, got input size {x.size()}")
        moves = self.training and tracked and self.track_running_stats
        momentum = 0.0
        if moves and self.momentum is not None:
            momentum = self.momentum
        elif moves and self.num_batches_tracked is not None:
            momentum = 1 / (float(self.num_batches_tracked) + 1)
        running = [each.float() for each in (self.running_mean, self.running_var)] if tracked else [shift, scale]
        y, *moved = Synchronized.apply(images, scale, shift, *(each.detach() for each in running), momentum, self.eps,
                                       group, self.activation)
        if moves:
            with torch.no_grad():
                self.running_mean.copy_(moved[0])
                self.running_var.copy_(moved[1])
                if self.num_batches_tracked is not None:
                    self.num_batches_tracked.add_(1)
        return y if x.dim() == 4 else y.reshape(x.shape)

    @classmethod
    def convert_sync_batchnorm(cls, module, process_group=None):
        """The module with every BatchNorm1d, BatchNorm2d and BatchNorm3d in it replaced by a SyncBatchNorm that has its
        parameters and buffers. Classes derived from them are not replaced."""
        result = module
        if type(module) in (torch.nn.BatchNorm1d, torch.nn.BatchNorm2d, torch.nn.BatchNorm3d, torch.nn.SyncBatchNorm):
            result = cls(module.num_features, module.eps, module.momentum, module.affine, module.track_running_stats,
                         process_group)
            result.weight, result.bias = module.weight, module.bias
            for name in ("running_mean", "running_var", "num_batches_tracked"):
                setattr(result, name, getattr(module, name))
            result.training = module.training
        for name, child in module.named_children():
            result.add_module(name, cls.convert_sync_batchnorm(child, process_group))
        return result
