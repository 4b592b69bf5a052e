// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/access.hpp"
#include "fusekit/backend/hip/arch/async_copy.hpp"
#include "fusekit/backend/hip/arch/maximum.hpp"
#include "fusekit/backend/hip/arch/overlap.hpp"
#include "fusekit/backend/hip/arch/reload.hpp"
#include "fusekit/backend/hip/arch/target.hpp"
#include "fusekit/backend/hip/arch/wave.hpp"
#include "fusekit/backend/hip/atom/native.hpp"
#include "fusekit/backend/hip/atom/simt.hpp"
#include "fusekit/backend/hip/collective/load_operands.hpp"
#include "fusekit/backend/hip/copy/amd/channel_operands.hpp"
#include "fusekit/backend/hip/copy/amd/quad_operands.hpp"
#include "fusekit/backend/hip/copy/amd/tap_operands.hpp"
#include "fusekit/backend/hip/epilogue/direct_store.hpp"
#include "fusekit/backend/hip/mainloop/one_stage.hpp"
#include "fusekit/backend/hip/mma/bf16x6.hpp"
#include "fusekit/backend/hip/mma/wgmma_tile.hpp"
#include "fusekit/backend/hip/schedule/matrix_gemm.hpp"

namespace fusekit::hip {

/// Member Type: MMA atom (atom/simt.hpp describes atoms) of a schedule, for elements T that the atom multiplies as type
/// F.
template <class Schedule, Element T, class F>
struct AtomOf {
    using Type = Simt<T, Schedule::tile_m, Schedule::tile_n, Schedule::tile_k,
                      arch::Target::processor.unroll_of_gemm(Schedule::threads* Schedule::blocks)>;
};
template <MatrixSchedule Schedule, Element T, class F>
struct AtomOf<Schedule, T, F> {
    using Type = WgmmaTile<F, Schedule::tile_m, Schedule::tile_n>;
};
template <MatrixSchedule Schedule>
struct AtomOf<Schedule, float, float> {
    using Type = Bf16x6<Schedule::tile_m, Schedule::tile_n>;
};
template <NativeSchedule Schedule, Element T, class F>
struct AtomOf<Schedule, T, F> {
    using Type = NativeAtom<Schedule, T, arch::Target, F>;
};

/// Number of SMEM stages of an atom's k-loop: Atom::stages, 2 by default.
template <class Atom>
inline constexpr int stages_of = 2;
template <class Atom>
    requires requires { Atom::stages; }
inline constexpr int stages_of<Atom> = Atom::stages;

/// True if threads convert operands between the issues of a k-tile's MMAs, because the conversion takes long.
template <class Atom>
inline constexpr bool interleaves_loads = requires { requires Atom::interleaves_loads; };

/// copies_words: true if 16-byte vectors are copied to the stages asynchronously, without registers. distance_of:
/// number of k-tiles from the load of a k-tile to its MMAs: 1 or, with asynchronous copies, the number of stages - 1.
template <class Atom>
inline constexpr bool copies_words = has_async_copies && takes_words<typename Atom::Stage> && stages_of<Atom> > 1;
template <class Atom>
inline constexpr int distance_of = copies_words<Atom> ? stages_of<Atom> - 1 : 1;

/// SMEM layout of an implicit GEMM's CTA: the stages, whose memory the output tile reuses after the k-loop, the
/// loader's tables, and the data of the output tile.
template <class Plan, class Atom, class Loader, class BufferLoader, class Writer>
struct GemmShared {
    union {
        typename Atom::Stage stages[stages_of<Atom>];
        typename BufferLoader::Stage buffer_stage;
        typename Writer::Buffer out;
    };
    union {
        typename Loader::Shared loader;
        typename BufferLoader::Shared buffer_loader;
    };
    OutputTile<Plan, Atom::tile_m, Atom::tile_n> tile;
};

/// Declares Storage as static or dynamic shared memory: stages of wgmma tiles exceed the 48 KB of static shared memory.
template <class Storage, bool is_dynamic>
struct NamedShared {
    using Shared = Storage;
};
template <class Storage>
struct NamedShared<Storage, true> {
    using DynamicShared = Storage;
};

/// Types of an implicit GEMM that follow from its schedule: MMA atom, operand loaders, epilogue, SMEM layout.
template <class Plan, class Schedule, Element T, detail::OutputElement U, detail::Axis fast>
struct GemmParts {
    /// How halves are multiplied on gfx90a, whose MFMA flushes subnormal halves to zero (may_flush). is_rounded: the
    /// gradient with respect to x rounds halves to bfloat16, which keeps their range. is_exact: the plan requests
    /// Products<float>, so that SIMT arithmetic multiplies halves exactly.
    static constexpr bool may_flush = std::is_same_v<T, half> && std::is_same_v<arch::Target, arch::Gfx90a>,
                          is_exact = may_flush && std::is_same_v<FloatFactor<Plan>, float>,
                          is_rounded = may_flush && has_transposed_conv<Plan>;
    using Factor =
        std::conditional_t<is_exact, ExactHalf, std::conditional_t<is_rounded, RoundedHalf, PlanFactor<Plan, T>>>;
    using Atom = typename AtomOf<Schedule, T, Factor>::Type;
    using Writer = DirectStore<Plan, Atom, fast>;
    using Loader = LoadOperands<Plan, Atom, T, U, fast>;
    /// AMD's operand loader with 32-bit buffer offsets. QuadOperands (four pixels per load) needs elements of at most
    /// 16 bits.
    using BufferOperands = std::conditional_t<fast == detail::Axis::channel, ChannelOperands<Plan, Atom, T, U>,
                                              QuadOperands<Plan, Atom, T, U>>;
    static consteval bool has_buffer_loads() {
        if constexpr (has_transposed_conv<Plan>) return has_transposed_filters<Plan, Atom, T, fast>;
        else if constexpr (!arch::has<arch::Amd> || !takes_words<typename Atom::Stage> || Plan::has_prologue)
            return false;
        else if constexpr (fast == detail::Axis::channel) return true;
        else if constexpr (sizeof(T) > 2) return false;
        else return fits<GemmShared<Plan, Atom, Loader, BufferOperands, Writer>>();
    }
    /// True if the LDS of a compute unit (CU) holds as many CTAs as the schedule requests, or CTAs with five waves in
    /// total, so that one of the four SIMDs has two waves. LDS is allocated in units of 512 bytes. Amax uses LDS in
    /// addition to the tile (arch/maximum.hpp).
    template <class Needed>
    static consteval bool fits() {
        constexpr Processor processor = arch::Target::processor;
        std::size_t const bytes = sizeof(Needed) + sizeof(unsigned[max_maxima]) * std::size_t{Plan::Epilogue::maxima};
        int const of_waves = detail::divide_up(5 * processor.wave, Schedule::threads),
                  blocks = Schedule::blocks < of_waves ? Schedule::blocks : of_waves;
        return (bytes + 511) / 512 * 512 * static_cast<std::size_t>(blocks) <=
               static_cast<std::size_t>(processor.shared_bytes);
    }
    static constexpr bool has_taps = has_tap_operands<Plan, Atom, T, fast>;
    template <bool packed>
    using Taps = TapOperands<Plan, Atom, T, U, packed>;
    using BufferLoader =
        std::conditional_t<has_taps, Taps<true>, std::conditional_t<has_buffer_loads(), BufferOperands, Loader>>;
    using Storage = GemmShared<Plan, Atom, Loader, BufferLoader, Writer>;
    using Shared = NamedShared<Storage, MatrixSchedule<Schedule>>;
};

/// Accumulates k-tiles `begin` to `end` - 1 into `acc`, through the two or more stages in `shared`. All threads of the
/// CTA call it. Precondition: `begin` is a multiple of the number of stages and of the number of k-tiles in a loader's
/// table.
template <class Atom, class Loader, class Shared>
__device__ __forceinline__ void multiply_steps(Atom const& atom, Loader& loader, Shared& shared, int begin, int end,
                                               typename Atom::Fragment& acc) {
    constexpr unsigned stages = stages_of<Atom>;
    constexpr bool loads_first = Atom::is_asynchronous;
    if constexpr (loads_first) {  // accumulators of MMAs in flight must be in the same registers on every path
        auto const in_flight = loader.prepare(begin, true);
        loader.start(in_flight, shared.stages[0]);
        loader.finish(in_flight, shared.stages[0]);
        Atom::publish();
        __syncthreads();
    }
    constexpr int distance = distance_of<Atom>;
    for (int step = loads_first ? begin : begin - distance; step < end; ++step) {
        int const next = step + distance;
        bool const loads = next < end;
        auto const in_flight = loader.prepare(next, loads);
        auto& stage = shared.stages[static_cast<unsigned>(next) % stages];
        if (loads) loader.start(in_flight, stage);
        if constexpr (copies_words<Atom>) commit_copies();
        if constexpr (interleaves_loads<Atom>) {
            atom.multiply(shared.stages[static_cast<unsigned>(step) % stages], acc, [&]<int part, int parts>() {
                if (loads) loader.template finish_part<part, parts>(in_flight, stage);
            });
        } else {
            if (loads_first || step >= begin) atom.multiply(shared.stages[static_cast<unsigned>(step) % stages], acc);
            if (loads) loader.finish(in_flight, stage);
        }
        if constexpr (copies_words<Atom>) wait_for_groups<distance - 1>();
        Atom::publish();
        if constexpr (loads_first) atom.wait(acc);
        sync_shared_memory<Atom::threads>();
    }
}

/// Implicit GEMM: y (M, N) = im2col(x) (M, K) w (K, N), where im2col(x) is never stored. A CTA computes an output tile
/// of TILE_M pixels x TILE_N channels in k-tiles of TILE_K. For each k-tile, a loader copies the operands to an SMEM
/// stage and the atom multiplies them; DirectStore then applies the epilogue and stores y. `fast` is the mode that is
/// contiguous in x and in y.
///
/// With two stages, the loads of one k-tile are in flight while the other k-tile is multiplied. With asynchronous
/// copies, which need no registers, there may be more stages and more k-tiles in flight. One barrier ends each k-tile.
/// If SMEM is small there is one stage: loaded elements stay in registers until all threads have multiplied the stage,
/// and a second barrier orders the stores after the reads.
template <class Plan, class Schedule, Element T, detail::OutputElement U, detail::Axis fast>
class ImplicitGemm : public GemmParts<Plan, Schedule, T, U, fast>::Shared {
    using Parts = GemmParts<Plan, Schedule, T, U, fast>;
    using Atom = typename Parts::Atom;
    using Writer = typename Parts::Writer;
    using Storage = typename Parts::Storage;
    /// True if a thread keeps addresses in registers. Threads of a small tile that apply a prologue to vectors of
    /// channels have no registers to spare.
    static constexpr bool has_registers =
        !Plan::has_prologue || fast != detail::Axis::channel || Schedule::tile_m >= 128;
    /// True if registers are scarce: int8 elements may be loaded one at a time and then occupy a register each, in
    /// addition to the addresses of two stages. The kernel then requests fewer CTAs per SM, which leaves each thread
    /// more registers.
    static constexpr bool is_crowded = NativeSchedule<Schedule> && stages_of<Atom> > 1 && sizeof(T) == 1;

public:
    using Loader = typename Parts::Loader;
    using Params = ConvParams<Plan, T, U>;
    using Architecture = typename Atom::Architecture;
    static constexpr int threads = Atom::threads,
                         blocks = is_crowded ? detail::divide_up(2 * Schedule::blocks, 3) : Schedule::blocks;
    static constexpr bool waits_for_previous_kernel = true;
    static constexpr bool yields_to_matrix_units =
        has_matrix_units<Plan, T> && requires { Schedule::yields_to_matrix_units; };

