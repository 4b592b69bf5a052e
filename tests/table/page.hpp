// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace test::table {

/// docs/support.md, as the rows have it.
std::string page();

}  // namespace test::table
