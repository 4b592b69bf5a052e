// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "fusekit/result.hpp"
#include "fusekit/tensor/advice.hpp"
#include "fusekit/tensor/alias_checker.hpp"
#include "fusekit/tensor/any_output.hpp"
#include "fusekit/tensor/optional_view.hpp"

namespace fusekit {
namespace detail {

/// Extents or strides of a tensor, as a pointer and a rank: code that reads Modes is compiled once for all ranks.
struct Modes {
    std::int64_t const* values;
    int rank;
    CollapsedFrom from = {};

    template <int Rank>
    FUSEKIT_H Modes(Index<Rank> const& index) : values(index.values), rank(Rank) {}
    template <int Rank>
    FUSEKIT_H Modes(Index<Rank> const& at, CollapsedFrom const& what) : values(at.values), rank(Rank), from(what) {}
    template <int Rank>
    FUSEKIT_H Modes(CollapsedShape<Rank> const& shape) : Modes(shape, shape.from) {}

    FUSEKIT_H bool of_matrices() const { return from.kind == CollapsedFrom::matrices; }
    FUSEKIT_H bool operator==(Modes const& other) const {
        for (int mode = 0; mode < rank; ++mode)
            if (values[mode] != other.values[mode]) return false;
        return from == other.from;
    }

    /// Formats the extents in the user's modes, before they were collapsed: N x K x Q for a signal.
    [[gnu::cold]] FUSEKIT_H Text to_string() const {
        std::int64_t all[8];
        int count = 0;
        if (of_matrices() && rank >= 3) {  // (A x B x) M x N, and N x B x M of one image
            if (rank == 4 && from.count > 0) all[count++] = values[0];
            if (rank == 4 ? from.count > 1 : values[1] != 1) all[count++] = values[rank - 2];
            all[count++] = values[rank - 1], all[count++] = values[rank - 3];
            return joined(all, count);
        }
        bool const of_volumes = from.kind == CollapsedFrom::volumes;
        for (int mode = 0; mode < rank; ++mode) {
            bool const rows = mode == rank - 2 && from.kind != CollapsedFrom::images;
            if (rows && of_volumes) all[count++] = from.slices();
            if (!rows || of_volumes) all[count++] = rows && of_volumes ? from.slice_rows(values[mode]) : values[mode];
        }
        return joined(all, count);
    }

    /// Returns these strides with the user's modes of `shape`, so that to_string() prints strides in the order of
    /// extents.
    [[gnu::cold]] FUSEKIT_H Modes as_of(Modes const& shape) const {
        Modes result = *this;
        if (shape.of_matrices()) result.from = shape.from;
        return result;
    }

    /// Translates names of modes such as "N x K x P x Q" to the user's modes: "N x K x Q" for signals, "N x K x O x P x
    /// Q" for volumes; for matrices "M x N", or "M x K" if `modes` are x's, or "N x K" if they are weights'.
    [[gnu::cold]] FUSEKIT_H Text named(char const* modes) const {
        if (of_matrices()) {
            char const* const batch = from.count == 2 ? "A x B x " : from.count == 1 && rank == 4 ? "B x " : "";
            return Text(batch) + (std::strchr(modes, 'H') ? "M x K" : std::strchr(modes, 'P') ? "M x N" : modes);
        }
        if (from.kind == CollapsedFrom::images) return modes;
        std::size_t const row = std::strlen(modes) - 5;
        if (from.kind == CollapsedFrom::signal) return Text(modes, row) + (modes + row + 4);
        char const* const slice = modes[row] == 'H' ? "D x " : modes[row] == 'P' ? "O x " : "T x ";
        return Text(modes, row) + slice + (modes + row);
    }

private:
    [[gnu::cold]] FUSEKIT_H static Text joined(std::int64_t const* numbers, int count) {
        Text text;
        for (int i = 0; i < count; ++i) text += Text(i ? " x " : "") + Text::number(numbers[i]);
        return text;
    }
};

/// Formats strides, in elements, in the order in which extents are printed.
template <int Rank>
FUSEKIT_H Text strides_of(CollapsedLayout<Rank> const& layout) {
    return Modes(layout.stride).as_of(layout.shape).to_string();
}

}  // namespace detail

/// Formats extents: "8 x 64 x 14 x 14".
template <int Rank>
FUSEKIT_H Text to_string(Index<Rank> const& index) {
    return detail::Modes(index).to_string();
}
template <int Rank>
FUSEKIT_H Text to_string(CollapsedShape<Rank> const& shape) {
    return detail::Modes(shape).to_string();
}

/// Context of an operator's argument checks: records errors. Host only; formats text only for an error.
class Check {
public:
    CollapsedShape<4> x;  ///< extents of the plan's input, N x C x H x W
    CollapsedShape<4> y;  ///< extents of the plan's output, N x K x P x Q
    DataType type;  ///< element type of x, and of filters without Weights<T>

