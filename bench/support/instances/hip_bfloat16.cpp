// SPDX-License-Identifier: MIT
#include <fusekit/hip.hpp>

#include "support/chains.hpp"

using fusekit::hip::Device;
template bench::Measurement bench::measure<fusekit::bfloat16>(Device&, bench::ConvLayer const&, bench::Settings const&);
template bench::Measurement bench::measure<fusekit::bfloat16>(Device&, bench::NormLayer const&, bench::NormMode,
                                                              bench::Settings const&);
