// SPDX-License-Identifier: MIT
#pragma once

#include <cstring>

#include "fusekit/tensor/collapsed.hpp"
#include "fusekit/tensor/region.hpp"
#include "fusekit/text.hpp"

/// Suggestions that a shape error appends if the given extents reveal the mistake, such as NHWC extents given as NCHW.
namespace fusekit::detail {

/// Text "write fk::NAME(a, b, c, d)", where NAME creates a layout.
[[gnu::cold]] FUSEKIT_H inline Text call_of(char const* name, Index<4> const& arguments) {
    Text text = Text("write fk::") + name + "(";
    for (int i = 0; i < 4; ++i) text += Text(i ? ", " : "") + Text::number(arguments[i]);
    return text + ")";
}

/// Text of extents as function arguments: "2 x 3" becomes "2, 3".
[[gnu::cold]] FUSEKIT_H inline Text as_arguments(Text const& extents) {
    Text text;
    char const* from = extents.c_str();
    while (char const* const end = std::strstr(from, " x ")) {
        text += Text(from, static_cast<std::size_t>(end - from)) + ", ";
        from = end + 3;
    }
    return text + from;
}

/// True if broadcast() can expand extents `given` to `expected`: each extent is equal, or 1 in `given`.
template <class Modes>
[[gnu::cold]] FUSEKIT_H bool may_be_broadcast(Modes const& given, Modes const& expected) {
    bool fits = given.from.kind == expected.from.kind && given.rank == expected.rank;
    for (int mode = 0; fits && mode < given.rank; ++mode)
        fits = given.values[mode] == expected.values[mode] || given.values[mode] == 1;
    if (given.from.kind != CollapsedFrom::volumes) return fits && given.from == expected.from;
    return fits && (given.from.count == expected.from.count || given.from.count == 1);
}

/// Suggestion for a wrong shape of activations, N x K x P x Q, or of per-pixel parameters, K x P x Q; empty if there is
/// none.
template <class Modes>
[[gnu::cold]] FUSEKIT_H Text activation_advice(char const* argument, Modes const& given, Modes const& expected,
                                               Index<4> const& x, Access access) {
    if (*argument && access != Access::written && may_be_broadcast(given, expected))
        return Text(": write fk::broadcast(") + (std::strchr(argument, ' ') ? "view" : argument) + ", " +
               as_arguments(expected.to_string()) + ")";
    if (given.rank != 4 || given.from.kind != CollapsedFrom::images || expected.from.kind != CollapsedFrom::images)
        return "";
    std::int64_t const *g = given.values, *e = expected.values;
    if (g[0] == e[0] && g[1] == e[2] && g[2] == e[3] && g[3] == e[1])
        return ": if the memory order is NHWC, " + call_of("nhwc", {{g[0], g[1], g[2], g[3]}});
    bool const of_x = g[0] == e[0] && g[1] == e[1] && g[2] == x[2] && g[3] == x[3];
    std::int64_t const missing = g[2] - e[2];
    if (!*argument && of_x && missing > 0 && missing % 2 == 0 && missing == g[3] - e[3] && 2 * e[2] > g[2])
        return ": to keep H x W, add .pad(" + Text::number(missing / 2) + ") to the filter";
    return "";
}

/// Suggestion for a wrong shape of a Conv's weights or, if `argument` is empty, of y as their gradient: K x C/groups x
/// R x S; empty if there is none. `x`: extents of the input. `channels`: K of the output, 0 if unknown.
template <class Modes>
[[gnu::cold]] FUSEKIT_H Text weight_advice(char const* argument, Modes const& given, Modes const& expected,
                                           Index<4> const& x, std::int64_t channels) {
    if (given.from.kind != CollapsedFrom::images || expected.from.kind != CollapsedFrom::images) return "";
    std::int64_t const *g = given.values, *e = expected.values, c = e[1], r = e[2], s = e[3];
    if (g[1] == r && g[2] == s && g[3] == c)
        return ": if the memory order is KRSC, " + call_of("krsc", {{g[0], r, s, c}});
    if (g[0] == r && g[1] == s && g[2] == c)
        return ": if the memory order is RSCK, write TensorView(pointer, fk::Layout<4>{{{" +
               as_arguments(Modes(Index<4>{{g[3], c, r, s}}).to_string()) + "}}, {{" +
               as_arguments(Modes(Index<4>{{1, g[3], s * c * g[3], c * g[3]}}).to_string()) + "}}})";
    if (g[2] != r || g[3] != s || g[1] < 1) return "";
    if (*argument && x[1] == g[0] && channels == g[1]) return ": if x and y are exchanged, write layer(device, x, y)";
    if (x[1] == c && x[3] == g[1]) return ": if x is NHWC in memory, " + call_of("nhwc", {{x[0], x[1], x[2], x[3]}});
    if (x[1] == c && g[1] < c && c % g[1] == 0 && g[0] % (c / g[1]) == 0)
        return ": for a grouped convolution add .groups(" + Text::number(c / g[1]) + ") to the filter";
    if (g[0] == c && g[0] != g[1])
        return Text(": if the memory order is CKRS, write fk::transposed(") + (*argument ? "weights" : "y") + ", 0, 1)";
    return "";
}

/// Suggestion for a wrong shape of any argument. `modes` names the expected extents, such as "K x C/groups x R x S"
/// (Check::readable), and so the kind of argument.
template <class Modes>
[[gnu::cold]] FUSEKIT_H Text advice(char const* argument, Modes const& given, Modes const& expected, char const* modes,
                                    Index<4> const& x, Region const* output, Access access) {
    if (std::strncmp(modes, "K x C/", 6) == 0)
        return weight_advice(argument, given, expected, x, output ? output->extent[1] : 0);
    if (std::strstr(modes, "K x P x Q")) return activation_advice(argument, given, expected, x, access);
    return "";
}

}  // namespace fusekit::detail
