// SPDX-License-Identifier: MIT
#pragma once

#include <tuple>

#include "backend/hip/gpu.hpp"

namespace test {

/// Returns the device if this program's kernels are made for it: one of AMD's targets, or any NVIDIA GPU from 8.0 on.
/// Otherwise skips the test case.
inline fk::hip::Device native() {
    fk::hip::Device device = gpu();
    bool const same = fk::hip::with_tag(device.architecture(), []<class Tag>(Tag) {
        using namespace fk::hip::arch;
        return std::is_same_v<Tag, Target> || (std::is_base_of_v<Sm80, Tag> && std::is_base_of_v<Nvidia, Target>);
    });
    if (!same) SKIP("the GPU is " << device.architecture().name().c_str());
    return device;
}

/// True if kernels of this program, or of a device, multiply Factors of floats on matrix units.
template <class Factor>
constexpr bool has_unit = !std::is_void_v<typename fk::hip::detail::NativeUnit<Factor, fk::hip::arch::Target>::Type>;

/// Tiles with which a program tests AMD's loaders: all of them, or one for a target (ONE_LOADER_TILE) with the loaders
/// that another target's program tests with all tiles.
#ifdef ONE_LOADER_TILE
template <class... Schedules>
using LoaderTiles = std::tuple<fk::hip::NativeGemm<64, 64, 6>>;
#else
template <class... Schedules>
using LoaderTiles = std::tuple<Schedules...>;
#endif

}  // namespace test
