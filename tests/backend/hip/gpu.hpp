// SPDX-License-Identifier: MIT
#pragma once

#include <catch2/catch_test_macros.hpp>

#include "fusekit/hip.hpp"

namespace test {

namespace fk = fusekit;

/// The GPU with this index; where there is none, the test case ends as skipped and says what is missing.
inline fk::hip::Device gpu(int index = 0) {
    if (fk::hip::device_count() <= index) try {
            fk::hip::Device{index};
        } catch (fk::Error const& error) {
            SKIP("this needs " << index + 1 << " GPU(s). " << error.what());
        }
    return fk::hip::Device(index);
}

}  // namespace test
