// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <type_traits>

namespace fusekit {

namespace detail {

/// Tensor mode (dimension) along which consecutive lanes of a CPU vector or GPU wave have consecutive elements: the
/// channels of one pixel, or the pixels of one channel in row-major order.
enum class Axis { channel, pixel };

}  // namespace detail

/// Requirements of Tensor and BoundPlan on a backend's device. Further requirements: `run(bound, x, y)`, which is
/// called with validated arguments, and `accepts<X>(epilogue, bound)`, which is called with null pointers for the sake
/// of their types, fails a static_assert unless the backend can compile the plan for elements X, and returns true. A
/// device that cannot access all memory also has `check_accessible(check, argument, pointer)`, which calls check.fail()
/// for a pointer that it cannot read (tensor/check.hpp).
template <class D>
concept Device = std::derived_from<D, typename D::Memory> && std::is_trivially_copyable_v<typename D::Memory> &&
                 requires(D const& device, D& running, void* memory, void const* host, std::size_t bytes) {
                     { device.allocate(bytes) } -> std::same_as<void*>;  // throws if memory is exhausted
                     device.release(memory);
                     device.copy_in(memory, host, bytes);
                     device.copy_out(memory, host, bytes);
                     running.synchronize();  // returns when all runs are complete
                 };

}  // namespace fusekit