    Text (*plan)();  ///< returns the name of the plan
    Text (*operator_name)();  ///< returns the name of the operator whose arguments are checked
    bool totals_tiles = false;  ///< true if statistics of tiles are written to scratch first, as after a Conv
    bool runs = true;  ///< false if nothing will be read: then pointers may be null

    /// Calls fail() if `device` cannot access the pointer `data`; null if the device can access all memory.
    void (*check_accessible)(void const* device, Check const& in, char const* argument, void const* data) = nullptr;
    void const* device = nullptr;

    double* bytes = nullptr;  ///< unless null, the bytes of each checked tensor are added to *bytes
    detail::Region const* output = nullptr;  ///< memory of y; null if its address is not known yet
    /// Unless null, the memory of x, whose name is empty, and of arguments checked so far; no output may overlap it.
    detail::AliasChecker* aliases = nullptr;

    /// Unless null, fail() stores the first error here, instead of throwing it, and returns; code after it must then
    /// not rely on the condition that failed.
    Refusal* refusal = nullptr;

    [[gnu::cold]] FUSEKIT_H void fail(char const* argument, Text expected, Text given) const {
        refuse(Error(plan(), operator_name(), argument, std::move(expected), std::move(given)));
    }
    [[gnu::cold]] FUSEKIT_H void refuse(Error error) const {
        if (!refusal) detail::raise(error);
        if (!*refusal) *refusal = std::move(error);
    }
    /// True if fail() has stored an error in *refusal.
    FUSEKIT_H bool refused() const { return refusal && *refusal; }

    template <class Number>
    FUSEKIT_H void require(bool holds, char const* argument, char const* expected, Number given) const {
        if (!holds) fail(argument, expected, Text::number(given));
    }

    /// Calls fail() unless an AnyView or TensorView that the run reads has the given shape, a non-null pointer if it
    /// has elements, and memory apart from the output's (with Access::read_in_place it may be the output's). `modes`
    /// names the extents for two spatial modes: "N x K x P x Q". 8-bit floats are valid for weights alone.
    template <class View>
    FUSEKIT_H void readable(char const* argument, View const& view,
                            CollapsedShape<decltype(View::layout)::rank> const& shape, char const* modes,
                            Access access = Access::read, bool is_weights = false) const {
        if constexpr (requires { view.type; })
            if (detail::is_float8_type(view.type) && !is_weights)
                fail(argument, "float, half, bfloat16 or int8", name(view.type));
        accessible(argument, view, shape, modes, access);
    }

    /// Calls fail() as readable() does for a view that the run writes, an operator's output, and if it overlaps x or
    /// another argument. An optional output is checked if it is given.
    template <class View>
    FUSEKIT_H void writable(char const* argument, View const& view,
                            CollapsedShape<decltype(View::layout)::rank> const& shape, char const* modes) const {
        if constexpr (requires { view.given(); })
            if (!view.given()) return;
        accessible(argument, view, shape, modes, Access::written);
        if (!detail::is_nested(view.layout))
            fail(argument, detail::nested_strides,
                 detail::strides_of(detail::CollapsedLayout(view.layout, detail::collapsed_from(view))));
    }

    /// Memory region of a view. Calls fail() if a stride exceeds the address space, before the address overflows.
    template <int Rank>
    FUSEKIT_H detail::Region region(char const* argument, void const* data, DataType element,
                                    Layout<Rank> const& layout, Access access = Access::read) const {
        return region(argument, data, element, layout.shape, layout.stride, access);
    }
    template <int Rank>
    FUSEKIT_H detail::Region region(char const* argument, void const* data, DataType element,
                                    detail::CollapsedLayout<Rank> const& layout, Access access = Access::read) const {
        return region(argument, data, element, layout.shape, layout.stride, access);
    }

    /// Calls fail() unless `layout` has the given shape.
    template <int Rank>
    FUSEKIT_H void extents(char const* argument, detail::CollapsedLayout<Rank> const& layout,
                           std::type_identity_t<CollapsedShape<Rank>> const& shape, char const* modes) const {
        extents(argument, layout.shape, shape, modes);
    }
    template <int Rank>
    FUSEKIT_H void extents(char const* argument, Layout<Rank> const& layout,
                           std::type_identity_t<CollapsedShape<Rank>> const& shape, char const* modes) const {
        extents(argument, detail::CollapsedLayout<Rank>(layout), shape, modes);
    }

