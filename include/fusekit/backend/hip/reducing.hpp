// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/access.hpp"
#include "fusekit/backend/hip/arch/params.hpp"
#include "fusekit/backend/hip/block_sum.hpp"
#include "fusekit/backend/hip/pairwise_totals.hpp"
#include "fusekit/backend/hip/reduction_unit.hpp"
#include "fusekit/backend/hip/schedule.hpp"
#include "fusekit/backend/hip/shared_totals.hpp"
#include "fusekit/backend/hip/team_totals.hpp"

namespace fusekit::hip {

/// A plan that reduces, in one pass over memory and, where results wait for totals, a second over what caches and
/// registers have kept: teams of blocks total a unit each, meet, and go over it again, backwards, so that the values
/// that were last come first. All of it is inlined: else the kernel's argument would be copied to memory of each
/// thread.
template <class Plan, class Schedule, Element T, int lanes, Pattern pattern, bool in_parts>
class Reducing {
    using Steps = ReductionSteps<typename Plan::Head>;
    using Epilogue = typename Plan::Epilogue;
    using Running = typename Steps::template Running<float>;
    using Total = typename Steps::template Total<float>;
    using Unit = ReductionUnit<Plan, T, lanes, pattern>;
    using Pack = typename Unit::Pack;
    static constexpr int own = Unit::totals, sums = sizeof(Total) / sizeof(float);

    static constexpr int crowd = own == 1 && lanes != 4 ? 2 : 1;  // more threads of fewer registers, where few suffice

public:
    static constexpr int unroll = greater(1, Schedule::unroll / (Steps::has_operand ? 2 : 1) / crowd);
    static constexpr int totals = Unit::totals;
    static constexpr int threads = Schedule::threads, blocks = Schedule::blocks * crowd;
    using Params = ReductionParams<Plan, T>;
    struct Shared {
        float sums[threads * own * Reducing::sums];
        bool is_last;  ///< of a team
    };

    __device__ __forceinline__ static void run(Params const& params, Shared& shared, unsigned thread, unsigned block) {
        unsigned const team = block / params.members, member = block % params.members;
        for (unsigned number = team; number < params.units; number += params.teams)
            Reducing(seen_anew(params), shared, thread, team, member, number).total_and_apply();
    }

private:
    struct Values {
        Packet<T, lanes> x[unroll], operand[Steps::has_operand ? unroll : 1];
    };
    /// What the elements of one total meet: the place, as far as they share it, and what is prepared for it.
    struct Lane {
        OutputCoord at;
        typename Steps::States::PlaceState head;
        typename Epilogue::PlaceState epilogue;
        typename Steps::template Prepared<float> prepared;
    };

    Params const& params;
    Shared& shared;
    unsigned const thread, team, member, number;
    unsigned const rows, row, column;  ///< threads above each other in a tile, and this thread's place
    Unit const unit;
    unsigned const first, stride, steps;  ///< of this thread

    __device__ __forceinline__ Reducing(Params const& the_params, Shared& the_shared, unsigned the_thread,
                                        unsigned the_team, unsigned the_member, unsigned the_number)
        : params(the_params),
          shared(the_shared),
          thread(the_thread),
          team(the_team),
          member(the_member),
          number(the_number),
          rows(the_params.threads / the_params.tile),
          row(the_thread / the_params.tile),
          column(the_thread % the_params.tile),
          unit(the_params, the_number, column),
          first(the_member * rows + row),
          stride(the_params.members * rows),
          steps(unit.steps()) {}

    __device__ __forceinline__ void total_and_apply() {
        Lane lane[own];
        Values values;
        unsigned step = first;
        if (step < steps) load<!Steps::waits>(step, values);  // in flight while the parameters are prepared
#pragma unroll
        for (int i = 0; i < own; ++i) {
            lane[i].at = unit.first_place(i);
            if (steps > 0) prepare(lane[i]);
        }
        Total of_unit[own];
        anew().read(step, values, lane, of_unit);
        if constexpr (Steps::has_totals) {
            if (params.members > 1) anew().meet(of_unit);
            anew().apply(of_unit, step, values, lane);
        }
    }

