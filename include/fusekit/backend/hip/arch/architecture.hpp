// SPDX-License-Identifier: MIT
#pragma once

#include <cstdio>
#include <cstring>

#include "fusekit/text.hpp"

namespace fusekit::hip {

/// Architecture of a GPU as a run-time value, such as gfx942 or sm_90.
class Architecture {
public:
    enum class Maker : unsigned char { other, amd, nvidia };

    FUSEKIT_H Architecture() = default;  ///< makes an unknown architecture
    /// Makes an architecture from its number: gfx(0x90a) is gfx90a; sm(90) is sm_90, compute capability 9.0.
    FUSEKIT_H static constexpr Architecture gfx(int number) { return {Maker::amd, number}; }
    FUSEKIT_H static constexpr Architecture sm(int number) { return {Maker::nvidia, number}; }
    /// Parses AMD's name of an architecture, "gfx90a", which may be followed by feature flags, as in
    /// "gfx90a:sramecc+:xnack-". A name with two digits, "gfx11-generic", gives number 0x1100.
    FUSEKIT_H static constexpr Architecture gfx(char const* name) {
        int number = 0;
        for (char const* at = name + 3; digit(*at) >= 0; ++at) number = 16 * number + digit(*at);
        return gfx(number < 0x100 ? 0x100 * number : number);
    }
    FUSEKIT_H constexpr Architecture(Maker maker, int number) : own_maker(maker), own_number(number) {}

    /// Returns the architecture of a device, from HIP's properties: from gcnArchName or, on NVIDIA, from the compute
    /// capability.
    template <class Properties>
    FUSEKIT_H static Architecture of(Properties const& properties) {
        if constexpr (requires { properties.gcnArchName; }) {
            char const* const name = properties.gcnArchName;
            if (std::strncmp(name, "gfx", 3) == 0) return gfx(name);
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

    FUSEKIT_H static constexpr int digit(char c) {
        return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
    }
};

}  // namespace fusekit::hip
