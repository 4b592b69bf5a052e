// SPDX-License-Identifier: MIT
#include "support/make_forms.hpp"

namespace fk = fusekit;

template std::vector<test::Form<fk::host::Device>> const& test::forms<fk::host::Device, fk::int8>();
