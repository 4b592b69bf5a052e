/* SPDX-License-Identifier: MIT
 *
 * fusekit's plans, compiled in advance and selected at run time, for C and for every language that can call C. The
 * library is fusekit_runtime; its users need no GPU compiler.
 *
 *     fusekit_operator operators[] = {{FUSEKIT_CONV, 0, FUSEKIT_FILTER(3, 3, 1, 1)}, {FUSEKIT_BIAS},
 *                                     {FUSEKIT_ACTIVATION, FUSEKIT_RELU}};
 *     fusekit_find(FUSEKIT_HOST, operators, 3, types, &plan);
 *     fusekit_execute(plan, device, FUSEKIT_OWN_STREAM, arguments, 3, &x, &y, NULL, 0);
 *
 * Every function returns a status, and detects null pointers, handles of the wrong kind and destroyed handles. If a
 * status is not FUSEKIT_SUCCESS, the caller's memory is unchanged except where documented, and fusekit_last_message()
 * gives the reason: plan, operator, argument, expected and given value. Functions may be called from any thread; plans
 * and prepared runs may be shared. The caller must not destroy a handle while another thread's call uses it.
 */
#ifndef FUSEKIT_RUNTIME_C_FUSEKIT_H
#define FUSEKIT_RUNTIME_C_FUSEKIT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FUSEKIT_VERSION_MAJOR 0
#define FUSEKIT_VERSION_MINOR 1

typedef int32_t fusekit_status;
enum {
    FUSEKIT_SUCCESS = 0,
    FUSEKIT_INVALID_VALUE = 1,  /* a null pointer, or a count or number out of range */
    FUSEKIT_INVALID_HANDLE = 2, /* null, destroyed, or of another kind */
    FUSEKIT_NO_PLAN = 3,        /* the set has no plan for the sequence: see fusekit_explain() */
    FUSEKIT_REFUSED = 4,        /* the plan cannot run on these arguments */
    FUSEKIT_NO_DEVICE = 5,      /* there is no such device, or the library was built without its backend */
    FUSEKIT_OUT_OF_MEMORY = 6,
    FUSEKIT_INTERNAL = 7,
    FUSEKIT_NOT_COMPILED = 8, /* FUSEKIT_JIT: there is no compiler, or the plan's kernel did not compile or load */
    FUSEKIT_COMPILING = 9     /* FUSEKIT_JIT: the plan's kernel is being compiled: see fusekit_prepare_async() */
};

/* Returns the name of a status, such as "FUSEKIT_NO_PLAN"; "FUSEKIT_UNKNOWN" for other numbers. */
char const* fusekit_status_name(fusekit_status status);

/* Returns the message of this thread's last call that failed; "" if none did. The text is valid until this thread's
 * next call that fails. */
char const* fusekit_last_message(void);

/* Returns 100 * major + minor of the loaded library's version. */
int32_t fusekit_version(void);

typedef int32_t fusekit_backend;
enum {
    FUSEKIT_HOST = 0,
    FUSEKIT_GPU = 1,
    FUSEKIT_JIT = 2 /* an NVIDIA GPU, with plans that are compiled at run time: see below */
};

/* Returns 1 if the library was built with the backend, else 0. */
int32_t fusekit_has_backend(fusekit_backend backend);

/* Returns the CPU for which the running code of FUSEKIT_HOST is compiled: "x86-64-v4" (AVX-512), "x86-64-v3" (AVX2),
 * "x86-64-v2", or "default", the flags of the library's build. A library with code for several CPUs chooses when it is
 * first used. Returns "" without the backend. */
char const* fusekit_host_cpu(void);

typedef int32_t fusekit_type;
enum { FUSEKIT_FLOAT = 0, FUSEKIT_HALF = 1, FUSEKIT_BFLOAT16 = 2, FUSEKIT_DOUBLE = 3, FUSEKIT_INT8 = 4 };

/* ---- Operators ---- */

