// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/cluster.hpp"
#include "fusekit/backend/hip/arch/sm90a.hpp"
#include "fusekit/backend/hip/collective/accumulator_exchange.hpp"
#include "fusekit/backend/hip/tile_order.hpp"

namespace fusekit::hip {

/// Adds the accumulators of an item of a stream-K tail if it is divided, through the SMEM of the pipeline's `stages`.
/// Warpgroup g of the cluster's CTA g receives the sums of all CTAs, in an order that depends on its rank alone, so
/// that results are bitwise identical in every run. `barrier`: number of a named barrier of the CTA's `consumers`
/// warpgroups, which all call this function and then cluster_wait().
template <unsigned barrier, class Atom, int consumers, class Stages>
__device__ void exchange_tail(Stages& stages, typename Atom::Accumulators& acc, unsigned thread, unsigned group,
                              StreamKTail const& items, unsigned item) {
    using Exchange = AccumulatorExchange<Atom, consumers>;
    static_assert(sizeof(Exchange) <= sizeof(stages));
    auto& through = reinterpret_cast<Exchange&>(stages);
    unsigned own[] = {thread, group};
    ptx::fence_operands(own);  // computes SMEM addresses here, instead of keeping them in registers during the loop
    bool const is_divided = items.is_divided(item);
    unsigned const rank = items.rank_of(item);
    if (is_divided) {
        ptx::bar_sync(barrier, 128 * consumers);  // the MMAs of both warpgroups have read the stages
        if (rank != group) through.put(own[1], own[0], acc);
        cluster_barrier();
    }
    through.add_others(rank, is_divided && rank == group ? items.splits : 1, own[1], own[0], acc);
    if (is_divided) cluster_arrive();
}

}  // namespace fusekit::hip
