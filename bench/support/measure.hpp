// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "support/backend.hpp"
#include "support/timing.hpp"

namespace bench {

/// Measurement settings of a backend.
struct Settings {
    Case of;
    std::int64_t rotated_bytes;  ///< total bytes of rotated inputs and outputs
    int samples;                 ///< output elements that are checked against the oracle

    /// Median seconds per call of each subject, whose buffers repeat after `rotation` calls.
    std::function<std::vector<double>(std::vector<Subject> const&, std::int64_t rotation)> medians;
};

// Defined in chains.hpp and instantiated in instances/, one file per backend and element type, for parallel
// compilation.
template <class T, class Device>
Measurement measure(Device& device, ConvLayer const& layer, Settings const& settings);
template <class T, class Device>
Measurement measure(Device& device, NormLayer const& layer, NormMode mode, Settings const& settings);

/// Calls measure<T>(device, arguments...) for the element type of `settings`.
template <class Device, class... Arguments>
Measurement measure_type(Device& device, Settings const& settings, Arguments const&... arguments) {
    switch (settings.of.type) {
        case fusekit::DataType::float16: return measure<fusekit::half>(device, arguments..., settings);
        case fusekit::DataType::bfloat16: return measure<fusekit::bfloat16>(device, arguments..., settings);
        default: return measure<float>(device, arguments..., settings);
    }
}

}  // namespace bench
