// SPDX-License-Identifier: MIT
#pragma once

#include "backend/hip/blocks.hpp"
#include "backend/hip/sm90a_device.hpp"
#include "fusekit/backend/hip/pipeline/tma_pipeline.hpp"

namespace test {

/// Element of swizzled rows of 64 halves that begin at a multiple of 1024 bytes, in the bytes that a kernel stored.
inline float swizzled_element(std::vector<unsigned char> const& bytes, std::size_t begin, int row, int element) {
    fk::half value;
    std::memcpy(&value,
                &bytes[begin + static_cast<std::size_t>(row * 128 + (element / 8 ^ row % 8) * 16 + element % 8 * 2)],
                2);
    return static_cast<float>(value);
}

/// Element of a tensor, an integer that half represents.
inline float number_of(std::int64_t a, std::int64_t b, std::int64_t c, std::int64_t d) {
    return static_cast<float>((a * 31 + b * 17 + c * 7 + d * 3) % 241 + 1);
}
/// Elements of a channels-last tensor.
inline std::vector<fk::half> numbers_of(fk::Layout<4> const& layout) {
    std::vector<fk::half> all(static_cast<std::size_t>(layout.size()));
    for (int a = 0; a < layout.shape[0]; ++a)
        for (int b = 0; b < layout.shape[1]; ++b)
            for (int c = 0; c < layout.shape[2]; ++c)
                for (int d = 0; d < layout.shape[3]; ++d)
                    all[static_cast<std::size_t>(layout.offset({{a, b, c, d}}))] = fk::half(number_of(a, b, c, d));
    return all;
}

/// Copies the filters and then each tile of x with its halo to `out`, as a warp finds them in SMEM: thread 0 loads all,
/// warp 1 copies.
template <class TheParams, class Loader>
struct DumpHalos : BlockOf<64> {
    static constexpr bool reads_argument_in_place = true;
    using Architecture = fk::hip::arch::Sm90a;
    struct Params {
        TheParams conv;
        unsigned char *filters, *halos;
    };
    using DynamicShared = typename Loader::Shared;
    __device__ static void run(Params const& params, DynamicShared& shared, unsigned thread, unsigned) {
        if (thread == 0) shared.init();
        __syncthreads();
        auto const conv = params.conv.problem();
        if (thread == 0) Loader::load(params.conv, conv, shared);
        if (thread < 32) return;
        auto const copy = [&](unsigned char* to, unsigned char const* from, int bytes) {
            for (int i = static_cast<int>(thread % 32); i < bytes; i += 32) to[i] = from[i];
            fk::hip::ptx::bar_warp_sync();
        };
        Loader::each_stage(params.conv, conv, shared, thread == 32, copy, params.filters, params.halos);
    }
};

}  // namespace test
