// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>
#include <utility>

#include "fusekit/plan/call.hpp"
#include "fusekit/plan/prepared.hpp"
#include "fusekit/plan/runs_on.hpp"
#include "fusekit/plan/structure.hpp"
#include "fusekit/plan/validate.hpp"
#include "fusekit/plan/weight_gradient.hpp"
#include "fusekit/tensor/tensor.hpp"

namespace fusekit {

/// A plan with its run-time arguments: a trivially copyable value without hidden state. It may be copied, stored,
/// passed to a kernel and run from many threads.
///
/// A BoundPlan holds views (pointers and layouts), not elements: the bound tensors must outlive its runs, so bind no
/// local tensor of a function that returns the bound plan. Each run reads the tensors' current elements: to change
/// weights, write the bound tensor (Tensor::copy_from). Assigning another tensor to the bound one frees the memory to
/// which the view points: bind again.
template <class ThePlan>
struct [[nodiscard("bind runs nothing: call the bound plan, layer(device, x, y)")]] BoundPlan {
    using Plan = ThePlan;

    typename Plan::Head::Args head;
    typename Plan::Epilogue::Args epilogue;
    typename Plan::Prologue::Args prologue = {};

    /// Shape of y for the shape `x`: N x K x P x Q for N x C x H x W, likewise for one and three spatial modes; M x N
    /// for M x K.
    template <int Rank = 4>
    FUSEKIT_H constexpr Index<Rank> output_shape(Index<Rank> const& x) const {
        return detail::expand<Rank>(collapsed_output_shape(Plan::collapse(x)));
    }
    FUSEKIT_H constexpr CollapsedShape<4> collapsed_output_shape(CollapsedShape<4> const& x) const {
        if constexpr (Plan::pools) return Plan::Pool::output(epilogue_shape(x));
        else return epilogue_shape(x);
    }
    /// Shape of the values to which the epilogue is applied: y's shape or, in a plan with a pool, the shape before the
    /// pool reduces windows.
    FUSEKIT_H constexpr CollapsedShape<4> epilogue_shape(CollapsedShape<4> const& x) const {
        if constexpr (Plan::has_mainloop || Plan::head_kind == detail::HeadKind::gather)
            return Plan::Head::output(x, head);
        else return x;
    }

    /// Runs on `device` and returns y as a new tensor of x's element type: packed, channels first or last as in `x`.
    /// Throws Error if a shape, a type or an argument is invalid for the plan.
    template <class U = void, class Device, class X>
    [[nodiscard("the call returns y as a new tensor: to write to an existing one call layer(device, x, y)")]]
    FUSEKIT_H auto operator()(Device&& device, X const& x) const {
        using Backend = std::remove_reference_t<Device>;
        if constexpr (!detail::is_input<X>() || !detail::may_run<Device>() || !detail::may_make_y<Device>())
            return detail::Nothing{};
        else if constexpr (!detail::runs_on<Plan, Device, X>())
            return run_into_new<false, detail::Given<X, U>>(device, x.const_view());
        else
            return run_into_new<Backend::template accepts<X>(epilogue_of_plan, self), detail::Given<X, U>>(
                device, x.const_view());
    }

    /// Runs and returns y as a new tensor of element type U: layer.as<float>(device, x).
    template <class U, class Device, class X>
    [[nodiscard("the call returns y as a new tensor: to write to an existing one call layer(device, x, y)")]]
    FUSEKIT_H auto as(Device&& device, X const& x) const {
        return operator()<U>(device, x);
    }

    /// Runs on `device` from x into `y`, which has output_shape(x's shape) and any element type; x and y are both
    /// double or neither is. The epilogue's float result is rounded once, to y's type. Allocates nothing. With
    /// fk::no_output as y, the plan writes only the tensors that operators such as Store write. Throws Error, and
    /// leaves `y` unchanged, if a shape, a type, an argument or the memory of a tensor is invalid.
    template <class Device, class X, class Y>
    FUSEKIT_H void operator()(Device&& device, X const& x, Y&& y) const {
        using Backend = std::remove_reference_t<Device>;
        if constexpr (detail::may_run<Device>())
            if constexpr (detail::is_input<X>())
                if constexpr (detail::is_output<Y>() && detail::runs_on<Plan, Device, X, Y>())
                    if constexpr (Backend::template accepts<X>(epilogue_of_plan, self))
                        run_into(device, x.const_view(), detail::output_view(y));
    }

