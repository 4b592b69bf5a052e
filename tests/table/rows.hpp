// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "support/case.hpp"

/// Supported plans: MIOpen's two tables of fusions, and additional ones. A test runs every row on every backend, and
/// docs/support.md prints the rows.
///
/// Source of MIOpen's tables: its documentation, "Using the fusion API", the tables for FP32 and FP16.
namespace test::table {

enum class Direction { inference, training, backward };

/// Rows that differ in the lists: one per combination of form, type, layout, geometry and activation.
struct Group {
    bool miopen;        // a row of MIOpen's tables
    std::string words;  // algorithm in MIOpen's table, or a description
    std::string rule;   // additional condition
    Direction direction;
    std::vector<std::string> forms;  // letters of Case::form
    std::vector<fk::DataType> types;
    std::vector<std::string> layouts;  // of x (and of y, after a '>'), and of the weights
    std::vector<oracle::Window> windows;
    std::vector<std::int64_t> channels;  // of x
    std::vector<std::string> modes;      // of the activation
};
inline constexpr char const* host_alone = "on the host alone";

struct Row {
    Group const* group;
    Case about;
};

std::vector<Group> const& groups();
std::vector<Row> rows();

}  // namespace test::table
