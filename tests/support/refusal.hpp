// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "fusekit/error.hpp"

namespace test {

/// Message of the call's Error; "accepted" if it throws none.
std::string refusal(auto const& call) {
    try {
        call();
    } catch (fusekit::Error const& error) {
        return error.what();
    }
    return "accepted";
}

}  // namespace test
