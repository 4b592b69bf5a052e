// SPDX-License-Identifier: MIT
// sm_90a instructions: bulk copies, mbarriers that count bytes, and wgmma.
#include "hip_on_cpu/sm90a.hpp"

#include <hip/hip_runtime.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace ptx = hip_on_cpu::sm90a;

namespace {

using Half = std::uint16_t;

constexpr int unswizzled = 0, swizzle_64 = 2, swizzle_128 = 3;

/// Encodes a small integer as half.
Half half(int value) {
    if (value == 0) return 0;
    unsigned const magnitude = static_cast<unsigned>(value < 0 ? -value : value);
    unsigned const log = 31u - static_cast<unsigned>(__builtin_clz(magnitude));
    return static_cast<Half>((value < 0 ? 0x8000u : 0u) | (15 + log) << 10 | ((magnitude << 10 >> log) & 0x3ffu));
}

template <class Argument>
void launch(void (*kernel)(Argument), unsigned threads, std::size_t shared_bytes, Argument argument) {
    void* arguments[] = {&argument};
    REQUIRE(hipLaunchKernel(kernel, dim3(1), dim3(threads), arguments, shared_bytes, nullptr) == hipSuccess);
}

struct Copy {
    ptx::TensorMap map, out;
    std::int32_t at[4], to[4];
    unsigned column, row, bytes;
    Half* seen;  ///< where the kernel records shared memory
};

/// Kernel: loads a box, records its layout in shared memory, and stores it.
__global__ void copy_box(Copy copy) {
    HIP_DYNAMIC_SHARED(unsigned char, memory)
    std::uint32_t const tile = ptx::shared_address(memory), barrier = tile + copy.bytes;
    if (threadIdx.x == 0) ptx::mbarrier_init(barrier, 1);
    __syncthreads();
    if (threadIdx.x == 0) {
        ptx::mbarrier_arrive_expect_tx(barrier, copy.bytes);
        if (copy.map.is_im2col) ptx::tma_load_im2col(tile, &copy.map, barrier, copy.at, copy.column, copy.row);
        else ptx::tma_load(tile, &copy.map, barrier, {copy.at[0], copy.at[1]});
        if (copy.seen) copy.seen[0] = reinterpret_cast<Half const*>(memory)[0];
    }
    ptx::mbarrier_wait(barrier, 0);
    if (threadIdx.x != 0) return;
    if (copy.seen) std::memcpy(copy.seen + 1, memory, copy.bytes);
    if (copy.out.rank > 0) {
        if (copy.out.is_im2col) ptx::tma_store_im2col(&copy.out, tile, copy.to);
        else ptx::tma_store(&copy.out, tile, {copy.to[0], copy.to[1]});
        ptx::bulk_commit_group();
        ptx::bulk_wait_group_read();
    }
}

template <class Acc>
struct Product {
    Half const *a, *b;  ///< operands, as rows of 128 bytes
    Acc* d;
    int n;
    bool late;  ///< true: reads the accumulators before the wait
    bool registers = false;  ///< true: operand A in registers
    ptx::Majors majors = {};  ///< majors of the operands in shared memory
    ptx::Factor factor = ptx::Factor::half;  ///< operand type if accumulators are floats
    unsigned line = 128;  ///< bytes per line, the width of the swizzle
};

/// d[i][j] = 2 sum over k of a[i][k] b[j][k], in two wgmma groups: of `factor`, or of int8 if accumulators are
/// integers.
template <class Acc>
__global__ void multiply(Product<Acc> product) {
    HIP_DYNAMIC_SHARED(unsigned char, memory)
    unsigned const line = product.line, block = 64 * line;  // bytes of 64 rows
    auto const put = [&](Half const* rows, unsigned row, unsigned first, ptx::Major major) {
        for (unsigned k = 0; k < line / 2; ++k) {
            unsigned const in_block = major == ptx::Major::mn ? line * k + 2 * (row % 64) : line * (row % 64) + 2 * k,
                           address = first + row / 64 * block + in_block;
            std::memcpy(memory + (address ^ (address >> 7 & (line / 16 - 1)) << 4), &rows[64 * row + k], 2);
        }
    };
    unsigned const thread = threadIdx.x, b = block;
    if (thread < 64) put(product.a, thread, 0, product.majors.a);
    for (unsigned row = thread; row < static_cast<unsigned>(product.n); row += 128)
        put(product.b, row, b, product.majors.b);
    __syncthreads();
    // 16 indices k: 32 bytes of a line or, MN-major, 16 lines.
    auto const descriptor = [&](std::uint64_t first, unsigned k, ptx::Major major) {
        return (first + (major == ptx::Major::mn ? 2048 : 32) * k) >> 4 | std::uint64_t{block >> 4} << 16 |
               std::uint64_t{line / 2} << 32 | std::uint64_t{128 / line} << 62;
    };
    Acc sums[128];
    for (int time = 0; time < 2; ++time) {
        for (unsigned k = 0; k < line / 32; ++k) {
            if constexpr (std::is_same_v<Acc, float>)
                if (product.registers) {
                    std::uint32_t of_a[4];
                    for (unsigned i = 0; i < 4; ++i)
                        std::memcpy(&of_a[i],
                                    product.a + 64 * (16 * (thread / 32) + thread % 32 / 4 + 8 * (i % 2)) + 16 * k +
                                        8 * (i / 2) + 2 * (thread % 4),
                                    4);
                    ptx::wgmma_registers(sums, product.n, of_a, descriptor(b, k, product.majors.b),
                                         time + static_cast<int>(k) > 0, ptx::Factor::half, product.majors.b,
                                         hip_on_cpu::SourceLocation::current());
                    continue;
                }
            ptx::wgmma(sums, product.n, descriptor(0, k, product.majors.a), descriptor(b, k, product.majors.b),
                       time + static_cast<int>(k) > 0, std::is_same_v<Acc, float> ? product.factor : ptx::Factor::int8,
                       product.majors);
        }
        ptx::wgmma_commit();
    }
    if (product.late) ptx::wgmma_wait<1>();
    else ptx::wgmma_wait<0>();
    for (unsigned e = 0; e < static_cast<unsigned>(product.n) / 2; ++e) {
        unsigned const i = 16 * (thread / 32) + thread % 32 / 4 + 8 * (e / 2 % 2),
                       j = 8 * (e / 4) + 2 * (thread % 4) + e % 2;
        product.d[i * static_cast<unsigned>(product.n) + j] = sums[e];
    }
    ptx::wgmma_wait<0>();
}

bool is_nan(float value) { return value != value; }
std::string moments() {
    char const* const text = std::getenv("HIP_ON_CPU_ASYNC");
    return text ? text : "mixed";
}

}  // namespace