typedef int32_t fusekit_kind;
enum {
    FUSEKIT_CONV = 0,
    FUSEKIT_GEMM = 1,
    FUSEKIT_BIAS = 2,
    FUSEKIT_BATCH_NORM_INFERENCE = 3,
    FUSEKIT_BATCH_NORM_TRAINING = 4,
    FUSEKIT_ACTIVATION = 5,
    FUSEKIT_RESIDUAL = 6,
    FUSEKIT_SCALE = 7,
    FUSEKIT_REQUANTIZE = 8,
    FUSEKIT_POOL = 9,
    FUSEKIT_GLOBAL_AVERAGE = 10,
    FUSEKIT_CHANNEL_STATISTICS = 11,
    FUSEKIT_STORE = 12,
    FUSEKIT_BATCH_NORM_BACKWARD = 13,
    FUSEKIT_ACTIVATION_BACKWARD = 14,
    FUSEKIT_BINARY = 15, /* y = x + z and others, by `mode`, with the tensor FUSEKIT_Z */
    FUSEKIT_LAYER_NORM = 16, /* norms of rows: optional FUSEKIT_NORM_SCALE and FUSEKIT_SHIFT, floats per channel */
    FUSEKIT_RMS_NORM = 17,
    FUSEKIT_GROUP_NORM = 18, /* `groups` of the filter: number of groups of channels */
    FUSEKIT_INSTANCE_NORM = 19,
    FUSEKIT_SOFTMAX = 20,
    FUSEKIT_LOG_SOFTMAX = 21,
    FUSEKIT_UPSAMPLE_NEAREST = 22, /* `size` of the filter: factors of rows and columns */
    FUSEKIT_UPSAMPLE_BILINEAR = 23,
    FUSEKIT_PIXEL_SHUFFLE = 24, /* `size` of the filter: the factor, twice */
    FUSEKIT_PIXEL_UNSHUFFLE = 25,
    FUSEKIT_BATCHED_GEMM = 26,
    /* Gradients of a convolution; `filter` is the convolution's. By x: x is dy, y is dx. */
    FUSEKIT_TRANSPOSED_CONV = 27,
    /* By the weights: x is the convolution's x, FUSEKIT_Z is dy, y is the weights' gradient, and an optional
     * FUSEKIT_BIASES, floats, receives the gradient of a bias. */
    FUSEKIT_CONV_WEIGHT_GRADIENT = 28,
    FUSEKIT_RESIDUAL_BACKWARD = 29, /* FUSEKIT_Z is the forward z; an optional FUSEKIT_OUTPUT receives its gradient */
    FUSEKIT_OWN = 64 /* an operator that is given as source: `mode` is the one of fusekit_jit_add_operator() */
};

/* Values of fusekit_operator.mode: of activations (0 to 10 as in MIOpen), of batch norms, of pools, and of binary
 * operators. */
enum {
    FUSEKIT_PASSTHRU = 0,
    FUSEKIT_LOGISTIC = 1,
    FUSEKIT_TANH = 2,
    FUSEKIT_RELU = 3,
    FUSEKIT_SOFT_RELU = 4,
    FUSEKIT_ABS = 5,
    FUSEKIT_POWER = 6,
    FUSEKIT_CLIPPED_RELU = 7,
    FUSEKIT_LEAKY_RELU = 8,
    FUSEKIT_ELU = 9,
    FUSEKIT_CLAMP = 10,
    FUSEKIT_GELU = 11,
    FUSEKIT_GELU_TANH = 12,
    FUSEKIT_SILU = 13,
    FUSEKIT_MISH = 14,
    FUSEKIT_HARD_SWISH = 15,
    FUSEKIT_HARD_SIGMOID = 16,
    FUSEKIT_SOFTSIGN = 17
};
enum { FUSEKIT_PER_ACTIVATION = 0, FUSEKIT_SPATIAL = 1 };
enum { FUSEKIT_MAX = 0, FUSEKIT_AVERAGE = 1 };
enum {
    FUSEKIT_ADD = 0,
    FUSEKIT_SUBTRACT = 1,
    FUSEKIT_MULTIPLY = 2,
    FUSEKIT_DIVIDE = 3,
    FUSEKIT_MAXIMUM = 4,
    FUSEKIT_MINIMUM = 5
};

/* Window geometry of a convolution or a pool, as {rows, columns}. A pool has no dilation and no groups. */
typedef struct fusekit_filter {
    int32_t size[2];
    int32_t pad_before[2];
    int32_t pad_after[2];
    int32_t stride[2];
    int32_t dilation[2];
    int32_t groups;
} fusekit_filter;

