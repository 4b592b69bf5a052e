// SPDX-License-Identifier: MIT
//
// Host code of plans without a head, of pools, upsampling and pixel shuffles.
#include "host_code.hpp"

namespace fusekit::jit {

HostCode const* elementwise_code(Head head, Reads reads, DataType type) {
    if (head == Head::none) return typed_host_code<Head::none>(reads, type);
    if (head == Head::pool) return typed_host_code<Head::pool>(reads, type);
    if (head == Head::global_average) return typed_host_code<Head::global_average>(reads, type);
    if (head == Head::upsampling) return typed_host_code<Head::upsampling>(reads, type);
    if (head == Head::pixel_shuffle) return typed_host_code<Head::pixel_shuffle>(reads, type);
    return nullptr;
}

}  // namespace fusekit::jit
