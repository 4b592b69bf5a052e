// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "support/problem.hpp"
#include "table/rows.hpp"

namespace test::table {

/// The device with DirectConv for all convolutions; a host has one schedule.
template <class Device>
struct DirectAlone {
    using type = Device;

    static Device& of(Device& device) { return device; }
};

/// Runs a plan; returns the difference.
template <class Device>
using RunRow = std::string (*)(Problem const&, Device&);

/// A plan that rows name, for one element type.
template <class Device>
struct RowPlan {
    Direction direction;
    int space;
    std::string form, mode;
    RunRow<Device> run;
};

/// The plans of a type, split into parts, which translation units that include table/make_plans.hpp instantiate.
inline constexpr int parts = 21;
template <class Device, class T, int Part>
std::vector<RowPlan<Device>> plans_of();

template <class Device, class T>
std::vector<RowPlan<Device>> const& plans() {
    static auto const all = [] {
        std::vector<RowPlan<Device>> list;
        [&]<int... I>(std::integer_sequence<int, I...>) {
            auto const add = [&](std::vector<RowPlan<Device>> const& part) {
                list.insert(list.end(), part.begin(), part.end());
            };
            (add(plans_of<Device, T, I>()), ...);
        }(std::make_integer_sequence<int, parts>{});
        return list;
    }();
    return all;
}

/// The plan of a row; null if it is not listed.
template <class Device, class T>
RunRow<Device> plan_of(Direction direction, Case const& about) {
    for (auto const& plan : plans<Device, T>())
        if (plan.direction == direction && plan.space == about.space() && plan.form == about.form &&
            plan.mode == about.mode)
            return plan.run;
    return nullptr;
}

}  // namespace test::table
