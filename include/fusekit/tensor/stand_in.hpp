// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/abi.hpp"

namespace fusekit::detail {

/// Addresses that no memory has, 2^48 bytes apart: they take the place of pointers in questions that layouts alone
/// answer. Nothing reads or writes through one. `number` is less than 4096.
FUSEKIT_H inline void* stand_in(int number) {
    return reinterpret_cast<void*>(std::uintptr_t{1} << 60 | static_cast<std::uintptr_t>(number) << 48);
}
FUSEKIT_H inline bool is_stand_in(void const* data) { return reinterpret_cast<std::uintptr_t>(data) >> 60 == 1; }

}  // namespace fusekit::detail
