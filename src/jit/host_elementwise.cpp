// SPDX-License-Identifier: MIT
//
// Host code of plans without a head, of pools, upsampling, pixel shuffles and batch norms in training.
#include "host_code.hpp"

namespace fusekit::jit {

HostCode const* elementwise_code(Spec const& spec, DataType type) {
    return typed_host_code<Head::none, Head::pool, Head::global_average, Head::upsampling, Head::pixel_shuffle,
                           Head::spatial_norm, Head::activation_norm>(spec, type);
}

}  // namespace fusekit::jit
