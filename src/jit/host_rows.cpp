// SPDX-License-Identifier: MIT
//
// Host code of norms of rows and softmax.
#include "host_code.hpp"

namespace fusekit::jit {

HostCode const* rows_code(Spec const& spec, DataType type) {
    return typed_host_code<Head::layer_norm, Head::rms_norm, Head::group_norm, Head::instance_norm, Head::softmax,
                           Head::log_softmax>(spec, type);
}

}  // namespace fusekit::jit