    /// Prepares repeated runs on tensors of these layouts: x of element type T, y of U, or fk::no_output. Writes
    /// nothing. Assumes that later addresses of x and y are multiples of `alignment` bytes (or of the element size, if
    /// larger); if x and y are tensors instead of layouts, assumes the alignment of their addresses. Throws Error if a
    /// layout is invalid for the plan.
    template <class T, class U = T, class Device, int Rank, class Y>
    [[nodiscard]] FUSEKIT_H auto prepare(Device&& device, Layout<Rank> const& x, Y const& y, int alignment = 16) const {
        return try_prepare<T, U>(device, x, y, alignment).value();
    }
    template <class Device, class X, class Y>
    [[nodiscard]] FUSEKIT_H auto prepare(Device&& device, X const& x, Y&& y) const {
        if constexpr (!detail::is_input<X>()) return detail::Nothing{};
        else if constexpr (detail::is_output<Y>())
            if constexpr (detail::runs_on<Plan, Device, X, Y>())
                if constexpr (std::remove_cvref_t<Device>::template accepts<X>(epilogue_of_plan, self))
                    return prepare_for(device, x.const_view(), detail::output_view(y), 0).value();
    }

    /// Does the same as prepare(), but returns the error: if (auto const run = layer.try_prepare(...)) (*run)(...);
    template <class T, class U = T, class Device, int Rank, class Y>
    [[nodiscard]] FUSEKIT_H auto try_prepare(Device&& device, Layout<Rank> const& x, Y const& y,
                                             int alignment = 16) const {
        using View = TensorView<detail::StoredAs<T>, Rank>;
        if constexpr (detail::runs_on<Plan, Device>())
            if constexpr (std::remove_cvref_t<Device>::template accepts<View>(epilogue_of_plan, self))
                return prepare_for(device, View(nullptr, x).const_view(), detail::output_at<U>(y), alignment);
    }
    template <class Device, class X, class Y>
    [[nodiscard]] FUSEKIT_H auto try_prepare(Device&& device, X const& x, Y&& y) const {
        if constexpr (!detail::is_input<X>()) return detail::Nothing{};
        else if constexpr (detail::is_output<Y>())
            if constexpr (detail::runs_on<Plan, Device, X, Y>())
                if constexpr (std::remove_cvref_t<Device>::template accepts<X>(epilogue_of_plan, self))
                    return prepare_for(device, x.const_view(), detail::output_view(y), 0);
    }

    /// Predicts the time of a run on tensors of these layouts, x of element type T and y of U, on `where`: a device, or
    /// a description of one that its backend accepts, such as an architecture. Runs nothing. Throws Error if a layout
    /// is invalid for the plan.
    template <class T, class U = T, class Where, int Rank>
    [[nodiscard]] FUSEKIT_H auto predict(Where const& where, Layout<Rank> const& x, Layout<Rank> const& y) const {
        using View = TensorView<detail::StoredAs<T>, Rank>;
        auto const from = View(nullptr, x).const_view();
        constexpr bool predicts = requires { predict_run(where, *this, from, detail::output_at<U>(y)); };
        static_assert(predicts, "predict() takes a hip::Device or a hip::Architecture: no other backend predicts");
        if constexpr (predicts) return predict_run(where, *this, from, detail::output_at<U>(y));
    }

private:
    static constexpr typename Plan::Epilogue const* epilogue_of_plan = nullptr;
    static constexpr BoundPlan const* self = nullptr;

