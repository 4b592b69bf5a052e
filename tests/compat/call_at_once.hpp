// SPDX-License-Identifier: MIT
#pragma once

#include "compat/fused.hpp"
#include "support/filled.hpp"

namespace test::miopen {

/// y = f(alpha1 conv(x, w) + alpha2 z + bias) on small integers.
struct CallAtOnce {
    oracle::Shape const x_shape{2, 4, 5, 7}, y_shape{2, 3, 3, 5};
    oracle::Window const window{.r = 3, .s = 3};
    fk::DataType type;
    std::vector<double> x_values, w_values, z_values, bias_values;
    DeviceTensor x, w, z, bias, y;
    Convolution conv = convolution();

    explicit CallAtOnce(fk::DataType the_type, std::string const& layout = "nchw", std::string const& w_layout = "kcrs")
        : type(the_type),
          x_values(integers(x_shape.size(), -2, 3, 1)),
          w_values(integers(3 * 4 * 9, -2, 3, 2)),
          z_values(integers(y_shape.size(), -2, 3, 3)),
          bias_values(integers(3, -2, 3, 4)),
          x(type, layout_of<4>(layout, x_shape), x_values),
          w(type, layout_of<4>(w_layout, {3, 4, 3, 3}), w_values),
          z(type, layout_of<4>(layout, y_shape), z_values),
          bias(type, fk::nchw(1, 3, 1, 1), bias_values),
          y(type, layout_of<4>(layout, y_shape)) {}

    miopenStatus_t run(void const* alpha1, void const* alpha2, miopenActivationDescriptor_t activation) {
        return run(alpha1, alpha2, activation, z.descriptor, z.data());
    }
    miopenStatus_t run(void const* alpha1, void const* alpha2, miopenActivationDescriptor_t activation,
                       miopenTensorDescriptor_t of_z, void const* z_data) {
        return miopenConvolutionBiasActivationForward(session(), alpha1, x.descriptor, x.data(), w.descriptor, w.data(),
                                                      conv, miopenConvolutionFwdAlgoImplicitGEMM, nullptr, 0, alpha2,
                                                      of_z, z_data, bias.descriptor, bias.data(), activation,
                                                      y.descriptor, y.data());
    }
    std::string wrong(double alpha1, double alpha2, oracle::Mode const& mode) {
        auto sum = oracle::scale(oracle::conv({x_shape, x_values}, w_values, 3, window), alpha1);
        sum = oracle::residual(oracle::bias(sum, bias_values), z_values, alpha2);
        return difference(oracle::activation(sum, mode), y.memory.fetch());
    }
};

}  // namespace test::miopen
