// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "support/case.hpp"

/// What is supported: MIOpen's two tables of fusions, and what there is beyond them. A test runs every row on every
/// backend, and docs/support.md prints what it consists of.
///
/// Source of MIOpen's: its documentation, "Using the fusion API", the tables for FP32 and FP16.
namespace test::table {

enum class Direction { inference, training, backward };

/// Rows that differ in what is listed: one for every combination of form, type, layout, geometry and activation.
struct Group {
    bool miopen;        // a line of its tables, or one of ours
    std::string words;  // the algorithm that its table has; or what we call it
    std::string rule;   // what its table demands beside; or what is demanded here
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
