// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "fusekit/error.hpp"

namespace test {

/// What the call is refused with; "accepted" where it is not.
std::string refusal(auto const& call) {
    try {
        call();
    } catch (fusekit::Error const& error) {
        return error.what();
    }
    return "accepted";
}

}  // namespace test
