// SPDX-License-Identifier: MIT
#include <memory>
#include <stdexcept>

#include "peers/cudnn_fused.hpp"

namespace bench {

std::string cudnn_words(cudnnStatus_t status) { return cudnnGetErrorString(status); }

void require(cudnnStatus_t status, char const* call) {
    if (status != CUDNN_STATUS_SUCCESS) throw std::runtime_error(std::string(call) + ": " + cudnn_words(status));
}

namespace {

/// Descriptors of a problem, shared by the ways that use them.
struct Descriptors {
    cudnnTensorDescriptor_t x = nullptr, y = nullptr, bias = nullptr;
    cudnnFilterDescriptor_t weights = nullptr;
    cudnnConvolutionDescriptor_t convolution = nullptr;
    cudnnActivationDescriptor_t relu = nullptr;

    explicit Descriptors(CudnnProblem const& problem) {
        ConvLayer const& l = problem.layer;
        auto const format = problem.channels_last ? CUDNN_TENSOR_NHWC : CUDNN_TENSOR_NCHW;
        require(cudnnCreateTensorDescriptor(&x), "cudnnCreateTensorDescriptor");
        require(cudnnCreateTensorDescriptor(&y), "cudnnCreateTensorDescriptor");
        require(cudnnCreateTensorDescriptor(&bias), "cudnnCreateTensorDescriptor");
        require(cudnnCreateFilterDescriptor(&weights), "cudnnCreateFilterDescriptor");
        require(cudnnCreateConvolutionDescriptor(&convolution), "cudnnCreateConvolutionDescriptor");
        require(cudnnCreateActivationDescriptor(&relu), "cudnnCreateActivationDescriptor");
        require(cudnnSetTensor4dDescriptor(x, format, problem.type, problem.batch, l.c, l.h, l.w), "x");
        require(cudnnSetTensor4dDescriptor(y, format, problem.type, problem.batch, l.k, l.p(), l.q()), "y");
        require(
            cudnnSetTensor4dDescriptor(bias, format, problem.is_int8() ? CUDNN_DATA_FLOAT : problem.type, 1, l.k, 1, 1),
            "bias");
        require(cudnnSetFilter4dDescriptor(weights, problem.type, format, l.k, l.c, l.r, l.s), "weights");
        require(cudnnSetConvolution2dDescriptor(convolution, l.pad, l.pad, l.stride, l.stride, 1, 1,
                                                CUDNN_CROSS_CORRELATION,
                                                problem.is_int8() ? CUDNN_DATA_INT32 : CUDNN_DATA_FLOAT),
                "cudnnSetConvolution2dDescriptor");
        require(cudnnSetConvolutionMathType(convolution,
                                            problem.type == CUDNN_DATA_FLOAT ? CUDNN_FMA_MATH : CUDNN_TENSOR_OP_MATH),
                "cudnnSetConvolutionMathType");
        require(cudnnSetActivationDescriptor(relu, CUDNN_ACTIVATION_RELU, CUDNN_NOT_PROPAGATE_NAN, 0.0),
                "cudnnSetActivationDescriptor");
    }
    Descriptors(Descriptors const&) = delete;
    Descriptors& operator=(Descriptors const&) = delete;
    ~Descriptors() {
        cudnnDestroyTensorDescriptor(x);
        cudnnDestroyTensorDescriptor(y);
        cudnnDestroyTensorDescriptor(bias);
        cudnnDestroyFilterDescriptor(weights);
        cudnnDestroyConvolutionDescriptor(convolution);
        cudnnDestroyActivationDescriptor(relu);
    }
};

template <class Value>
struct Algorithm {
    Value value;
    char const* name;
};

constexpr Algorithm<cudnnConvolutionFwdAlgo_t> forward_algorithms[] = {
    {CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM, "implicit GEMM"},
    {CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM, "implicit GEMM, precomputed indices"},
    {CUDNN_CONVOLUTION_FWD_ALGO_GEMM, "GEMM"},
    {CUDNN_CONVOLUTION_FWD_ALGO_DIRECT, "direct"},
    {CUDNN_CONVOLUTION_FWD_ALGO_FFT, "FFT"},
    {CUDNN_CONVOLUTION_FWD_ALGO_FFT_TILING, "FFT in tiles"},
    {CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD, "Winograd"},
    {CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD_NONFUSED, "Winograd in several kernels"},
};
constexpr Algorithm<cudnnConvolutionBwdDataAlgo_t> input_gradient_algorithms[] = {
    {CUDNN_CONVOLUTION_BWD_DATA_ALGO_0, "algorithm 0, adds in any order"},
    {CUDNN_CONVOLUTION_BWD_DATA_ALGO_1, "algorithm 1"},
    {CUDNN_CONVOLUTION_BWD_DATA_ALGO_FFT, "FFT"},
    {CUDNN_CONVOLUTION_BWD_DATA_ALGO_FFT_TILING, "FFT in tiles"},
    {CUDNN_CONVOLUTION_BWD_DATA_ALGO_WINOGRAD, "Winograd"},
    {CUDNN_CONVOLUTION_BWD_DATA_ALGO_WINOGRAD_NONFUSED, "Winograd in several kernels"},
};
constexpr Algorithm<cudnnConvolutionBwdFilterAlgo_t> weight_gradient_algorithms[] = {
    {CUDNN_CONVOLUTION_BWD_FILTER_ALGO_0, "algorithm 0, adds in any order"},
    {CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1, "algorithm 1"},
    {CUDNN_CONVOLUTION_BWD_FILTER_ALGO_3, "algorithm 3, adds in any order"},
    {CUDNN_CONVOLUTION_BWD_FILTER_ALGO_FFT, "FFT"},
    {CUDNN_CONVOLUTION_BWD_FILTER_ALGO_FFT_TILING, "FFT in tiles"},
    {CUDNN_CONVOLUTION_BWD_FILTER_ALGO_WINOGRAD_NONFUSED, "Winograd in several kernels"},
};

/// `way(descriptors, algorithm, workspace bytes)` for each algorithm of a list that `size_of` accepts.
template <class Value, std::size_t count, class Size, class Way>
std::vector<CudnnWay> each_algorithm(CudnnProblem const& problem, char const* kind,
                                     Algorithm<Value> const (&algorithms)[count], Size const& size_of, Way const& way) {
    auto const descriptors = std::make_shared<Descriptors const>(problem);
    Descriptors const& d = *descriptors;
    std::vector<CudnnWay> ways;
    for (auto const& each : algorithms) {
        std::size_t bytes = 0;
        if (size_of(d, each.value, bytes) == CUDNN_STATUS_SUCCESS)
            ways.push_back({std::string(kind) + each.name, bytes, way(descriptors, each.value, bytes)});
    }
    return ways;
}

/// each_algorithm() for a forward pass.
template <class Way>
std::vector<CudnnWay> each_forward(CudnnProblem const& problem, char const* kind, Way const& way) {
    return each_algorithm(
        problem, kind, forward_algorithms,
        [&](Descriptors const& d, cudnnConvolutionFwdAlgo_t algorithm, std::size_t& bytes) {
            return cudnnGetConvolutionForwardWorkspaceSize(problem.handle, d.x, d.weights, d.convolution, d.y,
                                                           algorithm, &bytes);
        },
        way);
}

constexpr float one = 1, zero = 0;

}  // namespace

std::vector<CudnnWay> cudnn_fused_algorithms(CudnnProblem const& problem) {
    return each_forward(problem, "", [&](auto const& d, cudnnConvolutionFwdAlgo_t algorithm, std::size_t bytes) {
        return [d, problem, algorithm, bytes](void const* x, void* y, void* workspace) {
            return cudnnConvolutionBiasActivationForward(problem.handle, &problem.scale, d->x, x, d->weights,
                                                         problem.weights, d->convolution, algorithm, workspace, bytes,
                                                         &zero, d->y, y, d->bias, problem.bias, d->relu, d->y, y);
        };
    });
}

std::vector<CudnnWay> cudnn_unfused_algorithms(CudnnProblem const& problem) {
    return each_forward(
        problem, "NOT FUSED: ", [&](auto const& d, cudnnConvolutionFwdAlgo_t algorithm, std::size_t bytes) {
            return [d, problem, algorithm, bytes](void const* x, void* y, void* workspace) {
                cudnnStatus_t status =
                    cudnnConvolutionForward(problem.handle, &one, d->x, x, d->weights, problem.weights, d->convolution,
                                            algorithm, workspace, bytes, &zero, d->y, y);
                if (status == CUDNN_STATUS_SUCCESS)
                    status = cudnnAddTensor(problem.handle, &one, d->bias, problem.bias, &one, d->y, y);
                if (status == CUDNN_STATUS_SUCCESS)
                    status = cudnnActivationForward(problem.handle, d->relu, &one, d->y, y, &zero, d->y, y);
                return status;
            };
        });
}

std::vector<CudnnWay> cudnn_input_gradients(CudnnProblem const& problem) {
    return each_algorithm(
        problem, "", input_gradient_algorithms,
        [&](Descriptors const& d, cudnnConvolutionBwdDataAlgo_t algorithm, std::size_t& bytes) {
            return cudnnGetConvolutionBackwardDataWorkspaceSize(problem.handle, d.weights, d.y, d.convolution, d.x,
                                                                algorithm, &bytes);
        },
        [&](auto const& d, cudnnConvolutionBwdDataAlgo_t algorithm, std::size_t bytes) {
            return [d, problem, algorithm, bytes](void const* dy, void* dx, void* workspace) {
                return cudnnConvolutionBackwardData(problem.handle, &one, d->weights, problem.weights, d->y, dy,
                                                    d->convolution, algorithm, workspace, bytes, &zero, d->x, dx);
            };
        });
}

std::vector<CudnnWay> cudnn_weight_gradients(CudnnProblem const& problem) {
    return each_algorithm(
        problem, "", weight_gradient_algorithms,
        [&](Descriptors const& d, cudnnConvolutionBwdFilterAlgo_t algorithm, std::size_t& bytes) {
            return cudnnGetConvolutionBackwardFilterWorkspaceSize(problem.handle, d.x, d.y, d.convolution, d.weights,
                                                                  algorithm, &bytes);
        },
        [&](auto const& d, cudnnConvolutionBwdFilterAlgo_t algorithm, std::size_t bytes) {
            return [d, problem, algorithm, bytes](void const* x, void* dw, void* workspace) {
                return cudnnConvolutionBackwardFilter(problem.handle, &one, d->x, x, d->y, problem.gradient,
                                                      d->convolution, algorithm, workspace, bytes, &zero, d->weights,
                                                      dw);
            };
        });
}

}  // namespace bench
