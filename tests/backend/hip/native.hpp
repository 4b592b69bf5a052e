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

/// Tiles with which a program tests AMD's loaders. Loaders depend on the tile, not on the target: a program runs the
/// first tile alone (FIRST_LOADER_TILE) or the others (OTHER_LOADER_TILES) if another target's program runs the rest.
template <class First, class... Others>
#if defined(FIRST_LOADER_TILE)
using LoaderTiles = std::tuple<First>;
#elif defined(OTHER_LOADER_TILES)
using LoaderTiles = std::tuple<Others...>;
#else
using LoaderTiles = std::tuple<First, Others...>;
#endif

}  // namespace test
