// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>

#include "fusekit/backend/hip/arch/target.hpp"
#include "fusekit/backend/hip/atom/dot.hpp"
#include "fusekit/backend/hip/atom/half_factors.hpp"
#include "fusekit/backend/hip/atom/mfma.hpp"
#include "fusekit/backend/hip/atom/mma_sync.hpp"
#include "fusekit/backend/hip/atom/simt.hpp"
#include "fusekit/backend/hip/atom/wave_tile.hpp"
#include "fusekit/backend/hip/atom/wmma.hpp"

namespace fusekit::hip {

namespace detail {

template <class F>
inline constexpr bool is_float_factor = std::is_same_v<F, float> || std::is_same_v<F, tf32>;

/// Whether a processor's matrix instructions have 8-bit floats F; true of other factors.
template <class F, class Tag>
inline constexpr bool has_float8 = true;
template <int Mantissa, class Tag>
inline constexpr bool has_float8<Float8<Mantissa, false>, Tag> =
    std::is_base_of_v<arch::Gfx12, Tag> || std::is_base_of_v<arch::Sm89, Tag>;
template <int Mantissa, class Tag>
inline constexpr bool has_float8<Float8<Mantissa, true>, Tag> = std::is_base_of_v<arch::Gfx942, Tag>;

/// The matrix instruction of a processor that multiplies factors F from registers, or, in the place of tf32, floats;
/// void where there is none.
template <class F, class Tag>
struct NativeUnit {
    using Type = void;
};
template <class F, class Tag>
    requires(has_float8<F, Tag> && std::is_base_of_v<arch::Gfx908, Tag> && !std::is_base_of_v<arch::Gfx950, Tag>)
struct NativeUnit<F, Tag> {
    using Type = MfmaOf<F, Tag>;
};
template <class F, class Tag>
    requires(has_float8<F, Tag> && !is_float_factor<F> && std::is_base_of_v<arch::Gfx11, Tag>)
struct NativeUnit<F, Tag> {
    using Type = Wmma<F, Tag>;
};
template <class F, class Tag>
    requires(has_float8<F, Tag> && !std::is_same_v<F, float> && std::is_base_of_v<arch::Sm80, Tag>)
struct NativeUnit<F, Tag> {
    using Type = MmaSync<F>;
};
template <class Tag>
struct NativeUnit<RoundedHalf, Tag> : NativeUnit<half, Tag> {};
template <>
struct NativeUnit<RoundedHalf, arch::Gfx90a> {
    using Type = RoundedHalfMfma<8>;
};
template <class Tag>
struct NativeUnit<ExactHalf, Tag> : NativeUnit<half, Tag> {};
template <>
struct NativeUnit<ExactHalf, arch::Gfx90a> {
    using Type = void;
};

/// The factor of a gradient, which keeps the range of T.
template <class T>
using GradientFactor = std::conditional_t<std::is_same_v<T, half>, RoundedHalf, T>;

/// Bytes of a row of a stage. A thread of a small tile loads more of them; where few registers are left beside those of
/// sums and factors, as on gfx908 and before dot instructions, half as many.
template <class Tag>
FUSEKIT_H constexpr int native_row_bytes(int tile, int element) {
    constexpr bool few = std::is_same_v<Tag, arch::Gfx908> || std::is_same_v<Tag, arch::Gfx1030>;
    return few && (tile == 64 || element == 1) ? 32 : 64;
}
/// Stages of shared memory. NVIDIA's processors have room for three, where a kernel may declare them.
template <class Tag>
FUSEKIT_H constexpr int native_stages(int rows) {
    if (!std::is_base_of_v<arch::Nvidia, Tag>) return 1;
    return 3 * rows * native_row_bytes<Tag>(128, 2) <= 40 * 1024 ? 3 : 2;
}

/// Whether a processor has no matrix instruction for a type, but dot instructions.
template <class F, class Tag>
inline constexpr bool has_dots = (std::is_same_v<F, half> || std::is_same_v<F, int8>) &&
                                 std::is_base_of_v<arch::Gfx1030, Tag> && !std::is_base_of_v<arch::Gfx11, Tag>;

/// The atom of a schedule: of matrix instructions, of dot instructions, or of plain arithmetic.
template <class Schedule, class T, class F, class Tag>
struct NativeAtomOf {
    using Unit = typename NativeUnit<F, Tag>::Type;
    using Type =
        WaveTile<T, Unit, Schedule::tile_m, Schedule::tile_n, native_row_bytes<Tag>(Schedule::tile_n, sizeof(T)),
                 native_stages<Tag>(Schedule::tile_m + Schedule::tile_n)>;
};
template <class Schedule, class T, class F, class Tag>
    requires(std::is_void_v<typename NativeUnit<F, Tag>::Type> && !has_dots<F, Tag>)
struct NativeAtomOf<Schedule, T, F, Tag> {
    using Type = Simt<T, Schedule::tile_m, Schedule::tile_n, Schedule::tile_k,
                      Tag::processor.unroll_of_gemm(Schedule::threads* Schedule::blocks)>;
};
template <class Schedule, class T, class F, class Tag>
    requires has_dots<F, Tag>
struct NativeAtomOf<Schedule, T, F, Tag> {
    using Type = DotTile<T, Schedule::tile_m, Schedule::tile_n, native_row_bytes<Tag>(Schedule::tile_n, sizeof(T))>;
};

}  // namespace detail

/// Whether GPUs of an architecture multiply factors F by instructions of several products, which take operands in
/// packets of 16 bytes. The host's pass of AMD's compiler knows no target, so a run asks.
template <class F>
FUSEKIT_H bool has_native_unit(Architecture architecture) {
    return with_tag(architecture, []<class Tag>(Tag) {
        return !std::is_void_v<typename detail::NativeUnit<F, Tag>::Type> || detail::has_dots<F, Tag>;
    });
}

/// The best atom of a processor for a schedule that leaves it open: matrix instructions, where it has some for factors
/// F, which elements T are or are cut to, or dot instructions, or plain arithmetic.
template <class Schedule, Element T, class Tag, class F = T>
using NativeAtom = typename detail::NativeAtomOf<Schedule, T, F, Tag>::Type;

}  // namespace fusekit::hip
