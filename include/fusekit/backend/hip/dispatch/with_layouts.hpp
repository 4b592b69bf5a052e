// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/dispatch/known.hpp"
#include "fusekit/backend/hip/dispatch/prepare_conv.hpp"

namespace fusekit::hip {

namespace detail {

/// Collapsed layouts of a Problem, which a call's layouts are compared with.
struct KnownLayouts {
    CollapsedLayout<4> x, y, weights;

    FUSEKIT_H constexpr bool match(KnownLayouts const& call) const {
        return x == call.x && y == call.y && is_same(weights, call.weights);
    }
    /// True if two layouts are equal but for strides of modes of extent 1.
    FUSEKIT_H static constexpr bool is_same(CollapsedLayout<4> const& a, CollapsedLayout<4> const& b) {
        if (a.shape != b.shape) return false;
        for (int mode = 0; mode < 4; ++mode)
            if (a.shape[mode] > 1 && a.stride[mode] != b.stride[mode]) return false;
        return true;
    }
};

/// Returns an Error for the first tensor of a call whose layout is not that of the only known problem, or for all if
/// there are several problems.
[[gnu::cold, gnu::noinline]] FUSEKIT_H inline Error refuse_other_layouts(Text (*plan)(), KnownLayouts const& call,
                                                                         KnownLayouts const* known, int count) {
    auto const words = [](CollapsedLayout<4> const& of) {
        return to_string(of.shape) + " with strides " + strides_of(of);
    };
    if (count > 1)
        return Error(plan(), "x, y and weights", "",
                     "layouts of one of the call's " + Text::number(count) + " problems",
                     words(call.x) + ", " + words(call.y) + " and " + words(call.weights));
    auto const refuse = [&](char const* tensor, CollapsedLayout<4> const& given, CollapsedLayout<4> const& expected) {
        bool const shapes = given.shape == expected.shape;
        auto const part = [&](CollapsedLayout<4> const& of) { return shapes ? strides_of(of) : to_string(of.shape); };
        return Error(plan(), tensor, shapes ? "strides" : "shape", part(expected) + ", as in with_layouts()",
                     part(given));
    };
    if (!(call.x == known->x)) return refuse("x", call.x, known->x);
    if (!(call.y == known->y)) return refuse("y", call.y, known->y);
    return refuse("weights", call.weights, known->weights);
}

/// Type: list of those of a list's problems that suit a plan's filter.
template <class Plan, Element T, class Listed>
struct SuitingProblems;
template <class Plan, Element T, class... Each>
struct SuitingProblems<Plan, T, Problems<Each...>> {
    template <class Problem>
    FUSEKIT_H static consteval bool suits() {
        if constexpr (Problem::rank != rank_of_x<Plan>()) return false;
        else return KnownProblem<Plan, T, Problem>::suits();
    }
    using Type = JoinedList<ListIf<suits<Each>(), List<Each>>...>;
};

template <class Plan, Element T, class... Each>
inline constexpr KnownLayouts known_layouts[sizeof...(Each)] = {
    {Plan::collapse(KnownProblem<Plan, T, Each>::of_x), Plan::collapse(KnownProblem<Plan, T, Each>::of_y),
     layout_of_weights<Plan>(KnownProblem<Plan, T, Each>::bound)}...};

/// Base of WithProblems with its assertions on plans: compilers print a type without layouts above them.
struct AcceptsKnown {
    template <class X, class BoundPlan>
    FUSEKIT_H static consteval bool accepts(void const*, BoundPlan const*) {
        using Plan = typename BoundPlan::Plan;
        constexpr bool multiplies = Plan::has_mainloop && !Plan::has_weight_gradient;
        static_assert(multiplies, "with_layouts<x, y>() takes a plan with a Conv or Gemm: leave it out for this plan");
        if constexpr (!multiplies) return false;
        else {
            constexpr int rank = std::remove_cvref_t<decltype(std::declval<X const&>().const_view())>::rank;
            constexpr bool is_known = !std::is_base_of_v<fusekit::detail::ConvArgs<dynamic>, typename Plan::Head>;
            constexpr bool is_single = Plan::has_conv || (rank == 2 && !BatchedOp<typename Plan::Head>);
            static_assert(is_known, "with_layouts<x, y>() takes a filter in the type: write Conv<fk::filter(r, s)>");
            static_assert(is_single,
                          "with_layouts<x, y>() takes a Gemm of one matrix x, M x K: leave it out for a batch");
            return is_known && is_single && AcceptsAll::accepts<X>(nullptr, static_cast<BoundPlan const*>(nullptr));
        }
    }
};

}  // namespace detail

/// Stream for whose calls layouts are constants, those of one of a list of Problems: the cost model selects a schedule
/// for each problem at compile time, and their kernels alone are compiled, for each of Tags, a list of architectures
/// (arch/tags.hpp). For plans with a Conv or Gemm.
template <class Listed, Reads reads = Reads::like_y, class Tags = detail::Targets>
class WithProblems : public Directed<WithProblems<Listed, reads, Tags>>, public detail::AcceptsKnown {
public:
    using detail::AcceptsKnown::accepts;

