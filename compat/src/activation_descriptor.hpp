// SPDX-License-Identifier: MIT
#pragma once

#include "object_table.hpp"

namespace fusekit::compat {

/// Activation mode and parameters. Unset until set.
struct ActivationDescriptor {
    static constexpr ObjectKind kind = ObjectKind::activation;
    static constexpr char const* name = "an activation descriptor";
    using Handle = miopenActivationDescriptor_t;

    bool is_set = false;
    miopenActivationMode_t mode = miopenActivationPASTHRU;
    double alpha = 0, beta = 0, gamma = 0;
};

/// Descriptor of a handle. Throws Failure if it is not set.
ActivationDescriptor const& get_set(miopenActivationDescriptor_t handle, char const* argument);

/// Throws Failure if it is no mode of MIOpen's.
void check(miopenActivationMode_t mode);

}  // namespace fusekit::compat
