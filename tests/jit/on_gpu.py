# SPDX-License-Identifier: MIT
"""on_gpu.py LIBRARY CACHE [--compile INDEX COUNT]: runs random plans of every head on a GPU, and compares them with
PyTorch in double; gradients_on_gpu.py does so for gradients. Prints a table of heads; fails if a result is wrong.

With --compile it prepares each COUNT-th plan from INDEX on, and runs nothing: with the driver of fake_driver.cpp first
in LD_LIBRARY_PATH, processes without a GPU fill the disk cache CACHE in parallel."""
import ctypes
import math
import random
import sys
import time

from interface import OWN_STREAM, Arguments, Filter, Operator, Tensor, Types

FLOAT, HALF, BFLOAT16 = 0, 1, 2
KINDS = dict(conv=0, gemm=1, bias=2, norm=3, training=4, activation=5, residual=6, scale=7, pool=9, average=10,
             binary=15, layer=16, rms=17, group=18, instance=19, softmax=20, log_softmax=21, nearest=22, bilinear=23,
             shuffle=24, unshuffle=25, batched=26)
WEIGHTS, BIASES, Z, SCALE, SHIFT, MEAN, VARIANCE = range(7)
TANH, RELU, LEAKY_RELU, GELU, SILU, HARD_SWISH = 2, 3, 8, 11, 13, 15
EPSILON, FACTOR, SLOPE = 1e-5, 0.7, 0.5
# largest error, of the largest |y| or 1: a few roundings to the type
TOLERANCE = {FLOAT: 2e-5, HALF: 1.5e-3, BFLOAT16: 1e-2}

compiles = len(sys.argv) > 3
if not compiles:
    import torch
    import torch.nn.functional as F
    TORCH = {FLOAT: torch.float32, HALF: torch.float16, BFLOAT16: torch.bfloat16}


def window(rows, columns, pad=0, stride=1, groups=1, dilation=1):
    return Filter((rows, columns), (pad, pad), (pad, pad), (stride, stride), (dilation, dilation), groups)


def one(kind, mode=0, of=None):
    return (kind, mode, of or Filter())


