// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/mma/gemm.hpp"

#include "backend/hip/blocks.hpp"
#include "backend/hip/sm90a_device.hpp"

using namespace test;
namespace hip = fk::hip;
namespace ptx = fk::hip::ptx;
namespace mma = fk::hip::mma;

namespace {

constexpr int rows = 128, columns = 64;

/// Small integers, exact in every element type used here: a (128, 2 TILE_K) and b (64, 2 TILE_K).
__device__ float a_at(unsigned i, unsigned k) { return static_cast<float>((3 * i + 5 * k) % 7) - 3; }
__device__ float b_at(unsigned j, unsigned k) { return static_cast<float>((2 * j + 7 * k + j * k) % 5) - 2; }

/// Rows of 128 bytes along GemmK with the 128-byte swizzle: wgmma's K-major layout.
template <class T, int count>
struct Rows {
    static constexpr unsigned chunk = 16 / sizeof(T), per_row = 8 * chunk;
    alignas(1024) T values[count * per_row];

    __device__ T& at(unsigned k, unsigned row) { return values[row * per_row + (k ^ row % 8 * chunk)]; }
};

enum class From { shared_memory, registers };

/// One warpgroup computes c (128, 64) = a (128, 2 TILE_K) b (64, 2 TILE_K)^T as two accumulators and two k-tiles. The
/// accumulators are initialized to -77, which gemm() must overwrite.
template <class T, From from, bool promotes>
struct TwoTiles : BlockOf<128> {
    using Architecture = hip::arch::Sm90a;
    using Atom = hip::Wgmma<T, columns, ptx::Major::k, ptx::Major::k, 128>;
    static constexpr unsigned tile_k = Atom::tile_k;
    struct Params {
        float* c;
    };
    struct alignas(1024) DynamicShared {
        Rows<T, rows> a[2];
        Rows<T, columns> b[2];
    };
    using Acc = typename Atom::Accumulators[2];

    template <class Number>
    __device__ static void fill(Number (&acc)[2][columns / 2]) {
        for (auto& tile : acc)
            for (auto& each : tile) each = static_cast<Number>(-77);
    }
    __device__ static T element(float value) {
        if constexpr (std::is_same_v<T, fk::int8>) return static_cast<T>(value);
        else return T(value);
    }

