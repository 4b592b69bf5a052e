// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/access.hpp"
#include "fusekit/backend/hip/arch/reload.hpp"
#include "fusekit/backend/hip/arch/wave.hpp"
#include "fusekit/backend/hip/integer.hpp"

namespace fusekit::hip {

/// K-loop with one SMEM stage: while a k-tile is multiplied, the loads of the next one are in flight to registers.
/// Loads past the last k-tile return zeros. All threads of the CTA call its functions.
template <class Atom, class Loader, class Stage>
class OneStage {
    static constexpr int threads = Atom::threads;
    using Fragment = typename Atom::Fragment;

public:
    __device__ OneStage(Atom const& the_atom, Loader& the_loader, Stage& the_stage)
        : atom(the_atom), loader(the_loader), stage(the_stage) {}

    /// Accumulates k-tiles 0 to `steps` - 1 into `acc`.
    __device__ __forceinline__ void multiply(int steps, Fragment& acc) {
        int const found = loader.find(0);
        load(0, [] {});
        atom.wait(acc);
        multiply_found(steps, found, acc);
    }

private:
    Atom const& atom;
    Loader& loader;
    Stage& stage;

    /// Accumulates `steps` k-tiles; `found` is the number of k-tiles whose offsets the first loader.find() computed.
    /// Each iteration of the outer loop processes the k-tiles of one find(); the inner loop's only comparison is its
    /// end.
    __device__ __forceinline__ void multiply_found(int steps, int found, Fragment& acc) {
        int remaining = steps, i = 1;
        while (remaining > 0) {
            if (i == found) found = loader.find(steps - remaining + 1), i = 0;
            int const end = (min)(found, i + remaining), stride = loader.stride(), last = end * stride;
            int position = i * stride;
            remaining -= end - i, i = end;
            do {
                load(position, [&] {
                    atom.multiply(stage, acc);  // (TILE_M, TILE_N) += over TILE_K
                    sync_reads();
                });
                atom.wait(acc);
                position = next(position, stride);
            } while (position != last);
        }
    }
    /// Loads the k-tile at `position` (see Loader::found()) and stores it to the stage; calls `between` while the loads
    /// are in flight.
    template <class Between>
    __device__ __forceinline__ void load(int position, Between const& between) {
        auto const in_flight = loader.found(position);
        loader.start(in_flight, stage);
        keep_apart();
        between();
        loader.finish(in_flight, stage);
        sync_shared_memory<threads>();
    }
    __device__ static void sync_reads() {
        keep_apart();
        sync_before_stores<threads>();
    }
    /// Returns the loader position of the k-tile after the one at `position`. If positions are not indices of the
    /// loader's table, hides the addition from the compiler, which would otherwise keep a second counter.
    __device__ static int next(int position, int stride) {
        position += stride;
        return Loader::has_table ? position : opaque_per_block(position);
    }
};

}  // namespace fusekit::hip
