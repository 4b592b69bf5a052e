// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>

#include "fusekit/plan/args.hpp"
#include "fusekit/plan/epilogue.hpp"
#include "fusekit/plan/evaluate.hpp"
#include "fusekit/plan/name.hpp"
#include "fusekit/plan/ordering.hpp"
#include "fusekit/plan/validate.hpp"
#include "fusekit/tensor/tensor.hpp"

namespace fusekit {

/// A plan with its run-time arguments: a trivially copyable value without hidden state. It may be copied, kept,
/// passed to a kernel and run from many threads; the tensors it was bound to must outlive its runs.
template <class ThePlan>
struct Bound {
    using Plan = ThePlan;

    typename Plan::Head::Args head;
    typename Plan::Epilogue::Args epilogue;

    /// N x K x P x Q for an input of N x C x H x W.
    FUSEKIT_HD constexpr Index<4> output_shape(Index<4> const& x) const { return Plan::Head::output(x, head); }

    /// Runs on `device` into a new tensor, packed, channels first or last as in `x`.
    /// Throws Error where the shapes, types or arguments do not fit.
    template <class Device, detail::Viewable<4> X>
    auto operator()(Device& device, X const& x) const {
        return run_into_new(device, x.const_view());
    }

    /// Runs on `device` into `y`, of x's element type and of output_shape; allocates nothing.
    /// Throws Error, with `y` untouched, where the shapes, types, arguments or memory do not fit.
    template <class Device, detail::Viewable<4> X, class Y>
    void operator()(Device& device, X const& x, Y&& y) const {
        run_into(device, x.const_view(), y.view());
    }

private:
    template <class Device, Element T>
    Tensor<T, Device> run_into_new(Device& device, TensorView<T const> x) const {
        Index<4> const shape = validate<Bound, T>(*this, x, nullptr);
        Tensor<T, Device> y(device, packed_like(shape, x.layout));
        device.run(*this, x, y.view());
        return y;
    }

    template <class Device, Element T>
    void run_into(Device& device, TensorView<T const> x, TensorView<T> y) const {
        validate(*this, x, &y);
        device.run(*this, x, y);
    }
};

namespace detail {

/// The head of a plan without a Conv: the accumulator is the input itself.
struct Identity {
    struct Args {};
    FUSEKIT_HD static constexpr Index<4> output(Index<4> const& x, Args const&) { return x; }
};

template <class... Ops>
struct Parts {
    using Head = Identity;
    using Epilogue = fusekit::Epilogue<Ops...>;
    template <class Bound>
    static constexpr Bound make(typename Ops::Args const&... args) {
        return {{}, {{args}...}};
    }
};

template <MainloopOp First, class... Ops>
struct Parts<First, Ops...> {
    using Head = First;
    using Epilogue = fusekit::Epilogue<Ops...>;
    template <class Bound>
    static constexpr Bound make(typename First::Args const& first, typename Ops::Args const&... args) {
        return {first, {{args}...}};
    }
};

}  // namespace detail

/// Operators composed into one kernel: y = opN(... op1(x)). A type with no data; `bind` gives it arguments.
///
/// A composition that cannot be one kernel does not compile; the compiler names the rule (plan/ordering.hpp).
template <Operator... Ops>
    requires HasOperators<Ops...> && OneConv<Ops...> && ConvComesFirst<Ops...> && BiasComesEarly<Ops...> &&
             NormBeforeActivation<Ops...> && OneOfEach<Ops...>
struct Plan {
    using Head = typename detail::Parts<Ops...>::Head;
    using Epilogue = typename detail::Parts<Ops...>::Epilogue;
    static constexpr bool has_conv = !std::is_same_v<Head, detail::Identity>;

    /// One brace group an operator, in plan order: bind({.weights = w}, {.bias = b}, {}).
    static constexpr Bound<Plan> bind(typename Ops::Args const&... args) {
        static_assert(std::is_trivially_copyable_v<Bound<Plan>>);
        return detail::Parts<Ops...>::template make<Bound<Plan>>(args...);
    }

    /// By type, in any order: bind(Bias::Args{.bias = b}, Relu::Args{}, Conv3x3::Args{.weights = w}).
    template <class... Given>
        requires(!std::is_same_v<Pack<Given...>, Pack<typename Ops::Args...>>)
    static constexpr Bound<Plan> bind(Given const&... given) {
        (belongs_to_plan<Given, Ops...>(), ...);
        return bind(argument_of<Ops>(given...)...);
    }

    /// The plan's result in a constant expression: static_assert(Plan::evaluate(x, {...}, {...}) == y).
    /// Meant for small tensors; the loops are the definition, not a fast path.
    template <class X>
    static constexpr Evaluation evaluate(X const& x, typename Ops::Args const&... args) {
        return fusekit::evaluate(bind(args...), x.const_view());
    }

    /// "Plan<Conv<filter(3, 3).pad(1)>, Bias, Activation<Relu>>"
    static std::string name() {
        std::string text;
        ((text += (text.empty() ? "Plan<" : ", ") + type_name<Ops>()), ...);
        return text + ">";
    }
};

}  // namespace fusekit