    __device__ static void run(Params const& params, Storage& the_shared, unsigned the_thread, unsigned block) {
        Storage& shared = has_registers ? in_register(the_shared) : the_shared;
        unsigned const thread = has_registers ? in_register(the_thread) : the_thread;
        auto const conv = problem_of_tile<Plan, Atom::tile_m, Atom::tile_n>(params, block);
        TileCoord<Atom::tile_m, Atom::tile_n> const coord(conv, block);
        wait_for_previous_kernel();
        shared.tile.template prepare<threads>(conv, params.bound.epilogue, coord, thread);
        __syncthreads();

        auto const store = [&](Atom const& atom, typename Atom::Fragment const& acc) {
            start_next_kernel();
            Writer::store(params, shared.out, shared.tile, coord, atom, acc, thread);
        };
        if constexpr (stages_of<Atom> == 1) {
            Atom const atom(thread);
            typename Atom::Fragment acc = {};
            sum_in_one_stage(params, conv, shared, coord, atom, acc, thread);
            store(atom, acc);
        } else {
            Loader loader(params, conv, shared.loader, shared.tile.pixels, coord, thread);
            int const steps = steps_of(conv);
            Atom const atom(thread);
            typename Atom::Fragment acc = {};
            multiply_steps(atom, loader, shared, 0, steps, acc);
            store(atom, acc);
        }
    }

private:
    template <class AnyLoader = Loader, class Problem>
    __device__ static int steps_of(Problem const& conv) {
        if constexpr (requires { AnyLoader::steps(conv); }) return of_wave(AnyLoader::steps(conv));
        else return of_wave(static_cast<int>(detail::divide_up(conv.gemm_k(), Atom::tile_k)));
    }

