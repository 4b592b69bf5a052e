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
#include "fusekit/backend/hip/collective/store_tile.hpp"
#include "fusekit/backend/hip/copy/amd/channel_operands.hpp"
#include "fusekit/backend/hip/copy/amd/quad_operands.hpp"
#include "fusekit/backend/hip/copy/amd/tap_operands.hpp"
#include "fusekit/backend/hip/mainloop/one_stage.hpp"
#include "fusekit/backend/hip/mma/bf16x6.hpp"
#include "fusekit/backend/hip/mma/wgmma_tile.hpp"
#include "fusekit/backend/hip/schedule/matrix_gemm.hpp"

namespace fusekit::hip {

/// How a block multiplies elements T, or the factors F that they are cut to: as the schedule says.
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

/// Stages of shared memory: two, or as many as an atom says.
template <class Atom>
inline constexpr int stages_of = 2;
template <class Atom>
    requires requires { Atom::stages; }
inline constexpr int stages_of<Atom> = Atom::stages;

/// Whether converting operands takes so long that threads do it between the beginnings of a step's products.
template <class Atom>
inline constexpr bool interleaves_loads = requires { requires Atom::interleaves_loads; };

/// Whether operands that lie in packets are copied to the stages and take no registers; and how many steps before it is
/// multiplied a step is loaded: then as many as there are other stages.
template <class Atom>
inline constexpr bool copies_words = has_async_copies && takes_words<typename Atom::Stage> && stages_of<Atom> > 1;
template <class Atom>
inline constexpr int distance_of = copies_words<Atom> ? stages_of<Atom> - 1 : 1;

/// The shared memory of a block: stages, which the sums pass through in the end, and what a loader and writer know.
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

/// Names it: the stages of matrix units are more than a kernel may declare.
template <class Storage, bool is_dynamic>
struct NamedShared {
    using Shared = Storage;
};
template <class Storage>
struct NamedShared<Storage, true> {
    using DynamicShared = Storage;
};

/// What of a convolution as a matrix product depends on its schedule.
template <class Plan, class Schedule, Element T, detail::OutputElement U, detail::Axis fast>
struct GemmParts {
    /// gfx90a's matrix units flush subnormal halves: those of the gradient by x are rounded instead, and the user may
    /// have them exact.
    static constexpr bool may_flush = std::is_same_v<T, half> && std::is_same_v<arch::Target, arch::Gfx90a>,
                          is_exact = may_flush && std::is_same_v<FloatFactor<Plan>, float>,
                          is_rounded = may_flush && has_transposed_conv<Plan>;
    using Factor =
        std::conditional_t<is_exact, ExactHalf, std::conditional_t<is_rounded, RoundedHalf, PlanFactor<Plan, T>>>;
    using Atom = typename TapAtom<Plan, typename AtomOf<Schedule, T, Factor>::Type, T, fast>::Type;
    using Writer = StoreTile<Plan, Atom, fast>;
    using Loader = LoadOperands<Plan, Atom, T, U, fast>;
    /// The loader by 32-bit buffer offsets, for windows that move forwards. Its quads are not of floats.
    using Near = std::conditional_t<fast == detail::Axis::channel, ChannelOperands<Plan, Atom, T, U>,
                                    QuadOperands<Plan, Atom, T, U>>;
    static consteval bool has_buffer_loads() {
        if constexpr (has_transposed_conv<Plan>) return has_transposed_filters<Plan, Atom, T, fast>;
        else if constexpr (!arch::has<arch::Amd> || !takes_words<typename Atom::Stage> || Plan::has_prologue)
            return false;
        else if constexpr (fast == detail::Axis::channel) return true;
        else if constexpr (sizeof(T) > 2) return false;
        else return fits<GemmShared<Plan, Atom, Loader, Near, Writer>>();
    }
    /// Whether a processor has room for the blocks that are meant for it, or for those of five waves: then some of its
    /// four SIMDs have two. It gives a block shared memory in lines of 512 bytes. Maxima of threads have theirs beside.
    template <class Needed>
    static consteval bool fits() {
        constexpr Processor processor = arch::Target::processor;
        std::size_t const bytes = sizeof(Needed) + sizeof(unsigned[most_maxima]) * std::size_t{Plan::Epilogue::maxima};
        int const of_waves = detail::divide_up(5 * processor.wave, Schedule::threads),
                  blocks = Schedule::blocks < of_waves ? Schedule::blocks : of_waves;
        return (bytes + 511) / 512 * 512 * static_cast<std::size_t>(blocks) <=
               static_cast<std::size_t>(processor.shared_bytes);
    }
    static constexpr bool has_taps = has_tap_operands<Plan, Atom, T, fast>;
    template <bool packed>
    using Taps = TapOperands<Plan, Atom, T, U, packed>;
    using BufferLoader = std::conditional_t<has_taps, Taps<true>, std::conditional_t<has_buffer_loads(), Near, Loader>>;
    using Storage = GemmShared<Plan, Atom, Loader, BufferLoader, Writer>;
    using Shared = NamedShared<Storage, MatrixSchedule<Schedule>>;
};

/// Adds the products of steps `begin` to `end` along GemmK to sums, through the two or more stages of `shared`. `begin`
/// is a multiple of the steps of a loader's table, and of the stages. All threads call this.
template <class Atom, class Loader, class Shared>
__device__ __forceinline__ void multiply_steps(Atom const& atom, Loader& loader, Shared& shared, int begin, int end,
                                               typename Atom::Fragment& sums) {
    constexpr unsigned stages = stages_of<Atom>;
    constexpr bool loads_first = Atom::is_asynchronous;
    if constexpr (loads_first) {  // sums that are under way, or in registers of their own, are so on every path
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
            atom.multiply(shared.stages[static_cast<unsigned>(step) % stages], sums, [&]<int part, int parts>() {
                if (loads) loader.template finish_part<part, parts>(in_flight, stage);
            });
        } else {
            if (loads_first || step >= begin) atom.multiply(shared.stages[static_cast<unsigned>(step) % stages], sums);
            if (loads) loader.finish(in_flight, stage);
        }
        if constexpr (copies_words<Atom>) wait_for_groups<distance - 1>();
        Atom::publish();
        if constexpr (loads_first) atom.wait(sums);
        sync_shared_memory<Atom::threads>();
    }
}

