// SPDX-License-Identifier: MIT
// mma.sync multiplies matrices of small integers, whose sums are exact; cp.async copies.
#include "hip_on_cpu/sm80.hpp"

#include <hip/hip_runtime.h>

#include <catch2/catch_test_macros.hpp>
#include <cstring>
#include <type_traits>
#include <vector>

using hip_on_cpu::Factor;

namespace {

int number(int at) { return at * 7 % 15 - 7; }
int a_at(int row, int k) { return number(31 * row + k); }
int b_at(int k, int column) { return number(17 * column + 5 * k); }

/// An integer that is exact in 8 bits, encoded in 32, 16 or 8 bits.
std::uint32_t bits_of(Factor factor, int value) {
    if (factor == Factor::int8) return static_cast<std::uint8_t>(value);
    auto const as_float = static_cast<float>(value);
    std::uint32_t bits;
    std::memcpy(&bits, &as_float, sizeof bits);
    if (factor == Factor::tf32) return value == 0 ? 0 : bits | ((1u << 13) - 1);  // low bits, which TF32 truncates
    if (factor == Factor::bfloat16 || value == 0) return bits >> 16;
    return (bits >> 16 & 0x8000u) | ((bits >> 13 & 0x3ffffu) - (112u << 10));  // exponents are biased by 127 and by 15
}

/// Operands as 8 x 8 submatrices, four of A and two of B, in PTX's order: each lane holds 32 bits of each submatrix, of
/// its row lane / 4.
template <Factor factor, class Acc>
__global__ void product(Acc* out) {
    auto const lane = static_cast<int>(threadIdx.x % 32);
    constexpr int elements_per_word = factor == Factor::int8   ? 4
                                      : factor == Factor::tf32 ? 1
                                                               : 2,
                  width = 32 / elements_per_word;
    std::uint32_t a[4] = {}, b[2] = {};
    for (int matrix = 0; matrix < 4; ++matrix)
        for (int i = 0; i < elements_per_word; ++i) {
            int const k = matrix / 2 * 4 * elements_per_word + lane % 4 * elements_per_word + i;
            a[matrix] |= bits_of(factor, a_at(matrix % 2 * 8 + lane / 4, k)) << i * width;
            if (matrix % 2 == 0) b[matrix / 2] |= bits_of(factor, b_at(k, lane / 4)) << i * width;
        }
    Acc sums[4];
    for (int e = 0; e < 4; ++e) sums[e] = static_cast<Acc>(e / 2 * 8 + lane / 4 - (lane % 4 * 2 + e % 2));
    hip_on_cpu::sm80::mma_sync<factor>(sums, a, b);
    for (int e = 0; e < 4; ++e) out[threadIdx.x * 4 + static_cast<unsigned>(e)] = sums[e];
}

template <Factor factor>
void check() {
    using Acc = std::conditional_t<factor == Factor::int8, std::int32_t, float>;
    constexpr int depth = factor == Factor::int8 ? 32 : factor == Factor::tf32 ? 8 : 16, warps = 2;
    Acc* out = nullptr;
    REQUIRE(hipMalloc(reinterpret_cast<void**>(&out), warps * 128 * sizeof(Acc)) == hipSuccess);
    hipLaunchKernelGGL((product<factor, Acc>), dim3(1), dim3(warps * 32), 0, nullptr, out);
    REQUIRE(hipDeviceSynchronize() == hipSuccess);
    int wrong = 0;
    for (int thread = 0; thread < warps * 32; ++thread)
        for (int e = 0; e < 4; ++e) {
            int const row = thread % 32 / 4 + e / 2 * 8, column = thread % 4 * 2 + e % 2;
            int expected = row - column;
            for (int k = 0; k < depth; ++k) expected += a_at(row, k) * b_at(k, column);
            wrong += out[thread * 4 + e] != static_cast<Acc>(expected);
        }
    CHECK(wrong == 0);
    REQUIRE(hipFree(out) == hipSuccess);
}

}  // namespace

TEST_CASE("emulator: mma.sync multiplies half, bfloat16, int8 and TF32") {
    check<Factor::half>();
    check<Factor::bfloat16>();
    check<Factor::int8>();
    check<Factor::tf32>();
}

namespace {

/// Kernel: three cp.async in two groups, the second group zero-filled; records shared memory after each wait.
__global__ void copy_in_groups(int const* from, int* out) {
    __shared__ int shared[3][4];
    for (auto& four : shared)
        for (int& one : four) one = 7;
    hip_on_cpu::sm80::copy(shared[0], from, 16, true);
    hip_on_cpu::sm80::commit_copies();
    hip_on_cpu::sm80::copy(shared[1], from, 16, false);
    hip_on_cpu::sm80::copy(shared[2], from + 4, 4, true);
    hip_on_cpu::sm80::commit_copies();
    hip_on_cpu::sm80::wait_for_groups(1);
    for (int i = 0; i < 4; ++i) out[i] = shared[0][i];
    hip_on_cpu::sm80::wait_for_groups(0);
    for (int i = 0; i < 8; ++i) out[4 + i] = shared[1 + i / 4][i % 4];
}

}  // namespace

TEST_CASE("emulator: cp.async completes at cp.async.wait_group") {
    std::vector<int> const from{1, 2, 3, 4, 5};
    std::vector<int> out(12);
    hipLaunchKernelGGL(copy_in_groups, dim3(1), dim3(1), 0, nullptr, from.data(), out.data());
    REQUIRE(hipDeviceSynchronize() == hipSuccess);
    CHECK(out == std::vector<int>{1, 2, 3, 4, 0, 0, 0, 0, 5, 7, 7, 7});
}

namespace {

/// Kernel: each warp loads four matrices whose rows are 32 bytes apart, in reverse order.
__global__ void load_matrices(int* wrong) {
    alignas(16) __shared__ std::uint16_t shared[64][16];
    for (unsigned i = 0; i < 16; ++i) shared[threadIdx.x][i] = static_cast<std::uint16_t>(100 * threadIdx.x + i);
    __syncthreads();
    unsigned const lane = threadIdx.x % 32, first = threadIdx.x - lane;
    std::uint32_t elements[4];
    hip_on_cpu::sm80::ldmatrix_x4(shared[first + 31 - lane] + 8 * (lane % 2), elements);
    for (unsigned matrix = 0; matrix < 4; ++matrix) {
        unsigned const source = 8 * matrix + lane / 4, column = 8 * (source % 2) + 2 * (lane % 4),
                       element = 100 * (first + 31 - source) + column;
        if (elements[matrix] != (element | (element + 1) << 16)) *wrong = 1;
    }
    hip_on_cpu::sm80::ldmatrix_x4_trans(shared[first + 31 - lane] + 8 * (lane % 2), elements);
    for (unsigned matrix = 0; matrix < 4; ++matrix)
        for (unsigned i = 0; i < 2; ++i) {
            unsigned const source = 8 * matrix + 2 * (lane % 4) + i,
                           element = 100 * (first + 31 - source) + 8 * (source % 2) + lane / 4;
            if ((elements[matrix] >> 16 * i & 0xffff) != element) *wrong = 1;
        }
}

}  // namespace

TEST_CASE("emulator: ldmatrix loads each lane's row of four matrices, also transposed") {
    int wrong = 0;
    hipLaunchKernelGGL(load_matrices, dim3(1), dim3(64), 0, nullptr, &wrong);
    REQUIRE(hipDeviceSynchronize() == hipSuccess);
    CHECK(wrong == 0);
}
