# SPDX-License-Identifier: MIT
"""Batch norm of training [+ residual] + activation, and its gradient: torch.ops.fusekit_jit.norm_training,
norm_training_ and norm_backward.

    y = f(scale * (x - mean) * inverse_deviation + shift + residual), with the batch's statistics per channel

x is N x C x H x W, dense, contiguous or channels last; y, dx and the residual's gradient have its strides. scale and
shift are C floats or None, for 1 and 0. `numbers`: the activation's alpha, beta and gamma. norm_training returns y,
mean, inverse deviation and unbiased variance; norm_training_ moves running statistics by `momentum` instead of returning
the variance.
"""

import torch

from . import bound, reference, slopes
from .run import register
from .steps import Step

SCALE, SHIFT, SAVED_MEAN, SAVED_INVERSE_DEVIATION, RUNNING_MEAN, RUNNING_VARIANCE = 3, 4, 7, 8, 9, 10
Z, FORWARD_X, SCALE_GRADIENT, SHIFT_GRADIENT, OUTPUT = 2, 11, 12, 13, 14


def forward_steps(epsilon, momentum, residual, activation, numbers):
    """The plan's operators."""
    sum_ = [Step("residual", numbers=(1.0,))] if residual else []
    return [Step("norm_training", numbers=(epsilon, momentum)), *sum_, Step("activation", activation, tuple(numbers))]


def backward_steps(epsilon, residual, activation, numbers):
    sum_ = [Step("residual_backward", numbers=(1.0,))] if residual else []
    return [Step("norm_backward", numbers=(epsilon,)), *sum_, Step("activation_backward", activation, tuple(numbers))]


def channels(values):
    return values.view(-1, 1, 1)


def wide(x):
    return x.double() if x.dtype == torch.float32 else x.float()


def before_activation(normal, scale, shift, residual):
    """The value whose activation y is."""
    value = normal if scale is None else normal * channels(scale)
    value = value if shift is None else value + channels(shift)
    return value if residual is None else value + residual


def forward_by_aten(x, scale, shift, residual, epsilon, activation, numbers):
    """y, mean, inverse deviation and unbiased variance."""
    value, count = wide(x), x.numel() // x.shape[1]
    variance, mean = torch.var_mean(value, (0, 2, 3), unbiased=False)
    inverse = 1 / torch.sqrt(variance + epsilon)
    y = before_activation((value - channels(mean)) * channels(inverse), scale, shift, residual)
    y = torch.empty_like(x).copy_(reference.ACTIVATIONS[activation](y, *numbers))
    return y, mean.float(), inverse.float(), (variance * (count / max(count - 1, 1))).float()


def backward_by_aten(dy, x, scale, shift, residual, mean, inverse_deviation, activation, numbers, residual_gradient):
    """dx, the residual's gradient or an empty tensor, and the gradients of scale and shift."""
    normal = (wide(x) - channels(mean)) * channels(inverse_deviation)
    value = before_activation(normal, scale, shift, residual)
    gradient = dy.to(normal.dtype) * slopes.SLOPES[activation](value, *numbers)
    dscale, dshift, count = (gradient * normal).sum((0, 2, 3)), gradient.sum((0, 2, 3)), x.numel() / x.shape[1]
    factor = inverse_deviation if scale is None else inverse_deviation * scale
    dx = (gradient - channels(dshift / count) - normal * channels(dscale / count)) * channels(factor)
    dz = torch.empty_like(x).copy_(gradient) if residual_gradient else x.new_empty(0)
    return torch.empty_like(x).copy_(dx), dz, dscale.float(), dshift.float()


def given(x, scale, shift):
    """Floats for scale and shift, by their roles."""
    return {SCALE: x.new_ones(x.shape[1], dtype=torch.float32) if scale is None else scale,
            SHIFT: x.new_zeros(x.shape[1], dtype=torch.float32) if shift is None else shift}


def floats(x, count):
    return [x.new_empty(x.shape[1], dtype=torch.float32) for _ in range(count)]


def forward_request(x, scale, shift, residual, running, momentum, epsilon, activation, numbers):
    """The plan of new y, mean and inverse deviation, which moves `running`: its operators, x, y and tensors by role."""
    mean, inverse = floats(x, 2)
    of_norm = {**given(x, scale, shift), SAVED_MEAN: mean, SAVED_INVERSE_DEVIATION: inverse, RUNNING_MEAN: running[0],
               RUNNING_VARIANCE: running[1]}
    steps = forward_steps(epsilon, momentum, residual is not None, activation, numbers)
    return steps, x, torch.empty_like(x), [of_norm, *([] if residual is None else [{Z: residual}]), {}]