namespace {

struct LinearCopy {
    Half const* from;
    Half *seen, *to;
};

/// Kernel: two copies, of 16 and 32 bytes, complete on one mbarrier, on which all lanes of a wave arrive; one copy
/// stores both.
__global__ void copy_linear(LinearCopy copy) {
    HIP_DYNAMIC_SHARED(unsigned char, memory)
    std::uint32_t const to = ptx::shared_address(memory), barrier = to + 64;
    if (threadIdx.x == 0) ptx::mbarrier_init(barrier, 32);
    __syncthreads();
    unsigned const bytes = threadIdx.x == 3 ? 16 : threadIdx.x == 5 ? 32 : 0;
    ptx::mbarrier_arrive_expect_tx(barrier, bytes);
    if (bytes > 0) ptx::bulk_load(to + (bytes - 16), copy.from + bytes, bytes, barrier);
    ptx::mbarrier_wait(barrier, 0);
    if (threadIdx.x == 7) std::memcpy(copy.seen, memory, 48);
    ptx::bar_warp_sync();
    if (threadIdx.x != 0) return;
    ptx::bulk_store(copy.to, to, 48);
    ptx::bulk_commit_group();
    memory[0] = 99;  // the store may not have read it yet
    ptx::bulk_wait_group_read();
    memory[2] = 99;
}

}  // namespace

