// SPDX-License-Identifier: MIT
#pragma once

#include <cstring>
#include <type_traits>
#include <utility>

// As in fusekit.hpp.
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
class Device;
}

template <class ThePlan>
struct BoundPlan;

/// Type-erased bound plan from element type T to U on one kind of device: fk::Layer<float, fk::host::Device>.
///
/// Constructed in a translation unit that includes the plan and the backend; runs in units that include neither: this
/// header depends on neither, so a plan is compiled once. Like a BoundPlan it is a value that may be copied and run
/// from many threads, and the tensors that it is bound to must outlive its runs. Allocates when constructed or copied,
/// not when it runs.
template <Element T, class Device, int Rank = 4, Element U = T>
class Layer {
public:
    /// Wraps the result of Plan::bind. The device's backend must be included here.
    template <class Plan>
    FUSEKIT_H Layer(BoundPlan<Plan> const& bound)
        : operations(&operations_of<BoundPlan<Plan>>()), bytes(copy(&bound, sizeof bound)) {
        static_assert(alignof(BoundPlan<Plan>) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);
    }
    FUSEKIT_H Layer(Layer const& other)
        : operations(other.operations), bytes(copy(other.bytes, other.bytes ? operations->size : 0)) {}
    /// Leaves `other` valid only for assignment and destruction.
    FUSEKIT_H Layer(Layer&& other) noexcept
        : operations(other.operations), bytes(config::exchange(other.bytes, nullptr)) {}
    FUSEKIT_H Layer& operator=(Layer other) noexcept {
        config::swap(operations, other.operations);
        config::swap(bytes, other.bytes);
        return *this;
    }
    FUSEKIT_H ~Layer() { ::operator delete(bytes); }

    /// Runs on `device` into `y`; allocates nothing. Throws the plan's Error, with `y` unchanged.
    template <class Given, class X, class Y>
    FUSEKIT_H void operator()(Given&& device, X const& x, Y&& y) const {
        if constexpr (runs_on<Given>()) operations->run(bytes, device, x.const_view(), y.view());
    }

    /// Runs on `device` into a new tensor: packed, channels first or last as in `x`. The device's header must be
    /// included here.
    template <class Given, class X>
    [[nodiscard("y is a new tensor: layer(device, x, y) writes to one of yours")]]
    FUSEKIT_H Tensor<U, Device, Rank> operator()(Given&& device, X const& x) const {
        if constexpr (runs_on<Given>()) {
            Device& own = device;
            Tensor<U, Device, Rank> y(own, operations->output(bytes, own, x.const_view()));
            (*this)(own, x, y);
            return y;
        } else {
            __builtin_unreachable();  // unreachable: the call was refused
        }
    }

    /// Shape of y: N x K x P x Q for x of N x C x H x W, likewise for one and three spatial modes; M x N for M x K.
    FUSEKIT_H Index<Rank> output_shape(Index<Rank> const& x) const { return operations->output_shape(bytes, x); }

    /// Name of the plan: "Plan<Conv<filter(3, 3).pad(1)>, Bias, Activation<Relu>>".
    FUSEKIT_H Text name() const { return operations->name(); }

private:
    /// Refuses anything but a non-const Device.
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
        /// returns y's layout for x; throws Error if x does not fit
        Layout<Rank> (*output)(void const* bound, Device const&, X);
        Index<Rank> (*output_shape)(void const* bound, Index<Rank> const&);
        Text (*name)();
    };
    Operations const* operations;
    void* bytes;  ///< a BoundPlan; null after a move

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
