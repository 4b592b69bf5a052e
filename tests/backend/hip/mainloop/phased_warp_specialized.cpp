// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/mainloop/phased_warp_specialized.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <string>

#include "backend/hip/sm90a_device.hpp"
#include "support/refusal.hpp"
#include "support/transposed_convolutions.hpp"

using namespace test;
using fusekit::hip::WarpSpecialized, fusekit::hip::Roles, fusekit::hip::Split;

namespace {

template <class T, auto Geometry, class Device>
void check_strided(Device& device, oracle::Shape const& x, std::int64_t k) {
    check_transposed<T, Geometry, false, ChannelsLastLayouts>(device, x, k);
}

}  // namespace

// Odd and even images; phases of 4, 2, 2 and 1 taps; a phase without taps; phases whose taps begin in padding; strides
// in one mode; channels that fill neither a k-tile nor a tile; more tiles than the emulated GPU has SMs.
TEMPLATE_TEST_CASE("HIP: strided transposed convolutions on sm_90a's matrix units are exact with every schedule", "",
                   (WarpSpecialized<64, 64, 2>), (WarpSpecialized<192, 128, 4>),
                   (WarpSpecialized<64, 128, 5, Roles::ping_pong>), (WarpSpecialized<96, 64, 7, Roles::ping_pong>)) {
    fk::hip::Device device = sm90a_device();
    auto scheduled = device.with<TestType>();
    check_strided<fk::half, fk::filter(3, 3).pad(1).stride(2)>(scheduled, {3, 136, 13, 11}, 72);
    check_strided<fk::half, fk::filter(3, 3).pad(1).stride(2)>(scheduled, {2, 64, 14, 12}, 64);
    check_strided<fk::half, fk::filter(1, 1).stride(2)>(scheduled, {2, 72, 9, 8}, 136);
    check_strided<fk::half, fk::filter(2, 5).pad(0, 1, 2, 3).stride(1, 2)>(scheduled, {2, 24, 7, 9}, 16);
}