TEST_CASE("a bulk copy moves contiguous bytes, and its mbarrier counts all of them") {
    alignas(16) Half from[64], to[32] = {};
    for (unsigned i = 0; i < 64; ++i) from[i] = static_cast<Half>(i);
    Half seen[24] = {};
    launch(copy_linear, 32, 72, LinearCopy{from, seen, to});
    for (unsigned i = 0; i < 24; ++i) CHECK(seen[i] == (i < 8 ? 16 + i : 32 + i - 8));
    if (moments() != "random") CHECK(to[0] == (moments() == "eager" ? 16 : 99));
    for (unsigned i = 1; i < 32; ++i) CHECK(to[i] == (i < 24 ? seen[i] : 0));
}

namespace {

/// Kernel: each block loads 16 bytes four times and reports what it sees of each before it waits.
__global__ void look_before_wait(LinearCopy copy) {
    HIP_DYNAMIC_SHARED(Half, memory)
    std::uint32_t const to = ptx::shared_address(memory), barrier = to + 64;
    if (threadIdx.x != 0) return;
    ptx::mbarrier_init(barrier, 1);
    ptx::mbarrier_arrive_expect_tx(barrier, 64);
    for (unsigned i = 0; i < 4; ++i) {
        ptx::bulk_load(to + 16 * i, copy.from, 16, barrier);
        copy.seen[4 * blockIdx.x + i] = memory[8 * i];
    }
    ptx::mbarrier_wait(barrier, 0);
}

}  // namespace

TEST_CASE("loads complete at their issue, late, or at random, in the same way in each launch") {
    constexpr unsigned blocks = 50, loads = 4 * blocks;
    alignas(16) Half const from[8] = {7, 7, 7, 7, 7, 7, 7, 7};
    std::vector<Half> seen(loads), again(loads);
    for (std::vector<Half>* result : {&seen, &again}) {
        hipLaunchKernelGGL(look_before_wait, dim3(blocks), dim3(32), 72, nullptr,
                           LinearCopy{from, result->data(), nullptr});
        REQUIRE(hipDeviceSynchronize() == hipSuccess);
    }
    CHECK(seen == again);
    auto const count = [&](Half value) { return static_cast<unsigned>(std::count(seen.begin(), seen.end(), value)); };
    unsigned const late = count(0xffff);
    CHECK(late + count(7) == loads);
    // 100 +- 7 for independent draws; the sequence is fixed.
    if (moments() == "random") CHECK((late > 75 && late < 125));
    else CHECK(late == (moments() == "lazy" ? loads : 0));
}

TEST_CASE("a tiled box is swizzled, and zero where the tensor ends") {
    std::vector<Half> x(3 * 80), seen(1 + 4 * 64), y(4 * 80, 7);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<Half>(i + 1);
    Copy copy{};
    std::uint64_t const extents[] = {80, 3}, strides[] = {160}, rows[] = {72, 4};
    std::uint32_t const box[] = {64, 4};
    REQUIRE(ptx::encode_tiled(&copy.map, 2, 2, x.data(), extents, strides, box, swizzle_128));
    REQUIRE(ptx::encode_tiled(&copy.out, 2, 2, y.data(), rows, strides, box, swizzle_128));
    copy.at[0] = 24, copy.at[1] = -1, copy.to[0] = 16, copy.to[1] = 1;
    copy.bytes = 4 * 128, copy.seen = seen.data();
    launch(copy_box, 32, copy.bytes + 8, copy);
    for (unsigned row = 0; row < 4; ++row)
        for (unsigned i = 0; i < 64; ++i) {
            unsigned const location = (128 * row + 2 * i) ^ row % 8 << 4, at = 24 + i;
            bool const in_bounds = row >= 1 && at < 80;
            CHECK(seen[1 + location / 2] == (in_bounds ? x[(row - 1) * 80 + at] : 0));
            if (row < 3 && i < 56) CHECK(y[(row + 1) * 80 + 16 + i] == (in_bounds ? x[(row - 1) * 80 + at] : 0));
        }
    CHECK(y[80 + 15] == 7);
    CHECK(y[80 + 72] == 7);  // out of bounds of the tensor
    if (moments() != "random") CHECK(seen[0] == (moments() == "lazy" ? 0xffff : 0));
}