    __device__ static void run(Params const& params, DynamicShared& shared, unsigned thread, unsigned) {
        for (unsigned k = 0; k < 2 * tile_k; ++k) {
            shared.a[k / tile_k].at(k % tile_k, thread) = element(a_at(thread, k));
            if (thread < columns) shared.b[k / tile_k].at(k % tile_k, thread) = element(b_at(thread, k));
        }
        ptx::fence_proxy_async();
        __syncthreads();
        Acc acc;
        fill(acc);
        if constexpr (promotes) mma::clear(acc);
        for (unsigned tile = 0; tile < 2; ++tile) {
            mma::OperandB<Atom> const b{Atom::descriptor(ptx::shared_address(&shared.b[tile]))};  // (64, TILE_K)
            if constexpr (from == From::registers) {
                auto const a = [&](unsigned k, unsigned i) {  // (2, 64, TILE_K)
                    mma::RegisterOperand fragment;
                    for (unsigned word = 0; word < 4; ++word) {
                        unsigned const row = 64 * i + thread / 32 * 16 + thread % 32 / 4 + word % 2 * 8,
                                       first = 16 * k + word / 2 * 8 + thread % 4 * 2;
                        std::uint16_t pair[2];
                        for (unsigned e = 0; e < 2; ++e)
                            pair[e] = fk::config::bit_cast<std::uint16_t>(shared.a[tile].at(first + e, row));
                        fragment.words[word] = pair[0] | std::uint32_t{pair[1]} << 16;
                    }
                    return fragment;
                };
                mma::gemm<Atom>(acc, a, b, tile > 0);  // (2, 64, 64) += over TILE_K
            } else {
                auto const first = Atom::descriptor(ptx::shared_address(&shared.a[tile]));
                mma::OperandA<Atom, Atom::row_offset(64)> const a{first};  // (2, 64, TILE_K)
                if constexpr (promotes) {
                    Acc step;
                    mma::gemm<Atom>(step, a, b, false);
                    mma::wait(step);
                    mma::promote(acc, step);
                } else {
                    mma::gemm<Atom>(acc, a, b, tile > 0);
                }
            }
        }
        mma::wait(acc);
        for (unsigned i = 0; i < 2; ++i)
            for (int e = 0; e < columns / 2; ++e) {
                unsigned const row = 64 * i + static_cast<unsigned>(Atom::row(static_cast<int>(thread), e));
                params.c[row * columns + static_cast<unsigned>(Atom::column(static_cast<int>(thread), e))] =
                    static_cast<float>(acc[i][e]);
            }
    }
};

/// c (64, 64) = a b^T with one accumulator, one instruction per issue(), all in one group.
struct OneTile : BlockOf<128> {
    using Architecture = hip::arch::Sm90a;
    using Atom = hip::Wgmma<fk::half, columns>;
    struct Params {
        float* c;
    };
    struct alignas(1024) DynamicShared {
        Rows<fk::half, 64> a, b;
    };
    __device__ static void run(Params const& params, DynamicShared& shared, unsigned thread, unsigned) {
        for (unsigned k = 0; k < 64 && thread < 64; ++k) {
            shared.a.at(k, thread) = fk::half(a_at(thread, k));
            shared.b.at(k, thread) = fk::half(b_at(thread, k));
        }
        ptx::fence_proxy_async();
        __syncthreads();
        auto const a = Atom::descriptor(ptx::shared_address(&shared.a)),
                   b = Atom::descriptor(ptx::shared_address(&shared.b));
        Atom::Accumulators acc;
        for (auto& each : acc) each = -77;
        for (unsigned k = 0; k < 4; ++k)
            mma::issue<Atom, 1>(acc, mma::OperandA<Atom>{a + k * Atom::k_step},
                                mma::OperandB<Atom>{b + k * Atom::k_step}, k > 0);
        ptx::wgmma_commit();
        mma::wait(acc);
        for (int e = 0; e < columns / 2; ++e) {
            int const own = static_cast<int>(thread);
            params.c[Atom::row(own, e) * columns + Atom::column(own, e)] = acc[e];
        }
    }
};

template <class Body>
void check(unsigned count, unsigned all_k) {
    hip::Device device = sm90a_device();
    Array<float> const c(device, count * columns, -1.0f);
    run_blocks<Body>(device, {c.data()});
    auto const found = c.values();
    unsigned wrong = 0;
    for (unsigned i = 0; i < count; ++i)
        for (unsigned j = 0; j < columns; ++j) {
            int sum = 0;
            for (unsigned k = 0; k < all_k; ++k)
                sum +=
                    (static_cast<int>((3 * i + 5 * k) % 7) - 3) * (static_cast<int>((2 * j + 7 * k + j * k) % 5) - 2);
            wrong += found[i * columns + j] != static_cast<float>(sum);
        }
    CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("HIP: the wgmma issue loop multiplies k-tiles of several accumulators from shared memory") {
    check<TwoTiles<fk::half, From::shared_memory, false>>(rows, 128);
    check<TwoTiles<fk::int8, From::shared_memory, false>>(rows, 256);
}

TEST_CASE("HIP: the wgmma issue loop multiplies fragments in registers") {
    check<TwoTiles<fk::bfloat16, From::registers, false>>(rows, 128);
}

TEST_CASE("HIP: accumulators of k-tiles are promoted to float") {
    check<TwoTiles<fk::e4m3, From::shared_memory, true>>(rows, 256);
}

TEST_CASE("HIP: one group has the MMAs of several issues") { check<OneTile>(64, 64); }
