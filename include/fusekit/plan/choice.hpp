// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/text.hpp"

namespace fusekit {

/// Schedule of a prepared launch, and its predicted time. Trivially copyable, without text: a launch that nobody asks
/// for the name of its schedule formats nothing.
struct Choice {
    Text (*name_of)(Choice const&) = nullptr;  ///< null: no kernel and no loop, because the run writes nothing
    void const* schedule = nullptr;  ///< static object that name_of reads
    int split_k = 1;  ///< CTAs per tile
    double seconds = 0;  ///< predicted time of a run; 0: not predicted
    char const* bound = nullptr;  ///< resource that limits the predicted time: "arithmetic", "L2", "memory", "latency"

    /// Choice of a schedule of this name, a string literal.
    FUSEKIT_H static Choice named(char const* name) {
        return {.name_of = [](Choice const& choice) { return Text(static_cast<char const*>(choice.schedule)); },
                .schedule = name};
    }

    FUSEKIT_H Text name() const { return name_of ? name_of(*this) : Text("none"); }
};

}  // namespace fusekit