TEST_CASE("rows of 64 bytes have the 64-byte swizzle") {
    std::vector<Half> x(8 * 32), seen(1 + 8 * 32), y(8 * 32);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<Half>(i + 1);
    Copy copy{};
    std::uint64_t const extents[] = {32, 8}, strides[] = {64};
    std::uint32_t const box[] = {32, 8};
    REQUIRE(ptx::encode_tiled(&copy.map, 2, 2, x.data(), extents, strides, box, swizzle_64));
    REQUIRE(ptx::encode_tiled(&copy.out, 2, 2, y.data(), extents, strides, box, swizzle_64));
    copy.bytes = 8 * 64, copy.seen = seen.data();
    launch(copy_box, 32, copy.bytes + 8, copy);
    for (unsigned row = 0; row < 8; ++row)
        for (unsigned i = 0; i < 32; ++i) {
            unsigned const location = (64 * row + 2 * i) ^ row / 2 % 4 << 4;
            CHECK(seen[1 + location / 2] == x[32 * row + i]);
        }
    CHECK(y == x);
}

TEST_CASE("an im2col box covers columns, rows and images of a padded convolution") {
    int const n = 3, h = 5, w = 4, c = 16, stride = 2, pad = 1, filter = 3, dilation = 2;
    int const q = (w + 2 * pad - dilation * (filter - 1) - 1) / stride + 1;
    int const p = (h + 2 * pad - dilation * (filter - 1) - 1) / stride + 1;
    std::vector<Half> x(static_cast<std::size_t>(n * h * w * c));
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<Half>(i + 1);
    std::uint64_t const extents[] = {c, w, h, n}, strides[] = {2 * c, 2 * c * w, 2 * c * w * h};
    int const lower[] = {-pad, -pad}, upper[] = {pad - dilation * (filter - 1), pad - dilation * (filter - 1)};
    std::uint32_t const steps[] = {1, stride, stride, 1};
    unsigned const pixels = 16;
    for (int tap = 0; tap < filter * filter; ++tap) {
        std::vector<Half> seen(1 + pixels * 8);
        Copy copy{};
        REQUIRE(
            ptx::encode_im2col(&copy.map, 2, x.data(), extents, strides, lower, upper, 8, pixels, steps, unswizzled));
        int const first = 1;  // the first output pixel
        copy.at[0] = 8, copy.at[1] = first % q * stride - pad, copy.at[2] = first / q % p * stride - pad;
        copy.column = static_cast<unsigned>(tap % filter * dilation),
        copy.row = static_cast<unsigned>(tap / filter * dilation);
        copy.bytes = pixels * 16, copy.seen = seen.data();
        launch(copy_box, 32, copy.bytes + 8, copy);
        for (int i = 0; i < static_cast<int>(pixels); ++i) {
            int const m = first + i, image = m / (p * q);
            int const row = m / q % p * stride - pad + tap / filter * dilation;
            int const column = m % q * stride - pad + tap % filter * dilation;
            bool const in_bounds = image < n && row >= 0 && row < h && column >= 0 && column < w;
            auto const location = static_cast<std::size_t>(((image * h + row) * w + column) * c + 8);
            CHECK(seen[static_cast<std::size_t>(1 + 8 * i)] == (in_bounds ? x[location] : 0));
        }
    }
}

