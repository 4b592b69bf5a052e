// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>

#include "fusekit/plan/args.hpp"
#include "fusekit/plan/call.hpp"
#include "fusekit/plan/epilogue.hpp"
#include "fusekit/plan/evaluate.hpp"
#include "fusekit/plan/is_operator.hpp"
#include "fusekit/plan/name.hpp"
#include "fusekit/plan/prepared.hpp"
#include "fusekit/plan/runs_on.hpp"
#include "fusekit/plan/structure.hpp"
#include "fusekit/plan/validate.hpp"
#include "fusekit/tensor/tensor.hpp"

namespace fusekit {

namespace detail {

template <class... Ops>
struct FusedPlan;

}  // namespace detail

/// A plan with its run-time arguments: a trivially copyable value without hidden state. It may be copied, kept,
/// passed to a kernel and run from many threads.
///
/// It holds views, which are pointers: the tensors that it was bound to must outlive its runs, as those of a function
/// that returns it do not. It reads what they hold when it runs: to give it new weights, fill the tensor that it was
/// bound to (Tensor::copy_from). Assigning another tensor to that one frees the memory that it reads: then bind again.
template <class ThePlan>
struct [[nodiscard("bind runs nothing: call what it gives, layer(device, x, y)")]] BoundPlan {
    using Plan = ThePlan;

    typename Plan::Head::Args head;
    typename Plan::Epilogue::Args epilogue;
    typename Plan::Prologue::Args prologue = {};

    /// N x K x P x Q for an input of N x C x H x W, and so on for one and three modes of space; M x N for M x K.
    template <int Rank = 4>
    constexpr Index<Rank> output_shape(Index<Rank> const& x) const {
        return expand<Rank>(collapsed_output_shape(Plan::collapse(x)));
    }
    constexpr CollapsedShape<4> collapsed_output_shape(CollapsedShape<4> const& x) const {
        if constexpr (Plan::pools) return Plan::Pool::output(epilogue_shape(x));
        else return epilogue_shape(x);
    }
    /// Of the values that the operators after a Conv or Gemm are applied to; pools make less of them.
    constexpr CollapsedShape<4> epilogue_shape(CollapsedShape<4> const& x) const {
        if constexpr (Plan::has_mainloop) return Plan::Head::output(x, head);
        else return x;
    }

    /// Runs on `device` into a new tensor, packed, channels first or last as in `x`.
    /// Throws Error where the shapes, types or arguments do not fit.
    template <class Device, class X>
    [[nodiscard("y is a new tensor: layer(device, x, y) writes to one of yours")]]
    auto operator()(Device&& device, X const& x) const {
        using Backend = std::remove_reference_t<Device>;
        if constexpr (!detail::is_input<X>() || !detail::may_run<Device>() || !detail::may_make_y<Device>())
            return detail::Nothing{};
        else if constexpr (!detail::runs_on<Plan, Device, X>())
            return run_into_new<false, detail::Given<X>>(device, x.const_view());
        else
            return run_into_new<Backend::template takes<X>(epilogue_of_plan, self), detail::Given<X>>(device,
                                                                                                      x.const_view());
    }

    /// Runs on `device` into `y`, of x's element type and of output_shape; allocates nothing.
    /// Throws Error, with `y` untouched, where the shapes, types, arguments or memory do not fit.
    template <class Device, class X, class Y>
    void operator()(Device&& device, X const& x, Y&& y) const {
        using Backend = std::remove_reference_t<Device>;
        if constexpr (detail::is_input<X>())
            if constexpr (detail::is_output<Y>() && detail::may_run<Device>())
                if constexpr (detail::runs_on<Plan, Device, X, Y>())
                    if constexpr (Backend::template takes<X>(epilogue_of_plan, self))
                        run_into(device, x.const_view(), y.view());
    }

    /// The run on tensors of these layouts and elements of type T, to be run many times; nothing is written. The
    /// tensors will lie at multiples of `alignment` bytes, or of what x and y have. Throws Error where they do not fit.
    template <class T, class Device, int Rank>
    [[nodiscard]] auto prepare(Device&& device, Layout<Rank> const& x, Layout<Rank> const& y,
                               int alignment = 16) const {
        return try_prepare<T>(device, x, y, alignment).value();
    }
    template <class Device, class X, class Y>
    [[nodiscard]] auto prepare(Device&& device, X const& x, Y&& y) const {
        if constexpr (detail::is_input<X>())
            if constexpr (detail::is_output<Y>())
                if constexpr (detail::runs_on<Plan, Device, X, Y>())
                    if constexpr (std::remove_cvref_t<Device>::template takes<X>(epilogue_of_plan, self))
                        return prepare_for(device, x.const_view(), y.view(), 0).value();
    }

