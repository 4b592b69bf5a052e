// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "words.hpp"

namespace fusekit::jit {

/// Variable of a unit's machine code, the bytes of the kernel's dynamic shared memory: only the unit knows them.
inline constexpr char const* shared_bytes_name = "fusekit_dynamic_shared_bytes";

/// The translation unit of one kernel: the plan and the mainloop as types, assertions that their layout is the one that
/// code of the host assumes, and an explicit instantiation. Empty, with the reason in `why`, if a header is missing.
/// `filter` is the filter of the launch: a constant in depthwise kernels, which otherwise have the code of every
/// window.
std::string unit_of(Spec const& spec, KernelEntry const& kernel, Filter<2> const& filter, std::string& why);

}  // namespace fusekit::jit