/* Filter of R x S taps with PAD rows and columns of padding on every side and stride STRIDE in both modes. */
#define FUSEKIT_FILTER(R, S, PAD, STRIDE) {{R, S}, {PAD, PAD}, {PAD, PAD}, {STRIDE, STRIDE}, {1, 1}, 1}

/* One operator of a sequence. `mode` is 0 for kinds without modes; all members of `filter` are 0 for kinds without a
 * filter. Norms by groups and upsampling read the members of `filter` that fusekit_kind names. */
typedef struct fusekit_operator {
    fusekit_kind kind;
    int32_t mode;
    fusekit_filter filter;
} fusekit_operator;

/* Element types of x, y, and a convolution's weights. */
typedef struct fusekit_types {
    fusekit_type x, y, weights;
} fusekit_types;

/* ---- Tensors and arguments ---- */

/* A tensor: extents and strides, in elements, are in the order N, C, then space (for weights K, C / groups, then
 * space), for every memory order. An omitted tensor has `rank` 0. */
typedef struct fusekit_tensor {
    void* data;
    fusekit_type type;
    int32_t rank;
    int64_t extents[5];
    int64_t strides[5];
} fusekit_tensor;

/* Role of a tensor for its operator. */
enum {
    FUSEKIT_WEIGHTS = 0,
    FUSEKIT_BIASES = 1,
    FUSEKIT_Z = 2,
    FUSEKIT_NORM_SCALE = 3, /* scale of a batch norm, and of a FUSEKIT_REQUANTIZE */
    FUSEKIT_SHIFT = 4,
    FUSEKIT_MEAN = 5,
    FUSEKIT_VARIANCE = 6,
    FUSEKIT_SAVED_MEAN = 7,
    FUSEKIT_SAVED_INVERSE_DEVIATION = 8,
    FUSEKIT_RUNNING_MEAN = 9,
    FUSEKIT_RUNNING_VARIANCE = 10,
    FUSEKIT_FORWARD_X = 11, /* x of the forward run, as an argument of a backward run */
    FUSEKIT_SCALE_GRADIENT = 12,
    FUSEKIT_SHIFT_GRADIENT = 13,
    FUSEKIT_OUTPUT = 14,
    FUSEKIT_SCRATCH = 15,
    FUSEKIT_ROLES = 16
};

/* Arguments of one operator. Fields that its kind does not have are not read. */
typedef struct fusekit_arguments {
    fusekit_tensor tensors[FUSEKIT_ROLES];
    double alpha, beta, gamma; /* parameters of an activation */
    double factor;             /* factor of a FUSEKIT_SCALE, or of a FUSEKIT_RESIDUAL's z */
    double epsilon;
    double momentum; /* weight of the new value in running statistics; MIOpen's expAvgFactor */
    double zero_point;
} fusekit_arguments;

/* Sets all fields to their defaults: no tensors, factor 1, epsilon 1e-5, momentum 0.1, the others 0. */
fusekit_status fusekit_arguments_init(fusekit_arguments* arguments);

/* ---- Devices ---- */

typedef struct fusekit_device_handle* fusekit_device;
typedef struct fusekit_plan_handle* fusekit_plan;
typedef struct fusekit_run_handle* fusekit_run;

/* Creates a CPU device with this number of threads; 0 means one per processor. */
fusekit_status fusekit_device_create_host(int32_t threads, fusekit_device* device);

/* Creates a device for the GPU with this index, with a stream and a workspace. */
fusekit_status fusekit_device_create_gpu(int32_t index, fusekit_device* device);

/* Does the same for plans of FUSEKIT_JIT. */
fusekit_status fusekit_device_create_jit(int32_t index, fusekit_device* device);

fusekit_status fusekit_device_destroy(fusekit_device device);

/* Returns when all work on the device's own stream is complete. */
fusekit_status fusekit_device_synchronize(fusekit_device device);

/* Stream argument of a call: FUSEKIT_OWN_STREAM, the device's own stream, or a hipStream_t or cudaStream_t of its GPU;
 * NULL is the default stream. The host has no streams, and accepts any. */
#define FUSEKIT_OWN_STREAM ((void*)(intptr_t)-1)