    /// Reads all groups of loads and totals them. Parts end with barriers: then all threads take as many turns, also
    /// those that have nothing left to read. Without parts, float planes need 15 registers fewer.
    __device__ __forceinline__ void read(unsigned& step, Values& values, Lane const (&lane)[own],
                                         Total (&of_unit)[own]) const {
        Running running[own] = {};
        unsigned count = 0, part = 0, end = params.part;
        if (Steps::has_totals && step < steps) start(step, values, running);
        for (unsigned group = 0; in_parts ? group < params.groups : step < steps; ++group) {
            if (in_parts ? group > 0 : step > first) load<!Steps::waits>(step, values);
            if constexpr (Steps::has_totals) {
                if (in_parts && group == end) {
                    anew().total(running, count, of_unit, part++);
                    end += params.part, count = 0;
#pragma unroll
                    for (int i = 0; i < own; ++i) running[i] = {};
                    if (step < steps) start(step, values, running);
                }
                add(step, values, lane, running, count);
            }
            if constexpr (!Steps::waits) write(step, values, lane);
            if (!in_parts || step < steps) step += unroll * stride;
        }
        if constexpr (Steps::has_totals) anew().total(running, count, of_unit, part);
    }

    /// The same, of which nothing was kept in scalar registers before, but for its numbers.
    __device__ __forceinline__ Reducing anew() const {
        return Reducing(seen_anew(params), shared, thread_seen_anew(thread), block_seen_anew(team),
                        block_seen_anew(member), number);
    }

    __device__ __forceinline__ void apply(Total const (&of_unit)[own], unsigned step, Values& values,
                                          Lane (&lane)[own]) const {
        if (steps == 0) return;
        bool const saves = row == 0 && member == 0;
        if (saves) laid_by().put(thread, of_unit);
        if constexpr (Steps::waits) {
#pragma unroll
            for (int i = 0; i < own; ++i)
                lane[i].prepared = Steps::finish(of_unit[i], params.count, lane[i].head, lane[i].at, params.bound.head);
#pragma unroll
            for (int i = 0; i < unroll; ++i) {
                see_anew(values.x[i]);
                if constexpr (Steps::has_operand) see_anew(values.operand[i]);
            }
            for (bool kept = true; step > first; kept = false) {
                step -= unroll * stride;
                if (!kept) load<true>(step, values);
                write(step, values, lane);
            }
        }
        if (saves) anew().save();
    }

    /// Totals until they are saved, which is last, lie where this thread's part of the sums was.
    __device__ __forceinline__ void save() const {
#pragma unroll
        for (int i = 0; i < own; ++i) Steps::save(laid_by().get(thread, i), unit.first_place(i), params.bound.head);
    }
    __device__ __forceinline__ SharedTotals<Total, own, threads> laid_by() const { return {shared.sums}; }

    __device__ __forceinline__ void prepare(Lane& lane) const {
        lane.head = Steps::prepare(lane.at, params.bound.head);
        lane.epilogue = Epilogue::prepare(lane.at, params.bound.epilogue);
    }

    /// Calls f(i, step, pack) for each pack of a group, without a branch where there are all of them.
    template <class F>
    __device__ __forceinline__ void each(unsigned step, F const& f) const {
        if (step + (unroll - 1) * stride < steps) {
#pragma unroll
            for (int i = 0; i < unroll; ++i) {
                unsigned const at = step + static_cast<unsigned>(i) * stride;
                f(i, at, unit.locate(at));
            }
        } else {
#pragma unroll
            for (int i = 0; i < unroll; ++i) {
                unsigned const at = step + static_cast<unsigned>(i) * stride;
                if (at < steps) f(i, at, unit.locate(at));
            }
        }
    }
    template <bool last>
    __device__ __forceinline__ void load(unsigned step, Values& values) const {
        each(step, [&](int i, unsigned, Pack const& pack) {
            values.x[i] = read<last>(params.x.data + pack.x);
            if constexpr (Steps::has_operand) values.operand[i] = read<last>(params.operand.data + pack.operand);
        });
    }
    template <bool last>
    __device__ static Packet<T, lanes> read(T const* from) {
        auto const* const packet = reinterpret_cast<Packet<T, lanes> const*>(from);
        if constexpr (last) return load_once(packet);
        else return *packet;
    }
    __device__ static float operand(Values const& values, int i, int lane) {
        if constexpr (Steps::has_operand) return values.operand[i].values[lane];
        else return 0;
    }