/// Convolution as a matrix product. Its left operand, the windows of all pixels, is never stored as a matrix. A block
/// computes TileM pixels of TileN channels, in steps of TileK along GemmK: a loader brings a step's operands into a
/// stage of shared memory, an atom multiplies them, and in the end a writer takes the sums through the epilogue to y.
/// `fast` is the mode whose elements neighbour in memory, in x and in y.
///
/// There are two stages. While one step is multiplied from one of them, the next step's loads are in flight; where they
/// are copies that take no registers, there may be more stages, and more steps in flight. One barrier ends the step.
/// Where shared memory is short there is one stage: loads wait in registers until all threads have multiplied, and
/// another barrier says when.
template <class Plan, class Schedule, Element T, detail::OutputElement U, detail::Axis fast>
class ImplicitGemm : public GemmParts<Plan, Schedule, T, U, fast>::Shared {
    using Parts = GemmParts<Plan, Schedule, T, U, fast>;
    using Atom = typename Parts::Atom;
    using Writer = typename Parts::Writer;
    using Storage = typename Parts::Storage;
    /// Registers to spare: a thread of a small tile has none where it converts packets of channels.
    static constexpr bool has_registers =
        !Plan::has_prologue || fast != detail::Axis::channel || Schedule::tile_m >= 128;
    /// Elements of int8 that are loaded one by one take a register each, beside two stages' addresses: fewer blocks
    /// have more of them.
    static constexpr bool is_crowded = NativeSchedule<Schedule> && stages_of<Atom> > 1 && sizeof(T) == 1;

public:
    using Loader = typename Parts::Loader;
    using Params = ConvParams<Plan, T, U>;
    using Architecture = typename Atom::Architecture;
    static constexpr int threads = Atom::threads,
                         blocks = is_crowded ? detail::divide_up(2 * Schedule::blocks, 3) : Schedule::blocks;
    static constexpr bool waits_for_previous_kernel = true;
    static constexpr bool yields_to_matrix_units =
        has_matrix_units<Plan, T> && !may_have_groups<Plan> && requires { Schedule::yields_to_matrix_units; };