/* ---- Plans ---- */

/* Finds the plan of the backend's set for a sequence of operators. Returns FUSEKIT_NO_PLAN if there is none. */
fusekit_status fusekit_find(fusekit_backend backend, fusekit_operator const* operators, int32_t count,
                            fusekit_types const* types, fusekit_plan* plan);
fusekit_status fusekit_plan_destroy(fusekit_plan plan);

/* Writes the plan's name to `name`, zero-terminated, truncated to `size` bytes. Unless `needed` is null, stores the
 * size of the whole name in *needed. */
fusekit_status fusekit_plan_name(fusekit_plan plan, char* name, size_t size, size_t* needed);

/* Reason why no plan is found. */
typedef int32_t fusekit_reason;
enum {
    FUSEKIT_SUPPORTED = 0,
    FUSEKIT_UNKNOWN_OPERATOR = 1, /* an operator has an unknown kind or mode */
    FUSEKIT_BROKEN_RULE = 2,      /* the sequence breaks an ordering rule: see `sentence` */
    FUSEKIT_OTHER_TYPES = 3,      /* the set has the plan for other element types */
    FUSEKIT_NOT_IN_SET = 4        /* the valid sequence is not in the set; the message names the nearest plans */
};
typedef struct fusekit_explanation {
    fusekit_reason reason;
    int32_t position;     /* index of the first operator that is not supported, from 0 */
    char const* rule;     /* name of the broken rule, or "" */
    char const* sentence; /* message of the broken rule, or ""; both texts are valid while the library is loaded */
} fusekit_explanation;

/* Explains why the set has no plan for a sequence. With `types` null the sequence is a prefix: supported if some plan
 * begins with it. Returns FUSEKIT_SUCCESS and the reason FUSEKIT_SUPPORTED, or FUSEKIT_NO_PLAN with fusekit_find()'s
 * message. */
fusekit_status fusekit_explain(fusekit_backend backend, fusekit_operator const* operators, int32_t count,
                               fusekit_types const* types, fusekit_explanation* explanation);

/* fusekit_set_size(): number of plans in the set, each for one combination of element types. fusekit_set_plan(): name
 * and types of the plan with this index, from 0. */
fusekit_status fusekit_set_size(fusekit_backend backend, int32_t* size);
fusekit_status fusekit_set_plan(fusekit_backend backend, int32_t index, char* name, size_t size, size_t* needed,
                                fusekit_types* types);

/* ---- Runs ---- */

/* In all calls below, `arguments` match the operators that were passed to fusekit_find() in number and order. */

/* Returns the extents of y, which has x's rank. Pointers in tensors may be null. If an extent of y is 0, runs write
 * nothing. */
fusekit_status fusekit_output_shape(fusekit_plan plan, fusekit_arguments const* arguments, int32_t count,
                                    fusekit_tensor const* x, int64_t extents[5]);

/* Returns the bytes of workspace of a run on tensors of these layouts. Pointers in tensors may be null. */
fusekit_status fusekit_workspace_bytes(fusekit_plan plan, fusekit_device device, fusekit_arguments const* arguments,
                                       int32_t count, fusekit_tensor const* x, fusekit_tensor const* y, size_t* bytes);

/* Binds the arguments and runs from x into y; allocates nothing, and is asynchronous on a GPU. If `workspace` is null,
 * uses the device's own, and runs on several streams must then be ordered. Else `workspace` must be aligned to 64 bytes
 * and, on a GPU, filled with zeros before its first run. */
fusekit_status fusekit_execute(fusekit_plan plan, fusekit_device device, void* stream,
                               fusekit_arguments const* arguments, int32_t count, fusekit_tensor const* x,
                               fusekit_tensor const* y, void* workspace, size_t workspace_bytes);

/* Prepares a run on tensors of these layouts, which may be run many times and from many threads. Ignores the pointers
 * of x and y, and assumes that later addresses are multiples of `alignment` bytes; 0 means 16. */
fusekit_status fusekit_prepare(fusekit_plan plan, fusekit_device device, fusekit_arguments const* arguments,
                               int32_t count, fusekit_tensor const* x, fusekit_tensor const* y, int32_t alignment,
                               fusekit_run* run);

