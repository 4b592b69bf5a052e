// SPDX-License-Identifier: MIT
#pragma once

#include "support/oracle.hpp"

namespace test {

/// The oracle's activation by name, with a mode's arguments.
template <class Mode>
oracle::Mode oracle_of(char const* name, typename Mode::Args const& args) {
    oracle::Mode mode{name};
    if constexpr (requires { args.alpha; }) mode.alpha = args.alpha;
    if constexpr (requires { args.beta; }) mode.beta = args.beta;
    if constexpr (requires { args.gamma; }) mode.gamma = args.gamma;
    return mode;
}

}  // namespace test
