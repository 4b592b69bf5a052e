// SPDX-License-Identifier: MIT
//
// Host code of norms of rows and softmax.
#include "host_code.hpp"

namespace fusekit::jit {

HostCode const* rows_code(Head head, Reads reads, DataType type) {
    if (head == Head::layer_norm) return typed_host_code<Head::layer_norm>(reads, type);
    if (head == Head::rms_norm) return typed_host_code<Head::rms_norm>(reads, type);
    if (head == Head::group_norm) return typed_host_code<Head::group_norm>(reads, type);
    if (head == Head::instance_norm) return typed_host_code<Head::instance_norm>(reads, type);
    if (head == Head::softmax) return typed_host_code<Head::softmax>(reads, type);
    if (head == Head::log_softmax) return typed_host_code<Head::log_softmax>(reads, type);
    return nullptr;
}

}  // namespace fusekit::jit