/* Prepares a run as fusekit_prepare() does, but compiles nothing on the calling thread: while a thread of the library
 * compiles the kernel of a FUSEKIT_JIT plan, it returns FUSEKIT_COMPILING, and the caller may run a plan of another
 * backend and call again. If the kernel does not compile, one call returns FUSEKIT_NOT_COMPILED; a later one compiles
 * again. Plans of other backends are prepared at once. */
fusekit_status fusekit_prepare_async(fusekit_plan plan, fusekit_device device, fusekit_arguments const* arguments,
                                     int32_t count, fusekit_tensor const* x, fusekit_tensor const* y, int32_t alignment,
                                     fusekit_run* run);
fusekit_status fusekit_run_execute(fusekit_run run, fusekit_device device, void* stream, void const* x, void* y,
                                   void* workspace, size_t workspace_bytes);
fusekit_status fusekit_run_workspace_bytes(fusekit_run run, size_t* bytes);
fusekit_status fusekit_run_destroy(fusekit_run run);

/* ---- Plans that are compiled at run time ---- */

/* With the backend FUSEKIT_JIT, fusekit_find() accepts every sequence that breaks no rule, of at most one head, then
 * biases, batch norms (inference), activations, scales, residuals, binary operators and operators that are given as
 * source, then at most one pool, for x, y and weights of one type: float, half or bfloat16. Heads: a convolution, a
 * Gemm, a BatchedGemm, a batch norm in training, norms of rows and softmax, upsampling, pixel shuffles, and the
 * gradients of a convolution: FUSEKIT_TRANSPOSED_CONV, after which no operator has parameters per pixel and no pool
 * follows, and FUSEKIT_CONV_WEIGHT_GRADIENT, for y of x's type or float, after which operators have no parameters per
 * channel. Gradients of other plans are FUSEKIT_BATCH_NORM_BACKWARD, or FUSEKIT_BATCH_NORM_INFERENCE, then
 * FUSEKIT_RESIDUAL_BACKWARD, then FUSEKIT_ACTIVATION_BACKWARD, each optional: x is dy, y is dx, and FUSEKIT_FORWARD_X
 * of one of them is the forward run's x. The operators may also precede a norm of rows or a softmax. After a
 * convolution or a Gemm one operator may have a second tensor. x has 2 to 4 modes with a Gemm, a norm of channels or a
 * softmax, else 4 or, without windows, 3 or 4. Three modes are N x C x W; with a Gemm, a norm of rows or a softmax
 * they are a batch of matrices, whose columns are the channels, also those of a GroupNorm: for N x C x W it has x of N
 * x C x W x 1. Weights of a BatchedGemm have x's number of modes. fusekit_prepare() and fusekit_execute() select the
 * kernel for the layouts and compile it, by NVIDIA's libnvrtc, if neither this process nor the disk cache has it: this
 * takes about a second. GPUs of compute capability 9.0 run them. If the environment has FUSEKIT_JIT=0, nothing is
 * compiled. */

/* Adds an operator that is given as source text: a struct `name` with a stage, Args of none to three floats, to which
 * alpha, beta and gamma of the arguments are passed, and apply:
 *     struct Swish {
 *         static constexpr auto stage = fusekit::Stage::activation;
 *         struct Args { float beta; };
 *         template <class V> FUSEKIT_HD static constexpr V apply(V x, Args const& args);
 *     };
 * Sets *mode for fusekit_operator.mode, with kind FUSEKIT_OWN. The source is compiled with the plan: its errors are
 * those of fusekit_prepare(). It is code that runs on the GPU: pass no text that you do not trust. */
fusekit_status fusekit_jit_add_operator(char const* name, char const* source, int32_t* mode);

/* Selects the folder of the disk cache and its size. NULL: fusekit/jit in the user's cache folder, $XDG_CACHE_HOME or
 * ~/.cache, which is the default, with 256 MiB. 0 bytes: no disk cache. A folder that another user may write to is not
 * used, and in set-user-id programs none is. */
fusekit_status fusekit_jit_set_cache(char const* folder, uint64_t bytes);

/* Stores how many kernels this process has compiled, read from the disk cache, and found in memory. */
fusekit_status fusekit_jit_counts(uint64_t counts[3]);

#ifdef __cplusplus
}
#endif

#endif
