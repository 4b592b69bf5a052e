// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/copy/transposed_rows.hpp"

#include "backend/hip/blocks.hpp"

using namespace test;

namespace {

constexpr int pitch = 42, most_rows = 40;

/// Copies a matrix to SMEM rows, over ones, and back to `out`.
template <int vector>
struct CopyRows : BlockOf<64> {
    struct Params {
        fk::half const* from;
        int rows, columns, stored;
        std::int64_t row_stride, column_stride;
        float* out;
    };
    struct Shared {
        alignas(16) unsigned char bytes[most_rows * pitch * 2];
    };
    __device__ static void run(Params const& params, Shared& shared, unsigned thread, unsigned) {
        auto* const to = reinterpret_cast<fk::half*>(shared.bytes);
        for (unsigned i = thread; i < most_rows * pitch; i += threads) to[i] = fk::half(-1.0f);
        __syncthreads();
        fk::hip::copy_transposed_rows<vector>(to, pitch, params.from, params.rows, params.columns, params.stored,
                                              params.row_stride, params.column_stride, thread, threads);
        __syncthreads();
        for (unsigned i = thread; i < most_rows * pitch; i += threads) params.out[i] = static_cast<float>(to[i]);
    }
};

template <int vector>
void check(int rows, int columns, int stored, int row_stride, int column_stride) {
    fk::hip::Device device = gpu();
    std::vector<fk::half> memory;
    for (int i = 0; i < 4096; ++i) memory.push_back(fk::half(static_cast<float>(i % 1999)));
    Array<fk::half> const from(device, memory);
    Array<float> const out(device, most_rows * pitch, -7.0f);
    run_blocks<CopyRows<vector>>(device, {from.data(), rows, columns, stored, row_stride, column_stride, out.data()});
    std::vector<float> expected(most_rows * pitch, -1);
    for (int row = 0; row < rows; ++row)
        for (int column = 0; column < stored; ++column)
            expected[static_cast<std::size_t>(row * pitch + column)] =
                column < columns ? static_cast<float>((row * row_stride + column * column_stride) % 1999) : 0;
    CAPTURE(vector, rows, columns, stored);
    CHECK(out.values() == expected);
}

}  // namespace

TEST_CASE("HIP: a matrix is transposed to rows of SMEM, with zeros past its last column") {
    check<8>(40, 33, 34, 1, 48);
    check<8>(8, 16, 32, 1, 8);
    check<4>(36, 21, 40, 1, 40);
    check<2>(10, 7, 8, 1, 10);
    check<1>(33, 17, 18, 1, 35);
    check<1>(13, 40, 40, 41, 1);  // rows of any stride
}
