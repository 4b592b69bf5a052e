// SPDX-License-Identifier: MIT
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "fusekit/text.hpp"

namespace fusekit::hip {

/// Which instruction set a GPU has, as a run sees it: "gfx942" or "sm_90".
class Architecture {
public:
    enum class Maker : unsigned char { other, amd, nvidia };

    FUSEKIT_H Architecture() = default;  ///< an unknown one
    /// gfx(0x90a) is "gfx90a", sm(90) is "sm_90": compute capability 9.0.
    FUSEKIT_H static constexpr Architecture gfx(int number) { return {Maker::amd, number}; }
    FUSEKIT_H static constexpr Architecture sm(int number) { return {Maker::nvidia, number}; }

    /// A device's architecture, from HIP's properties: "gfx90a:sramecc+:xnack-", or the compute capability.
    template <class Properties>
    FUSEKIT_H static Architecture of(Properties const& properties) {
        if constexpr (requires { properties.gcnArchName; }) {
            char const* const name = properties.gcnArchName;
            if (std::strncmp(name, "gfx", 3) == 0) return gfx(static_cast<int>(std::strtol(name + 3, nullptr, 16)));
            if (name[0] != 0) return {};
        }
        return sm(10 * properties.major + properties.minor);
    }

    FUSEKIT_H constexpr Maker maker() const { return own_maker; }
    FUSEKIT_H constexpr int number() const { return own_number; }
    FUSEKIT_H Text name() const {
        if (own_maker == Maker::other) return "unknown";
        char characters[16];
        std::snprintf(characters, sizeof characters, own_maker == Maker::amd ? "gfx%x" : "sm_%d", own_number);
        return characters;
    }
    FUSEKIT_H friend constexpr bool operator==(Architecture const&, Architecture const&) = default;

private:
    Maker own_maker = Maker::other;
    int own_number = 0;

    FUSEKIT_H constexpr Architecture(Maker maker, int number) : own_maker(maker), own_number(number) {}
};

}  // namespace fusekit::hip
