// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>

#include "compiler.hpp"

namespace fusekit::jit {

/// Machine code of a unit if memory has it. Otherwise null, and one thread of the library compiles the unit, after
/// those that were passed before: `failure` has is_pending until that ends, and the reason once if the unit does not
/// compile; a later call then tries again. When the program ends, units that are not begun are dropped, and one that is
/// begun ends first.
std::shared_ptr<Code const> code_in_background(std::string const& unit, Failure& failure);

}  // namespace fusekit::jit
