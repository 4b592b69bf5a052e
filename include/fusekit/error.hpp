// SPDX-License-Identifier: MIT
#pragma once

#include <stdexcept>
#include <string>

namespace fusekit {

/// The one exception of the library. It is thrown before anything is written, so the output is untouched.
///
/// what() reads "plan: operator.argument: expected ..., got ..."; the parts are members, so that a caller can
/// test for them.
class Error : public std::runtime_error {
public:
    std::string plan;           ///< the plan as its author wrote it, e.g. "Plan<Conv<filter(3, 3)>, Bias>"
    std::string operator_name;  ///< e.g. "Bias"; "x" and "y" for the tensors of the call
    std::string argument;       ///< the field of the operator's Args
    std::string expected;
    std::string given;

    Error(std::string plan, std::string operator_name, std::string argument, std::string expected, std::string given)
        : std::runtime_error(plan + ": " + operator_name + (argument.empty() ? "" : "." + argument) + ": expected " +
                             expected + ", got " + given),
          plan(std::move(plan)),
          operator_name(std::move(operator_name)),
          argument(std::move(argument)),
          expected(std::move(expected)),
          given(std::move(given)) {}
};

}  // namespace fusekit
