// SPDX-License-Identifier: MIT
#pragma once

#include "backend/hip/gpu.hpp"

namespace test {

/// The device, where it is what this program's kernels are made for: one of AMD's targets, or, of NVIDIA's GPUs, any
/// from 8.0 on. Else the test case ends as skipped.
inline fk::hip::Device native() {
    fk::hip::Device device = gpu();
    bool const same = fk::hip::with_tag(device.architecture(), []<class Tag>(Tag) {
        using namespace fk::hip::arch;
        return std::is_same_v<Tag, Target> || (std::is_base_of_v<Sm80, Tag> && std::is_base_of_v<Nvidia, Target>);
    });
    if (!same) SKIP("the GPU is " << device.architecture().name().c_str());
    return device;
}

/// Whether kernels of this program, and a device's, multiply Factors of floats on matrix units.
template <class Factor>
constexpr bool has_unit = !std::is_void_v<typename fk::hip::detail::NativeUnit<Factor, fk::hip::arch::Target>::Type>;

}  // namespace test
