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

/// True if the matrix instructions of an architecture support F, an 8-bit float type; true for every other operand type
/// F.
template <class F, class Tag>
inline constexpr bool has_float8 = true;
template <int Mantissa, class Tag>
inline constexpr bool has_float8<Float8<Mantissa, false>, Tag> =
    std::is_base_of_v<arch::Gfx12, Tag> || std::is_base_of_v<arch::Sm89, Tag>;
template <int Mantissa, class Tag>
inline constexpr bool has_float8<Float8<Mantissa, true>, Tag> = std::is_base_of_v<arch::Gfx942, Tag>;

/// Member Type: MMA unit (Mfma, Wmma, MmaSync) of an architecture's matrix instruction for operands of type F in
/// registers; for tf32, that of the FP32 instruction if there is no TF32 one; void if there is no instruction.
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

/// Operand type of a gradient's MMAs for elements T. Gradients are small, so that the operand type must have at least
/// T's exponent range: half becomes RoundedHalf (half_factors.hpp).
template <class T>
using GradientFactor = std::conditional_t<std::is_same_v<T, half>, RoundedHalf, T>;

/// Returns the bytes of a row (along GemmK) of an operand tile in shared memory, for a tile of `tile` rows and elements
/// of `element` bytes: 64, but 32 on gfx908 and with dot instructions, where accumulators and fragments leave few
/// registers, for tiles of 64 rows (more loads per thread) and for one-byte elements.
template <class Tag>
FUSEKIT_H constexpr int native_row_bytes(int tile, int element) {
    constexpr bool few = std::is_same_v<Tag, arch::Gfx908> || std::is_same_v<Tag, arch::Gfx1030>;
    return few && (tile == 64 || element == 1) ? 32 : 64;
}
/// Returns the number of SMEM stages for operand tiles of `rows` rows in total: 1 on AMD; on NVIDIA 3 if they fit 40 KB
/// of static shared memory, otherwise 2.
template <class Tag>
FUSEKIT_H constexpr int native_stages(int rows) {
    if (!std::is_base_of_v<arch::Nvidia, Tag>) return 1;
    return 3 * rows * native_row_bytes<Tag>(128, 2) <= 40 * 1024 ? 3 : 2;
}

/// True if an architecture has dot instructions, but no matrix instruction, for operands of type F.
template <class F, class Tag>
inline constexpr bool has_dots = (std::is_same_v<F, half> || std::is_same_v<F, int8>) &&
                                 std::is_base_of_v<arch::Gfx1030, Tag> && !std::is_base_of_v<arch::Gfx11, Tag>;

/// Member Type: MMA atom of a schedule: of matrix instructions, dot instructions, or SIMT arithmetic.
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

/// True if GPUs that Tag describes multiply operands of type F by matrix or dot instructions, whose operands are read
/// as 16-byte vectors.
template <class F, class Tag>
inline constexpr bool multiplies_natively =
    !std::is_void_v<typename detail::NativeUnit<F, Tag>::Type> || detail::has_dots<F, Tag>;

/// True if GPUs of an architecture multiply operands of type F by matrix or dot instructions. A run-time function,
/// because the host pass of AMD's compiler knows no target.
template <class F>
FUSEKIT_H bool has_native_unit(Architecture architecture) {
    return with_tag(architecture, []<class Tag>(Tag) { return multiplies_natively<F, Tag>; });
}

/// MMA atom for a schedule that does not name one: of matrix instructions for operands of type F (T, or a type to which
/// T is converted) if the architecture has them, otherwise of dot instructions, otherwise of SIMT arithmetic.
template <class Schedule, Element T, class Tag, class F = T>
using NativeAtom = typename detail::NativeAtomOf<Schedule, T, F, Tag>::Type;

}  // namespace fusekit::hip
