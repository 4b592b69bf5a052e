// SPDX-License-Identifier: MIT
#pragma once

#include "object_table.hpp"

namespace fusekit::compat {

/// Object of a miopenActivationDescriptor_t: activation mode and parameters. Empty until
/// miopenSetActivationDescriptor().
struct ActivationDescriptor {
    static constexpr ObjectKind kind = ObjectKind::activation;
    static constexpr char const* name = "an activation descriptor";
    using Handle = miopenActivationDescriptor_t;

    bool is_set = false;
    miopenActivationMode_t mode = miopenActivationPASTHRU;
    double alpha = 0, beta = 0, gamma = 0;
};

/// Returns the descriptor of a handle. Throws Failure if the handle is invalid or the descriptor was never set.
ActivationDescriptor const& get_set(miopenActivationDescriptor_t handle, char const* argument);

/// Throws Failure if `mode` is not a miopenActivationMode_t.
void check(miopenActivationMode_t mode);

}  // namespace fusekit::compat
