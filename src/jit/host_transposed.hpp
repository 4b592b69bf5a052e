// SPDX-License-Identifier: MIT
#pragma once

#include "device/known_transposed.hpp"
#include "host_plan.hpp"
#include "transposed_class.hpp"

namespace fusekit::jit {

template <int number>
using TransposedBase =
    std::conditional_t<has_other_filters(number), OtherTransposed<transposed_representatives[number]>,
                       TransposedConv<transposed_representatives[number]>>;

/// TransposedConv of a class of filters in plans of the host: its filter is that of the thread's plan (Current). In the
/// kernel's plan it is part of the type.
template <int number>
struct AnyTransposed : TransposedBase<number> {
    using Args = typename TransposedBase<number>::Args;
    static constexpr bool spreads = fusekit::detail::has_strides(transposed_representatives[number]);

    FUSEKIT_H static Filter<2> const& known() { return current.spec->geometry.filter; }
    FUSEKIT_H static fusekit::detail::TransposedShapes<2, 2> shapes() { return {known(), known()}; }
    FUSEKIT_H static fusekit::detail::TransposedFilter<2, spreads> geometry(Args const&) {
        return fusekit::detail::TransposedFilter<2, spreads>(known());
    }
    FUSEKIT_H static fusekit::detail::CollapsedView<AnyView<4>> filters(Args const& args) {
        return shapes().exchanged(args.weights, known().group_count);
    }
    FUSEKIT_H static Text written(Args const&) { return known().to_string(); }
    FUSEKIT_H static Text name() { return current.spec->geometry_name; }

    FUSEKIT_H static CollapsedShape<4> output(CollapsedShape<4> const& x, Args const& args) {
        return shapes().least(x, args.weights.layout.shape[1]);
    }
    FUSEKIT_H static CollapsedShape<4> output(CollapsedShape<4> const& x, Args const& args,
                                              CollapsedShape<4> const& given) {
        return shapes().selected(x, args.weights.layout.shape[1], given);
    }
    FUSEKIT_H static Text outputs(CollapsedShape<4> const& x, Args const& args) {
        return shapes().range(x, args.weights.layout.shape[1]);
    }
    FUSEKIT_H static double flops(CollapsedShape<4> const& y, Args const& args) { return shapes().flops(y, args); }
    FUSEKIT_H static void check(Args const& args, Check const& in) { shapes().template check<void>(args, in); }
};

template <int number, Reads reads>
using HostTransposed = fusekit::detail::FusedPlan<AnyTransposed<number>, Words<reads>>;

}  // namespace fusekit::jit

/// Phases of the thread's plan, as many as the representative has.
template <int number>
struct fusekit::hip::ConvPhases<fusekit::jit::AnyTransposed<number>>
    : CountedPhases<ConvPhases<jit::AnyTransposed<number>>, 2> {
    static constexpr int space = 2;
    static constexpr int count = ConvPhases<jit::TransposedBase<number>>::count;
    using Phase = ConvPhase<2>;

    FUSEKIT_H static Filter<2> geometry() { return jit::AnyTransposed<number>::known(); }
    FUSEKIT_H static Phase phase(int i) { return PhaseOrder<2, count>(geometry()).all[i]; }
};

template <int number>
struct fusekit::runtime::OperatorOf<fusekit::jit::AnyTransposed<number>> {
    static constexpr Descriptor descriptor = {Kind::transposed_conv};
    FUSEKIT_H static typename jit::AnyTransposed<number>::Args read(Given const& given) {
        return {given.view<4>(Role::weights)};
    }
};

#define FUSEKIT_NAMED(number, reads)                                                                \
    template <>                                                                                     \
    inline fusekit::Text fusekit::jit::HostTransposed<number, fusekit::jit::Reads::reads>::name() { \
        return jit::current_plan();                                                                 \
    }
#define FUSEKIT_NAMED_CLASS(number) FUSEKIT_NAMED(number, channels) FUSEKIT_NAMED(number, tensors)
#define FUSEKIT_NAMED_FOUR(a, b, c, d) \
    FUSEKIT_NAMED_CLASS(a)             \
    FUSEKIT_NAMED_CLASS(b)             \
    FUSEKIT_NAMED_CLASS(c)             \
    FUSEKIT_NAMED_CLASS(d)
FUSEKIT_NAMED_FOUR(0, 1, 2, 3)
FUSEKIT_NAMED_FOUR(4, 5, 6, 7)
FUSEKIT_NAMED_FOUR(8, 9, 10, 11)
#undef FUSEKIT_NAMED_FOUR
#undef FUSEKIT_NAMED_CLASS
#undef FUSEKIT_NAMED
static_assert(fusekit::jit::transposed_classes == 12);
