// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "support/case.hpp"
#include "support/random.hpp"

namespace test {

/// Letters and activation mode of a plan that cases can name.
struct FormName {
    std::string letters, mode;
};

/// A random case of one of the forms, with any type, shape, geometry and layout, and at most about `multiplications`;
/// most cases have far fewer.
Case random_case(Random& random, std::vector<FormName> const& forms, double multiplications);

}  // namespace test
