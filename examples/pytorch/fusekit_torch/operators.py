# SPDX-License-Identifier: MIT
"""Meta kernels (output shapes) and gradients of the operators, for tracing and autograd.

A convolution's gradients with respect to x and weights are ATen's convolution_backward; the activation's derivative
before it is a plan. It is taken at the value that the activation was applied to: relu's sign is y's, and passthru has
none; for the others the backward pass computes it again, which costs time and keeps no memory. Batch norm's gradient
is one plan, derived from the forward plan's type. No operator here has a second derivative.
"""

import torch

ops = torch.ops.fusekit
conv_bias_act = ops.conv_bias_act
CLAMPS = ("passthru", "relu", "clipped_relu", "clamp")  # two bounds at most: csrc/activation.hpp


def batch_norm_act(x, scale, shift, running_mean, running_variance, training=False, momentum=0.1, epsilon=1e-5,
                   activation="relu", alpha=None, beta=None, gamma=None):
    """nn.functional.batch_norm and an activation. In training the running statistics, where given, are moved here,
    because PyTorch registers gradients for operators that change no argument, and a channel has 2 values or more."""
    if not training:
        return ops.batch_norm_act(x, scale, shift, running_mean, running_variance, epsilon, activation, alpha, beta,
                                  gamma)
    require_images(x)
    if x.shape[0] * x.shape[2] * x.shape[3] < 2:
        raise ValueError(f"Expected more than 1 value per channel when training, got input size {x.size()}")
    y, mean, _, variance = ops.batch_norm_act_training(x, scale, shift, epsilon, activation, alpha, beta, gamma)
    if running_mean is not None:
        with torch.no_grad():
            running_mean.lerp_(mean, momentum)
            running_variance.lerp_(variance, momentum)
    return y


def batch_norm_act_training(x, scale, shift, epsilon=1e-5, activation="relu", alpha=None, beta=None, gamma=None):
    """y, and the batch's mean and inverse deviation."""
    return ops.batch_norm_act_training(x, scale, shift, epsilon, activation, alpha, beta, gamma)[:3]


def new_like(x, shape):
    """New tensor of x's type, channels last if x is channels last: the rule of csrc/operators.cpp."""
    channels_last = x.shape[1] > 1 and x.stride(1) == 1
    order = torch.channels_last if channels_last else torch.contiguous_format
    return torch.empty(shape, dtype=x.dtype, device=x.device, memory_format=order)


def require_images(x):
    if x.dim() != 4:
        raise RuntimeError(f"fusekit: x: expected 4 modes, N x C x H x W, got {x.dim()}")


def pair(value):
    return [value, value] if isinstance(value, int) else list(value) * (3 - len(value))


def fake_conv(x, weight, bias, residual=None, stride=(1, 1), padding=(0, 0), dilation=(1, 1), groups=1,
              activation="relu", alpha=None, beta=None, gamma=None):
    require_images(x)
    stride, padding, dilation = pair(stride), pair(padding), pair(dilation)
    extents = [(x.shape[2 + i] + 2 * padding[i] - dilation[i] * (weight.shape[2 + i] - 1) - 1) // stride[i] + 1
               for i in range(2)]
    return new_like(x, (x.shape[0], weight.shape[0], *extents))


def fake_norm(x, scale, shift, mean, variance, *rest, **named):
    require_images(x)
    return new_like(x, x.shape)


def fake_norm_training(x, scale, shift, *rest, **named):
    require_images(x)
    return new_like(x, x.shape), *(torch.empty_like(scale) for _ in range(3))


def fake_norm_backward(dy, x, scale, *rest, **named):
    return new_like(x, x.shape), torch.empty_like(scale), torch.empty_like(scale)


