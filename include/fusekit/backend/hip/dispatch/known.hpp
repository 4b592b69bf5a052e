// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/dispatch/conv.hpp"
#include "fusekit/plan/validate.hpp"

namespace fusekit::hip {

/// Layouts of x and y of a call that are constants, and of its weights: by default packed, channels last if x is, so
/// K x R x S x C/G or K x C/G x R x S in memory (TransposedConv: C x R x S x K/G or C x K/G x R x S); of a Gemm N x K.
template <auto x, auto y, auto... weights>
    requires(sizeof...(weights) <= 1 && x.rank == y.rank)  // Problem<x, y> or Problem<x, y, weights>, of equal rank
struct Problem {
    static constexpr int rank = x.rank;
};

/// List of problems, such as the layers of a network: device.with_problems<fk::hip::Problems<...>>(). Each plan that is
/// called with it is compiled for the problems that suit its filter, with one schedule for each of them.
template <class... Each>
struct Problems {};

/// Tensors that operators read at each pixel of y, such as a Residual's z, in calls of known layouts. like_y: TMA may
/// load them, because they have y's type, extents and order. any: the selected kernel takes any.
enum class Reads { like_y, any };

namespace detail {

/// Arguments of a plan's head alone, in place of a BoundPlan at compile time.
template <class Plan>
struct BoundHead {
    typename Plan::Head::Args head;
};

/// Layout of a plan's packed filters for x and y (Problem).
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

/// Number of modes of the x of a plan with a Conv or Gemm of single matrices.
template <class Plan>
FUSEKIT_H consteval int rank_of_x() {
    if constexpr (Plan::has_conv) return Plan::Head::space + 2;
    else return 2;
}

/// A Problem of a plan whose x has elements T: its layouts as values.
template <class Plan, Element T, class Problem>
struct KnownProblem;
template <class Plan, Element T, auto x, auto y, auto... given>
struct KnownProblem<Plan, T, Problem<x, y, given...>> {
    using Weight = typename Plan::Head::template WeightElement<T>;
    static constexpr int rank = x.rank;
    static constexpr Layout<rank> of_x = x, of_y = y, weights = [] {
        if constexpr (sizeof...(given) > 0) return (given, ...);
        else return packed_filters<Plan>(x, y);
    }();
    static constexpr BoundHead<Plan> bound{{TensorView<Weight const, rank>(nullptr, weights)}};

    /// True if the plan maps an x of these extents to a y of these extents with these weights. Precondition: the plan
    /// has a Conv or Gemm of tensors of this rank.
    FUSEKIT_H static constexpr bool suits() {
        if (packed_filters<Plan>(x, y).shape != weights.shape) return false;
        auto const shape = Plan::collapse(x.shape), expected = Plan::collapse(y.shape);
        if constexpr (Plan::pools) return Plan::Pool::output(Plan::Head::output(shape, bound.head)) == expected;
        else if constexpr (fusekit::detail::has_several_outputs<Plan>)
            return Plan::Head::output(shape, bound.head, expected) == expected;
        else return Plan::Head::output(shape, bound.head) == expected;
    }
};

/// True for entries whose kernels load by TMA the tensor that an operator reads at each pixel of y (encode_read()).
template <class Entry>
inline constexpr bool reads_by_tma = std::is_same_v<Entry, WarpSpecializedEntry> || std::is_same_v<Entry, HaloEntry> ||
                                     std::is_same_v<Entry, StemEntry> || std::is_same_v<Entry, StripHaloEntry>;

/// Type: the schedule, or one that names a single kernel of several from which Schedule's launcher could select.
template <class Choice, class Schedule, class Entry = EntryOf<Schedule>>
struct OneKernel {
    using Type = Schedule;
};
template <class Choice, class Schedule>
struct OneKernel<Choice, Schedule, HaloEntry> {
    using Type = HaloKernel<Schedule, HaloEntry::is_tiled(Choice::of)>;
};
template <class Choice, class Schedule>
struct OneKernel<Choice, Schedule, WarpSpecializedEntry> {
    static constexpr bool multicasts =
        Choice::split_k <= 1 && multicast_of(facts_of<Schedule>(), Choice::of, Choice::of.product,
                                             rates_of(Choice::architecture)) != Multicast::none;
    static constexpr bool general =
        kernels_of<Schedule>() != Kernels::plain &&
        (multicasts || WarpSpecializedEntry::selects_general(facts_of<Schedule>(), Choice::of));
    using Tile =
        WithKernels<typename TileOf<WholeSchedule<Schedule>>::Type, general ? Kernels::general : Kernels::plain>;
    using Type = std::conditional_t<SplitSchedule<Schedule>, Split<Tile>, Tile>;
};

/// The library's selection of a schedule for operands of known layouts on GPUs of Tag, at compile time: what predict()
/// returns for Tag's architecture. Addresses are assumed to be multiples of 16 bytes.
template <class Plan, Element T, OutputElement U, class Tag, class Problem, Reads reads = Reads::like_y>
struct KnownChoice {
    static constexpr Architecture architecture{Tag::maker, Tag::numbers.first};

    using Known = KnownProblem<Plan, T, Problem>;
    static constexpr ImageView<T const> from = Plan::collapse(TensorView<T const, Known::rank>(nullptr, Known::of_x));
    static constexpr ImageView<U> to = Plan::collapse(TensorView<U, Known::rank>(nullptr, Known::of_y));
    static constexpr ConvOperands<Plan, T, U, BoundHead<Plan>> operands{Known::bound, from, to};
    static constexpr ConvCase of =
        case_of(operands, has_matrix_kernels<Plan, T, U>&& is_sm90a(architecture), max_workspace_bytes);

