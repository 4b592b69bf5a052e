// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "fusekit/result.hpp"
#include "fusekit/runtime/descriptor.hpp"
#include "operator_entry.hpp"

namespace fusekit::jit {

/// Entry of a descriptor's operator; null if plans with it are not compiled at run time. Valid until the program ends.
OperatorEntry const* operator_of(runtime::Descriptor const& descriptor);

/// Adds an operator that is given as source: the struct `name`, in namespace fusekit or with its qualified name, which
/// `source` defines. Sets `mode`, with which a Descriptor of Kind::own names it. The same text has the same mode.
Refusal add_operator(char const* name, char const* source, std::int32_t& mode);

/// Largest length of a source text.
inline constexpr std::size_t max_source_bytes = 1 << 16;

}  // namespace fusekit::jit