    FUSEKIT_H explicit WithProblems(Stream const& the_stream) : Directed<WithProblems>(the_stream) {}

    /// Returns a stream for whose calls tensors that operators read at each pixel, such as a Residual's z, may have any
    /// type and layout. Without it they have y's, and TMA may load them.
    FUSEKIT_H WithProblems<Listed, Reads::any, Tags> reading_any() const {
        return WithProblems<Listed, Reads::any, Tags>(*this->stream);
    }
    /// Returns a stream whose kernels are selected and compiled for these architectures, not for all that the program
    /// is compiled for: for_architectures<fk::hip::arch::Gfx942>().
    template <class... Architectures>
    FUSEKIT_H WithProblems<Listed, reads, List<Architectures...>> for_architectures() const {
        return WithProblems<Listed, reads, List<Architectures...>>(*this->stream);
    }

    // noinline: g++ would compile a caller for size, because all paths call cold functions
    template <class BoundPlan, Element T, detail::OutputElement U>
    [[gnu::noinline]] FUSEKIT_H auto prepare(BoundPlan const& bound, detail::ImageView<T const> const& x,
                                             detail::ImageView<U> const& y) const {
        using Plan = typename BoundPlan::Plan;
        return prepare_one(typename detail::SuitingProblems<Plan, T, Listed>::Type{}, bound, x, y);
    }

private:
    /// Without problems that suit the plan's filter. A call with valid arguments has other layouts.
    template <class BoundPlan, Element T, detail::OutputElement U>
    FUSEKIT_H auto prepare_one(List<>, BoundPlan const&, detail::ImageView<T const> const& x,
                               detail::ImageView<U> const& y) const {
        using Plan = typename BoundPlan::Plan;
        return Result<Launch<ConvParams<Plan, T, U>>>(
            Error(type_name<Plan>(), "x and y", "", "layouts of a problem of the call, of which none suits the plan",
                  to_string(x.shape()) + " and " + to_string(y.shape())));
    }
    template <class... Each, class BoundPlan, Element T, detail::OutputElement U>
    FUSEKIT_H auto prepare_one(List<Each...> problems, BoundPlan const& bound, detail::ImageView<T const> const& x,
                               detail::ImageView<U> const& y) const {
        using Plan = typename BoundPlan::Plan;
        using Prepared = Result<Launch<ConvParams<Plan, T, U>>>;
        constexpr auto const& known = detail::known_layouts<Plan, T, Each...>;
        detail::KnownLayouts const call{x.collapsed_layout(), y.collapsed_layout(),
                                        detail::layout_of_weights<Plan>(bound)};
        int number = 0;
        while (number < problems.size && !known[number].match(call)) ++number;
        if (number == problems.size)
            return Prepared(detail::refuse_other_layouts(type_name<Plan>, call, known, problems.size));
        Gpu const& gpu = this->stream->gpu();
        int const target =
            with_tag(gpu.architecture(), []<class Tag>(Tag) { return detail::index_of_target<Tag>(Tags{}); });
        if (target < 0)
            return Prepared(Error(type_name<Plan>(), "device", "", "a GPU for which the program is compiled",
                                  gpu.architecture().name()));
        return with_entry(Tags{}, target, [&]<class Tag>(Tag) {
            return with_entry(problems, number, [&]<class Problem>(Problem) -> Prepared {
                return detail::KnownChoice<Plan, T, U, Tag, Problem, reads>::prepare(gpu, bound, x, y);
            });
        });
    }
};

/// Stream for whose calls the layouts of x and y are constants.
template <auto x, auto y>
using WithLayouts = WithProblems<Problems<Problem<x, y>>>;

template <class Listed>
FUSEKIT_H auto Stream::with_problems() const {
    return WithProblems<Listed>(*this);
}
template <auto x, auto y>
FUSEKIT_H auto Stream::with_layouts() const {
    return WithLayouts<x, y>(*this);
}

}  // namespace fusekit::hip
