// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "support/memory.hpp"
#include "support/oracle.hpp"

namespace test {

/// Describes how `y` differs from the expected numbers; empty if it does not. Numbers without error must be the nearest
/// value of the type, bit for bit (either zero for zero); others must be within their bound plus half a spacing. Also
/// reports writes outside the elements.
template <int Rank>
std::string difference(oracle::Tensor const& expected, Memory<Rank> const& y);

}  // namespace test
