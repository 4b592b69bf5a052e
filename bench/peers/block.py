#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Times a training step of a block of convolution, batch norm and ReLU against PyTorch, eager and compiled.

The layers of MIOpen's convolution chart, half, channels last, forward and backward: y, and the gradients of x, the
weights, scale and shift, with running statistics. Eager PyTorch has cuDNN's fastest way (cudnn.benchmark). Ours is five
kernels, in the shared library block_plans (build preset `cuda`). Calls are captured into graphs and timed as inductor.py
does. Each of our tensors is compared with what double makes of those that its kernel reads. Needs PyTorch with CUDA, and
Triton.
"""

import ctypes
import collections
import sys

import torch
import torch._dynamo
import torch.nn.functional as functional

import inductor

# c, h, k and the filter's size, of w = h
LAYERS = [(2048, 7, 512, 1), (512, 7, 2048, 1), (512, 7, 512, 3), (1024, 14, 256, 1), (256, 14, 1024, 1),
          (256, 14, 256, 3), (128, 28, 128, 3), (128, 28, 512, 1), (512, 28, 128, 1), (256, 55, 64, 1),
          (64, 55, 256, 1), (64, 55, 64, 1), (64, 55, 64, 3)]
BOUND = 4e-3  # of the largest value: float sums, and roundings to half


class Problem(ctypes.Structure):
    """Mirrors the struct of peers/block_plans.cpp."""

    _fields_ = [(name, ctypes.c_int64) for name in ("n", "c", "h", "w", "k")] + [
        ("size", ctypes.c_int), ("device", ctypes.c_int), ("stream", ctypes.c_void_p), ("weights", ctypes.c_void_p),
        ("scale", ctypes.c_void_p), ("shift", ctypes.c_void_p), ("epsilon", ctypes.c_float)] + [
            (name, ctypes.c_void_p) for name in ("saved_mean", "saved_inverse_deviation", "running_mean",
                                                 "running_variance", "scale_gradient", "shift_gradient")]


class Tensors(ctypes.Structure):
    """Mirrors the struct of peers/block_plans.cpp."""

    _fields_ = [(name, ctypes.c_void_p) for name in ("x", "z", "y", "dy", "dz", "dx", "dweights")]


class Blocks:
    """Shared library of peers/block_plans.cpp."""

    def __init__(self, path):
        self.library = ctypes.CDLL(str(path.resolve()))
        self.library.fusekit_message.restype = ctypes.c_char_p
        self.library.fusekit_block.restype = ctypes.c_void_p
        self.library.fusekit_block.argtypes = [ctypes.POINTER(Problem)]
        for run in (self.library.fusekit_forward, self.library.fusekit_backward):
            run.argtypes = [ctypes.c_void_p, ctypes.POINTER(Tensors)]
        self.library.fusekit_delete.argtypes = [ctypes.c_void_p]
        self.library.fusekit_delete.restype = None

    def check(self, succeeded):
        if not succeeded:
            raise RuntimeError(self.library.fusekit_message().decode())
        return succeeded


def errors_of(layer, tensors, eager):
    """Largest difference of each of our tensors from double, computed from the tensors that its kernel reads."""
    pad = layer[3] // 2
    x, z, dy, dz, weights = (tensors[name].double() for name in ("x", "z", "dy", "dz", "weights"))
    over = (0, 2, 3)
    exact = functional.conv2d(x, weights, padding=pad)
    expected = {"z": exact, "mean": exact.mean(over),
                "inverse_deviation": (exact.var(over, correction=0) + inductor.EPSILON).rsqrt()}
    mean, inverse, scale, shift = (tensors[name].double()[:, None, None]
                                   for name in ("mean", "inverse_deviation", "scale", "shift"))
    normalized = (z - mean) * inverse
    before = scale * normalized + shift
    expected["y"] = functional.relu(before)
    at_kink = before.abs() < 1e-4  # float may be on ReLU's other side
    g = torch.where(before > 0, dy, 0)
    expected["dscale"], expected["dshift"] = (g * normalized).sum(over), g.sum(over)
    along, sums = (expected[name][:, None, None] / (z.numel() / z.shape[1]) for name in ("dscale", "dshift"))
    expected["dz"] = scale * inverse * (g - sums - normalized * along)
    expected["dx"], expected["dweights"], _ = torch.ops.aten.convolution_backward(
        dz, x, weights, None, [1, 1], [pad, pad], [1, 1], False, [0, 0], 1, [True, True, False])
    given = dict(tensors, dz=torch.where(at_kink, expected["dz"], dz))
    errors = {name: inductor.difference(given[name], each.detach()) for name, each in expected.items()}
    errors["eager"] = inductor.difference(tensors["dweights"], eager.double())
    return errors


def measure(blocks, stream, layer, options):
    """Microseconds of each subject, and the errors of our tensors."""
    c, h, k, size = layer
    device, n = torch.device("cuda", options.index), options.batch

    def random(*shape):
        values = torch.empty(shape, device=device).uniform_(-1, 1).half()
        return values.contiguous(memory_format=torch.channels_last)

    weights = random(k, c, size, size) * (c * size * size)**-0.5
    scale, shift = (torch.empty(k, device=device).uniform_(0.5, 1.5) for _ in range(2))
    mean, variance = torch.zeros(k, device=device), torch.ones(k, device=device)
    cache = torch.cuda.get_device_properties(device).L2_cache_size
    pairs = min(8, 1 + 2 * cache // (2 * n * h * h * (c + k)))
    xs, dys = ([random(n, each, h, h) for _ in range(pairs)] for each in (c, k))
    poisoned = [{name: torch.full_like(like, float("nan")) for name, like in
                 (("z", dys[0]), ("y", dys[0]), ("dz", dys[0]), ("dx", xs[0]), ("dweights", weights))}
                for _ in range(pairs)]
    ours = {name: torch.zeros(k, device=device) for name in
            ("saved_mean", "saved_inverse_deviation", "running_mean", "running_variance", "scale_gradient",
             "shift_gradient")}
    block = blocks.check(blocks.library.fusekit_block(Problem(
        n=n, c=c, h=h, w=h, k=k, size=size, device=options.index, stream=stream.cuda_stream,
        weights=weights.data_ptr(), scale=scale.data_ptr(), shift=shift.data_ptr(), epsilon=inductor.EPSILON,
        **{name: each.data_ptr() for name, each in ours.items()})))
    of_runs = [Tensors(x=x.data_ptr(), dy=dy.data_ptr(), **{name: each.data_ptr() for name, each in tensors.items()})
               for x, dy, tensors in zip(xs, dys, poisoned)]

    def layer_of(x, filters, weight, bias):
        z = functional.conv2d(x, filters, padding=size // 2)
        return functional.relu(functional.batch_norm(z, mean, variance, weight, bias, True, 0.1, inductor.EPSILON))

    parameters = [each.clone().requires_grad_() for each in (weights, scale, shift)]
    kept = collections.deque(maxlen=pairs)

    def subject(function):
        def both(call):
            x = xs[call % pairs].detach().requires_grad_()
            y = function(x, *parameters)
            kept.append((y, torch.autograd.grad(y, [x, *parameters], dys[call % pairs])))
        return both

    def fused(call):
        blocks.check(blocks.library.fusekit_forward(block, of_runs[call % pairs]))
        blocks.check(blocks.library.fusekit_backward(block, of_runs[call % pairs]))

    torch._dynamo.reset()
    subjects = [fused, subject(layer_of)] + ([subject(torch.compile(layer_of, dynamic=False))] * options.compiled)
    with torch.cuda.stream(stream):
        stream.wait_stream(torch.cuda.default_stream(device))
        for each in subjects:
            each(0)
        stream.synchronize()
        tensors = dict(poisoned[0], x=xs[0], dy=dys[0], weights=weights, scale=scale, shift=shift,
                       mean=ours["saved_mean"], inverse_deviation=ours["saved_inverse_deviation"],
                       dscale=ours["scale_gradient"], dshift=ours["shift_gradient"])
        errors = errors_of(layer, tensors, kept[0][1][1])
    times = inductor.medians(stream, subjects, pairs, options.repeats)
    kept.clear()
    blocks.library.fusekit_delete(block)
    return times, errors


def main():
    options = inductor.parse_options(__doc__, "libblock_plans.so", [
        ("--compiled", {"type": int, "choices": [0, 1], "default": 1, "help": "whether to run TorchInductor's, too"}),
        ("--layers", {"type": int, "nargs": "*", "default": range(len(LAYERS)), "help": "numbers of the layers"})])
    torch.backends.cudnn.benchmark = True
    stream, facts = inductor.prepare(options)
    blocks = Blocks(options.library)
    print(f"{facts['machine']}, PyTorch {facts['torch']}, CUDA {facts['cuda']}; Conv + batch norm + ReLU, half, channels "
          f"last, batch {options.batch}, forward and backward\n{'layer':<18}{'ours us':>10}{'eager us':>10}"
          f"{'compiled':>10}{'over eager':>12}{'over compiled':>15}{'largest error':>15}")
    rows, right = [], True
    for number in options.layers:
        c, h, k, size = LAYERS[number]
        times, errors = measure(blocks, stream, LAYERS[number], options)
        ours, eager, compiled = times if options.compiled else (*times, float("nan"))
        worst = max(errors, key=errors.get)
        good = all(error <= BOUND for name, error in errors.items() if name != "eager")
        name = f"{c}-{h}-{h}-{k}-{size}x{size}"
        print(f"{name:<18}{ours:>10.1f}{eager:>10.1f}{compiled:>10.1f}{eager / ours:>12.2f}{compiled / ours:>15.2f}"
              f"{errors[worst]:>10.1e} {worst}{'' if good else '  WRONG'}", flush=True)
        rows.append({"layer": name, "batch": options.batch, "fusekit_us": round(ours, 3), "eager_us": round(eager, 3),
                     "compiled_us": round(compiled, 3), "over_eager": round(eager / ours, 4),
                     "over_compiled": round(compiled / ours, 4),
                     **{f"error_{each}": error for each, error in errors.items()}, "right": good})
        right = right and good
        torch.cuda.empty_cache()
    for peer, bar in (("eager", 1.2), ("compiled", 1.0)):
        mean = inductor.geometric_mean([row[f"over_{peer}"] for row in rows])
        print(f"geometric mean over {peer} {mean:.3f} (bar {bar}: {'PASS' if mean >= bar else 'FALLS SHORT'})")
    return inductor.write_results(options, "block", facts, rows, right)


if __name__ == "__main__":
    sys.exit(main())