    /// Returns the SMEM stage that a loader of type AnyLoader fills.
    template <class AnyLoader>
    __device__ static typename AnyLoader::Stage& stage_of(Storage& shared) {
        if constexpr (std::is_same_v<typename AnyLoader::Stage, typename Atom::Stage>) return shared.stages[0];
        else return shared.buffer_stage;
    }

    template <class Problem, class Coord>
    __device__ static void sum_in_one_stage(Params const& params, Problem const& conv, Storage& shared,
                                            Coord const& coord, Atom const& atom, typename Atom::Fragment& acc,
                                            unsigned thread) {
        if constexpr (Parts::has_taps) {
            if (params.fits_32bit_offsets) {
                sum_taps<true>(params, shared, coord, atom, acc, thread);
                return sum_taps<false>(params, shared, coord, atom, acc, thread);
            }
        } else if constexpr (Parts::has_buffer_loads()) {
            if (params.fits_32bit_offsets)
                return sum<typename Parts::BufferLoader>(params, conv, shared, shared.buffer_loader, coord, atom, acc,
                                                         thread);
        }
        sum<Loader>(params, conv, shared, shared.loader, coord, atom, acc, thread);
    }

    /// Accumulates the k-tiles that TapOperands<packed> loads: the taps that fill 16 bytes if `packed`, otherwise the
    /// tail taps. Reloads the parameters, because AMD's scalar registers cannot hold the problem across both loops.
    template <bool packed, class Coord>
    __device__ static void sum_taps(Params const& the_params, Storage& shared, Coord const& coord, Atom const& atom,
                                    typename Atom::Fragment& acc, unsigned thread) {
        using Taps = typename Parts::template Taps<packed>;
        Params const& params = reload(the_params);
        if constexpr (Taps::is_supported)
            sum<Taps>(params, params.problem(), shared, shared.buffer_loader, coord, atom, acc, thread);
    }

    template <class AnyLoader, class Problem, class Coord>
    __device__ static void sum(Params const& params, Problem const& conv, Storage& shared,
                               typename AnyLoader::Shared& of_loader, Coord const& coord, Atom const& atom,
                               typename Atom::Fragment& acc, unsigned thread) {
        AnyLoader loader(params, conv, of_loader, shared.tile.pixels, coord, thread);
        auto& stage = stage_of<AnyLoader>(shared);
        OneStage(atom, loader, stage).multiply(steps_of<AnyLoader>(conv), acc);
    }
};

}  // namespace fusekit::hip
