// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/depthwise_tiles.hpp"
#include "fusekit/backend/hip/integer.hpp"

namespace fusekit::hip {

/// Computes `rows` rows of y by a sliding window: a thread walks down its columns of x and uses each row once. `sums`
/// has the accumulators of the Window::depth rows of y whose windows contain the current rows of x; sums[0] is
/// completed and stored first. Step p uses Window::stride_h rows of x, from row p stride_h + R - stride_h of the first
/// window on.
///
/// load(u): loads the next row of x to loaded[u]; the first stride_h rows have been loaded.
/// operand(loaded[u], j, c): the value of column j of channel c; called before load(u) replaces the row.
/// store(sums[0]): stores the next row of y.
template <class Window, int columns, int channels, class Sum, class Row, class Load, class Operand, class Store>
__device__ void slide_window(int rows, Sum const (&weights)[Window::rows][Window::columns][channels],
                             Row (&loaded)[Window::stride_h], Load const& load, Operand const& operand,
                             Store const& store) {
    constexpr int R = Window::rows, S = Window::columns, StrideH = Window::stride_h, StrideW = Window::stride_w,
                  depth = Window::depth, width = (columns - 1) * StrideW + S;
    // If false, the few windows above and below the thread's rows are computed, too, and not stored: without the
    // branches, an accumulator moves to its next register by its first FMA instead of a MOV.
    constexpr bool leaves_out = depth > 3;
    Sum sums[depth][columns][channels] = {};
#pragma unroll 1
    for (int p = 1 - depth; p < rows; ++p) {
#pragma unroll
        for (int u = 0; u < StrideH; ++u) {
            Sum values[width][channels];
#pragma unroll
            for (int j = 0; j < width; ++j)
#pragma unroll
                for (int c = 0; c < channels; ++c) values[j][c] = operand(loaded[u], j, c);
            load(u);
#pragma unroll
            for (int i = 0; i < depth; ++i) {
                constexpr int last = R - StrideH;
                int const r = last - StrideH * i + u;
                if (r < 0 || (leaves_out && (p + i < 0 || p + i >= rows))) continue;
#pragma unroll
                for (int s = 0; s < S; ++s)
#pragma unroll
                    for (int j = 0; j < columns; ++j)
#pragma unroll
                        for (int c = 0; c < channels; ++c)
                            sums[i][j][c] += values[j * StrideW + s][c] * weights[r][s][c];
            }
        }
        if (p >= 0) store(sums[0]);
#pragma unroll
        for (int i = 0; i < depth; ++i)
#pragma unroll
            for (int j = 0; j < columns; ++j)
#pragma unroll
                for (int c = 0; c < channels; ++c)
                    sums[i][j][c] = i + 1 < depth ? sums[(min)(i + 1, depth - 1)][j][c] : 0;
    }
}

}  // namespace fusekit::hip