TEST_CASE("an im2col store writes consecutive pixels of a strided tensor, and none past the last") {
    // 2 images of 2 x 3 pixels of 64 channels: every other pixel of images of 4 x 6
    std::size_t const c = 64;
    std::vector<Half> x(8 * c), y(2 * 4 * 6 * c, 7);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<Half>(i + 100);
    Copy copy{};
    std::uint64_t const rows[] = {c, 8}, row_strides[] = {2 * c}, extents[] = {c, 3, 2, 2},
                        strides[] = {4 * c, 4 * 6 * c, 2 * 4 * 6 * c};
    std::uint32_t const box[] = {64, 8}, steps[] = {1, 1, 1, 1};
    int const corners[] = {0, 0};
    REQUIRE(ptx::encode_tiled(&copy.map, 2, 2, x.data(), rows, row_strides, box, swizzle_128));
    REQUIRE(ptx::encode_im2col(&copy.out, 2, y.data(), extents, strides, corners, corners, 64, 8, steps, swizzle_128));
    copy.to[1] = 2, copy.to[2] = 1;  // pixel 5 of 12: 7 pixels are left
    copy.bytes = 8 * 128;
    launch(copy_box, 32, copy.bytes + 8, copy);
    std::vector<Half> expected(y.size(), 7);
    for (std::size_t i = 0; i < 7; ++i) {
        std::size_t const pixel = 5 + i, n = pixel / 6, h = pixel / 3 % 2, w = pixel % 3;
        for (std::size_t k = 0; k < c; ++k) expected[((n * 4 + 2 * h) * 6 + 2 * w) * c + k] = x[i * c + k];
    }
    CHECK(y == expected);
}

TEST_CASE("maps that the driver refuses are refused") {
    ptx::TensorMap map;
    alignas(16) Half x[64];
    std::uint64_t const extents[] = {8, 8}, strides[] = {16}, odd[] = {18};
    std::uint32_t const box[] = {8, 8}, thin[] = {4, 8}, wide[] = {64, 8}, wider[] = {128, 8};
    CHECK(ptx::encode_tiled(&map, 2, 2, x, extents, strides, box, swizzle_128));
    CHECK_FALSE(ptx::encode_tiled(&map, 2, 2, x, extents, odd, box, swizzle_128));
    CHECK_FALSE(ptx::encode_tiled(&map, 2, 2, x, extents, strides, thin, swizzle_128));
    CHECK_FALSE(ptx::encode_tiled(&map, 2, 2, x, extents, strides, wide, swizzle_64));
    CHECK_FALSE(ptx::encode_tiled(&map, 2, 2, x, extents, strides, wider, swizzle_128));
    CHECK_FALSE(ptx::encode_tiled(&map, 2, 2, x + 1, extents, strides, box, swizzle_128));
    CHECK_FALSE(ptx::encode_tiled(&map, 2, 2, x, extents, strides, box, swizzle_128 + 1));
}

