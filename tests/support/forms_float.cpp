// SPDX-License-Identifier: MIT
#include "support/make_forms.hpp"

namespace fk = fusekit;

template struct test::Forms<fk::host::Device, float>;
