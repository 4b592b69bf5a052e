// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <type_traits>

namespace fusekit {

namespace detail {

/// The direction of neighbouring lanes of a CPU's vector or a GPU's wave: the channels of one pixel, or the pixels of
/// one channel, row after row.
enum class Axis { channel, pixel };

}  // namespace detail

/// Where plans run. A backend is a Device and nothing else; Tensor and BoundPlan ask no more of it than this,
/// `run(bound, x, y)`, which is called with arguments that have been validated, and `takes<X>(epilogue, bound)`, which
/// is given null pointers, refuses by assertions what does not compile, and says whether it does. A device whose memory
/// is not all memory has `check_accessible(check, argument, pointer)`, which refuses what it cannot read
/// (tensor/check.hpp).
template <class D>
concept Device = std::derived_from<D, typename D::Memory> && std::is_trivially_copyable_v<typename D::Memory> &&
                 requires(D const& device, D& running, void* memory, void const* host, std::size_t bytes) {
                     { device.allocate(bytes) } -> std::same_as<void*>;  // throws when there is no memory
                     device.release(memory);
                     device.copy_in(memory, host, bytes);
                     device.copy_out(memory, host, bytes);
                     running.synchronize();  // returns when all that was run is done
                 };

}  // namespace fusekit