class Plan:
    """Operators (kind, mode, filter), extents of x and of the weights, element type, memory order."""

    def __init__(self, head, operators, x, weights=None, element=FLOAT, last=True):
        self.head, self.operators, self.x, self.weights = head, operators, x, weights
        self.element, self.last = element, last

    def __str__(self):
        operators = " ".join(f"{kind}:{mode}" for kind, mode, _ in self.operators)
        return f"{operators}, x {self.x}, weights {self.weights}, type {self.element}, channels last: {self.last}"

    def shapes(self):
        """Extents after each operator."""
        shape, result = self.x, []
        for kind, _, of in self.operators:
            pooled = [(shape[-2 + i] + 2 * of.pad_before[i] - of.size[i]) // max(1, of.stride[i]) + 1 for i in (0, 1)]
            up = [shape[-2 + i] * of.size[i] for i in (0, 1)]
            if kind == "conv":
                shape = (shape[0], self.weights[0], *pooled)
            elif kind in ("gemm", "batched"):
                shape = (*shape[:-1], self.weights[-2])
            elif kind == "pool":
                shape = (*shape[:2], *pooled)
            elif kind == "average":
                shape = (*shape[:2], 1, 1)
            elif kind in ("nearest", "bilinear"):
                shape = (*shape[:2], *up)
            elif kind == "shuffle":
                shape = (shape[0], shape[1] // of.size[0] ** 2, *up)
            elif kind == "unshuffle":
                shape = (shape[0], shape[1] * of.size[0] ** 2, shape[2] // of.size[0], shape[3] // of.size[0])
            result.append(shape)
        return result


def plans():
    """The plans, the same in every process."""
    source = random.Random(20261130)
    pick, result = source.choice, []

    def epilogue(readers, parameters=True):
        """Operators in a valid order, at most `readers` of which have a second tensor."""
        operators = [one("bias")] if parameters and source.random() < 0.6 else []
        if parameters and source.random() < 0.3:
            operators.append(one("norm", 1))
        if source.random() < 0.7:
            operators.append(one("activation", pick([TANH, RELU, LEAKY_RELU, GELU, SILU, HARD_SWISH])))
        for _ in range(source.randrange(3)):
            kind = pick(["scale", "residual", "binary"])
            if kind != "scale" and readers == 0:
                continue
            readers -= kind != "scale"
            mode = pick([0, 1, 2, 4]) if kind == "binary" else 0
            operators.insert(source.randrange(len(operators) + 1), one(kind, mode))
        return operators

    def image(extents=(7, 9, 14, 17, 28), channels=(3, 13, 32, 64, 96)):
        return (pick([1, 2, 5]), pick(channels), pick(extents), pick(extents))

    def add(head, operators, x, weights=None, element=None, last=None):
        element = pick([FLOAT, HALF, BFLOAT16]) if element is None else element
        last = len(x) == 4 and (pick([True, False]) if last is None else last)
        result.append(Plan(head, operators, x, weights, element, last))

    for _ in range(20):
        m, k, n = pick([1, 3, 17, 128, 333, 2048]), pick([16, 24, 100, 256, 768]), pick([8, 10, 64, 200, 1000])
        add("Gemm", [one("gemm")] + epilogue(1), pick([(m, k), (2, m, k)]), (n, k))
        b, m, k, n = pick([1, 3, 8]), pick([1, 17, 64, 128]), pick([16, 40, 64, 256]), pick([8, 24, 64, 200])
        add("BatchedGemm", [one("batched")] + epilogue(1, False), (b, m, k), (b, n, k))
        add("none", epilogue(4) or [one("activation", RELU)], image())
        pool = one("pool", pick([0, 1]), window(pick([2, 3]), pick([2, 3]), pick([0, 1]), pick([1, 2])))
        add("Pool", epilogue(2) + [pool], image())
        add("GlobalAverage", epilogue(2) + [one("average")], image())
        add("BatchNormTraining", [one("training", 1)] + epilogue(2, False), image())
        matrices = pick([(pick([3, 64, 512]), pick([40, 129, 768, 1024])), (2, pick([5, 77]), pick([64, 512]))])
        kind = pick(["layer", "rms", "softmax", "log_softmax"])
        add("rows", [one(kind)] + epilogue(2, False), pick([image(), matrices]))
        before = pick([[], [one("bias")]]) + pick([[one("residual")], [one("scale"), one("residual")]])
        add("rows, prologue", before + [one(kind)] + epilogue(2, False), pick([image(), matrices]))
        add("groups", [one(pick(["group", "instance"]), 0, window(1, 1, groups=4))] + epilogue(2),
            image(channels=(32, 64, 96)))
        kind = pick(["nearest", "bilinear", "shuffle", "unshuffle"])
        factors = window(2, 2) if "shuffle" in kind else window(pick([2, 3]), pick([2, 3]))
        add("gathers", [one(kind, 0, factors)] + epilogue(2), image((8, 14, 28), (4, 32, 64)))
        c, k = pick([16, 32, 64]), pick([16, 40, 64])
        pool = one("pool", pick([0, 1]), window(2, 2, 0, 2))
        conv = one("conv", 0, window(3, 3, 1))
        add("Conv, Pool", [conv] + epilogue(1) + [pool], image((8, 14, 28), (c,)), (k, c, 3, 3))
    for last in (True, False):
        for element in (FLOAT, HALF):
            patch, grouped = one("conv", 0, window(16, 16, 0, 16)), one("conv", 0, window(3, 3, 1, 1, 32))
            strided, depthwise = one("conv", 0, window(3, 3, 1, 2, 8)), one("conv", 0, window(3, 3, 1, 1, 96))
            end = [one("bias"), one("activation", RELU)]
            add("Conv", [patch] + end, (8, 3, 224, 224), (768, 3, 16, 16), element, last)
            add("Conv", [grouped] + end, (32, 128, 28, 28), (128, 4, 3, 3), element, last)
            add("Conv", [strided] + end, (4, 64, 17, 19), (96, 8, 3, 3), element, last)
            add("Conv", [depthwise] + end, (4, 96, 28, 28), (96, 1, 3, 3), element, last)
    return result


def strides(shape, last):
    modes = [1, *range(len(shape) - 1, 1, -1), 0] if last else range(len(shape) - 1, -1, -1)
    result, stride = [0] * len(shape), 1
    for mode in modes:
        result[mode] = stride
        stride *= shape[mode]
    return result


def tensor(shape, element, last, low=-1.0):
    """A tensor of random values from `low` to low + 2 or, where nothing runs, an address."""
    data, values = 1 << 33, None
    if not compiles:
        values = torch.empty_strided(shape, strides(shape, last), dtype=TORCH[element], device="cuda")
        values.copy_(torch.rand(shape, device="cuda", dtype=torch.float64) * 2 + low)
        data = values.data_ptr()
    padding = (0,) * (5 - len(shape))
    return Tensor(data, element, len(shape), (*shape, *padding), (*strides(shape, last), *padding)), values


def oracle(plan, x, tensors):
    """y in double. tensors: of each operator, by role."""
    v = x.double()
    for (kind, mode, of), given in zip(plan.operators, tensors):
        wide = {role: values.double() for role, values in given.items()}
        image, rows = v.dim() == 4, 1 if v.dim() == 4 else -1
        if kind not in ("conv", "gemm", "batched", "group", "instance") and image:
            wide = {role: t.reshape(1, -1, 1, 1) if t.dim() == 1 else t for role, t in wide.items()}
        if kind == "conv":
            v = F.conv2d(v, wide[WEIGHTS], None, tuple(of.stride), tuple(of.pad_before), 1, of.groups)
        elif kind in ("gemm", "batched"):
            v = v @ wide[WEIGHTS].transpose(-1, -2)
        elif kind == "bias":
            v = v + wide[BIASES]
        elif kind == "norm":
            v = (v - wide[MEAN]) / torch.sqrt(wide[VARIANCE] + EPSILON) * wide[SCALE] + wide[SHIFT]
        elif kind == "activation":
            v = {TANH: lambda: torch.tanh(v), RELU: lambda: torch.relu(v), GELU: lambda: F.gelu(v),
                 LEAKY_RELU: lambda: F.leaky_relu(v, SLOPE), SILU: lambda: F.silu(v),
                 HARD_SWISH: lambda: F.hardswish(v)}[mode]()
        elif kind == "scale":
            v = v * FACTOR
        elif kind == "residual":
            v = v + FACTOR * wide[Z]
        elif kind == "binary":
            v = {0: v + wide[Z], 1: v - wide[Z], 2: v * wide[Z], 4: torch.maximum(v, wide[Z])}[mode]
        elif kind == "pool" and mode == 0:
            padded = F.pad(v, [of.pad_before[1]] * 2 + [of.pad_before[0]] * 2, value=-math.inf)
            v = F.max_pool2d(padded, tuple(of.size), tuple(of.stride))
        elif kind == "pool":
            v = F.avg_pool2d(v, tuple(of.size), tuple(of.stride), tuple(of.pad_before), count_include_pad=False)
        elif kind == "average":
            v = v.mean((2, 3), keepdim=True)
        elif kind in ("layer", "training"):
            over = (0, 2, 3) if kind == "training" else rows
            centered = v - v.mean(over, keepdim=True)
            v = centered / torch.sqrt((centered ** 2).mean(over, keepdim=True) + EPSILON) * wide[SCALE] + wide[SHIFT]
        elif kind == "rms":
            v = v / torch.sqrt((v * v).mean(rows, keepdim=True) + EPSILON) * wide[SCALE]
        elif kind in ("group", "instance"):
            v = F.group_norm(v, 4 if kind == "group" else v.shape[1], wide[SCALE], wide[SHIFT], EPSILON)
        elif kind in ("softmax", "log_softmax"):
            v = getattr(torch, kind)(v, rows)
        elif kind == "nearest":
            v = v.repeat_interleave(of.size[0], 2).repeat_interleave(of.size[1], 3)
        elif kind == "bilinear":
            v = F.interpolate(v, scale_factor=tuple(of.size), mode="bilinear", align_corners=False)
        else:
            v = (F.pixel_shuffle if kind == "shuffle" else F.pixel_unshuffle)(v, of.size[0])
    return v


class Library:
    def __init__(self, path, cache):
        self.library = ctypes.CDLL(path)
        self.library.fusekit_last_message.restype = ctypes.c_char_p
        self.call("fusekit_jit_set_cache", cache.encode(), ctypes.c_uint64(1 << 30))
        self.device = ctypes.c_void_p()
        self.call("fusekit_device_create_jit", 0, ctypes.byref(self.device))

    def call(self, name, *arguments):
        if getattr(self.library, name)(*arguments) != 0:
            raise RuntimeError(f"{name}: {self.library.fusekit_last_message().decode()}")

    def run(self, plan):
        """Seconds of the preparation, and the largest error in tolerances; 0 where nothing runs."""
        count, element, shapes = len(plan.operators), plan.element, plan.shapes()
        operators = (Operator * count)(*[Operator(KINDS[kind], mode, of) for kind, mode, of in plan.operators])
        handle, run, arguments, tensors = ctypes.c_void_p(), ctypes.c_void_p(), (Arguments * count)(), []
        self.call("fusekit_find", 2, operators, count, ctypes.byref(Types(element, element, element)),
                  ctypes.byref(handle))
        for (kind, mode, _), shape, to in zip(plan.operators, shapes, arguments):
            self.call("fusekit_arguments_init", ctypes.byref(to))
            to.alpha, to.beta, to.factor, to.epsilon = SLOPE if mode == LEAKY_RELU else 1, 1, FACTOR, EPSILON
            given, channels = {}, (shape[1] if len(shape) == 4 else shape[-1],)
            if kind in ("conv", "gemm", "batched"):
                given[WEIGHTS] = tensor(plan.weights, element, plan.last)
            if kind == "bias":
                given[BIASES] = tensor(channels, FLOAT, False)
            if kind in ("residual", "binary"):
                given[Z] = tensor(shape, element, plan.last)
            if kind in ("norm", "training", "layer", "rms", "group", "instance"):
                given[SCALE] = tensor(channels, FLOAT, False)
            if kind in ("norm", "training", "layer", "group", "instance"):
                given[SHIFT] = tensor(channels, FLOAT, False)
            if kind == "norm":
                given[MEAN], given[VARIANCE] = tensor(channels, FLOAT, False), tensor(channels, FLOAT, False, 0.5)
            for role, (view, _) in given.items():
                to.tensors[role] = view
            tensors.append({role: values for role, (_, values) in given.items()})
        (x, from_x), (y, to_y) = tensor(plan.x, element, plan.last), tensor(shapes[-1], element, plan.last)
        extents = (ctypes.c_int64 * 5)()
        self.call("fusekit_output_shape", handle, arguments, count, ctypes.byref(x), extents)
        if tuple(extents[:len(shapes[-1])]) != shapes[-1]:
            raise RuntimeError(f"y has extents {tuple(extents)}, expected {shapes[-1]}")
        begin = time.perf_counter()
        self.call("fusekit_prepare", handle, self.device, arguments, count, ctypes.byref(x), ctypes.byref(y), 16,
                  ctypes.byref(run))
        seconds, error = time.perf_counter() - begin, 0
        if not compiles:
            to_y.fill_(math.nan)
            torch.cuda.synchronize()
            self.call("fusekit_run_execute", run, self.device, OWN_STREAM, ctypes.c_void_p(x.data),
                      ctypes.c_void_p(y.data), None, ctypes.c_size_t(0))
            self.call("fusekit_device_synchronize", self.device)
            expected = oracle(plan, from_x, tensors)
            unit = TOLERANCE[element] * max(1, expected.abs().max().item())
            error = (to_y.double() - expected).abs().max().item() / unit
        self.call("fusekit_run_destroy", run)
        self.call("fusekit_plan_destroy", handle)
        return seconds, error


def measure(picked, run):
    """Runs the cases that picked(slice) gives, prints a table and each failure, and ends the program. `run` returns the
    seconds of a case's preparation and its error in tolerances, and raises RuntimeError where the library fails."""
    if not compiles:
        torch.zeros(1, device="cuda")
    library, table, wrong = Library(sys.argv[1], sys.argv[2]), {}, 0
    for case in picked(slice(int(sys.argv[4]), None, int(sys.argv[5])) if compiles else slice(None)):
        row = table.setdefault(case.head, [0, 0, 0.0, []])
        row[0] += 1
        try:
            seconds, error = run(library, case)
            row[3].append(seconds)
            row[2] = max(row[2], error)
            message = "" if error <= 1 else f"error {error} of the tolerance"
        except RuntimeError as failure:
            message = str(failure)
        if message:
            row[1] += 1
            wrong += 1
            print(f"{case}: {message}", flush=True)
    print(f"{'head':20} {'plans':>5} {'wrong':>5} {'error / tolerance':>17} {'median prepare ms':>17}")
    for head, (count, bad, error, seconds) in table.items():
        median = 1e3 * sorted(seconds)[len(seconds) // 2] if seconds else math.nan
        print(f"{head:20} {count:5} {bad:5} {error:17.3f} {median:17.2f}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    measure(lambda pick: plans()[pick], Library.run)