    /// The same, but returns the error, where there is one: if (auto const run = layer.try_prepare(...)) (*run)(...);
    template <class T, class Device, int Rank>
    [[nodiscard]] auto try_prepare(Device&& device, Layout<Rank> const& x, Layout<Rank> const& y,
                                   int alignment = 16) const {
        using View = TensorView<StoredAs<T>, Rank>;
        if constexpr (detail::runs_on<Plan, Device>())
            if constexpr (std::remove_cvref_t<Device>::template takes<View>(epilogue_of_plan, self))
                return prepare_for(device, View(nullptr, x).const_view(), View(nullptr, y), alignment);
    }
    template <class Device, class X, class Y>
    [[nodiscard]] auto try_prepare(Device&& device, X const& x, Y&& y) const {
        if constexpr (detail::is_input<X>())
            if constexpr (detail::is_output<Y>())
                if constexpr (detail::runs_on<Plan, Device, X, Y>())
                    if constexpr (std::remove_cvref_t<Device>::template takes<X>(epilogue_of_plan, self))
                        return prepare_for(device, x.const_view(), y.view(), 0);
    }

private:
    static constexpr typename Plan::Epilogue const* epilogue_of_plan = nullptr;
    static constexpr BoundPlan const* self = nullptr;

    /// Refuses a tensor of another number of modes than the head's, or of elements that its prologue does not give.
    template <Element T, int Rank>
    static consteval bool takes() {
        constexpr bool floats = !Plan::has_prologue || !std::is_same_v<T, int8>;
        static_assert(floats, "a Conv or Gemm of int8 sums integers, so no operator stands before it: use two Plans");
        if constexpr (Plan::has_gemm) {
            constexpr bool fits = Rank <= 4;
            static_assert(fits, "x has another rank than matrices: M x K is 2 modes, and batches of them are 3 or 4");
        } else if constexpr (Plan::has_conv) {
            constexpr bool fits = Plan::Head::space == Rank - 2;
            static_assert(fits,
                          "x has another rank than the Conv: filter(s) takes 3, filter(r, s) 4, filter(t, r, s) 5");
        } else {
            constexpr bool broken = Plan::head_kind == HeadKind::elementwise && Plan::Epilogue::size == 0;
            constexpr bool fits = Rank >= 3 || broken;  // a broken rule's sentence is the only error
            static_assert(fits, "x of 2 modes is a matrix, which a Gemm takes: other plans take 3 to 5 modes");
        }
        return true;
    }

    template <bool runs, class Given, class Device, Element T, int Rank>
    auto run_into_new(Device& device, TensorView<T const, Rank> x) const {
        static_assert(takes<T, Rank>());
        auto y =
            detail::new_output<Given>(device, packed_like(expand<Rank>(validate(*this, x, nullptr, device)), x.layout));
        if constexpr (runs) device.run(*this, Plan::collapse(x), Plan::collapse(y.view()));
        return y;
    }

    template <class X, class Y, int RankX, int RankY>
    static consteval bool match() {
        constexpr bool same = std::is_same_v<X, Y>, alike = RankX == RankY;
        static_assert(same, "a plan writes the element type that it reads: x and y must have the same");
        static_assert(alike, "x and y must have the same rank");
        if constexpr (same && alike) return takes<X, RankX>();
        else return false;
    }

    template <class Device, Element X, Element Y, int RankX, int RankY>
    void run_into(Device& device, TensorView<X const, RankX> x, TensorView<Y, RankY> y) const {
        if constexpr (match<X, Y, RankX, RankY>()) {
            validate(*this, x, &y, device);
            device.run(*this, Plan::collapse(x), Plan::collapse(y));
        }
    }

    template <class Device, Element X, Element Y, int RankX, int RankY>
    auto prepare_for(Device& device, TensorView<X const, RankX> x, TensorView<Y, RankY> y, int alignment) const {
        if constexpr (match<X, Y, RankX, RankY>()) return detail::prepare(*this, device, x, y, alignment);
    }
};

namespace detail {

/// Views of B x M x N, which an operator's field took for signals, are of matrices.
template <class Op>
constexpr void read_matrices(typename Op::Args& args) {
    if constexpr (requires { Op::views(args, [](auto&) {}); })
        Op::views(args, []<class View>(View& view) {
            constexpr bool remembers = requires { view.from; };
            static_assert(remembers,
                          "views of matrices are fields of type AnyActivations, AnyOutput or OptionalOutput");
            auto const collapsed = as_matrices({view.layout, view.from});
            view.layout = collapsed.layout(), view.from = collapsed.shape.from;
        });
}

/// Puts the operators' arguments, given in plan order, into their slots.
template <class... Ops>
struct MakeBound {
    using Slots = Structure<Ops...>;

