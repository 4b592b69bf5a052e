// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/cluster.hpp"

namespace fusekit::hip {

/// Totals that the CTAs of a thread block cluster exchange through DSMEM, for the `columns` columns of one segment of a
/// reduction. `shared`, aligned to 16 bytes, points to SMEM for two arrays of `columns` totals, those of the CTA and
/// those of the cluster, each total padded to whole packets of 16 bytes.
template <class Total>
class ClusterTotals {
    using Quad = Packet<float, 4>;
    static constexpr unsigned words = sizeof(Total) / sizeof(float), quads = (words + 3) / 4;

public:
    __device__ ClusterTotals(float* shared, unsigned the_columns)
        : of_block(reinterpret_cast<Quad*>(shared)), of_cluster(of_block + the_columns * quads), columns(the_columns) {}

    /// Merges the totals of all `cluster` CTAs in the order of their ranks, so that results are bitwise identical in
    /// all CTAs and all runs. Called by all threads of all CTAs of the cluster, at least `columns` threads per CTA.
    /// `totals`: of columns `column` to `column` + Count - 1; the CTA's in threads with `puts`, one per column. Returns
    /// the cluster's totals in all threads.
    template <int Count>
    __device__ __forceinline__ void merge_all(Total (&totals)[Count], unsigned column, bool puts, unsigned cluster,
                                              unsigned thread) const {
        if (puts)
#pragma unroll
            for (int i = 0; i < Count; ++i) put(of_block + (column + static_cast<unsigned>(i)) * quads, totals[i]);
        cluster_barrier();
        if (thread < columns) {
            Quad const* const own = of_block + thread * quads;
            Total all = get_of_rank(own, 0);
#pragma unroll 1
            for (unsigned rank = 1; rank < cluster; ++rank) all = merge(all, get_of_rank(own, rank));
            put(of_cluster + thread * quads, all);
        }
        cluster_barrier();  // after it, no CTA reads of_block
#pragma unroll
        for (int i = 0; i < Count; ++i)
            totals[i] =
                unpacked([&](unsigned quad) { return of_cluster[(column + static_cast<unsigned>(i)) * quads + quad]; });
    }

private:
    Quad *of_block, *of_cluster;  ///< (columns, quads)
    unsigned columns;

    /// Total whose 16-byte packets are packet(0) to packet(quads - 1).
    template <class F>
    __device__ __forceinline__ static Total unpacked(F const& packet) {
        Total total;
#pragma unroll
        for (unsigned quad = 0; quad < quads; ++quad) {
            Quad const from = packet(quad);
#pragma unroll
            for (unsigned i = 0; i < 4; ++i)
                if (4 * quad + i < words) reinterpret_cast<float*>(&total)[4 * quad + i] = from.values[i];
        }
        return total;
    }
    __device__ __forceinline__ static Total get_of_rank(Quad const* own, unsigned rank) {
        return unpacked([&](unsigned quad) { return load_of_block(own + quad, rank); });
    }
    __device__ __forceinline__ static void put(Quad* to, Total const& total) {
#pragma unroll
        for (unsigned quad = 0; quad < quads; ++quad) {
            Quad packet = {};
#pragma unroll
            for (unsigned i = 0; i < 4; ++i)
                if (4 * quad + i < words) packet.values[i] = reinterpret_cast<float const*>(&total)[4 * quad + i];
            to[quad] = packet;
        }
    }
};

}  // namespace fusekit::hip