    /// Static assertions that x has the rank of the plan's head, and an element type that the prologue and the head
    /// support.
    template <Element T, int Rank>
    static consteval bool accepts() {
        constexpr bool floats = !Plan::has_prologue || !Plan::has_mainloop || !std::is_same_v<T, int8>;
        static_assert(floats, "no operator may precede a Conv or Gemm of int8, which sums integers: use two Plans");
        if constexpr (Plan::has_mainloop) {
            using Weight = typename Plan::Head::template WeightElement<T>;
            constexpr bool multiplies =
                std::is_same_v<Weight, T> || (!std::is_same_v<T, int8> && !std::is_same_v<T, double>);
            static_assert(multiplies,
                          "Weights<T> of another type than x's are not valid with x of int8 or double: remove "
                          "Weights<T> from the Conv or Gemm");
            if constexpr (!multiplies) return false;
        }
        if constexpr (Plan::has_weight_gradient) {
            return detail::takes_weight_gradient<Plan, T, Rank>();
        } else if constexpr (Plan::has_gemm) {
            constexpr bool fits = Rank <= 4;
            static_assert(fits, "x of a Gemm must have 2 modes, M x K, or 3 or 4 modes in a batch");
        } else if constexpr (Plan::has_conv) {
            constexpr bool fits = Plan::Head::space == Rank - 2;
            static_assert(
                fits, "the Conv needs x of another number of modes: filter(s) 3, filter(r, s) 4, filter(t, r, s) 5");
        } else {
            constexpr bool broken = Plan::head_kind == detail::HeadKind::elementwise && Plan::Epilogue::size == 0;
            // a plan that breaks an ordering rule has no operators here: only the rule's message is printed
            constexpr bool fits = Rank >= 3 || broken || Plan::of_rows;
            static_assert(fits,
                          "x of 2 modes, a matrix, is valid only with a Gemm, a norm of rows or a softmax: other plans "
                          "take 3 to 5 modes");
        }
        return true;
    }

    template <bool runs, class Given, class Device, Element T, int Rank>
    FUSEKIT_H auto run_into_new(Device& device, TensorView<T const, Rank> x) const {
        using U = detail::StoredAs<Given>;
        constexpr bool fits = match<T, U, Rank, Rank>();
        auto y = detail::new_output<Given>(device, detail::validate_new<U>(*this, x, device));
        if constexpr (runs && fits) device.run(*this, Plan::collapse(x), Plan::collapse(y.view()));
        return y;
    }

    template <class X, class Y, int RankX, int RankY>
    static consteval bool match() {
        constexpr bool same = std::is_same_v<X, double> == std::is_same_v<Y, double>, alike = RankX == RankY;
        static_assert(same, "x and y must both be double, or neither");
        static_assert(alike, "x and y must have the same rank");
        if constexpr (same && alike) return accepts<X, RankX>();
        else return false;
    }

    template <class Device, Element X, Element Y, int RankX, int RankY>
    FUSEKIT_H void run_into(Device& device, TensorView<X const, RankX> x, TensorView<Y, RankY> y) const {
        if constexpr (match<X, Y, RankX, RankY>()) {
            detail::validate(*this, x, &y, device);
            device.run(*this, Plan::collapse(x), Plan::collapse(y));
        }
    }

    template <class Device, Element X, Element Y, int RankX, int RankY>
    FUSEKIT_H auto prepare_for(Device& device, TensorView<X const, RankX> x, TensorView<Y, RankY> y,
                               int alignment) const {
        if constexpr (match<X, Y, RankX, RankY>()) return detail::prepare(*this, device, x, y, alignment);
    }

    template <class Device, Element X, int Rank>
    FUSEKIT_H void run_into(Device& device, TensorView<X const, Rank> x, NoOutput none) const {
        if constexpr (accepts<X, Rank>()) {
            TensorView<detail::NoElement, Rank> const y(none,
                                                        detail::validate_new<detail::NoElement>(*this, x, device));
            device.run(*this, Plan::collapse(x), Plan::collapse(y));
        }
    }
    template <class Device, Element X, int Rank>
    FUSEKIT_H auto prepare_for(Device& device, TensorView<X const, Rank> x, NoOutput none, int alignment) const {
        if constexpr (accepts<X, Rank>())
            return detail::prepare(*this, device, x, TensorView<detail::NoElement, Rank>(none, x.layout), alignment);
    }
};

}  // namespace fusekit
