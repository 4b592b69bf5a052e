// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/architecture.hpp"
#include "fusekit/backend/hip/arch/processor.hpp"

namespace fusekit::hip {

/// Tags name what code is compiled for. A tag has all that the tag it extends has. Facts that differ stand in
/// `processor`. Sources: the CUDA C++ Programming Guide's table of compute capabilities; AMD's instruction set
/// architecture manuals.
namespace arch {

/// What every GPU has.
struct Any {
    static constexpr Processor processor{.wave = 32,
                                         .shared_bytes = 48 * 1024,
                                         .block_shared_bytes = 48 * 1024,
                                         .waves_per_simd = 0,
                                         .has_async_copies = false,
                                         .overlaps_kernels = false,
                                         .has_clusters = false,
                                         .gemm_unroll = 2,
                                         .crowded_gemm_unroll = 2,
                                         .merge_unroll = 1};
};

struct Amd : Any {
    static constexpr Processor processor{.wave = 64,
                                         .shared_bytes = 64 * 1024,
                                         .block_shared_bytes = 64 * 1024,
                                         .waves_per_simd = 2,
                                         .has_async_copies = false,
                                         .overlaps_kernels = false,
                                         .has_clusters = false,
                                         .gemm_unroll = 2,
                                         .crowded_gemm_unroll = 2,
                                         .merge_unroll = 1};
};
struct Gfx908 : Amd {};
struct Gfx90a : Gfx908 {};
struct Gfx942 : Gfx90a {};
struct Gfx950 : Gfx942 {
    static constexpr Processor processor = [] {
        Processor result = Gfx942::processor;
        result.shared_bytes = result.block_shared_bytes = 160 * 1024;
        return result;
    }();
};
struct Gfx1030 : Amd {
    static constexpr Processor processor = [] {
        Processor result = Amd::processor;
        result.wave = 32;
        return result;
    }();
};
struct Gfx11 : Gfx1030 {};
struct Gfx12 : Gfx11 {};

struct Nvidia : Any {
    static constexpr int number = 0;  ///< compute capability, times ten
    static constexpr Processor processor{.wave = 32,
                                         .shared_bytes = 64 * 1024,
                                         .block_shared_bytes = 48 * 1024,
                                         .waves_per_simd = 0,
                                         .has_async_copies = false,
                                         .overlaps_kernels = false,
                                         .has_clusters = false,
                                         .gemm_unroll = 8,
                                         .crowded_gemm_unroll = 2,
                                         .merge_unroll = 4};
};
struct Sm75 : Nvidia {
    static constexpr int number = 75;
};
struct Sm80 : Sm75 {
    static constexpr int number = 80;
    static constexpr Processor processor = [] {
        Processor result = Sm75::processor;
        result.shared_bytes = 164 * 1024;
        result.has_async_copies = true;
        return result;
    }();
};
struct Sm86 : Sm80 {
    static constexpr int number = 86;
    static constexpr Processor processor = [] {
        Processor result = Sm80::processor;
        result.shared_bytes = 100 * 1024;
        return result;
    }();
};
struct Sm89 : Sm86 {
    static constexpr int number = 89;
};
struct Sm90 : Sm89 {
    static constexpr int number = 90;
    static constexpr Processor processor = [] {
        Processor result = Sm89::processor;
        result.shared_bytes = 228 * 1024;
        result.overlaps_kernels = result.has_clusters = true;
        return result;
    }();
};

/// What only code for 9.0 itself may use, compiled for sm_90a: products of warpgroups, which registers are shared out
/// for.
struct Sm90a : Sm90 {};

/// The highest compute capability up to this one that has a tag; 0 where none has.
FUSEKIT_H constexpr int nearest_sm(int number) {
    return number >= 90 ? 90 : number >= 89 ? 89 : number >= 86 ? 86 : number >= 80 ? 80 : number >= 75 ? 75 : 0;
}

template <class... Tags>
struct List {};
using All =
    List<Amd, Gfx908, Gfx90a, Gfx942, Gfx950, Gfx1030, Gfx11, Gfx12, Nvidia, Sm75, Sm80, Sm86, Sm89, Sm90, Sm90a>;

}  // namespace arch

/// Calls f with the tag that describes an architecture best: the last that it extends, or its maker's where it has
/// none.
template <class F>
FUSEKIT_H constexpr auto with_tag(Architecture architecture, F f) {
    int const number = architecture.number();
    if (architecture.maker() == Architecture::Maker::nvidia) {
        int const nearest = arch::nearest_sm(number);
        if (number == 90) return f(arch::Sm90a{});
        if (nearest == 90) return f(arch::Sm90{});
        if (nearest == 89) return f(arch::Sm89{});
        if (nearest == 86) return f(arch::Sm86{});
        if (nearest == 80) return f(arch::Sm80{});
        if (nearest == 75) return f(arch::Sm75{});
        return f(arch::Nvidia{});
    }
    if (architecture.maker() == Architecture::Maker::amd) {
        if (number == 0x908) return f(arch::Gfx908{});
        if (number == 0x90a) return f(arch::Gfx90a{});
        if (number >= 0x940 && number <= 0x942) return f(arch::Gfx942{});
        if (number == 0x950) return f(arch::Gfx950{});
        if (number >> 4 == 0x103) return f(arch::Gfx1030{});
        if (number >> 8 == 0x11) return f(arch::Gfx11{});
        if (number >> 8 == 0x12) return f(arch::Gfx12{});
        return f(arch::Amd{});
    }
    return f(arch::Any{});
}

}  // namespace fusekit::hip
