// SPDX-License-Identifier: MIT
#pragma once

#include <cudnn.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "layers.hpp"

namespace bench {

/// Message of a cuDNN status.
std::string cudnn_words(cudnnStatus_t status);

/// Throws std::runtime_error if `call` did not succeed.
void require(cudnnStatus_t status, char const* call);

/// One cuDNN implementation of y = relu(scale convolution(x, w) + b), or of a gradient of convolution(x, w).
struct CudnnWay {
    std::string name;
    std::size_t workspace_bytes;
    std::function<cudnnStatus_t(void const* x, void* y, void* workspace)> run;
};

/// Problem of an implementation.
struct CudnnProblem {
    cudnnHandle_t handle;
    ConvLayer layer;
    int batch;
    bool channels_last;
    cudnnDataType_t type;  ///< of all tensors; accumulators are float. int8: float bias, int32 accumulators
    void const *weights = nullptr, *bias = nullptr;
    float scale = 1;
    void const* scale_on_gpu = nullptr;  ///< address of scale, a float, on the GPU; null if scale is 1
    void const* gradient = nullptr;  ///< dy, for a weight gradient

    bool is_int8() const { return type == CUDNN_DATA_INT8; }
};

/// cudnnConvolutionBiasActivationForward with each algorithm that reports a workspace size for the problem; without
/// tensor cores in float, with them otherwise.
std::vector<CudnnWay> cudnn_fused_algorithms(CudnnProblem const& problem);

/// Engines that cuDNN's heuristics propose for the fused graph, without tensor cores in float: at most `most`, and no
/// new one after `seconds`, because some are compiled at run time.
std::vector<CudnnWay> cudnn_fused_engines(CudnnProblem const& problem, int most, double seconds);

/// Three kernels, with each algorithm: for a layer without a fused implementation.
std::vector<CudnnWay> cudnn_unfused_algorithms(CudnnProblem const& problem);

/// Gradients of the convolution with respect to x, from dy to dx, and to the weights, from x and problem.gradient to
/// dw: with each algorithm that reports a workspace size for the problem.
std::vector<CudnnWay> cudnn_input_gradients(CudnnProblem const& problem);
std::vector<CudnnWay> cudnn_weight_gradients(CudnnProblem const& problem);

}  // namespace bench