    static constexpr BoundPlan<FusedPlan<Ops...>> make(typename Ops::Args... args) {
        if constexpr (Slots::has_gemm) (detail::read_matrices<Ops>(args), ...);
        if constexpr (!Fusable<Ops...>) return {{}, {}};
        else if constexpr (Collects<typename Slots::Head>) return {{{args}...}, {}};
        else if constexpr (!Slots::head_is_operator) return {{}, {{args}...}};
        else
            return in_slots({{args}...}, std::make_integer_sequence<int, Slots::prologue_size>{},
                            std::make_integer_sequence<int, Slots::Epilogue::size>{});
    }

private:
    template <int... P, int... E>
    static constexpr BoundPlan<FusedPlan<Ops...>> in_slots(KernelTuple<typename Ops::Args...> const& args,
                                                           std::integer_sequence<int, P...>,
                                                           std::integer_sequence<int, E...>) {
        constexpr int head = Slots::prologue_size;
        return {get<head>(args), {{get<head + 1 + E>(args)}...}, {{get<P>(args)}...}};
    }
};

/// bind({.weights = w}, {.bias = b}, {}): one brace group an operator, in plan order. A tensor that is a temporary is
/// refused; any other must outlive the runs of what bind gives (BoundPlan).
///
/// A pointer to one function: where one of several, a template or an object does not fit, compilers name no field.
template <bool Overloaded, class... Ops>
struct Binding {
    static constexpr BoundPlan<FusedPlan<Ops...>> (*bind)(typename Ops::Args...) = MakeBound<Ops...>::make;
};
/// nvcc chooses one function when it reads a template that calls it, and then hands g++ parentheses around an argument
/// such as {.weights = layer.weights}, which no compiler takes. It chooses among several when it instantiates the
/// template.
template <class... Ops>
struct Binding<true, Ops...> {
    static constexpr BoundPlan<FusedPlan<Ops...>> bind(typename Ops::Args... args) {
        return MakeBound<Ops...>::make(args...);
    }
    template <class... Given>
        requires(sizeof...(Given) > 0 && sizeof...(Given) == 0)
    static void bind(Given...);
};

/// What Plan<Ops...> is: y = opN(... op1(x)). A type with no data; `bind` gives it arguments.
template <class... Ops>
struct FusedPlan : Structure<Ops...>, private Binding<config::overloads_bind, Ops...> {
    using Slots = Structure<Ops...>;

    /// The arguments of operator I.
    template <int I>
    static constexpr auto const& argument(BoundPlan<FusedPlan> const& bound) {
        constexpr int head = Slots::prologue_size;
        if constexpr (Collects<typename Slots::Head>) return get<I>(bound.head);
        else if constexpr (!Slots::head_is_operator) return get<I>(bound.epilogue);
        else if constexpr (I < head) return get<I>(bound.prologue);
        else if constexpr (I == head) return bound.head;
        else return get<I - head - 1>(bound.epilogue);
    }

    using Binding<config::overloads_bind, Ops...>::bind;

    /// The operators' Args in any order: bind_by_type(Bias::Args{.bias = b}, Relu::Args{}, Conv3x3::Args{.weights = w})
    template <class... Given>
    [[nodiscard("bind runs nothing: call what it gives, layer(device, x, y)")]]
    static constexpr BoundPlan<FusedPlan> bind_by_type(Given const&... given) {
        static_cast<void>((belongs_to_plan<Given, Ops...>() && ...));
        return bind(argument_of<Ops>(given...)...);
    }

    /// The plan's result in a constant expression: static_assert(Plan::evaluate(x, {...}, {...}) == y).
    /// Meant for small tensors; the loops are the definition, not a fast path.
    template <class X>
    static constexpr Evaluation evaluate(X const& x, typename Ops::Args const&... args) {
        constexpr bool by_element = Slots::head_kind != HeadKind::reduction && !Slots::totals_tiles;
        static_assert(by_element, "evaluate: a plan of batch statistics is run on a device");
        return fusekit::evaluate(bind(args...), Slots::collapse(x.const_view()));
    }

    /// "Plan<Conv<filter(3, 3).pad(1)>, Bias, Activation<Relu>>"
    [[gnu::cold]] static Text name() {
        Text text;
        ((text += (text.empty() ? "Plan<" : ", ") + type_name<Ops>()), ...);
        return text + ">";
    }
};

}  // namespace detail

/// Operators composed into one kernel.
///
/// A composition that cannot be one kernel does not compile; the compiler says why in one sentence (plan/ordering.hpp).
template <class... Ops>
using Plan = detail::Checked<detail::FusedPlan<detail::OperatorOrNone<Ops>...>, detail::is_operator<Ops>()...,
                             detail::rules::BrokenBy<Ops...>::type::require()>;

}  // namespace fusekit
