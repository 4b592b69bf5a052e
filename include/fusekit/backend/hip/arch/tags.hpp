// SPDX-License-Identifier: MIT
#pragma once

#include <climits>
#include <type_traits>

#include "fusekit/backend/hip/arch/architecture.hpp"
#include "fusekit/backend/hip/arch/list.hpp"
#include "fusekit/backend/hip/arch/processor.hpp"

namespace fusekit::hip {

/// Tags are types that name the targets for which code is compiled. A tag has the features of its base tags; properties
/// that differ are in `processor`. `numbers` are the architectures that the tag describes, except those that an earlier
/// tag in All describes. To add a target, add a struct and its entry in All. Sources: the CUDA C++ Programming Guide's
/// table of compute capabilities; AMD's instruction set architecture manuals.
namespace arch {

/// Inclusive range of Architecture::number(): gfx942 is 0x942, sm_90 is 90.
struct Numbers {
    int first, last;
};

/// Tag with the features that all GPUs have.
struct Any {
    static constexpr auto maker = Architecture::Maker::other;
    static constexpr Numbers numbers{0, INT_MAX};
    /// true if the code runs only on one compute capability, such as sm_90a
    static constexpr bool is_specific = false;
    static constexpr Processor processor{.shared_bytes = 48 * 1024, .block_shared_bytes = 48 * 1024};
};

struct Amd : Any {
    static constexpr auto maker = Architecture::Maker::amd;
    static constexpr Processor processor{
        .wave = 64, .shared_bytes = 64 * 1024, .block_shared_bytes = 64 * 1024, .waves_per_simd = 2};
};
struct Gfx908 : Amd {
    static constexpr Numbers numbers{0x908, 0x908};
};
struct Gfx90a : Gfx908 {
    static constexpr Numbers numbers{0x90a, 0x90a};
};
struct Gfx942 : Gfx90a {
    static constexpr Numbers numbers{0x940, 0x942};
};
struct Gfx950 : Gfx942 {
    static constexpr Numbers numbers{0x950, 0x950};
    static constexpr Processor processor = [] {
        Processor result = Gfx942::processor;
        result.shared_bytes = result.block_shared_bytes = 160 * 1024;
        return result;
    }();
};
struct Gfx1030 : Amd {
    static constexpr Numbers numbers{0x1030, 0x103f};
    static constexpr Processor processor = [] {
        Processor result = Amd::processor;
        result.wave = 32;
        return result;
    }();
};
struct Gfx11 : Gfx1030 {
    static constexpr Numbers numbers{0x1100, 0x11ff};
};
struct Gfx12 : Gfx11 {
    static constexpr Numbers numbers{0x1200, 0x12ff};
};

/// Base tag of NVIDIA's GPUs. Numbers are compute capabilities times ten. Later GPUs run the code of earlier ones.
struct Nvidia : Any {
    static constexpr auto maker = Architecture::Maker::nvidia;
    static constexpr Processor processor{
        .shared_bytes = 64 * 1024, .block_shared_bytes = 48 * 1024, .gemm_unroll = 8, .merge_unroll = 4};
};
struct Sm75 : Nvidia {
    static constexpr Numbers numbers{75, INT_MAX};
};
struct Sm80 : Sm75 {
    static constexpr Numbers numbers{80, INT_MAX};
    static constexpr Processor processor = [] {
        Processor result = Sm75::processor;
        result.shared_bytes = 164 * 1024;
        result.has_async_copies = true;
        return result;
    }();
};
struct Sm86 : Sm80 {
    static constexpr Numbers numbers{86, INT_MAX};
    static constexpr Processor processor = [] {
        Processor result = Sm80::processor;
        result.shared_bytes = 100 * 1024;
        return result;
    }();
};
struct Sm89 : Sm86 {
    static constexpr Numbers numbers{89, INT_MAX};
};
struct Sm90 : Sm89 {
    static constexpr Numbers numbers{90, INT_MAX};
    static constexpr Processor processor = [] {
        Processor result = Sm89::processor;
        result.shared_bytes = 228 * 1024;
        result.overlaps_kernels = result.has_clusters = true;
        return result;
    }();
};

/// Tag of code for sm_90a, which also uses instructions that only compute capability 9.0 has, such as wgmma and
/// setmaxnreg.
struct Sm90a : Sm90 {
    static constexpr Numbers numbers{90, 90};
    static constexpr bool is_specific = true;
};

/// All tags, each before its base tags.
using All =
    List<Gfx12, Gfx11, Gfx1030, Gfx950, Gfx942, Gfx90a, Gfx908, Amd, Sm90a, Sm90, Sm89, Sm86, Sm80, Sm75, Nvidia>;

/// True if `architecture` is in Tag::numbers; a derived tag may describe it more closely.
template <class Tag>
FUSEKIT_H constexpr bool describes(Architecture architecture) {
    int const number = architecture.number();
    return architecture.maker() == Tag::maker && number >= Tag::numbers.first && number <= Tag::numbers.last;
}

namespace detail {

/// Returns the result of f(Tag{}) for the first tag of the list that describes the architecture, or of f(Any{}) if none
/// does. f(Any{}) is always called, because its result initializes the variable.
template <class F, class... Tags>
FUSEKIT_H constexpr auto with_first(Architecture architecture, F const& f, List<Tags...>) {
    auto result = f(Any{});
    static_cast<void>(((describes<Tags>(architecture) && (result = f(Tags{}), true)) || ...));
    return result;
}

}  // namespace detail

}  // namespace arch

/// Calls f with the most derived tag that describes the architecture, the first match in All, and returns its result;
/// with Any if there is no match.
template <class F>
FUSEKIT_H constexpr auto with_tag(Architecture architecture, F f) {
    return arch::detail::with_first(architecture, f, arch::All{});
}

}  // namespace fusekit::hip
