#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Times batch norm + ReLU in training against PyTorch: eager, and TorchInductor's compiled forward.

The 8 layers of MIOpen's chart, spatial, float and half, NCHW and NHWC, all in one process, timed as inductor.py does.
Forward: eager, compiled and ours, all with running statistics. Forward and backward: eager with autograd, and ours, two
kernels. The floor of a pass is an elementwise kernel's rate, measured in the same process: forward moves its tensor three times (two
reads and a write), backward five (x and dy twice, and a write); what stays in caches may pass it. Needs PyTorch with
CUDA, and Triton.
"""

import collections
import math
import sys

import torch
import torch._dynamo
import torch.nn.functional as functional

import inductor

BOUND = {torch.float32: 2e-5, torch.float16: 4e-3}  # of the largest value: float sums, and roundings to half
LARGE = 50e6  # bytes of a layer to which the bars of bandwidth apply


def copy_rate(stream, options):
    """Bytes a second that an elementwise kernel over half a gigabyte reads and writes; copy_() is slower."""
    source = torch.empty(1 << 27, device="cuda").uniform_()
    targets = [torch.empty_like(source) for _ in range(2)]
    [microseconds] = inductor.medians(stream, [lambda call: torch.neg(source, out=targets[call % 2])], 2,
                                      options.repeats)
    return 2 * source.numel() * 4 / (1e-6 * microseconds)


def measure(plans, stream, shape, dtype, channels_last, options):
    """Microseconds of each subject, and the largest differences of our y and dx from those in double."""
    device = torch.device("cuda", options.index)
    order = torch.channels_last if channels_last else torch.contiguous_format
    c = shape[1]

    def random():
        return torch.empty(shape, device=device).uniform_(-1, 1).to(dtype).contiguous(memory_format=order)

    cache = torch.cuda.get_device_properties(device).L2_cache_size
    values, gradient = random(), random()
    pairs = 1 + 2 * cache // (2 * values.numel() * values.element_size())
    xs = [values.clone(memory_format=torch.preserve_format) for _ in range(pairs)]
    dys = [gradient.clone(memory_format=torch.preserve_format) for _ in range(pairs)]
    ys, dxs = ([torch.full_like(values, float("nan")) for _ in range(pairs)] for _ in range(2))
    scale, shift = (torch.empty(c, device=device).uniform_(0.5, 1.5) for _ in range(2))
    mean, variance = torch.zeros(c, device=device), torch.ones(c, device=device)
    ours = {name: torch.zeros(c, device=device) for name in
            ("saved_mean", "saved_inverse_deviation", "running_mean", "running_variance", "scale_gradient",
             "shift_gradient")}
    plan = plans.norm_relu(inductor.Problem(
        n=shape[0], c=c, h=shape[2], w=shape[3], channels_last=int(channels_last), is_half=int(dtype == torch.float16),
        device=options.index, stream=stream.cuda_stream, scale=scale.data_ptr(), shift=shift.data_ptr(),
        epsilon=inductor.EPSILON, **{name: each.data_ptr() for name, each in ours.items()}), training=True)

    def norm_relu(x, weight=scale, bias=shift):
        return functional.relu(functional.batch_norm(x, mean, variance, weight, bias, True, 0.1, inductor.EPSILON))

    torch._dynamo.reset()
    compiled = torch.compile(norm_relu, dynamic=False)
    kept = collections.deque(maxlen=pairs)

    def eager_forward(call):
        with torch.no_grad():
            kept.append(norm_relu(xs[call % pairs]))

    def compiled_forward(call):
        with torch.no_grad():
            kept.append(compiled(xs[call % pairs]))

    parameters = [each.clone().requires_grad_() for each in (scale, shift)]

    def eager_both(call):
        x = xs[call % pairs].detach().requires_grad_()
        y = norm_relu(x, *parameters)
        kept.append((y, torch.autograd.grad(y, [x, *parameters], dys[call % pairs])))

    def forward(call):
        plans.run(plan, xs[call % pairs], ys[call % pairs])

    def backward(call):
        plans.run_backward(plan, xs[call % pairs], dys[call % pairs], dxs[call % pairs])

    def both(call):
        forward(call)
        backward(call)

    wide = values.double().requires_grad_()
    before = functional.batch_norm(wide, None, None, scale.double(), shift.double(), True, 0.1, inductor.EPSILON)
    expected = functional.relu(before)
    [expected_dx] = torch.autograd.grad(expected, wide, gradient.double())
    at_kink = before.detach().abs() < 1e-4  # float may be on ReLU's other side
    with torch.cuda.stream(stream):
        stream.wait_stream(torch.cuda.default_stream(device))
        for subject in (eager_forward, compiled_forward, eager_both, both):
            subject(0)
        stream.synchronize()
        errors = [inductor.difference(ys[0], expected.detach()),
                  inductor.difference(torch.where(at_kink, expected_dx, dxs[0].double()), expected_dx)]
    del wide, before, expected, expected_dx, at_kink
    names = ("eager", "compiled", "forward", "eager_both", "backward", "both")
    subjects = (eager_forward, compiled_forward, forward, eager_both, backward, both)
    times = inductor.medians(stream, subjects, pairs, options.repeats)
    kept.clear()
    plans.library.fusekit_delete(plan)
    return dict(zip(names, times)), errors


def run_form(plans, stream, dtype, channels_last, options, copy, rows):
    """Times the 8 layers in one element type and layout; returns True if all results are correct."""
    form = ("float" if dtype == torch.float32 else "half", "nhwc" if channels_last else "nchw")
    print(f"\n{form[0]}, {form[1]}: microseconds\n{'layer':<12}{'eager':>8}{'compiled':>10}{'ours':>8}"
          f"{'of floor':>10}{'over compiled':>15}{'backward':>10}{'of floor':>10}{'eager both':>12}{'ours both':>11}"
          f"{'over eager':>12}{'errors':>18}")
    over_compiled, over_eager, of_floor, right = [], [], [], True
    for c, h, w in inductor.LAYERS:
        shape, name = (options.batch, c, h, w), f"{c}-{h}-{w}"
        took, errors = measure(plans, stream, shape, dtype, channels_last, options)
        good = all(error <= BOUND[dtype] for error in errors)
        size = math.prod(shape) * (4 if dtype == torch.float32 else 2)
        floor = 1e6 * size / copy
        row = {"layer": name, "batch": options.batch, "dtype": form[0], "layout": form[1],
               **{f"{key}_us": round(value, 3) for key, value in took.items()},
               "forward_of_floor": round(3 * floor / took["forward"], 4),
               "backward_of_floor": round(5 * floor / took["backward"], 4),
               "over_compiled": round(took["compiled"] / took["forward"], 4),
               "over_eager": round(took["eager_both"] / took["both"], 4),
               "error_y": errors[0], "error_dx": errors[1], "right": good}
        rows.append(row)
        print(f"{name:<12}{took['eager']:>8.1f}{took['compiled']:>10.1f}{took['forward']:>8.1f}"
              f"{row['forward_of_floor']:>10.2f}{row['over_compiled']:>15.2f}{took['backward']:>10.1f}"
              f"{row['backward_of_floor']:>10.2f}{took['eager_both']:>12.1f}{took['both']:>11.1f}"
              f"{row['over_eager']:>12.2f}{errors[0]:>9.0e}{errors[1]:>9.0e}{'' if good else '  WRONG'}", flush=True)
        over_compiled.append(row["over_compiled"])
        over_eager.append(row["over_eager"])
        if size >= LARGE:
            of_floor += [row["forward_of_floor"], row["backward_of_floor"]]
        right = right and good
        torch.cuda.empty_cache()
    compiled, eager = (inductor.geometric_mean(each) for each in (over_compiled, over_eager))
    least = min(of_floor) if of_floor else math.nan

    def verdict(value, bar):
        return f"{value:.3f} (bar {bar}: {'PASS' if value >= bar else 'FALLS SHORT'})"

    print(f"geometric mean over compiled {verdict(compiled, 1.2)}, over eager {verdict(eager, 2.0)}; "
          f"least of floor where {LARGE / 1e6:.0f} MB or more {verdict(least, 0.8)}")
    return right


def main():
    options = inductor.parse_options(__doc__)
    stream, facts = inductor.prepare(options)
    plans = inductor.Plans(options.library)
    copy = copy_rate(stream, options)
    facts["copy_gigabytes_a_second"] = round(copy / 1e9, 1)
    print(f"{facts['machine']}, PyTorch {facts['torch']}, CUDA {facts['cuda']}; batch norm (spatial) + ReLU, training, "
          f"batch {options.batch}; copy {copy / 1e12:.2f} TB/s\n"
          f"calls captured into graphs, in turn, the median of {options.repeats} samples")
    rows, right = [], True
    for dtype, channels_last in inductor.forms(options):
        right = run_form(plans, stream, dtype, channels_last, options, copy, rows) and right
    return inductor.write_results(options, "training", facts, rows, right)


if __name__ == "__main__":
    sys.exit(main())
