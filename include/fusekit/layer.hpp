// SPDX-License-Identifier: MIT
#pragma once

#include <cstring>
#include <type_traits>
#include <utility>

// Disables the warning that fusekit.hpp names.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#endif

#include "fusekit/tensor/tensor.hpp"

namespace fusekit {

namespace host {
class Device;
}
namespace hip {
class Device;  // in fusekit/hip.hpp
}

template <class ThePlan>
struct BoundPlan;

/// Type-erased bound plan for x of type T and y of type U on one type of device: fk::Layer<float, fk::host::Device>.
///
/// A Layer is constructed in a unit that includes the plan and the backend, and runs in units that include neither, so
/// that the plan is compiled once. It is a value, as a BoundPlan: it may be copied and run from many threads, and the
/// tensors to which it is bound must outlive its runs. It allocates when it is constructed or copied, not when it runs.
template <Element T, class Device, int Rank = 4, Element U = T>
class Layer {
public:
    /// Constructs from the result of Plan::bind, in a unit that includes the device's backend.
    template <class Plan>
    FUSEKIT_H Layer(BoundPlan<Plan> const& bound)
        : operations(&operations_of<BoundPlan<Plan>>()), bytes(copy(&bound, sizeof bound)) {
        static_assert(alignof(BoundPlan<Plan>) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);
    }
    FUSEKIT_H Layer(Layer const& other)
        : operations(other.operations), bytes(copy(other.bytes, other.bytes ? operations->size : 0)) {}
    /// After a move only assignment to `other` and its destruction are valid.
    FUSEKIT_H Layer(Layer&& other) noexcept
        : operations(other.operations), bytes(config::exchange(other.bytes, nullptr)) {}
    FUSEKIT_H Layer& operator=(Layer other) noexcept {
        config::swap(operations, other.operations);
        config::swap(bytes, other.bytes);
        return *this;
    }
    FUSEKIT_H ~Layer() { ::operator delete(bytes); }

    /// Runs on `device` from x into `y`; allocates nothing. Throws the Error of BoundPlan's run, and then leaves `y`
    /// unchanged.
    template <class Given, class X, class Y>
    FUSEKIT_H void operator()(Given&& device, X const& x, Y&& y) const {
        if constexpr (runs_on<Given>()) operations->run(bytes, device, x.const_view(), y.view());
    }

    /// Runs on `device` and returns y as a new tensor: packed, channels first or last as in `x`. The unit must include
    /// the device's header.
    template <class Given, class X>
    [[nodiscard("the call returns y as a new tensor: to write to an existing one call layer(device, x, y)")]]
    FUSEKIT_H Tensor<U, Device, Rank> operator()(Given&& device, X const& x) const {
        if constexpr (runs_on<Given>()) {
            Device& own = device;
            Tensor<U, Device, Rank> y(own, operations->output(bytes, own, x.const_view()));
            (*this)(own, x, y);
            return y;
        } else {
            __builtin_unreachable();  // unreachable: a static_assert has failed
        }
    }

    /// Shape of y for the shape `x`: N x K x P x Q for N x C x H x W, likewise for one and three spatial modes; M x N
    /// for M x K.
    FUSEKIT_H Index<Rank> output_shape(Index<Rank> const& x) const { return operations->output_shape(bytes, x); }

    /// Name of the plan: "Plan<Conv<filter(3, 3).pad(1)>, Bias, Activation<Relu>>".
    FUSEKIT_H Text name() const { return operations->name(); }

private:
    /// Fails a static_assert unless Given is a non-const Device.
    template <class Given>
    static consteval bool runs_on() {
        constexpr bool runs = std::is_convertible_v<Given, Device&>;
        static_assert(runs, "a Layer<T, Device> runs on a Device that is neither const nor a temporary");
        return runs;
    }

    using X = TensorView<T const, Rank>;
    using Y = TensorView<U, Rank>;

    struct Operations {
        std::size_t size;
        void (*run)(void const* bound, Device&, X, Y);
        /// returns y's layout for x; throws Error if x is invalid for the plan
        Layout<Rank> (*output)(void const* bound, Device const&, X);
        Index<Rank> (*output_shape)(void const* bound, Index<Rank> const&);
        Text (*name)();
    };
    Operations const* operations;
    void* bytes;  ///< address of a copy of the BoundPlan; null after a move

    template <class BoundPlan>
    FUSEKIT_H static BoundPlan const& as(void const* bound) {
        return *static_cast<BoundPlan const*>(bound);
    }
    template <class BoundPlan>
    FUSEKIT_H static Operations const& operations_of() {
        static constexpr Operations own = {
            sizeof(BoundPlan), [](void const* bound, Device& device, X x, Y y) { as<BoundPlan>(bound)(device, x, y); },
            [](void const* bound, Device const& device, X x) {
                return validate_new<U>(as<BoundPlan>(bound), x, device);
            },
            [](void const* bound, Index<Rank> const& x) { return as<BoundPlan>(bound).output_shape(x); },
            [] { return BoundPlan::Plan::name(); }};
        return own;
    }

    FUSEKIT_H static void* copy(void const* from, std::size_t size) {
        return from ? std::memcpy(::operator new(size), from, size) : nullptr;
    }
};

}  // namespace fusekit

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
