// SPDX-License-Identifier: MIT
#include <fusekit/fusekit.hpp>

#include "support/chains.hpp"

using fusekit::host::Device;
template bench::Measurement bench::measure<float>(Device&, bench::ConvLayer const&, bench::Settings const&);
template bench::Measurement bench::measure<float>(Device&, bench::NormLayer const&, bench::NormMode,
                                                  bench::Settings const&);
