// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/host/conv_problem.hpp"
#include "fusekit/backend/host/integer.hpp"
#include "fusekit/backend/host/vector.hpp"

namespace fusekit::host::inline FUSEKIT_FLAGS {

/// Rows of one plane of x, converted to the accumulator type and zero-padded. With a column stride S, a row is stored
/// as S phases: phase i has the elements i, i + S, i + 2 S, ... So the elements that one filter tap reads for adjacent
/// outputs are contiguous: one unaligned vector load.
///
/// A buffer holds the rows of x that one row of y reads, for `columns` outputs at a time.
template <class Problem, int Space>
class PaddedRows {
    using Acc = typename Problem::Acc;

    Problem const& conv;

public:
    /// Buffer of one thread.
    struct Buffer {
        /// plane (image n, channel k) of the stored rows, and the first output column that they serve
        std::int64_t n = -1, k = -1, first = -1;
        /// (slot_count) for each slot, the memory of one row: number of the row of x stored in it, or -1
        std::int64_t* stored = nullptr;
        /// (window columns) offset, within a stored row, of the element that each tap reads for the first output
        std::int64_t* offsets = nullptr;
        Acc const** rows = nullptr;  ///< (window rows) address of the stored row that each row of taps reads
        Acc* zeros = nullptr;  ///< a row of zeros, read for padding; the slots follow it in memory
    };

    explicit PaddedRows(Problem const& the_conv) : conv(the_conv) {}

    /// True if the columns that a window spans are few enough to buffer; a large dilation makes them too many.
    bool fit() const { return span < 4096; }

    std::int64_t columns() const { return (min)(round_up(conv.y[3], lanes), max_columns); }

    std::int64_t floats() const {
        return 2 * (slot_count + conv.window_columns() + conv.window_rows()) + (slot_count + 1) * row_floats;
    }

    /// Makes an empty buffer in `memory`, of floats() floats.
    Buffer buffer(float* memory) const {
        Buffer result;
        result.stored = reinterpret_cast<std::int64_t*>(memory);
        result.offsets = result.stored + slot_count;
        result.rows = reinterpret_cast<Acc const**>(result.offsets + conv.window_columns());
        result.zeros = reinterpret_cast<Acc*>(result.rows + conv.window_rows());
        for (int s = 0; s < conv.window_columns(); ++s) result.offsets[s] = offset(s);
        for (std::int64_t i = 0; i < row_floats; ++i) result.zeros[i] = Acc{};
        return result;
    }

    /// Points buffer.rows to the rows that the taps of output row `at.p` read, from column `at.q` on.
    void load(Buffer& buffer, OutputCoord const& at) const {
        if (buffer.n != at.n || buffer.k != at.k || buffer.first != at.q) {
            buffer.n = at.n, buffer.k = at.k, buffer.first = at.q;
            for (std::int64_t slot = 0; slot < slot_count; ++slot) buffer.stored[slot] = -1;
        }
        for (int r = 0; r < conv.window_rows(); ++r) {
            std::int64_t const h = conv.row(at.p, r);
            buffer.rows[r] = conv.has_row(h) ? stored_row(buffer, h, by_row ? h % slot_count : r) : buffer.zeros;
        }
    }

private:
    static constexpr std::int64_t max_columns = 1024;

    /// lowest: smallest column of x that output column 0 reads; span: distance from it to the largest
    std::int64_t const lowest = extreme(-1), span = extreme(1) - lowest;
    std::int64_t const advance = conv.column_step();
    std::int64_t const phase_floats = columns() + span / advance + 1, row_floats = advance * phase_floats;
    /// True if the slot of a row of x is the row's number modulo the window's height, as for images; for volumes, slot
    /// r is for row r of the window.
    static constexpr bool by_row = Space == 2;
    std::int64_t const slot_count = by_row ? (min)(height(), conv.x.layout.shape[2]) : conv.window_rows();

    std::int64_t offset(int s) const {
        std::int64_t const column = conv.column(0, s) - lowest;
        return column % advance * phase_floats + column / advance;
    }
    std::int64_t extreme(int sign) const {
        std::int64_t const first = conv.column(0, 0), last = conv.column(0, conv.window_columns() - 1);
        return (sign < 0) == (first < last) ? first : last;
    }
    std::int64_t height() const {
        std::int64_t const step = conv.row(0, conv.window_rows() - 1) - conv.row(0, 0);
        return (step < 0 ? -step : step) + 1;
    }

    Acc const* stored_row(Buffer const& buffer, std::int64_t h, std::int64_t slot) const {
        Acc* const row = buffer.zeros + (slot + 1) * row_floats;
        if (buffer.stored[slot] == h) return row;
        buffer.stored[slot] = h;
        auto const* const from = &conv.x(buffer.n, buffer.k, h, 0);
        for (std::int64_t phase = 0; phase < advance; ++phase)
            store_phase(row + phase * phase_floats, from, lowest + buffer.first * advance + phase);
        return row;
    }

    /// Stores columns `column`, `column` + advance, ... of a row of x; zero outside x.
    template <class T>
    void store_phase(Acc* to, T const* row, std::int64_t column) const {
        std::int64_t const width = conv.x.layout.shape[3], step = advance * conv.x.layout.stride[3];
        std::int64_t const padding = (min)(column < 0 ? detail::divide_up(-column, advance) : 0, phase_floats);
        std::int64_t const end =
            column < width ? (min)((width - 1 - column) / advance + 1, phase_floats) : std::int64_t{0};
        std::int64_t i = 0;
        for (; i < padding; ++i) to[i] = Acc{};
        T const* from = row + (column + i * advance) * conv.x.layout.stride[3];
        if (step == 1)
            for (; i + lanes <= end; i += lanes, from += lanes) host::store(to + i, load_widened(from));
        for (; i < end; ++i, from += step) to[i] = detail::widened(*from);
        for (; i < phase_floats; ++i) to[i] = Acc{};
    }
};

}  // namespace fusekit::host::inline FUSEKIT_FLAGS
