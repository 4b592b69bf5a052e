// SPDX-License-Identifier: MIT
#pragma once

#include <cstdio>
#include <type_traits>

#include "fusekit/fusekit.hpp"
#include "table/plans.hpp"

namespace test::table {

/// TABLE_BFLOAT16 = 0 omits rows of bfloat16, whose forms support/forms_bfloat16.cpp and backend/hip/forms_bfloat16.cpp
/// run.
template <class Device>
RunRow<Device> plan_of(Row const& row) {
    Direction const direction = row.group->direction;
    switch (row.about.type) {
        case fk::DataType::float32: return plan_of<Device, float>(direction, row.about);
        case fk::DataType::float16: return plan_of<Device, fk::half>(direction, row.about);
        case fk::DataType::bfloat16:
            if constexpr (TABLE_BFLOAT16) return plan_of<Device, fk::bfloat16>(direction, row.about);
            break;
        default: break;
    }
    if constexpr (std::is_base_of_v<fk::host::Memory, Device>) return plan_of<Device, double>(direction, row.about);
    return nullptr;
}

/// Difference of a row; empty if it passes. Fills are integers, or reals if integers would make all outputs equal.
template <class Device>
std::string run_row(Row const& row, Device& device) {
    RunRow<Device> const run = plan_of<Device>(row);
    if (!run) return "table/make_plans.hpp has no such plan";
    Case about = row.about;
    std::string wrong;
    for (int attempt = 0; attempt < 12; ++attempt, about.real = true, ++about.seed) {
        Problem const problem(about);
        wrong = unfit(problem.expected());
        if (wrong.empty()) try {
                return run(problem, device);
            } catch (fk::Error const& error) {
                return error.what();
            }
    }
    return wrong;
}

/// Runs all rows that a device supports, and prints the others with the reason. Returns the program's status.
template <class Device>
int run_table(char const* backend, Device& device) {
    constexpr bool host = std::is_base_of_v<fk::host::Memory, Device>;
    int passed = 0, failed = 0, elsewhere = 0, omitted = 0;
    for (Row const& row : rows()) {
        if (!host && row.group->rule == host_alone) {
            ++elsewhere;
            continue;
        }
        if (!TABLE_BFLOAT16 && row.about.type == fk::DataType::bfloat16) {
            ++omitted;
            continue;
        }
        std::string const wrong = run_row(row, device);
        if (wrong.empty()) ++passed;
        else if (++failed <= 20)
            std::printf("FAILED %s, %s%s\n%s\n", row.about.print().c_str(), row.group->words.c_str(),
                        row.group->direction == Direction::backward ? ", backward" : "", wrong.c_str());
    }
    if (elsewhere)
        std::printf("%d rows more are of double, which GPUs do not run: it is there to check by\n", elsewhere);
    if (omitted) std::printf("%d rows more are of bfloat16: tools/test sanitize runs them\n", omitted);
    std::printf("table: %s: %d rows, %d passed, %d failed, 0 skipped\n", backend, passed + failed, passed, failed);
    return failed > 0 || passed == 0;
}

}  // namespace test::table