TEST_CASE("wgmma multiplies operands of descriptors, K-major and MN-major, and of registers") {
    for (int const n : {8, 64, 128, 256}) {
        std::vector<Half> a(64 * 64), b(static_cast<std::size_t>(n) * 64);
        auto const value = [](std::size_t i, int seed) { return static_cast<int>((i * 7 + i / 64 * 3) % 11) - seed; };
        for (std::size_t i = 0; i < a.size(); ++i) a[i] = half(value(i, 5));
        for (std::size_t i = 0; i < b.size(); ++i) b[i] = half(value(i, 3));
        std::vector<float> d(64 * static_cast<std::size_t>(n));
        std::size_t const bytes = (64 + static_cast<std::size_t>(std::max(n, 64))) * 128;
        using enum ptx::Major;
        struct {
            bool registers;
            ptx::Majors majors;
        } const forms[] = {{false, {}},      {true, {}},       {true, {k, mn}},
                           {false, {k, mn}}, {false, {mn, k}}, {false, {mn, mn}}};
        for (auto const& [registers, majors] : forms) {
            std::fill(d.begin(), d.end(), -1.0f);
            launch(multiply<float>, 128, bytes,
                   Product<float>{a.data(), b.data(), d.data(), n, false, registers, majors});
            std::size_t wrong = 0;
            for (std::size_t i = 0; i < 64; ++i)
                for (std::size_t j = 0; j < static_cast<std::size_t>(n); ++j) {
                    int sum = 0;
                    for (std::size_t of = 0; of < 64; ++of) sum += 2 * value(64 * i + of, 5) * value(64 * j + of, 3);
                    wrong += d[i * static_cast<std::size_t>(n) + j] != static_cast<float>(sum);
                }
            CHECK(wrong == 0);
        }
        launch(multiply<float>, 128, bytes, Product<float>{a.data(), b.data(), d.data(), n, true});
        if (moments() != "random") CHECK(std::any_of(d.begin(), d.end(), is_nan) == (moments() != "eager"));
    }
}

TEST_CASE("wgmma TF32 multiplies the upper 19 bits of floats") {
    constexpr int n = 48;
    std::vector<float> a(64 * 32), b(n * 32), d(64 * n, -1.0f);
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i * 37 % 11) - 5;
    for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<float>(i * 91 % 13) - 6;
    auto const with_more_bits = [](std::vector<float> const& floats) {
        std::vector<Half> halves(floats.size() * 2);
        for (std::size_t i = 0; i < floats.size(); ++i) {
            std::uint32_t bits;
            std::memcpy(&bits, &floats[i], sizeof bits);
            if (bits != 0) bits |= (1u << 13) - 1;
            std::memcpy(&halves[2 * i], &bits, sizeof bits);
        }
        return halves;
    };
    auto const rows = with_more_bits(a), columns = with_more_bits(b);
    launch(multiply<float>, 128, (64 + n) * 128,
           Product<float>{rows.data(), columns.data(), d.data(), n, false, false, {}, ptx::Factor::tf32});
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < 64; ++i)
        for (std::size_t j = 0; j < n; ++j) {
            float sum = 0;
            for (std::size_t k = 0; k < 32; ++k) sum += 2 * a[32 * i + k] * b[32 * j + k];
            wrong += d[i * n + j] != sum;
        }
    CHECK(wrong == 0);
}
TEST_CASE("wgmma int8 accumulates modulo 2^32") {
    constexpr int n = 48;
    std::vector<std::int8_t> a(64 * 128), b(n * 128);
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<std::int8_t>(i * 37 % 256);
    for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<std::int8_t>(i * 91 % 255);
    std::vector<Half> rows(a.size() / 2), columns(b.size() / 2);
    std::memcpy(rows.data(), a.data(), a.size());
    std::memcpy(columns.data(), b.data(), b.size());
    for (unsigned const line : {128u, 64u}) {
        std::vector<std::int32_t> d(64 * n, -1);
        launch(
            multiply<std::int32_t>, 128, (64 + n) * line,
            Product<std::int32_t>{rows.data(), columns.data(), d.data(), n, false, false, {}, ptx::Factor::int8, line});
        for (std::size_t i = 0; i < 64; ++i)
            for (std::size_t j = 0; j < n; ++j) {
                std::int32_t sum = 0;
                for (std::size_t k = 0; k < line; ++k) sum += 2 * a[128 * i + k] * b[128 * j + k];
                CHECK(d[i * n + j] == sum);
            }
    }
}

