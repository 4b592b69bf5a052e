// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/cluster.hpp"

namespace fusekit::hip {

/// Totals that the CTAs of a thread block cluster exchange through DSMEM, for the `columns` columns of one segment of a
/// reduction. `shared`, aligned to 16 bytes, points to SMEM for two arrays of `columns` totals, those of the CTA and
/// those of the cluster, each total padded to whole packets of 16 bytes.
template <class Total>
class ClusterTotals {
    using Packet4 = Packet<float, 4>;
    static constexpr unsigned words = sizeof(Total) / sizeof(float), packets = (words + 3) / 4;

public:
    __device__ ClusterTotals(float* shared, unsigned the_columns)
        : of_block(reinterpret_cast<Packet4*>(shared)),
          of_cluster(of_block + the_columns * packets),
          columns(the_columns) {}

    /// Merges the totals of all `cluster` CTAs in the order of their ranks, so that results are bitwise identical in
    /// all CTAs and all runs. Called by all threads of all CTAs of the cluster, at least `columns` threads per CTA.
    /// `totals`: of columns `column` to `column` + Count - 1; the CTA's in threads with `puts`, one per column. Returns
    /// the cluster's totals in all threads.
    template <int Count>
    __device__ __forceinline__ void merge_all(Total (&totals)[Count], unsigned column, bool puts, unsigned cluster,
                                              unsigned thread) const {
        if (puts)
#pragma unroll
            for (int i = 0; i < Count; ++i) put(of_block + (column + static_cast<unsigned>(i)) * packets, totals[i]);
        cluster_barrier();
        if (thread < columns) {
            Packet4 const* const own = of_block + thread * packets;
            Total all = get_of_rank(own, 0);
#pragma unroll 1
            for (unsigned rank = 1; rank < cluster; ++rank) all = merge(all, get_of_rank(own, rank));
            put(of_cluster + thread * packets, all);
        }
        cluster_barrier();  // after it, no CTA reads of_block
#pragma unroll
        for (int i = 0; i < Count; ++i)
            totals[i] = unpacked(
                [&](unsigned packet) { return of_cluster[(column + static_cast<unsigned>(i)) * packets + packet]; });
    }

private:
    Packet4 *of_block, *of_cluster;  ///< (columns, packets)
    unsigned columns;

    /// Total whose 16-byte packets are load(0) to load(packets - 1).
    template <class F>
    __device__ __forceinline__ static Total unpacked(F const& load) {
        Total total;
#pragma unroll
        for (unsigned packet = 0; packet < packets; ++packet) {
            Packet4 const from = load(packet);
#pragma unroll
            for (unsigned i = 0; i < 4; ++i)
                if (4 * packet + i < words) reinterpret_cast<float*>(&total)[4 * packet + i] = from.values[i];
        }
        return total;
    }
    __device__ __forceinline__ static Total get_of_rank(Packet4 const* own, unsigned rank) {
        return unpacked([&](unsigned packet) { return load_of_block(own + packet, rank); });
    }
    __device__ __forceinline__ static void put(Packet4* to, Total const& total) {
#pragma unroll
        for (unsigned packet = 0; packet < packets; ++packet) {
            Packet4 out = {};
#pragma unroll
            for (unsigned i = 0; i < 4; ++i)
                if (4 * packet + i < words) out.values[i] = reinterpret_cast<float const*>(&total)[4 * packet + i];
            to[packet] = out;
        }
    }
};

}  // namespace fusekit::hip
