// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "support/case.hpp"
#include "support/random.hpp"

namespace test {

/// The letters and the activation's mode of a plan that cases can name.
struct FormName {
    std::string letters, mode;
};

/// A case of one of the forms, of any type, shape, geometry and layout; of some `multiplications` at most, which all
/// but a few cases stay far below.
Case random_case(Random& random, std::vector<FormName> const& forms, double multiplications);

}  // namespace test
