// SPDX-License-Identifier: MIT
#pragma once

#include <fusekit/runtime/arguments.hpp>
#include <vector>

#include "fusion_op.hpp"

namespace fusekit::compat {

/// Last arguments that were set for one operator. All bytes are initialised, so that equal arguments have equal bytes.
struct OpValues {
    std::uint64_t op;  ///< handle of the operator
    void* tensors[runtime::roles];
    double alpha, beta, gamma, epsilon, momentum;

    void*& operator[](runtime::Role role) { return tensors[static_cast<int>(role)]; }
    void* operator[](runtime::Role role) const { return tensors[static_cast<int>(role)]; }
};

/// Object of a miopenOperatorArgs_t: arguments of the operators of one plan or several.
class OperatorArguments {
public:
    static constexpr ObjectKind kind = ObjectKind::arguments;
    static constexpr char const* name = "operator arguments";
    using Handle = miopenOperatorArgs_t;

    /// Arguments of the operator with this handle; null if none were set.
    OpValues const* find(std::uint64_t op) const {
        for (OpValues const& each : all)
            if (each.op == op) return &each;
        return nullptr;
    }

    /// Replaces the arguments of the operator values.op. Removes those of operators that were destroyed.
    void set(OpValues const& values);

private:
    std::vector<OpValues> all;
};

}  // namespace fusekit::compat
