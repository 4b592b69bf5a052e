// SPDX-License-Identifier: MIT
#include "backend/hip/runner.hpp"
#include "support/make_forms.hpp"

namespace fk = fusekit;

template std::vector<test::Form<test::Runner>> const& test::forms<test::Runner, fk::int8>();
