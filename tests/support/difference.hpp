// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "support/memory.hpp"
#include "support/oracle.hpp"

namespace test {

/// How the output in `y` differs from the expected numbers: those known without error must be the nearest value
/// of the type, bit for bit (either zero for zero); the others lie within their bound and half a spacing. Also
/// whether bytes that are no elements were written.
template <int Rank>
std::string difference(oracle::Tensor const& expected, Memory<Rank> const& y);

}  // namespace test