    /// Calls fail() if `own` overlaps the output, unless it is read in place, or if it overlaps an argument checked
    /// before and one of the two is written.
    FUSEKIT_H void apart(detail::Region const& own) const {
        char const* const overlap = "memory that overlaps it";
        bool const in_place = own.access == Access::read_in_place;
        if (output && detail::in_conflict(own, *output) && !(in_place && detail::same_elements(own, *output)))
            fail(own.argument,
                 in_place ? "memory apart from the output's, or the output itself" : "memory apart from the output's",
                 overlap);
        if (!aliases) return;
        if (detail::Region const* other = aliases->conflict(own)) {
            if (!*other->argument) fail(own.argument, "memory apart from the input's", overlap);
            else
                fail(own.argument, "memory apart from that of " + other->operator_name() + "." + other->argument,
                     overlap);
        }
        aliases->add(own);
    }

private:
    template <class View>
    FUSEKIT_H void accessible(char const* argument, View const& view, detail::Modes const& shape, char const* modes,
                              Access access) const {
        detail::Modes const given(view.layout.shape, detail::collapsed_from(view));
        if constexpr (requires { view.type; }) {
            if (view.type == DataType::float64 && type != DataType::float64)
                fail(argument, Text("float, half or bfloat16, as the input is ") + name(type), name(view.type));
            accessible(argument, view.data(), view.type, given, view.layout.stride, shape, modes, access);
        } else {
            using T = std::remove_cvref_t<decltype(*view.data)>;
            accessible(argument, view.data, data_type<detail::StoredAs<T>>, given, view.layout.stride, shape, modes,
                       access);
        }
    }

    FUSEKIT_H void accessible(char const* argument, void const* data, DataType element, detail::Modes const& given,
                              detail::Modes const& stride, detail::Modes const& expected, char const* modes,
                              Access access) const {
        extents(argument, given, expected, modes, access);
        if (refused() || detail::has_no_elements(given.values, given.rank)) return;  // no elements: no memory
        if (!data && runs) fail(argument, "a pointer to " + expected.to_string() + " elements", "a null pointer");
        if (refused() || !data) return;
        apart(region(argument, data, element, given, stride, access));
        if (!bytes) return;
        double size = size_of(element);
        for (int mode = 0; mode < given.rank; ++mode) size *= static_cast<double>(given.values[mode]);
        *bytes += size;
    }

    FUSEKIT_H void extents(char const* argument, detail::Modes const& given, detail::Modes const& expected,
                           char const* modes, Access access = Access::read) const {
        if (!(given == expected)) {
            Text const text = expected.to_string();
            if (given.from.gaps && given.to_string() == text)
                return fail(argument, "slices without gaps in memory: stride[D] = H stride[H]", "gaps between them");
            bool const of_matrices = x.from.kind == CollapsedFrom::matrices;
            if (given.rank == 1 && given.from.count != 1)
                return fail(argument, text + (of_matrices ? " (N), or 1 x N" : " (K), or 1 x K x 1 x 1"),
                            Text::number(given.from.count) + (of_matrices ? " values a column" : " values a channel"));
            if (expected.of_matrices() && !given.of_matrices() && given.to_string() == text) {
                if (given.rank == 3)
                    return fail(argument, "one value per column, as per-pixel parameters are not valid after a Gemm",
                                text + " values");
                return fail(argument, "matrices, which the operator lists in its `views`", "activations of " + text);
            }
            bool const of_columns = of_matrices && given.rank == 1 && std::strcmp(modes, "K") == 0;
            Text const of = std::strncmp(modes, "K x C/", 6) == 0 ? " for x of " + to_string(x) : Text();
            Text const fix = detail::advice(argument, given, expected, modes, x, output, access);
            fail(argument, text + " (" + (of_columns ? Text("N") : expected.named(modes)) + ")" + of,
                 given.to_string() + fix);
        }
    }

    FUSEKIT_H detail::Region region(char const* argument, void const* data, DataType element,
                                    detail::Modes const& shape, detail::Modes const& stride, Access access) const {
        constexpr std::int64_t farthest = std::int64_t{1} << 55;
        auto const first = reinterpret_cast<std::uintptr_t>(data);
        detail::Region own{.first = first,
                           .access = access,
                           .type = element,
                           .rank = shape.rank,
                           .operator_name = operator_name,
                           .argument = argument};
        if (detail::has_no_elements(shape.values, shape.rank)) return own;
        std::int64_t const size = size_of(element);
        std::int64_t low = 0, high = 0;
        for (int mode = 0; mode < shape.rank; ++mode) {
            std::int64_t last, step;
            bool const fits = !__builtin_sub_overflow(shape.values[mode], 1, &last) &&
                              !__builtin_mul_overflow(last, stride.values[mode], &step);
            if (!fits || step < -farthest || step > farthest) {
                fail(argument, "strides within the address space", stride.as_of(shape).to_string());
                return own;
            }
            (step < 0 ? low : high) += step;
            own.extent[mode] = shape.values[mode];
            own.stride[mode] = shape.values[mode] > 1 ? stride.values[mode] * size : 0;
        }
        if (check_accessible && data) check_accessible(device, *this, argument, data);
        own.begin = first + static_cast<std::uintptr_t>(low * size);
        own.end = first + static_cast<std::uintptr_t>((high + 1) * size);
        return own;
    }
};

}  // namespace fusekit