def fake_max_pool(x):
    return new_like(x, (x.shape[0], x.shape[1], (x.shape[2] + 1) // 2, (x.shape[3] + 1) // 2))


def fake_statistics(x):
    require_images(x)
    return torch.empty(2 * x.shape[1] + 1, dtype=torch.float32, device=x.device)


def fake_merge(gathered, running_mean, running_variance, momentum):
    return (*(torch.empty_like(running_mean) for _ in range(2)), gathered.new_empty(1),
            *(torch.empty_like(running_mean) for _ in range(2)))


FAKES = {
    "conv_bias_act": fake_conv,
    "batch_norm_act": fake_norm,
    "batch_norm_act_training": fake_norm_training,
    "batch_norm_act_backward": fake_norm_backward,
    "channel_statistics": fake_statistics,
    "merge_statistics": fake_merge,
    "batch_norm_act_sums": lambda dy, x, *rest, **named: torch.empty(2, x.shape[1], device=x.device),
    "batch_norm_act_synchronized_backward": lambda dy, x, *rest, **named: new_like(x, x.shape),
    "activation_backward": lambda dy, x, *rest, **named: new_like(x, x.shape),
    "max_pool_3x3": fake_max_pool,
    "global_average": lambda x: new_like(x, (x.shape[0], x.shape[1], 1, 1)),
}


def save_conv(ctx, inputs, output):
    x, weight, bias, residual, *ctx.geometry, ctx.groups, activation, alpha, beta, gamma = inputs
    ctx.activation = (activation, alpha, beta, gamma)
    ctx.addends = [(bias.shape, bias.dtype, bias.dim() == 1), residual is not None and (residual.shape, residual.dtype)]
    again = activation not in ("passthru", "relu")
    ctx.save_for_backward(x, weight, bias if again else None, residual if again else None,
                          output if activation == "relu" else None)


def summed(dy, shape, dtype, of_channels=False):
    """The gradient of a tensor that broadcasts from `shape` to dy's; `of_channels`: its only mode is y's channels."""
    full = (1, *shape, 1, 1) if of_channels else (*[1] * (4 - len(shape)), *shape)
    modes = [mode for mode in range(4) if full[mode] == 1 and dy.shape[mode] != 1]
    return (dy.sum(modes, dtype=torch.float32) if modes else dy).reshape(shape).to(dtype)


def conv_backward(ctx, dy):
    x, weight, bias, residual, y = ctx.saved_tensors
    stride, padding, dilation = ctx.geometry
    if ctx.activation[0] != "passthru":
        if y is None:
            y = ops.conv_bias_act(x, weight, bias, residual, stride, padding, dilation, ctx.groups, "passthru")
        dy = ops.activation_backward(dy.to(x.dtype), y, *ctx.activation)
    needs = (*ctx.needs_input_grad, False)[:4]  # of a residual that was left out there is none
    dx = dweight = None
    if needs[0] or needs[1]:
        dx, dweight, _ = torch.ops.aten.convolution_backward(
            dy, x, weight, None, pair(stride), pair(padding), pair(dilation), False, [0, 0], ctx.groups,
            [needs[0], needs[1], False])
    dbias, dresidual = (summed(dy, *of) if need else None for of, need in zip(ctx.addends, needs[2:]))
    return (dx, dweight, dbias, dresidual, *[None] * 8)


def norm_gradient(dy, x, scale, shift, mean, spread, training, epsilon, activation):
    """dx, dscale and dshift. An activation that is not a clamp is a separate step."""
    if activation[0] not in CLAMPS:
        variance = spread.pow(-2) - epsilon if training else spread
        before = ops.batch_norm_act(x, scale, shift, mean, variance, epsilon, "passthru")
        dy, activation = ops.activation_backward(dy, before, *activation), ("passthru", None, None, None)
    return ops.batch_norm_act_backward(dy, x, scale, shift, mean, spread, training, epsilon, *activation)


def save_norm(ctx, inputs, output):
    x, scale, shift, mean, variance, ctx.epsilon, *ctx.activation = inputs
    ctx.save_for_backward(x, scale, shift, mean, variance)


def norm_backward(ctx, dy):
    if ctx.needs_input_grad[3] or ctx.needs_input_grad[4]:
        raise RuntimeError("fusekit: batch_norm_act has gradients of x, scale and shift, and none of mean and variance: "
                           "where these are the batch's own, batch_norm_act_training has x's whole gradient")
    gradients = norm_gradient(dy, *ctx.saved_tensors, False, ctx.epsilon, ctx.activation)
    return (*gradients, *[None] * 7)


def save_norm_training(ctx, inputs, output):
    x, scale, shift, ctx.epsilon, *ctx.activation = inputs
    _, mean, inverse_deviation, variance = output
    ctx.mark_non_differentiable(mean, inverse_deviation, variance)
    ctx.save_for_backward(x, scale, shift, mean, inverse_deviation)


def norm_training_backward(ctx, dy, *_):
    gradients = norm_gradient(dy, *ctx.saved_tensors, True, ctx.epsilon, ctx.activation)
    return (*gradients, *[None] * 5)


def without_gradient(name, why):
    def backward(ctx, *_):
        raise RuntimeError(f"fusekit: {name} has no gradient: {why}")
    return backward


if hasattr(torch.library, "register_autograd"):  # PyTorch 2.4
    for name, fake in FAKES.items():
        torch.library.register_fake(f"fusekit::{name}", fake)
    for name, backward, save in (("conv_bias_act", conv_backward, save_conv),
                                 ("batch_norm_act", norm_backward, save_norm),
                                 ("batch_norm_act_training", norm_training_backward, save_norm_training)):
        torch.library.register_autograd(f"fusekit::{name}", backward, setup_context=save)
    for name, why in (("batch_norm_act_backward", "it is one, and the library has no second derivatives"),
                      ("activation_backward", "it is one, and the library has no second derivatives"),
                      ("batch_norm_act_sums", "it is one, and the library has no second derivatives"),
                      ("batch_norm_act_synchronized_backward", "it is one, and the library has no second derivatives"),
                      ("channel_statistics", "SyncBatchNorm has its gradient"),
                      ("merge_statistics", "SyncBatchNorm has its gradient"),
                      ("max_pool_3x3", "a pool's gradient has more elements than its dy; use max_pool2d to train"),
                      ("global_average", "a pool's gradient has more elements than its dy; use mean((2, 3)) to train")):
        torch.library.register_autograd(f"fusekit::{name}", without_gradient(name, why))
