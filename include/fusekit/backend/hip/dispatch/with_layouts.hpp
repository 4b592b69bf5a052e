// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/dispatch/prepare.hpp"

namespace fusekit::hip {

namespace detail {

/// Arguments of a plan's head alone, in place of a BoundPlan at compile time.
template <class Plan>
struct BoundHead {
    typename Plan::Head::Args head;
};

/// Layout of a plan's filters for x and y: packed, channels last if x is, so K x R x S x C/G or K x C/G x R x S in
/// memory (TransposedConv: C x R x S x K/G or C x K/G x R x S); of a Gemm N x K.
template <class Plan, int Rank>
FUSEKIT_H constexpr Layout<Rank> packed_filters(Layout<Rank> const& x, Layout<Rank> const& y) {
    Index<Rank> shape = x.shape;
    shape[0] = y.shape[1];
    if constexpr (Plan::has_conv) {
        constexpr auto geometry = [] {
            if constexpr (has_transposed_conv<Plan>) return Plan::Head::filter;
            else return Plan::Head::collapsed;
        }();
        if (has_transposed_conv<Plan>) shape[0] = x.shape[1], shape[1] = y.shape[1];
        shape[1] /= geometry.group_count;
        for (int mode = 2; mode < Rank; ++mode) shape[mode] = geometry.size[geometry.rank - Rank + mode];
        return packed_like(shape, x);
    } else {
        return packed<Rank>(shape, {{0, 1}});
    }
}

/// The library's selection of a schedule for operands of known layouts on GPUs of Tag, at compile time: what predict()
/// returns for Tag's architecture. Addresses are assumed to be multiples of 16 bytes, and filters to be packed.
template <class Plan, Element T, OutputElement U, class Tag, auto x, auto y>
struct KnownChoice {
    static constexpr Architecture architecture{Tag::maker, Tag::numbers.first};

    using Weight = typename Plan::Head::template WeightElement<T>;
    static constexpr BoundHead<Plan> bound{{TensorView<Weight const, x.rank>(nullptr, packed_filters<Plan>(x, y))}};
    static constexpr ImageView<T const> from = Plan::collapse(TensorView<T const, x.rank>(nullptr, x));
    static constexpr ImageView<U> to = Plan::collapse(TensorView<U, y.rank>(nullptr, y));
    static constexpr ConvOperands<Plan, T, U, BoundHead<Plan>> operands{bound, from, to};
    static constexpr ConvCase of =
        case_of(operands, has_matrix_kernels<Plan, T, U>&& is_sm90a(architecture), max_workspace_bytes);

    using Tuning = decltype(with_tuning(architecture, [](auto tuning) { return tuning; }));
    using Schedules =
        std::conditional_t<runs_depthwise(operands), List<DefaultDepthwise>,
                           std::conditional_t<runs_without_tiles(operands), FallbackCandidates<Plan, T, U>,
                                              Candidates<Tuning, Plan, T, U>>>;
    static constexpr Ranking ranking{Schedules{}, of, Tuning::costs, rates_of(architecture)};
    static constexpr int best = ranking.best(), split_k = ranking.time(best).split_k;
    using Schedule = TypeAt<Schedules, best>;
};

/// Type: list of those of Tags for whose GPUs the program is compiled.
template <class Tags>
struct TargetsAmong;
template <class... Tags>
struct TargetsAmong<List<Tags...>> {
    using Type = JoinedList<ListIf<arch::is_targeted<Tags>, List<Tags>>...>;
};
using Targets = TargetsAmong<arch::All>::Type;

/// Index in Targets of the first tag whose code runs on GPUs of Tag; -1 if there is none.
template <class Tag, class... Tags>
FUSEKIT_H constexpr int index_of_target(List<Tags...>) {
    int index = 0, found = -1;
    static_cast<void>(((found = found < 0 && std::is_base_of_v<Tags, Tag> ? index : found, ++index), ...));
    return found;
}

/// Returns an Error if a tensor's layout is not the one with which the call's kernel was selected at compile time.
template <class Plan, int Rank>
FUSEKIT_H Refusal refuse_other_layout(char const* tensor, CollapsedLayout<4> const& given, Layout<Rank> const& known) {
    CollapsedLayout<4> const expected = Plan::collapse(known);
    if (given == expected) return {};
    bool const shapes = given.shape == expected.shape;
    auto const words = [&](CollapsedLayout<4> const& of) { return shapes ? strides_of(of) : to_string(of.shape); };
    return Error(type_name<Plan>(), tensor, shapes ? "strides" : "shape", words(expected) + ", as in with_layouts()",
                 words(given));
}

}  // namespace detail

/// Stream for whose calls the layouts of x and y are constants: the cost model selects the schedule at compile time,
/// and its kernels alone are compiled for each GPU that the program is compiled for. For plans with a Conv or Gemm.
template <auto x, auto y>
class WithLayouts : public Directed<WithLayouts<x, y>> {
public:
    FUSEKIT_H explicit WithLayouts(Stream const& the_stream) : Directed<WithLayouts>(the_stream) {}

    template <class X, class BoundPlan>
    FUSEKIT_H static consteval bool accepts(void const*, BoundPlan const*) {
        using Plan = typename BoundPlan::Plan;
        constexpr bool multiplies = Plan::has_mainloop && !Plan::has_weight_gradient;
        static_assert(multiplies, "with_layouts<x, y>() takes a plan with a Conv or Gemm: leave it out for this plan");
        if constexpr (!multiplies) return false;
        else {
            constexpr bool is_known = !std::is_base_of_v<fusekit::detail::ConvArgs<dynamic>, typename Plan::Head>;
            constexpr bool is_single = Plan::has_conv || (x.rank == 2 && !BatchedOp<typename Plan::Head>);
            static_assert(is_known, "with_layouts<x, y>() takes a filter in the type: write Conv<fk::filter(r, s)>");
            static_assert(is_single,
                          "with_layouts<x, y>() takes a Gemm of one matrix x, M x K: leave it out for a batch");
            return is_known && is_single && AcceptsAll::accepts<X>(nullptr, static_cast<BoundPlan const*>(nullptr));
        }
    }

    template <class BoundPlan, Element T, detail::OutputElement U>
    FUSEKIT_H auto prepare(BoundPlan const& bound, detail::ImageView<T const> const& from,
                           detail::ImageView<U> const& to) const {
        using Plan = typename BoundPlan::Plan;
        using Prepared = Result<Launch<ConvParams<Plan, T, U>>>;
        Refusal refusal = detail::refuse_other_layout<Plan>("x", from.collapsed_layout(), x);
        if (!refusal) refusal = detail::refuse_other_layout<Plan>("y", to.collapsed_layout(), y);
        if (refusal) return Prepared(*refusal);
        Gpu const& gpu = this->stream->gpu();
        int const target = with_tag(gpu.architecture(),
                                    []<class Tag>(Tag) { return detail::index_of_target<Tag>(detail::Targets{}); });
        if (target < 0)
            return Prepared(Error(type_name<Plan>(), "device", "", "a GPU for which the program is compiled",
                                  gpu.architecture().name()));
        return with_entry(detail::Targets{}, target, [&]<class Tag>(Tag) -> Prepared {
            using Known = detail::KnownChoice<Plan, T, U, Tag, x, y>;
            return prepare_conv_with<typename Known::Schedule>(gpu, bound, from, to, Known::split_k);
        });
    }
};

template <auto x, auto y>
FUSEKIT_H WithLayouts<x, y> Stream::with_layouts() const {
    return WithLayouts<x, y>(*this);
}

}  // namespace fusekit::hip
