// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/reducing.hpp"
#include "fusekit/backend/hip/run_stream.hpp"

namespace fusekit::hip {

namespace detail {

/// How many blocks total a unit together, of `most` that run at once.
struct Teams {
    unsigned teams, members;
};

/// At least `fewest` members, and as many as it takes for what teams read at once to stay in the cache; more where that
/// makes the last round fuller. A round takes 1 / members of the time that one block would, and rounds are as many as
/// units a team.
inline Teams choose_teams(std::int64_t units, std::int64_t unit_bytes, std::int64_t blocks, std::int64_t fewest,
                          std::int64_t most_members, std::int64_t cache_bytes) {
    if (divide_up(blocks * unit_bytes, cache_bytes) > fewest) fewest = divide_up(blocks * unit_bytes, cache_bytes);
    if (fewest > most_members) fewest = most_members;
    if (fewest > blocks) fewest = blocks;  // where the cache holds not even one unit
    if (fewest <= 1) return {static_cast<unsigned>(units < blocks ? units : blocks), 1};
    Teams best{1, 1};
    double shortest = 1e300;
    for (std::int64_t members = fewest; members <= 2 * fewest && members <= most_members && members <= blocks;
         ++members) {
        std::int64_t const at_once = blocks / members, teams = at_once < units ? at_once : units;
        double const time = static_cast<double>(divide_up(units, teams)) / static_cast<double>(members);
        if (time < shortest) {
            shortest = time;
            best = {static_cast<unsigned>(teams), static_cast<unsigned>(members)};
        }
    }
    return best;
}

constexpr std::int64_t power_of_two(std::int64_t at_least) {
    std::int64_t power = 1;
    while (power < at_least) power *= 2;
    return power;
}

/// Starts Reducing with packs of `lanes`.
template <class Schedule, int lanes, Pattern pattern, class Plan, Element T>
void start_reduction(Device& device, ReductionParams<Plan, T> params) {
    using Mainloop = Reducing<Plan, Schedule, T, lanes, pattern, false>;
    using Steps = ReductionSteps<typename Plan::Head>;
    using Total = typename Steps::template Total<float>;
    static_assert(sizeof(typename Mainloop::Shared) <= 48 * 1024);  // Suits has said so
    Index<4> const shape = params.y.layout.shape;
    std::int64_t const plane = shape[2] * shape[3], image = shape[1] * plane, unroll = Mainloop::unroll;
    check_limit(type_name<Plan>, "y", "channels of fewer than 2^31 elements", shape, shape[0] * plane);
    params.count = Steps::per_place ? shape[0] : shape[0] * plane;

    std::int64_t const at_once = std::int64_t{device.processors()} * Mainloop::blocks;  // blocks of all threads
    std::int64_t threads = Mainloop::threads, members = 0, units = 0, steps = 0;
    if (!params.by_columns) {
        std::int64_t const packs = divide_up(plane, lanes),
                           most = divide_up(plane + (plane % lanes ? lanes - 1 : 0), lanes);
        params.packs[0] = Divisor(static_cast<unsigned>(packs));
        params.packs[1] = Divisor(static_cast<unsigned>(most));
        units = shape[1], steps = shape[0] * most;
        auto const small = [&] {
            return threads / 2 * unroll >= steps && 2 * units > at_once * Mainloop::threads / threads;
        };
        while (threads > 64 && small()) threads /= 2;
        members = divide_up(steps, threads);
    } else {
        steps = Steps::per_place ? shape[0] : shape[0] * plane;
        params.columns = static_cast<unsigned>((Steps::per_place ? image : shape[1]) / lanes);
        std::int64_t tile = threads / power_of_two(divide_up(steps, unroll));
        while (tile > 8 && divide_up(params.columns, tile) < at_once) tile /= 2;
        if (tile < 8) tile = 8;
        while (tile > 1 && tile / 2 >= params.columns) tile /= 2;
        params.tile = static_cast<unsigned>(tile);
        units = divide_up(params.columns, tile);
        members = divide_up(steps, threads / tile);
    }
    params.threads = static_cast<unsigned>(threads);
    params.units = static_cast<unsigned>(units);
    params.steps = static_cast<unsigned>(pattern == Pattern::planes ? shape[0] : steps);

    std::int64_t const unit_floats = params.tile * std::int64_t{Mainloop::totals} * (sizeof(Total) / sizeof(float));
    std::int64_t const room = static_cast<std::int64_t>(Workspace::floats) / 2 / unit_floats;
    std::int64_t blocks = at_once * Mainloop::threads / threads;
    if (blocks > room) blocks = room;
    // Channels are totalled a few at a time, so that the cache keeps them, and by teams only where a processor would be
    // idle, as meeting takes microseconds; columns of memory's rows all at once.
    std::int64_t const unit_bytes =
        params.by_columns ? 0 : steps * lanes * std::int64_t{sizeof(T)} * (Steps::has_operand ? 2 : 1);
    std::int64_t const fewest = params.by_columns ? blocks / units : divide_up(device.processors(), units);
    Teams const choice = choose_teams(units, unit_bytes, blocks, fewest, members, device.cache_bytes());
    params.members = choice.members;
    params.teams = choice.members == 1 ? params.units : choice.teams;
    std::int64_t groups = divide_up(steps, choice.members * (threads / params.tile) * unroll), part = groups;
    if (Steps::has_totals && params.tile <= most_tile_of_parts) {
        std::int64_t const values = unroll * (lanes / Mainloop::totals), most = most_parts(threads);
        std::int64_t const wanted = power_of_two(divide_up(groups * values, most_values_of_part));
        std::int64_t const parts = wanted < most ? wanted : most;
        part = divide_up(groups, parts);
        groups = part * parts;
    }
    params.groups = static_cast<unsigned>(groups);
    params.part = static_cast<unsigned>(part);
    bool const meet = choice.members > 1 && Steps::has_totals;
    if (meet) params.workspace.memory = device.workspace(Workspace::bytes);
    auto const start_on = [&]<class Mainloop>(std::type_identity<Mainloop>) {
        start<Plan, Mainloop>(device, params, std::int64_t{params.teams} * params.members, static_cast<int>(threads),
                              meet ? Together::yes : Together::no);
    };
    constexpr bool always = Steps::has_totals && pattern == Pattern::any;  // one kernel, as speed matters less there
    if (always || part < groups)
        start_on(std::type_identity<Reducing<Plan, Schedule, T, lanes, pattern, Steps::has_totals>>{});
    else if constexpr (!always) start_on(std::type_identity<Mainloop>{});
}

}  // namespace detail

/// Runs a plan that begins with a reduction with one schedule.
template <class Schedule, class Plan, Element T>
void run_reduction_with(Device& device, Bound<Plan> const& bound, TensorView<T const> const& x,
                        TensorView<T> const& y) {
    using Steps = ReductionSteps<typename Plan::Head>;
    constexpr int lanes = Schedule::bytes / static_cast<int>(sizeof(T));
    bool const last = channels_last(y.layout);
    std::int64_t const image = y.layout.size() / y.layout.shape[0];
    check_limit(type_name<Plan>, "y", "an image of fewer than 2^31 elements", y.layout.shape, image);
    ReductionParams<Plan, T> params{bound, x, y, x, {}, Steps::per_place || last, {y.layout.shape, last}};
    bool packs = detail::alike(x, y) && aligned(x.data, Schedule::bytes) && aligned(y.data, Schedule::bytes);
    if constexpr (Steps::has_operand) {
        params.operand = typed<T>(bound.head.x);
        packs = packs && detail::alike(params.operand, y) && aligned(params.operand.data, Schedule::bytes);
    }
    std::int64_t const whole = params.by_columns && !Steps::per_place ? y.layout.shape[1] : image;
    if (!packs || whole % lanes != 0) return detail::start_reduction<Schedule, 1, Pattern::any>(device, params);
    if constexpr (!Steps::per_place)
        if (!params.by_columns) return detail::start_reduction<Schedule, lanes, Pattern::planes>(device, params);
    detail::start_reduction<Schedule, lanes, Pattern::columns>(device, params);
}

/// Runs such a plan with the schedule that the table has for it.
template <class Plan, Element T>
void run_reduction(Device& device, Bound<Plan> const& bound, TensorView<T const> const& x, TensorView<T> const& y) {
    run_reduction_with<DefaultReduction<T>>(device, bound, x, y);
}

}  // namespace fusekit::hip
