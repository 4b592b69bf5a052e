// SPDX-License-Identifier: MIT
#pragma once

#include <fusekit/runtime/arguments.hpp>
#include <vector>

#include "fusion_op.hpp"

namespace fusekit::compat {

/// What one operator was given last. Equal bytes are equal arguments: all of it is set.
struct OpValues {
    std::uint64_t op;  ///< its handle
    void* tensors[runtime::roles];
    double alpha, beta, gamma, epsilon, momentum;

    void*& operator[](runtime::Role role) { return tensors[static_cast<int>(role)]; }
    void* operator[](runtime::Role role) const { return tensors[static_cast<int>(role)]; }
};

/// Behind a miopenOperatorArgs_t: values of operators, of one plan or of many.
class OperatorArguments {
public:
    static constexpr ObjectKind kind = ObjectKind::arguments;
    static constexpr char const* name = "operator arguments";
    using Handle = miopenOperatorArgs_t;

    /// The values of an operator; null where it was given none.
    OpValues const* find(std::uint64_t op) const {
        for (OpValues const& each : all)
            if (each.op == op) return &each;
        return nullptr;
    }

    /// In the place of what the operator was given before. Forgets operators that are gone.
    void set(OpValues const& values);

private:
    std::vector<OpValues> all;
};

}  // namespace fusekit::compat
