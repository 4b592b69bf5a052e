// SPDX-License-Identifier: MIT
#pragma once

#include <miopen/miopen.h>

#include <catch2/catch_test_macros.hpp>
#include <initializer_list>
#include <utility>
#include <vector>

#include "device_memory.hpp"

/// Owners of objects that MIOpen's calls make, and calls that must succeed.
namespace test::miopen {

/// Requires success; on failure reports the message.
inline void succeeds(miopenStatus_t status) {
    if (status != miopenStatusSuccess) FAIL(miopenGetErrorString(status) << ": " << fusekitMiopenLastError());
}

template <class Handle, miopenStatus_t (*create)(Handle*), miopenStatus_t (*destroy)(Handle)>
class Owned {
public:
    Owned() { succeeds(create(&handle)); }
    Owned(Owned&& other) noexcept : handle(std::exchange(other.handle, nullptr)) {}
    Owned& operator=(Owned&& other) noexcept {
        std::swap(handle, other.handle);
        return *this;
    }
    ~Owned() {
        if (handle) destroy(handle);
    }
    operator Handle() const { return handle; }

private:
    Handle handle = nullptr;
};

/// Skips the test case if the library under test has no device.
inline miopenStatus_t create_session(miopenHandle_t* session) {
    memory_device();
    return miopenCreate(session);
}

using Session = Owned<miopenHandle_t, create_session, miopenDestroy>;
using Tensor = Owned<miopenTensorDescriptor_t, miopenCreateTensorDescriptor, miopenDestroyTensorDescriptor>;
using Convolution =
    Owned<miopenConvolutionDescriptor_t, miopenCreateConvolutionDescriptor, miopenDestroyConvolutionDescriptor>;
using Activation =
    Owned<miopenActivationDescriptor_t, miopenCreateActivationDescriptor, miopenDestroyActivationDescriptor>;
using Arguments = Owned<miopenOperatorArgs_t, miopenCreateOperatorArgs, miopenDestroyOperatorArgs>;

inline Tensor tensor(std::initializer_list<int> extents, miopenDataType_t type = miopenFloat) {
    Tensor made;
    succeeds(miopenSetTensorDescriptor(made, type, static_cast<int>(extents.size()), extents.begin(), nullptr));
    return made;
}
/// N x C x H x W in NHWC memory order.
inline Tensor channels_last(std::initializer_list<int> extents, miopenDataType_t type = miopenFloat) {
    Tensor made;
    succeeds(miopenSetNdTensorDescriptorWithLayout(made, type, miopenTensorNHWC, extents.begin(), 4));
    return made;
}

inline Convolution convolution(int pad = 0, int stride = 1, int dilation = 1, int groups = 1) {
    Convolution made;
    succeeds(miopenInitConvolutionDescriptor(made, miopenConvolution, pad, pad, stride, stride, dilation, dilation));
    succeeds(miopenSetConvolutionGroupCount(made, groups));
    return made;
}

inline Activation activation(miopenActivationMode_t mode, double alpha = 0, double beta = 0, double gamma = 0) {
    Activation made;
    succeeds(miopenSetActivationDescriptor(made, mode, alpha, beta, gamma));
    return made;
}

class Plan {
public:
    explicit Plan(miopenTensorDescriptor_t input) {
        succeeds(miopenCreateFusionPlan(&handle, miopenVerticalFusion, input));
    }
    Plan(Plan const&) = delete;
    Plan& operator=(Plan const&) = delete;
    ~Plan() { miopenDestroyFusionPlan(handle); }
    operator miopenFusionPlanDescriptor_t() const { return handle; }

private:
    miopenFusionPlanDescriptor_t handle = nullptr;
};

}  // namespace test::miopen
