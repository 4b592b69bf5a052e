// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "words.hpp"

namespace fusekit::jit {

/// The translation unit of one kernel: the plan and the mainloop as types, assertions that their layout is the one that
/// code of the host assumes, and an explicit instantiation. Empty, with the reason in `why`, if a header is missing.
std::string unit_of(Spec const& spec, KernelEntry const& kernel, std::string& why);

}  // namespace fusekit::jit
