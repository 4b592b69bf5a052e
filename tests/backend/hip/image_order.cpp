// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/image_order.hpp"

#include <catch2/catch_test_macros.hpp>

namespace fk = fusekit;

TEST_CASE("HIP: ImageOrder counts an image's elements by channel or pixel, and next() follows it") {
    for (fk::Index<4> const& shape :
         {fk::Index<4>{{1, 1, 1, 1}}, {{2, 3, 4, 5}}, {{1, 7, 1, 3}}, {{3, 1, 6, 1}}, {{1, 5, 1, 1}}})
        for (bool const channels_last : {false, true}) {
            fk::hip::ImageOrder const order(shape, channels_last);
            std::int64_t const sizes[] = {shape[1], shape[2], shape[3]};
            std::int64_t at[3] = {}, wrong = 0;  // k, p, q of a counter that carries like an odometer
            int const wheels[] = {channels_last ? 0 : 2, channels_last ? 2 : 1, channels_last ? 1 : 0};
            auto const is_at = [&](fk::OutputCoord const& c) {
                return c.n == 0 && c.k == at[0] && c.p == at[1] && c.q == at[2];
            };
            fk::OutputCoord walked{0, 0, 0, 0};
            for (unsigned i = 0; i < shape[1] * shape[2] * shape[3]; ++i) {
                wrong += !is_at(order.coord(i)) + !is_at(walked);
                walked = order.next(walked);
                for (int const wheel : wheels) {
                    if (++at[wheel] < sizes[wheel]) break;
                    at[wheel] = 0;
                }
            }
            CAPTURE(shape[1], shape[2], shape[3], channels_last);
            CHECK(wrong == 0);
        }
}
