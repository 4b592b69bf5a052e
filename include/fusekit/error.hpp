// SPDX-License-Identifier: MIT
#pragma once

#include <exception>
#include <utility>

#include "fusekit/config.hpp"
#include "fusekit/text.hpp"

namespace fusekit {

/// The only exception type of the library. Thrown before anything is written: outputs are unchanged.
///
/// what() reads "plan: operator.argument: expected ..., got ..."; each part is also a member, for programs to test.
/// what() of a refused schedule reads "plan: schedule: condition", e.g. "Halo: C = 96 exceeds 64".
class Error : public std::exception {
public:
    Text plan;           ///< the plan as its author wrote it, e.g. "Plan<Conv<filter(3, 3)>, Bias>"
    Text operator_name;  ///< e.g. "Bias"; "x" and "y" for the tensors of the call
    Text argument;       ///< the field of the operator's Args
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

    /// Makes an Error whose what() reads "plan: operator: sentence".
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
