// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

/// Contents of machine code in the format ELF-64 of the System V ABI: a cubin, or a code object of AMD, in which a
/// kernel has a descriptor NAME.kd (LLVM, "User Guide for AMDGPU Backend"). Any bytes may be passed: nothing out of
/// bounds is read.
namespace fusekit::jit {

/// Name of the only kernel; "" if it has none, several, or is no ELF file.
std::string kernel_name(std::string const& cubin);

/// Stores the initial value of the 32-bit variable `name` in `value`; returns false if there is no such variable.
bool initial_value(std::string const& cubin, std::string const& name, std::uint32_t& value);

}  // namespace fusekit::jit
