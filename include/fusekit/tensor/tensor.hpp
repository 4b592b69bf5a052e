// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <initializer_list>
#include <utility>

#include "fusekit/error.hpp"
#include "fusekit/tensor/view.hpp"

namespace fusekit {

/// Tensor that owns its elements, in the memory of a device. Move-only; the device must outlive it, but may be moved.
/// Assigning another tensor frees this tensor's memory and leaves bound plans and views dangling: to give a bound layer
/// new weights, fill the tensor with copy_from, or bind again.
///
/// Device::Memory, a copyable base of Device, has `void* allocate(bytes)`, `void release(void*)`, and `copy_in` (host
/// to device) and `copy_out` (device to host), both with arguments (destination, source, bytes). T is any type with an
/// ElementOf.
template <class T, class Device, int Rank = 4>
class Tensor {
public:
    using Memory = typename Device::Memory;
    static_assert(sizeof(TensorView<T, Rank>) > 0);  // refuses a T that is not an element type
    using Given = T;  ///< element type in the application's code
    using Stored = detail::StoredAs<T>;  ///< type as which elements are read and written

    /// Allocates uninitialised memory for every element of `layout`; a null pointer if it has none. Throws whatever the
    /// device's allocate throws.
    FUSEKIT_H Tensor(Device& device, Layout<Rank> const& layout)
        : owner(device), storage(layout), memory(allocate(owner, bytes(layout))) {}

    /// Allocates from `memory`, such as a stream's Memory, whose allocations are in stream order.
    FUSEKIT_H static Tensor in_memory(Memory const& memory, Layout<Rank> const& layout) {
        return Tensor(memory, layout, InMemory{});
    }

    FUSEKIT_H Tensor(Tensor&& other) noexcept
        : owner(other.owner), storage(other.storage), memory(config::exchange(other.memory, nullptr)) {}
    FUSEKIT_H Tensor& operator=(Tensor&& other) noexcept {
        config::swap(owner, other.owner);
        config::swap(storage, other.storage);
        config::swap(memory, other.memory);
        return *this;
    }
    FUSEKIT_H ~Tensor() {
        if (memory) owner.release(memory);
    }

    FUSEKIT_H T* data() { return memory; }
    FUSEKIT_H T const* data() const { return memory; }
    FUSEKIT_H Layout<Rank> const& layout() const { return storage; }
    FUSEKIT_H std::int64_t size() const { return storage.size(); }

    /// View of the tensor, which the tensor must outlive.
    FUSEKIT_H TensorView<Stored, Rank> view() & { return {detail::stored(memory), storage}; }
    FUSEKIT_H TensorView<Stored const, Rank> const_view() const& { return {detail::stored(memory), storage}; }
    /// Fails a static_assert for a temporary tensor. A deleted function instead would also turn a braced group of
    /// arguments into an error.
    template <bool outlives_view = false>
    FUSEKIT_H TensorView<Stored, Rank> view() && {
        static_assert(outlives_view, "this tensor is freed before its view is used: give it a name");
        return view();
    }
    template <bool outlives_view = false>
    FUSEKIT_H TensorView<Stored const, Rank> const_view() const&& {
        static_assert(outlives_view, "this tensor is freed before its view is used: give it a name");
        return const_view();
    }
    FUSEKIT_H operator TensorView<Stored, Rank>() & { return view(); }
    FUSEKIT_H operator TensorView<Stored const, Rank>() const& { return const_view(); }
    operator TensorView<Stored const, Rank>() const&& = delete;

    /// Copies layout().span() elements from the host to the tensor, in memory order.
    FUSEKIT_H void copy_from(T const* host) {
        if (memory) owner.copy_in(memory, host, bytes(storage));
    }

    /// Copies layout().span() elements from the tensor to the host, in memory order.
    FUSEKIT_H void copy_to(T* host) const {
        if (memory) owner.copy_out(host, memory, bytes(storage));
    }

private:
    [[no_unique_address]] Memory owner;
    Layout<Rank> storage;
    T* memory;

    struct InMemory {};
    FUSEKIT_H Tensor(Memory const& the_owner, Layout<Rank> const& layout, InMemory)
        : owner(the_owner), storage(layout), memory(allocate(owner, bytes(layout))) {}

    FUSEKIT_H static T* allocate(Memory const& memory, std::size_t bytes) {
        return bytes ? static_cast<T*>(memory.allocate(bytes)) : nullptr;
    }

    /// Bytes of memory for a layout; throws Error if an extent or a stride is negative, or if the size exceeds 63 bits.
    FUSEKIT_H static std::size_t bytes(Layout<Rank> const& layout) {
        constexpr std::int64_t most = std::int64_t{1} << 60;
        bool const empty = detail::has_no_elements(layout.shape);
        std::int64_t product = 1, last = 0;
        for (int mode = 0; mode < Rank; ++mode) {
            std::int64_t const extent = layout.shape[mode] == 0 ? 1 : layout.shape[mode];
            if (extent < 1 || __builtin_mul_overflow(product, extent, &product) || product > most)
                refuse("shape", mode, "extents of 0 or more whose size in bytes fits 63 bits", layout.shape[mode]);
            if (empty) continue;
            std::int64_t step;
            bool const fits = !__builtin_mul_overflow(layout.shape[mode] - 1, layout.stride[mode], &step);
            if (!fits || step < 0 || step > most || (last += step) > most)
                refuse("stride", mode, "0 or more, and a size in bytes that fits 63 bits", layout.stride[mode]);
        }
        return empty ? 0 : static_cast<std::size_t>(last + 1) * sizeof(T);
    }
    [[noreturn]] FUSEKIT_H static void refuse(Text const& what, int mode, char const* expected, std::int64_t given) {
        detail::raise(Error("Tensor", "layout", what + "[" + Text::number(mode) + "]", expected, Text::number(given)));
    }
};

/// Returns a tensor with the given elements, in memory order. Throws Error if their number is not layout.span().
template <class T, class Device, int Rank>
FUSEKIT_H Tensor<T, Device, Rank> tensor(Device& device, Layout<Rank> const& layout, std::initializer_list<T> values) {
    Tensor<T, Device, Rank> result(device, layout);
    if (static_cast<std::int64_t>(values.size()) != layout.span())
        detail::raise(Error("Tensor", "tensor", "values", Text::number(layout.span()) + " elements",
                            Text::number(values.size())));
    result.copy_from(values.begin());
    return result;
}

/// Returns a tensor of uniform random values in [-1, 1), or in -128 ... 127 for int8. A seed gives the same values on
/// every device and with every compiler.
template <class T, class Device, int Rank>
FUSEKIT_H Tensor<T, Device, Rank> random(Device& device, Layout<Rank> const& layout, std::uint64_t seed = 1) {
    using Stored = detail::StoredAs<T>;
    Tensor<T, Device, Rank> result(device, layout);
    struct Values {
        Stored* first;
        FUSEKIT_H ~Values() { delete[] first; }
    } const host{new Stored[static_cast<std::size_t>(layout.span())]};
    constexpr float unit = std::is_same_v<Stored, int8> ? 128.0f : 1.0f;
    for (std::int64_t i = 0; i < layout.span(); ++i) {  // splitmix64: Steele, Lea and Flood 2014
        std::uint64_t z = (seed += 0x9e3779b97f4a7c15u);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        host.first[i] = Stored(unit * (static_cast<float>((z ^ (z >> 31)) >> 40) * 0x1p-23f - 1.0f));
    }
    result.copy_from(reinterpret_cast<T const*>(host.first));
    return result;
}

}  // namespace fusekit
