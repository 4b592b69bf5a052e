// SPDX-License-Identifier: MIT
#include "backend/hip/runner.hpp"
#include "support/make_forms.hpp"

namespace fk = fusekit;

template struct test::Forms<test::Runner, fk::bfloat16>;
