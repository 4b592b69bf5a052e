// SPDX-License-Identifier: MIT
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "fusekit/plan/choice.hpp"
#include "fusekit/tensor/check.hpp"
#include "fusekit/tensor/dtype.hpp"
#include "fusekit/tensor/layout.hpp"

/// The log of prepared runs: with the environment variable FUSEKIT_LOG=1, each prepare() that succeeds prints one line
/// to stderr (docs/profiling.md):
///
///     fusekit: plan=Plan<...>; x=float 8 x 3 x 14 x 14 (588 x 196 x 14 x 1); y=float ...; device=GPU 0, gfx90a;
///     schedule=NativeGemm<128, 64>; predicted=23.1 us; bound=arithmetic; workspace=0 B
namespace fusekit::detail {

/// True for the values of FUSEKIT_LOG that request the log: all but "" and "0". Null: the variable is not set.
FUSEKIT_H inline bool requests_log(char const* value) { return value && *value && std::strcmp(value, "0") != 0; }

/// True if this process logs. Reads the environment at the first call only; threads that call first at the same time
/// read the same value. The static has a constant initializer because libnvrtc compiles this header for devices.
FUSEKIT_H inline bool logs() {
    constexpr int unread = 0, no = 1, yes = 2;
    static int state = unread;  // atomic
    int known = __atomic_load_n(&state, __ATOMIC_RELAXED);
    if (known == unread) {
        known = requests_log(std::getenv("FUSEKIT_LOG")) ? yes : no;
        __atomic_store_n(&state, known, __ATOMIC_RELAXED);
    }
    return known == yes;
}

/// Type, extents and strides of a tensor: "float 8 x 3 x 14 x 14 (588 x 196 x 14 x 1)".
template <int Rank>
[[gnu::cold]] FUSEKIT_H Text logged(Layout<Rank> const& layout, DataType type) {
    return Text(name(type)) + " " + to_string(layout.shape) + " (" + to_string(layout.stride) + ")";
}

/// Line of a prepared run, without the end of line.
[[gnu::cold]] FUSEKIT_H inline Text log_line(Text const& plan, Text const& x, Text const& y, Text const& device,
                                             Choice const& choice, std::size_t workspace_bytes) {
    char time[32] = "none";
    if (choice.seconds > 0) std::snprintf(time, sizeof time, "%.3g us", 1e6 * choice.seconds);
    return "fusekit: plan=" + plan + "; x=" + x + "; y=" + y + "; device=" + device + "; schedule=" + choice.name() +
           "; predicted=" + time + "; bound=" + (choice.seconds > 0 && choice.bound ? choice.bound : "none") +
           "; workspace=" + Text::number(workspace_bytes) + " B";
}

/// Prints the line of a launch that a backend prepared for these tensors. A backend whose launches have no `choice` and
/// no device_name(), such as a wrapper of another device, prints none.
template <class Launch, class XLayout, class YLayout>
[[gnu::cold, gnu::noinline]] FUSEKIT_H void log_prepared(Text (*plan)(), XLayout const& x, DataType of_x,
                                                         YLayout const* y, DataType of_y, Launch const& launch) {
    if constexpr (requires { launch.choice.name(), launch.device_name(); }) {
        Text const line = log_line(plan(), logged(x, of_x), y ? logged(*y, of_y) : Text("none"), launch.device_name(),
                                   launch.choice, launch.workspace_bytes);
        std::fprintf(stderr, "%s\n", line.c_str());
    }
}

}  // namespace fusekit::detail
