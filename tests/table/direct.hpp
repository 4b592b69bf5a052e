// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/hip.hpp"
#include "table/plans.hpp"

namespace test::table {

template <>
struct DirectAlone<fusekit::hip::Device> {
    using type = fusekit::hip::Scheduled<fusekit::hip::Direct<>>;

    static type of(fusekit::hip::Device const& device) { return device.with<fusekit::hip::Direct<>>(); }
};

}  // namespace test::table