    __device__ __forceinline__ void start(unsigned step, Values const& values, Running (&running)[own]) const {
        if constexpr (pattern == Pattern::planes) {
            running[0].start(params.x.data[unit.value_near(step)]);
        } else {
#pragma unroll
            for (int j = 0; j < own; ++j) running[j].start(values.x[0].values[j]);
        }
    }

    /// `count` is of the values to each of the thread's totals.
    __device__ __forceinline__ void add(unsigned step, Values const& values, Lane const (&lane)[own],
                                        Running (&running)[own], unsigned& count) const {
        auto const add_pack = [&](int i, unsigned now, auto counts) {
#pragma unroll
            for (int j = 0; j < lanes; ++j)
                with_own(lane[j % own], now, j, counts(j), [&](Lane const& of) {
                    Steps::add(running[j % own], static_cast<float>(values.x[i].values[j]), operand(values, i, j),
                               of.at, of.head, params.bound.head, counts(j));
                });
        };
        if (unit.aligned())
            each(step, [&](int i, unsigned now, Pack const&) {
                add_pack(i, now, [](int) { return true; });
                count += lanes / own;
            });
        else
            each(step, [&](int i, unsigned now, Pack const& pack) {
                add_pack(i, now, [&](int j) { return unit.has(pack, j); });
                count += unit.count(pack);
            });
    }

    __device__ __forceinline__ void write(unsigned step, Values const& values, Lane const (&lane)[own]) const {
        each(step, [&](int i, unsigned now, Pack const& pack) {
            Packet<T, lanes> result{};
#pragma unroll
            for (int j = 0; j < lanes; ++j)
                with_own(lane[j % own], now, j, unit.has(pack, j), [&](Lane const& of) {
                    float const value = Steps::apply(static_cast<float>(values.x[i].values[j]), operand(values, i, j),
                                                     of.at, of.head, of.prepared, params.bound.head);
                    result.values[j] = T(Epilogue::apply(value, of.at, of.epilogue, params.bound.epilogue));
                });
            T* const to = params.y.data + pack.y;
            if (unit.whole(pack)) {
                store_once(reinterpret_cast<Packet<T, lanes>*>(to), result);
            } else {
#pragma unroll
                for (int j = 0; j < lanes; ++j)
                    if (unit.has(pack, j)) to[j] = result.values[j];
            }
        });
    }

    /// Calls f with a lane that is as of one element, where operators ask for its place: then, not for one that is no
    /// element of the unit's.
    template <class F>
    __device__ __forceinline__ void with_own(Lane const& lane, unsigned step, int j, bool has, F const& f) const {
        if constexpr (Steps::States::placewise || Epilogue::placewise) {
            if (!has) return;
            Lane of = lane;
            of.at = unit.place(step, j);
            if constexpr (!Steps::per_place) prepare(of);
            f(of);
        } else {
            f(lane);
        }
    }

    /// Every thread gets the block's totals of its own columns, of this part and those before.
    __device__ __forceinline__ void total(Running const (&running)[own], unsigned count, Total (&of_unit)[own],
                                          unsigned part) const {
        Rows const all{params.threads, params.tile, thread};
        auto const sum = [&](auto& values) { all.sum(values, shared.sums); };
#pragma unroll
        for (int i = 0; i < own; ++i) of_unit[i] = running[i].total(static_cast<float>(count));
        Total::combine(of_unit, sum);
        if (in_parts && params.part < params.groups)
            PairwiseTotals<Total, own, threads>{shared.sums}.add(part, of_unit, column, row == 0);
    }

    /// Every thread gets the totals of the whole unit, of its own columns.
    __device__ __forceinline__ void meet(Total (&of_unit)[own]) const {
        unsigned const columns = params.tile * own;
        TeamTotals<Total> const room{params.workspace.values() + team * (params.members + 1) * columns * sums, columns};
        if (row == 0) room.put(member + 1, column * own, of_unit);
        Team(params.workspace.state(team), params.members, thread, shared.is_last).meet([&] {
            room.template merge_all<smaller(own, 4)>(params.members, params.threads, thread, shared.sums);
        });
        room.get(0, column * own, of_unit);
    }
};

}  // namespace fusekit::hip
