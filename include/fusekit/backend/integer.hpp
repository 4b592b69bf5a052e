// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/config.hpp"

namespace fusekit::detail {

FUSEKIT_HD constexpr std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

}  // namespace fusekit::detail