    __device__ static void run(Params const& params, Storage& the_shared, unsigned the_thread, unsigned block) {
        Storage& shared = has_registers ? in_register(the_shared) : the_shared;
        unsigned const thread = has_registers ? in_register(the_thread) : the_thread;
        auto const conv = problem_of_tile<Plan, Atom::tile_m, Atom::tile_n>(params, block);
        TileCoord<Atom::tile_m, Atom::tile_n> const coord(conv, block);
        wait_for_previous_kernel();
        shared.tile.template prepare<threads>(conv, params.bound.epilogue, coord, thread);
        __syncthreads();

        auto const store = [&](Atom const& atom, typename Atom::Fragment const& sums) {
            start_next_kernel();
            Writer::store(params, shared.out, shared.tile, coord, atom, sums, thread);
        };
        if constexpr (stages_of<Atom> == 1) {
            Atom const atom(thread);
            typename Atom::Fragment sums = {};
            sum_in_one_stage(params, conv, shared, coord, atom, sums, thread);
            store(atom, sums);
        } else {
            Loader loader(params, conv, shared.loader, shared.tile.pixels, coord, thread);
            int const steps = steps_of(conv);
            Atom const atom(thread);
            typename Atom::Fragment sums = {};
            multiply_steps(atom, loader, shared, 0, steps, sums);
            store(atom, sums);
        }
    }

private:
    template <class AnyLoader = Loader, class Problem>
    __device__ static int steps_of(Problem const& conv) {
        if constexpr (requires { AnyLoader::steps(conv); }) return of_wave(AnyLoader::steps(conv));
        else return of_wave(static_cast<int>(detail::divide_up(conv.gemm_k(), Atom::tile_k)));
    }

    /// The one that a loader fills.
    template <class AnyLoader>
    __device__ static typename AnyLoader::Stage& stage_of(Storage& shared) {
        if constexpr (std::is_same_v<typename AnyLoader::Stage, typename Atom::Stage>) return shared.stages[0];
        else return shared.buffer_stage;
    }

    template <class Problem, class Coord>
    __device__ static void sum_in_one_stage(Params const& params, Problem const& conv, Storage& shared,
                                            Coord const& coord, Atom const& atom, typename Atom::Fragment& sums,
                                            unsigned thread) {
        if constexpr (Parts::has_taps) {
            if (params.fits_32bit_offsets) {
                sum_taps<true>(params, shared, coord, atom, sums, thread);
                return sum_taps<false>(params, shared, coord, atom, sums, thread);
            }
        } else if constexpr (Parts::has_buffer_loads()) {
            if (params.fits_32bit_offsets)
                return sum<typename Parts::BufferLoader>(params, conv, shared, shared.buffer_loader, coord, atom, sums,
                                                         thread);
        }
        sum<Loader>(params, conv, shared, shared.loader, coord, atom, sums, thread);
    }

    /// AMD's scalar registers do not hold the problem's numbers over both loops.
    template <bool packed, class Coord>
    __device__ static void sum_taps(Params const& before, Storage& shared, Coord const& coord, Atom const& atom,
                                    typename Atom::Fragment& sums, unsigned thread) {
        using Taps = typename Parts::template Taps<packed>;
        Params const& params = reload(before);
        if constexpr (Taps::exists)
            sum<Taps>(params, params.problem(), shared, shared.buffer_loader, coord, atom, sums, thread);
    }

    template <class AnyLoader, class Problem, class Coord>
    __device__ static void sum(Params const& params, Problem const& conv, Storage& shared,
                               typename AnyLoader::Shared& of_loader, Coord const& coord, Atom const& atom,
                               typename Atom::Fragment& sums, unsigned thread) {
        AnyLoader loader(params, conv, of_loader, shared.tile.pixels, coord, thread);
        auto& stage = stage_of<AnyLoader>(shared);
        OneStage(atom, loader, stage).multiply(steps_of<AnyLoader>(conv), sums);
    }
};

}  // namespace fusekit::hip