def training_request(x, scale, shift, residual, epsilon, activation, numbers):
    """With a momentum of 1 the running statistics are the batch's mean and unbiased variance."""
    return forward_request(x, scale, shift, residual, floats(x, 2), 1.0, epsilon, activation, numbers)


def moving_request(x, scale, shift, residual, running_mean, running_variance, momentum, epsilon, activation, numbers):
    return forward_request(x, scale, shift, residual, (running_mean, running_variance), momentum, epsilon, activation,
                           numbers)


def backward_request(dy, x, scale, shift, residual, mean, inverse_deviation, epsilon, activation, numbers,
                     residual_gradient):
    dscale, dshift = floats(x, 2)
    tensors = [{**given(x, scale, shift), SAVED_MEAN: mean, SAVED_INVERSE_DEVIATION: inverse_deviation, FORWARD_X: x,
                SCALE_GRADIENT: dscale, SHIFT_GRADIENT: dshift}]
    if residual is not None:
        tensors.append({Z: residual, **({OUTPUT: torch.empty_like(x)} if residual_gradient else {})})
    steps = backward_steps(epsilon, residual is not None, activation, numbers)
    return steps, dy, torch.empty_like(x), [*tensors, {}]


def norm_training(x, scale, shift, residual, epsilon, activation, numbers, workspace=None):
    request = training_request(x, scale, shift, residual, epsilon, activation, numbers)
    if not bound.execute(*request, workspace):
        return forward_by_aten(x, scale, shift, residual, epsilon, activation, numbers)
    _, _, y, (of_norm, *_) = request
    return y, of_norm[SAVED_MEAN], of_norm[SAVED_INVERSE_DEVIATION], of_norm[RUNNING_VARIANCE]


def norm_training_(x, scale, shift, residual, running_mean, running_variance, momentum, epsilon, activation, numbers,
                   workspace=None):
    request = moving_request(x, scale, shift, residual, running_mean, running_variance, momentum, epsilon, activation,
                             numbers)
    if bound.execute(*request, workspace):
        _, _, y, (of_norm, *_) = request
        return y, of_norm[SAVED_MEAN], of_norm[SAVED_INVERSE_DEVIATION]
    *result, variance = forward_by_aten(x, scale, shift, residual, epsilon, activation, numbers)
    running_mean.mul_(1 - momentum).add_(result[1], alpha=momentum)
    running_variance.mul_(1 - momentum).add_(variance, alpha=momentum)
    return tuple(result)


def norm_backward(dy, x, scale, shift, residual, mean, inverse_deviation, epsilon, activation, numbers,
                  residual_gradient, workspace=None):
    if dy.stride() != x.stride():
        dy = torch.empty_like(x).copy_(dy)
    request = backward_request(dy, x, scale, shift, residual, mean, inverse_deviation, epsilon, activation, numbers,
                               residual_gradient)
    if not bound.execute(*request, workspace):
        return backward_by_aten(dy, x, scale, shift, residual, mean, inverse_deviation, activation, numbers,
                                residual_gradient)
    _, _, dx, (of_norm, *others) = request
    return dx, others[0].get(OUTPUT, x.new_empty(0)), of_norm[SCALE_GRADIENT], of_norm[SHIFT_GRADIENT]


def fake_training(x, scale, shift, residual, epsilon, activation, numbers, workspace=None):
    return (torch.empty_like(x), *floats(x, 3))


def fake_training_(x, scale, shift, residual, running_mean, running_variance, momentum, epsilon, activation, numbers,
                   workspace=None):
    return (torch.empty_like(x), *floats(x, 2))


def fake_backward(dy, x, scale, shift, residual, mean, inverse_deviation, epsilon, activation, numbers,
                  residual_gradient, workspace=None):
    return (torch.empty_like(x), torch.empty_like(x) if residual_gradient else x.new_empty(0), *floats(x, 2))


FIRST = "Tensor x, Tensor? scale, Tensor? shift, Tensor? residual"
REST = "float epsilon, str activation, float[] numbers"
LAST = "Tensor? workspace=None"
SAVED = "Tensor y, Tensor mean, Tensor inverse_deviation"
register("norm_training", f"({FIRST}, {REST}, {LAST}) -> ({SAVED}, Tensor variance)", norm_training, fake_training)
register("norm_training_", f"({FIRST}, Tensor(a!) running_mean, Tensor(b!) running_variance, float momentum, {REST}, {LAST}) "
         f"-> ({SAVED})", norm_training_, fake_training_)
register("norm_backward", f"(Tensor dy, {FIRST}, Tensor mean, Tensor inverse_deviation, {REST}, bool residual_gradient, "
         f"{LAST}) -> (Tensor dx, Tensor dresidual, Tensor dscale, Tensor dshift)", norm_backward, fake_backward)
