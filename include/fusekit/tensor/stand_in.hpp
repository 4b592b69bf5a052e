// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/abi.hpp"

namespace fusekit::detail {

/// Returns an unmapped address for tensor `number`, 0 to 4095, as an argument of code that reads layouts only and never
/// dereferences the pointer. Addresses of different numbers are 2^48 bytes apart, so that the tensors do not overlap.
FUSEKIT_H inline void* stand_in(int number) {
    return reinterpret_cast<void*>(std::uintptr_t{1} << 60 | static_cast<std::uintptr_t>(number) << 48);
}
FUSEKIT_H inline bool is_stand_in(void const* data) { return reinterpret_cast<std::uintptr_t>(data) >> 60 == 1; }

}  // namespace fusekit::detail
