// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/access.hpp"
#include "fusekit/backend/hip/arch/reload.hpp"
#include "fusekit/backend/hip/arch/wave.hpp"
#include "fusekit/backend/hip/integer.hpp"

namespace fusekit::hip {

/// The products of a loader's steps along GemmK, through one stage of shared memory: while a step is multiplied, the
/// next one's loads are in flight to registers. Past the last step zeros are loaded. All threads call these.
template <class Atom, class Loader, class Stage>
class OneStage {
    static constexpr int threads = Atom::threads;
    using Fragment = typename Atom::Fragment;

public:
    __device__ OneStage(Atom const& the_atom, Loader& the_loader, Stage& the_stage)
        : atom(the_atom), loader(the_loader), stage(the_stage) {}

    /// Adds the products of steps 0 to `steps` - 1 to sums.
    __device__ __forceinline__ void multiply(int steps, Fragment& sums) {
        int const found = loader.find(0);
        load(0, [] {});
        atom.wait(sums);
        multiply_found(steps, found, sums);
    }

private:
    Atom const& atom;
    Loader& loader;
    Stage& stage;

    /// The inner loop has the steps whose offsets a loader found at once; it compares only its end.
    __device__ __forceinline__ void multiply_found(int steps, int found, Fragment& sums) {
        int left = steps, i = 1;
        while (left > 0) {
            if (i == found) found = loader.find(steps - left + 1), i = 0;
            int const end = (min)(found, i + left), stride = loader.stride(), last = end * stride;
            int place = i * stride;
            left -= end - i, i = end;
            do {
                load(place, [&] {
                    atom.multiply(stage, sums);
                    sync_reads();
                });
                atom.wait(sums);
                place = next(place, stride);
            } while (place != last);
        }
    }
    /// Calls `between` while a step is in flight.
    template <class Between>
    __device__ __forceinline__ void load(int place, Between const& between) {
        auto const in_flight = loader.found(place);
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
    /// The place of the next step. The compiler is not to know one that is no table's: it would count steps beside it.
    __device__ static int next(int place, int stride) {
        place += stride;
        return Loader::has_table ? place : opaque_per_block(place);
    }
};

}  // namespace fusekit::hip
