// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>

namespace fusekit {

/// Where plans run. A backend is a Device and nothing else; Tensor and Bound ask no more of it than this, and
/// `run(bound, x, y)`, which is called with arguments that have been validated.
template <class D>
concept Device = requires(D device, void* memory, void const* host, std::size_t bytes) {
    { device.allocate(bytes) } -> std::same_as<void*>;  // throws when there is no memory
    device.release(memory);
    device.copy_in(memory, host, bytes);
    device.copy_out(memory, host, bytes);
    device.synchronize();  // returns when all that was run is done
};

}  // namespace fusekit
