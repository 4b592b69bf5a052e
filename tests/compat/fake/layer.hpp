// SPDX-License-Identifier: MIT
#pragma once

#include <dlfcn.h>

#include <atomic>
#include <cstring>
#include <string>

#include "compat/owned.hpp"
#include "compat/refused.hpp"

/// Layers of half tensors over the fake driver, which launches nothing: tests read which kernels are compiled and
/// launched, not y.
namespace test::miopen {

template <class T>
T& variable(char const* library, char const* name) {
    void* const found = dlsym(dlopen(library, RTLD_NOW), name);
    REQUIRE(found != nullptr);
    return *static_cast<T*>(found);
}
/// Number of launches.
inline unsigned launches() { return variable<unsigned>("libcuda.so.1", "fake_launches"); }

/// Handle on this stream, null by default. The fake driver captures the stream 0xca.
struct Handle {
    Session session;
    explicit Handle(std::uintptr_t stream = 0) {
        succeeds(miopenSetStream(session, reinterpret_cast<miopenAcceleratorQueue_t>(stream)));
    }
    operator miopenHandle_t() const { return session; }
};

/// Fusion plan on an image of 2 x 16 x 8 x 8, with its operators' arguments: of "CBNTA" each letter adds a convolution,
/// a bias, a batch norm at inference or in training, or an activation; "G" adds a batch norm and "H" an activation,
/// backward.
struct Layer {
    Tensor image = channels_last({2, 16, 8, 8}, miopenHalf), channels = tensor({1, 16, 1, 1}),
           weights = channels_last({16, 16, 3, 3}, miopenHalf);
    Plan plan{image};
    Arguments args;
    alignas(256) unsigned char x[4096 + 256] = {}, y[4096 + 256], input[4096] = {}, w[16 * 16 * 9 * 2] = {},
                                        parameters[6][64] = {};

    explicit Layer(std::string const& letters, miopenActivationMode_t mode = miopenActivationRELU) {
        std::memset(y, 0xab, sizeof y);
        miopenFusionOpDescriptor_t op;
        for (char const letter : letters) {
            if (letter == 'C') {
                succeeds(miopenCreateOpConvForward(plan, &op, convolution(1), weights));
                succeeds(miopenSetOpArgsConvForward(args, op, nullptr, nullptr, w));
            } else if (letter == 'B') {
                succeeds(miopenCreateOpBiasForward(plan, &op, channels));
                succeeds(miopenSetOpArgsBiasForward(args, op, nullptr, nullptr, parameters[0]));
            } else if (letter == 'N') {
                succeeds(miopenCreateOpBatchNormInference(plan, &op, miopenBNSpatial, channels));
                succeeds(miopenSetOpArgsBatchNormInference(args, op, nullptr, nullptr, parameters[1], parameters[2],
                                                           parameters[3], parameters[4], 1e-5));
            } else if (letter == 'T') {
                succeeds(miopenCreateOpBatchNormForward(plan, &op, miopenBNSpatial, true));
                succeeds(miopenSetOpArgsBatchNormForward(args, op, nullptr, nullptr, parameters[0], parameters[1],
                                                         parameters[2], parameters[3], parameters[4], parameters[5],
                                                         0.5, 1e-5));
            } else if (letter == 'G') {
                succeeds(miopenCreateOpBatchNormBackward(plan, &op, miopenBNSpatial));
                succeeds(miopenSetOpArgsBatchNormBackward(args, op, nullptr, nullptr, input, parameters[0],
                                                          parameters[1], parameters[2], parameters[3], parameters[4],
                                                          parameters[5]));
            } else if (letter == 'H') {
                succeeds(miopenCreateOpActivationBackward(plan, &op, mode));
                succeeds(miopenSetOpArgsActivBackward(args, op, nullptr, nullptr, nullptr, nullptr, 1, 1, 1));
            } else {
                succeeds(miopenCreateOpActivationForward(plan, &op, mode));
                succeeds(miopenSetOpArgsActivForward(args, op, nullptr, nullptr, 1, 1, 1));
            }
        }
    }
    Layer(Layer const&) = delete;
    Layer& operator=(Layer const&) = delete;

    miopenStatus_t compile(miopenHandle_t handle) const { return miopenCompileFusionPlan(handle, plan); }
    /// `offset`: bytes, at most 256, from multiples of 256 to x and y.
    miopenStatus_t run(miopenHandle_t handle, std::size_t offset = 0) {
        return miopenExecuteFusionPlan(handle, plan, image, x + offset, image, y + offset, args);
    }
    /// y = f(conv(x, w) + z + bias) by one call; without z if it is null.
    miopenStatus_t run_at_once(miopenHandle_t handle, miopenActivationMode_t mode, void const* z = nullptr) {
        return miopenConvolutionBiasActivationForward(handle, nullptr, image, x, weights, w, convolution(1),
                                                      miopenConvolutionFwdAlgoImplicitGEMM, nullptr, 0, nullptr,
                                                      z ? static_cast<miopenTensorDescriptor_t>(image) : nullptr, z,
                                                      channels, parameters[0], activation(mode), image, y);
    }
    bool y_is_untouched() const {
        for (unsigned char const byte : y)
            if (byte != 0xab) return false;
        return true;
    }
};

}  // namespace test::miopen