namespace {

/// Kernel: the two halves of the block alternate as producer and consumer.
__global__ void ping_pong(int* turns) {
    HIP_DYNAMIC_SHARED(unsigned char, memory)
    std::uint32_t const barrier = ptx::shared_address(memory);
    if (threadIdx.x == 0) ptx::mbarrier_init(barrier, 64);
    __syncthreads();
    bool const second = threadIdx.x >= 64;
    for (int turn = 0; turn < 4; ++turn) {
        bool const says = turn < 3 && threadIdx.x == 64u + static_cast<unsigned>(turn);
        if (second && ptx::bar_red_or(2, 64, says) != (turn < 3)) *turns = -200;
        if (second) ptx::bar_sync(1, 128);
        else ptx::bar_arrive(1, 128);
        if (second && ptx::elect_sync()) atomicAdd(turns, 1);
        if (second) ptx::mbarrier_arrive(barrier);
        ptx::mbarrier_wait(barrier, static_cast<unsigned>(turn % 2));
        if (!second && ptx::elect_sync() && *turns != 2 * (turn + 1)) *turns = -100;
    }
}

/// Kernel: stores four matrices, whose first rows are at the addresses of lanes 0, 8, 16 and 24, and loads them back.
template <bool transposed>
__global__ void store_matrices(Half* out) {
    HIP_DYNAMIC_SHARED(unsigned char, memory)
    unsigned const lane = threadIdx.x;
    std::uint32_t elements[4], loaded[4];
    for (unsigned matrix = 0; matrix < 4; ++matrix) {
        unsigned const first = 100 * matrix + 10 * (lane / 4) + 2 * (lane % 4);
        elements[matrix] = first | (first + 1) << 16;
    }
    auto const address = ptx::shared_address(memory) + 16 * lane;
    ptx::stmatrix_x4<transposed>(address, elements);
    ptx::ldmatrix_x4<transposed>(address, loaded);
    __syncthreads();
    if (lane == 0) std::memcpy(out, memory, 4 * 64 * sizeof(Half));
    __syncthreads();
    if (std::memcmp(elements, loaded, sizeof elements) != 0) out[0] = 9999;
}

}  // namespace

TEST_CASE("named barriers synchronize subsets of threads") {
    int turns = 0;
    launch(ping_pong, 128, 8, &turns);
    CHECK(turns == 8);
}

TEST_CASE("a wave stores matrices row by row") {
    std::vector<Half> out(4 * 64);
    launch(store_matrices<false>, 32, 4 * 128, out.data());
    for (unsigned i = 0; i < out.size(); ++i) CHECK(out[i] == 100 * (i / 64) + 10 * (i / 8 % 8) + i % 8);
}

TEST_CASE("a wave stores matrices column by column") {
    std::vector<Half> out(4 * 64);
    launch(store_matrices<true>, 32, 4 * 128, out.data());
    for (unsigned i = 0; i < out.size(); ++i) CHECK(out[i] == 100 * (i / 64) + 10 * (i % 8) + i / 8 % 8);
}

TEST_CASE("a launch may request more than 48 KB of shared memory after hipFuncSetAttribute") {
    Half* out = nullptr;
    void* arguments[] = {&out};
    auto const launch_with = [&](std::size_t bytes) {
        return hipLaunchKernel(store_matrices<false>, dim3(1), dim3(32), arguments, bytes, nullptr);
    };
    std::vector<Half> memory(4 * 64);
    out = memory.data();
    CHECK(launch_with(48 << 10) == hipSuccess);
    CHECK(launch_with((48 << 10) + 1) == hipErrorInvalidConfiguration);
    auto const kernel = reinterpret_cast<void const*>(&store_matrices<false>);
    auto const attribute = hipFuncAttributeMaxDynamicSharedMemorySize;
    CHECK(hipFuncSetAttribute(kernel, attribute, 228 << 10) == hipErrorInvalidValue);
    CHECK(hipFuncSetAttribute(kernel, attribute, 200 << 10) == hipSuccess);
    CHECK(launch_with(200 << 10) == hipSuccess);
    CHECK(launch_with(227 << 10) == hipErrorInvalidConfiguration);
}
