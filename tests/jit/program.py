# SPDX-License-Identifier: MIT
"""program.py LIBRARY: a convolution with an operator of its own, and a Gemm with a bias and an activation, compiled at
run time, through ctypes. Prints "ok"."""
import ctypes
import sys
import tempfile

from interface import OWN_STREAM, Arguments, Filter, Operator, Tensor, Types

CONV, GEMM, BIAS, ACTIVATION, OWN, GELU = 0, 1, 2, 5, 64, 11
HALF, FLOAT = 1, 0
JIT, NOT_COMPILED, WEIGHTS, BIASES = 2, 8, 0, 1

SOURCE = b"""
struct Cubed {
    static constexpr auto stage = fusekit::Stage::activation;
    struct Args { float factor; };
    template <class V>
    FUSEKIT_HD static constexpr V apply(V x, Args const& args) { return args.factor * x * x * x; }
};
"""


def main():
    library = ctypes.CDLL(sys.argv[1])
    library.fusekit_last_message.restype = ctypes.c_char_p

    def call(name, *arguments):
        status = getattr(library, name)(*arguments)
        if status == NOT_COMPILED and b"libnvrtc" in library.fusekit_last_message():
            print("skipped: no libnvrtc")
            sys.exit()
        if status != 0:
            sys.exit(f"{name}: {status}: {library.fusekit_last_message().decode()}")

    def nhwc(buffer, n, c, h, w):
        data = ctypes.cast(buffer, ctypes.c_void_p) if buffer is not None else None
        return Tensor(data, HALF, 4, (n, c, h, w), (c * h * w, 1, w * c, c))

    with tempfile.TemporaryDirectory() as folder:
        call("fusekit_jit_set_cache", folder.encode(), ctypes.c_uint64(1 << 26))
        mode = ctypes.c_int32()
        call("fusekit_jit_add_operator", b"Cubed", SOURCE, ctypes.byref(mode))
        window = Filter((3, 3), (1, 1), (1, 1), (1, 1), (1, 1), 1)
        device = ctypes.c_void_p()
        call("fusekit_device_create_jit", 0, ctypes.byref(device))
        raw = [ctypes.create_string_buffer(1 << 17) for _ in range(4)]
        aligned = [(ctypes.addressof(one) + 255) // 256 * 256 for one in raw]

        def run(operators, weights, alpha, x, y):
            plan, prepared = ctypes.c_void_p(), ctypes.c_void_p()
            count = len(operators)
            call("fusekit_find", JIT, (Operator * count)(*operators), count, ctypes.byref(Types(HALF, HALF, HALF)),
                 ctypes.byref(plan))
            arguments = (Arguments * count)()
            for one in arguments:
                call("fusekit_arguments_init", ctypes.byref(one))
            arguments[0].tensors[WEIGHTS] = weights
            arguments[1].tensors[BIASES] = Tensor(aligned[1], FLOAT, 1, (16,), (1,))
            arguments[2].alpha = alpha
            call("fusekit_prepare", plan, device, arguments, count, ctypes.byref(x), ctypes.byref(y), 16,
                 ctypes.byref(prepared))
            call("fusekit_run_execute", prepared, device, OWN_STREAM, ctypes.c_void_p(aligned[2]),
                 ctypes.c_void_p(aligned[3]), None, ctypes.c_size_t(0))
            call("fusekit_device_synchronize", device)
            call("fusekit_run_destroy", prepared)
            call("fusekit_plan_destroy", plan)

        def matrix(data, rows, columns):
            return Tensor(data, HALF, 2, (rows, columns), (columns, 1))

        run([Operator(CONV, 0, window), Operator(BIAS), Operator(OWN, mode.value)], nhwc(aligned[0], 16, 16, 3, 3), 0.5,
            nhwc(None, 1, 16, 9, 9), nhwc(None, 1, 16, 9, 9))
        run([Operator(GEMM), Operator(BIAS), Operator(ACTIVATION, GELU)], matrix(aligned[0], 16, 24), 0,
            matrix(None, 7, 24), matrix(None, 7, 16))
        call("fusekit_device_destroy", device)
    print("ok")


main()
