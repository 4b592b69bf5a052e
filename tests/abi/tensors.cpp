// SPDX-License-Identifier: MIT
//
// A unit for GPUs exchanges tensors, views, layouts, text and errors with units of other compilers, on the CPU.
#include <fusekit/fusekit.hpp>

namespace fk = fusekit;

using Device = fk::host::Device;
using Images = fk::Tensor<float, Device>;

Images made(Device& device) {
    Images x(device, fk::nhwc(2, 9, 7, 19)), y = fk::random<float>(device, fk::nchw(2, 19, 9, 7));
    Images z = std::move(x);
    return z.size() == y.size() ? std::move(y) : std::move(z);
}

fk::Text words_of(Device& device, fk::TensorView<float const, 4> view) {
    try {
        Images const copy(device, view.layout);
        fk::TensorView<float const, 4> const whole = fk::broadcast(copy.const_view(), 4, 19, 9, 7);
        return fk::to_string(whole.layout.shape) + fk::Text::number(device.threads());
    } catch (fk::Error const& error) {
        fk::Error const again = error;
        return again.what();
    }
}
