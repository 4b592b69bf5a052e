// SPDX-License-Identifier: MIT
#pragma once

#include <exception>
#include <utility>

#include "fusekit/config.hpp"
#include "fusekit/text.hpp"

namespace fusekit {

/// The only exception type of the library. Thrown before the call writes anything: outputs are unchanged.
///
/// what() returns "plan: operator.argument: expected ..., got ..."; each of these texts is also a member, for programs
/// to test. For a schedule that cannot compute a call, what() returns "plan: schedule: condition", as in "Halo: C = 96
/// exceeds 64".
class Error : public std::exception {
public:
    Text plan;           ///< the plan as in its author's source: "Plan<Conv<filter(3, 3)>, Bias>"
    Text operator_name;  ///< name of the operator, such as "Bias"; "x" or "y" for the call's tensors
    Text argument;       ///< name of the field in the operator's Args
    Text expected;
    Text given;
    int code;  ///< hipError_t of a failed HIP call; else 0

    [[gnu::cold]] FUSEKIT_H Error(Text the_plan, Text the_operator_name, Text the_argument, Text the_expected,
                                  Text the_given, int the_code = 0)
        : plan(std::move(the_plan)),
          operator_name(std::move(the_operator_name)),
          argument(std::move(the_argument)),
          expected(std::move(the_expected)),
          given(std::move(the_given)),
          code(the_code),
          message(this->plan + ": " + this->operator_name + (this->argument.empty() ? "" : ".") + this->argument +
                  ": expected " + this->expected + ", got " + this->given) {}

    /// Returns an Error whose what() is "plan: operator: sentence".
    [[gnu::cold]] FUSEKIT_H static Error of_sentence(Text plan, Text operator_name, Text expected, Text given,
                                                     Text const& sentence) {
        Error error(std::move(plan), std::move(operator_name), "", std::move(expected), std::move(given));
        error.message = error.plan + ": " + error.operator_name + ": " + sentence;
        return error;
    }

    FUSEKIT_H Error(Error const&) = default;
    FUSEKIT_H Error(Error&&) = default;
    FUSEKIT_H Error& operator=(Error const&) = default;
    FUSEKIT_H Error& operator=(Error&&) = default;
    FUSEKIT_H ~Error() override = default;

    FUSEKIT_H char const* what() const noexcept override { return message.c_str(); }

private:
    Text message;
};

}  // namespace fusekit
