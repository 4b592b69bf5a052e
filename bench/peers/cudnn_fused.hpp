// SPDX-License-Identifier: MIT
#pragma once

#include <cudnn.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "layers.hpp"

namespace bench {

/// cuDNN's words for a status.
std::string cudnn_words(cudnnStatus_t status);

/// Throws std::runtime_error where `call` did not succeed.
void require(cudnnStatus_t status, char const* call);

/// One way in which cuDNN computes y = relu(scale convolution(x, w) + b), or a gradient of convolution(x, w).
struct CudnnWay {
    std::string name;
    std::size_t workspace_bytes;
    std::function<cudnnStatus_t(void const* x, void* y, void* workspace)> run;
};

/// What a way is made for.
struct CudnnProblem {
    cudnnHandle_t handle;
    ConvLayer layer;
    int batch;
    bool channels_last;
    cudnnDataType_t type;  ///< of all tensors; sums are float. Of int8 bias is float, and sums are integers
    void const *weights = nullptr, *bias = nullptr;
    float scale = 1;
    void const* scale_on_gpu = nullptr;  ///< a float, where scale is not 1
    void const* gradient = nullptr;  ///< dy, of a gradient by weights

    bool is_int8() const { return type == CUDNN_DATA_INT8; }
};

/// cudnnConvolutionBiasActivationForward with each algorithm that has a workspace size for the problem: in float
/// without tensor cores, in others with them.
std::vector<CudnnWay> cudnn_fused_algorithms(CudnnProblem const& problem);

/// Engines that cuDNN's heuristics propose for the graph of the three operations, in float without tensor cores: at
/// most `most`, and no new one after `seconds`, because some are compiled at run time.
std::vector<CudnnWay> cudnn_fused_engines(CudnnProblem const& problem, int most, double seconds);

/// Three kernels, with each algorithm: for a layer that nothing fuses.
std::vector<CudnnWay> cudnn_unfused_algorithms(CudnnProblem const& problem);

/// The gradients of the convolution by x, from dy to dx, and by the weights, from x and problem.gradient to dw: with
/// each algorithm that has a workspace size for the problem.
std::vector<CudnnWay> cudnn_input_gradients(CudnnProblem const& problem);
std::vector<CudnnWay> cudnn_weight_gradients(CudnnProblem const& problem);

}  // namespace bench
