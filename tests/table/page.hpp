// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace test::table {

/// Generates docs/support.md from the rows.
std::string page();

}  // namespace test::table
