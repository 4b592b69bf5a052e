// SPDX-License-Identifier: MIT
#pragma once

#include "compat/fused.hpp"

namespace test::miopen {

/// Plan of a 1x1 convolution, a bias and an activation, with its tensors and arguments.
struct SmallPlan {
    static constexpr fk::Layout<4> image = fk::nchw(2, 3, 4, 5);

    std::vector<double> const values = std::vector<double>(120, 2);
    DeviceTensor x{fk::DataType::float32, image, values}, y{fk::DataType::float32, image};
    DeviceTensor weights{fk::DataType::float32, fk::kcrs(3, 3, 1, 1), {1, 1, 1, 2, 2, 2, -1, -1, 1}};
    DeviceTensor bias{fk::DataType::float32, fk::nchw(1, 3, 1, 1), {1, -10, 3}};
    Plan plan{x.descriptor};
    Arguments args;
    miopenFusionOpDescriptor_t conv = nullptr, term = nullptr, last = nullptr;

    explicit SmallPlan(bool complete = true) {
        succeeds(miopenCreateOpConvForward(plan, &conv, convolution(), weights.descriptor));
        succeeds(miopenCreateOpBiasForward(plan, &term, bias.descriptor));
        if (complete) finish();
    }
    void finish() {
        succeeds(miopenCreateOpActivationForward(plan, &last, miopenActivationRELU));
        set_conv();
        succeeds(miopenSetOpArgsBiasForward(args, term, nullptr, nullptr, bias.data()));
        succeeds(miopenSetOpArgsActivForward(args, last, nullptr, nullptr, 0, 0, 0));
    }
    void set_conv() { succeeds(miopenSetOpArgsConvForward(args, conv, nullptr, nullptr, weights.data())); }
    void compile(miopenHandle_t handle = session()) { succeeds(miopenCompileFusionPlan(handle, plan)); }
    miopenStatus_t run(miopenHandle_t handle = session()) {
        return miopenExecuteFusionPlan(handle, plan, x.descriptor, x.data(), y.descriptor, y.data(), args);
    }
    /// relu(6 + 1), relu(12 - 10), relu(-2 + 3)
    static oracle::Tensor expected() {
        oracle::Tensor y({2, 3, 4, 5});
        for (std::size_t i = 0; i < y.at.size(); ++i) y.at[i].value = y.channel(i) == 0 ? 7 : y.channel(i) == 1 ? 2 : 1;
        return y;
    }
    std::string wrong() { return difference(expected(), y.memory.fetch()); }
    bool untouched() { return y.memory.fetch().untouched(true); }
};

}  // namespace test::miopen
