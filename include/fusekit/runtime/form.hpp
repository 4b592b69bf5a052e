// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/plan/backward.hpp"
#include "fusekit/plan/plan.hpp"
#include "fusekit/plan/sequence.hpp"
#include "fusekit/runtime/operator.hpp"

namespace fusekit::runtime {

/// Entry of a PlanSet: a plan for x of element type X and y of element type Y.
template <class ThePlan, Element X = float, Element Y = X>
struct Form {};

/// Run-time description of one operator of a plan in a set: the descriptors that it accepts.
struct Slot {
    Descriptor descriptor;
    /// bit i is set if the operator accepts Descriptor::mode i, such as an ActivationMode; 0: only descriptor.mode
    std::uint32_t modes;
    bool any_filter, optional;
    detail::OperatorFacts facts;
    Text (*name)();

    FUSEKIT_H constexpr bool takes(Descriptor const& given) const {
        bool const mode = modes == 0 ? given.mode == descriptor.mode
                                     : given.mode >= 0 && given.mode < 32 && (modes >> given.mode & 1);
        return given.kind == descriptor.kind && mode && (any_filter || given.filter == descriptor.filter);
    }
};

/// Run-time description of a plan in a set: its operators in plan order, and the element types of its tensors. For a
/// Backward plan, the operators are those of the forward plan.
struct FormInfo {
    Slot const* entries;
    int size;
    Types types;
    Text (*name)();
    /// Rank of x: 4; 2 for a Gemm.
    int rank;
};

/// Result of match(): for each operator of a plan, the index of its descriptor in the sequence; -1 if the sequence
/// omits it.
struct Matching {
    std::int8_t at[max_operators];
    bool fits = false;
};

namespace detail {
inline namespace FUSEKIT_FLAGS {

/// Matches the descriptors of a sequence to a plan's operators in order, each to the next operator that accepts it.
/// `fits` is true if all descriptors are matched and every unmatched operator is optional or, with `of_beginning`,
/// comes after the last matched one.
FUSEKIT_H constexpr Matching match(FormInfo const& form, Descriptors given, bool of_beginning = false) {
    Matching result{};
    int next = 0;
    for (int i = 0; i < form.size && i < max_operators; ++i) {  // the second condition avoids a g++ warning
        result.at[i] = -1;
        if (next < given.size && form.entries[i].takes(given[next])) result.at[i] = static_cast<std::int8_t>(next++);
        else if (!form.entries[i].optional && !(of_beginning && next == given.size)) return result;
    }
    result.fits = next == given.size;
    return result;
}

FUSEKIT_H constexpr Kind backward_kind(Kind kind) {
    return kind == Kind::activation            ? Kind::activation_backward
           : kind == Kind::batch_norm_training ? Kind::batch_norm_backward
                                               : kind;
}

template <class Op>
consteval std::uint32_t modes_of() {
    if constexpr (requires { OperatorOf<Op>::modes; }) return OperatorOf<Op>::modes;
    else return 0;
}
template <class Op>
consteval bool takes_any_filter() {
    if constexpr (requires { OperatorOf<Op>::any_filter; }) return OperatorOf<Op>::any_filter;
    else return false;
}

template <class Op, bool backward>
consteval Slot slot_of() {
    Descriptor descriptor = OperatorOf<Op>::descriptor;
    if (backward) descriptor.kind = backward_kind(descriptor.kind);
    return {descriptor, modes_of<Op>(), takes_any_filter<Op>(), requires {OperatorOf<Op>::absent();
}
, facts_of<Op>, type_name<Op>
};  // namespace FUSEKIT_FLAGS
}  // namespace detail

/// Reader of the operators' Args, one operator at a time, from the run-time arguments of a call.
struct Reader {
    Descriptor const* descriptors;
    Arguments const* arguments;
    std::int8_t const* at;
    int rank_of_x;
    bool stands_in;  ///< true if null pointers are replaced by addresses of stand_in(), for queries of layouts
    Text (*plan)();
    Refusal& refusal;

    template <class Op>
    FUSEKIT_H typename Op::Args read(int slot) const {
        if constexpr (requires { OperatorOf<Op>::absent(); })
            if (at[slot] < 0) return OperatorOf<Op>::absent();
        return OperatorOf<Op>::read(given<Op>(slot));
    }
    template <class Op>
    FUSEKIT_H typename GradientsOf<Op>::Type gradients(int slot) const {
        if constexpr (requires { OperatorOf<Op>::gradients(given<Op>(slot)); })
            if (at[slot] >= 0) return OperatorOf<Op>::gradients(given<Op>(slot));
        return {};
    }
    template <class Op>
    FUSEKIT_H Given given(int slot) const {
        int const stand_ins = stands_in ? at[slot] * roles : -1;
        return {descriptors[at[slot]], arguments[at[slot]], rank_of_x, stand_ins, plan, type_name<Op>, refusal};
    }
};

/// Class template whose function binds a plan of a set to the run-time arguments of a call.
template <class ThePlan>
struct Bind;

template <class... Ops>
struct Bind<FusedPlan<Ops...>> {
    static_assert(sizeof...(Ops) <= max_operators);
    using Plan = FusedPlan<Ops...>;
    static constexpr Slot entries[sizeof...(Ops)] = {slot_of<Ops, false>()...};
    static constexpr int size = sizeof...(Ops), rank = Plan::has_gemm ? 2 : 4;

    FUSEKIT_H static BoundPlan<Plan> bind(Reader const& reader) {
        return [&]<int... Nth>(std::integer_sequence<int, Nth...>) {
            KernelTuple<typename Ops::Args...> const args{{reader.read<Ops>(Nth)}...};
            return MakeBound<Ops...>::make(get<Nth>(args)...);
        }(std::make_integer_sequence<int, size>{});
    }
};

template <class... Ops>
struct Bind<BackwardOf<FusedPlan<Ops...>>> {
    static_assert(sizeof...(Ops) <= max_operators);
    using Plan = typename BackwardOf<FusedPlan<Ops...>>::Plan;
    static constexpr Slot entries[sizeof...(Ops)] = {slot_of<Ops, true>()...};
    static constexpr int size = sizeof...(Ops), rank = 4;

    FUSEKIT_H static BoundPlan<Plan> bind(Reader const& reader) {
        return [&]<int... Nth>(std::integer_sequence<int, Nth...>) {
            KernelTuple<typename GradientsOf<Ops>::Type...> const gradients{{reader.gradients<Ops>(Nth)}...};
            return BackwardOf<FusedPlan<Ops...>>::bind(Bind<FusedPlan<Ops...>>::bind(reader), input(reader),
                                                       get<Nth>(gradients)...);
        }(std::make_integer_sequence<int, size>{});
    }

private:
    /// Input x of the forward run, which the caller passes with the arguments of one of the operators.
    FUSEKIT_H static AnyActivations input(Reader const& reader) {
        using First = TypeAt<0, Ops...>;
        for (int i = 0; i < size; ++i)
            if (reader.at[i] >= 0 && reader.arguments[reader.at[i]][Role::x].rank != 0)
                return reader.given<First>(i).activations(Role::x);
        return reader.given<First>(0).activations(Role::x);
    }
};

/// Element type of the weights of the plan's Conv or Gemm, for x of type X; X without a Conv or Gemm.
template <class Plan, Element X>
FUSEKIT_H constexpr DataType weights_of() {
    if constexpr (requires { typename Plan::Head::template WeightElement<X>; })
        return data_type<typename Plan::Head::template WeightElement<X>>;
    else return data_type<X>;
}

template <class T>
struct FormOf : FormOf<Form<T>> {};
template <class ThePlan, Element TheX, Element TheY>
struct FormOf<Form<ThePlan, TheX, TheY>> : Bind<ThePlan> {
    using X = TheX;
    using Y = TheY;
    using Self = Form<ThePlan, X, Y>;
    static constexpr FormInfo info = {Bind<ThePlan>::entries,
                                      Bind<ThePlan>::size,
                                      {data_type<X>, data_type<Y>, weights_of<ThePlan, X>()},
                                      type_name<ThePlan>,
                                      Bind<ThePlan>::rank};
};

}  // namespace fusekit::runtime
}  // namespace detail

}  // namespace fusekit::runtime