    static constexpr int tuning = nearest_tuning<Tag>(CompiledTunings{});
    using Tuning = TypeAt<CompiledTunings, (tuning > 0 ? tuning : 0)>;
    using Schedules =
        std::conditional_t<runs_depthwise(operands), List<DefaultDepthwise>,
                           std::conditional_t<runs_without_tiles(operands), FallbackCandidates<Plan, T, U>,
                                              Candidates<Tuning, Plan, T, U>>>;
    template <class... Each>
    FUSEKIT_H static constexpr Ranking rank(List<Each...> schedules) {
        Ranking result{schedules, of, Tuning::costs, rates_of(architecture)};
        if (reads == Reads::any && (reads_in_bulk<Plan, T, U> || strips_read_in_bulk<Plan, T, U>)) {
            int number = 0;
            static_cast<void>(((reads_by_tma<EntryOf<Each>> ? result.strike(number) : void(), ++number), ...));
        }
        return result;
    }
    static constexpr Ranking ranking = rank(Schedules{});
    static constexpr int best = ranking.best(), split_k = ranking.time(best).split_k;
    using Schedule = TypeAt<Schedules, best>;
    static constexpr Orders orders =
        problem::channels_are_contiguous(to.layout) ? Orders::channels_last : Orders::planes;

    /// True if extents are so small that no count exceeds its limit (refuse_conv_limits()).
    FUSEKIT_H static constexpr bool is_small() {
        constexpr std::int64_t most = 1 << 20;
        constexpr double most_of_product = 1 << 30;
        Index<4> const &w = operands.weights.shape, &image = from.layout.shape, &of_y = operands.output;
        for (Index<4> const& extents : {w, image, of_y})
            for (std::int64_t const extent : extents.values)
                if (extent >= most) return false;
        for (Filter<2> const& filter : {of.filter, of.spread})
            for (int mode = 0; mode < 2; ++mode)
                if (std::int64_t{filter.pad_before[mode]} + filter.pad_after[mode] >= most) return false;
        auto const product = [](std::int64_t a, std::int64_t b, std::int64_t c) {
            return static_cast<double>(a) * static_cast<double>(b) * static_cast<double>(c);
        };
        return Plan::Head::collapsed_space == 2 && product(image[2], image[3], 1) < most_of_product &&
               product(of_y[2], of_y[3], 1) < most_of_product && product(w[1], w[2], w[3]) < most_of_product;
    }

    /// Prepares a launch of the schedule. Precondition: the layouts are the known ones. Conditions on them that the
    /// cost model has checked are not checked again: those on addresses are.
    template <class BoundPlan>
    FUSEKIT_H static Result<Launch<ConvParams<Plan, T, U>>> prepare(Gpu const& gpu, BoundPlan const& bound,
                                                                    ImageView<T const> const& x,
                                                                    ImageView<U> const& y) {
        using Entry = EntryOf<Schedule>;
        using Only = typename OneKernel<KnownChoice, Schedule>::Type;
        if constexpr (Entry::by_tma && is_small()) {
            ConvOperands<Plan, T, U> const call{bound, x, y};
            if (writes_nothing(bound, y.layout.shape)) return launch_nothing(gpu, type_name<Plan>, conv_params(call));
            auto const weights = Plan::Head::filters(bound.head).data();
            Unmet unmet =
                holds(problem::aligned(x.data, 16) && problem::aligned(y.data, 16) && problem::aligned(weights, 16),
                      "x, y or weights are not at multiples of 16 bytes", "leave out with_layouts()");
            if (!unmet)
                if (auto const launch = Launcher<Entry>::template launch<Only>(gpu, call, split_k, unmet))
                    return with_choice<ConvParams<Plan, T, U>>(*launch, choice_of(facts_of_each<Only>[0], split_k));
            return refuse_schedule(type_name<Plan>, Entry::name, unmet);
        } else {
            return prepare_conv_with<Only, orders>(gpu, bound, x, y, split_k);
        }
    }
};

/// Type: list of those of Tags for whose GPUs the program is compiled, of equal numbers the first: nvcc does not tell
/// sm_90 from sm_90a.
template <class Tags>
struct TargetsAmong;
template <class... Tags>
struct TargetsAmong<List<Tags...>> {
    FUSEKIT_H static consteval bool keeps(int number) {
        Architecture const each[] = {Architecture(Tags::maker, Tags::numbers.first)...};
        bool const targeted[] = {arch::is_targeted<Tags>...};
        for (int i = 0; i < number; ++i)
            if (each[i] == each[number]) return false;
        return targeted[number];
    }
    template <int number>
    struct Keeps : std::bool_constant<keeps(number)> {};

    using Type = typename Kept<Keeps, 0, Tags...>::Type;
};
using Targets = TargetsAmong<arch::All>::Type;

/// Index in Targets of the first tag whose code runs on GPUs of Tag; -1 if there is none.
template <class Tag, class... Tags>
FUSEKIT_H constexpr int index_of_target(List<Tags...>) {
    int index = 0, found = -1;
    static_cast<void>(((found = found < 0 && std::is_base_of_v<Tags, Tag> ? index : found, ++index), ...));
    return found;
}

}  // namespace detail

}  // namespace fusekit::hip
