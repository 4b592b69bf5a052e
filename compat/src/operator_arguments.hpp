// SPDX-License-Identifier: MIT
#pragma once

#include <fusekit/runtime/arguments.hpp>
#include <vector>

#include "fusion_op.hpp"

namespace fusekit::compat {

/// Most recent arguments of one operator. Fully initialised, so that equal arguments are equal bytes.
struct OpValues {
    std::uint64_t op;  ///< handle of the operator
    void* tensors[runtime::roles];
    double alpha, beta, gamma, epsilon, momentum;

    void*& operator[](runtime::Role role) { return tensors[static_cast<int>(role)]; }
    void* operator[](runtime::Role role) const { return tensors[static_cast<int>(role)]; }
};

/// Object of a miopenOperatorArgs_t: arguments of operators, of one plan or several.
class OperatorArguments {
public:
    static constexpr ObjectKind kind = ObjectKind::arguments;
    static constexpr char const* name = "operator arguments";
    using Handle = miopenOperatorArgs_t;

    /// Arguments of an operator; null if it was given none.
    OpValues const* find(std::uint64_t op) const {
        for (OpValues const& each : all)
            if (each.op == op) return &each;
        return nullptr;
    }

    /// Replaces the operator's arguments. Discards operators that were destroyed.
    void set(OpValues const& values);

private:
    std::vector<OpValues> all;
};

}  // namespace fusekit::compat
