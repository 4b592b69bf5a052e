// SPDX-License-Identifier: MIT
#include "support/random_case.hpp"

#include <algorithm>
#include <cstdint>

namespace test {

namespace {

std::string random_layout(Random& random, std::initializer_list<char const*> common, char const* rare) {
    std::string word = random.pick(common);
    if (random.chance(0.15)) {
        word = rare;
        for (int i = 3; i > 0; --i)
            std::swap(word[static_cast<std::size_t>(i)], word[static_cast<std::size_t>(random.range(0, i))]);
    }
    if (random.chance(0.2)) word += "+" + std::to_string(random.range(1, 3));
    if (random.chance(0.1)) word += "*" + std::to_string(random.range(2, 3));
    if (random.chance(0.15)) {  // some modes have negative strides
        word += '-';
        for (char const* mode = rare; *mode; ++mode)
            if (mode == rare + 1 || random.chance(0.5)) word += *mode;
    }
    return word;
}

/// Stride of a mode of one element: ordinary, negative, or beyond 32 bits.
std::string random_idle_stride(Random& random) {
    return random.chance(0.7) ? "" : "!" + std::to_string(random.pick<std::int64_t>({1, 8, -3, -(INT64_C(1) << 33)}));
}

/// Mostly small numbers, otherwise ones near a vector's or a block's length.
std::int64_t random_extent(Random& random, std::int64_t largest) {
    std::int64_t const around = random.pick({4, 8, 16, 32, 48, 64, 128, 256, 512}) + random.range(-1, 1);
    std::int64_t const extent = random.chance(0.6) ? random.range(1, 12) : around;
    return std::min(extent, largest);
}

}  // namespace

Case random_case(Random& random, std::vector<FormName> const& forms, double multiplications) {
    for (;;) {
        Case c;
        c.type = random.pick({fk::DataType::float32, fk::DataType::float16, fk::DataType::bfloat16});
        c.parameters = random.chance(0.5)
                           ? c.type
                           : random.pick({fk::DataType::float32, fk::DataType::float16, fk::DataType::bfloat16});
        FormName const& form =
            forms[static_cast<std::size_t>(random.range(0, static_cast<std::int64_t>(forms.size()) - 1))];
        c.form = form.letters, c.mode = form.mode;
        c.x = {random.range(1, 3), random_extent(random, 600), random_extent(random, 64), random_extent(random, 64)};
        c.k = random.chance(0.1) ? 1 : random_extent(random, 260);
        bool const tiny = random.chance(form.letters[0] == 'C' ? 0.1 : 0.4);  // at most a few vectors of pixels
        if (tiny) c.x = {random.range(1, 9), random.range(1, 9), random.range(1, 3), random.range(1, 3)};
        oracle::Window& f = c.window;
        if (c.has_conv()) {
            bool const common = random.chance(0.5);
            f.r = common ? random.pick({1, 3, 3, 5, 7}) : random.range(1, 12);
            f.s = common ? f.r : random.range(1, 12);
            if (random.chance(0.5)) f.u = f.v = random.pick({1, 1, 2, 3});
            else f.u = random.range(1, 4), f.v = random.range(1, 4);
            if (random.chance(0.3)) f.d = random.range(1, 3), f.e = random.range(1, 3);
            auto const pad = [&](std::int64_t size, std::int64_t spread) {
                return random.range(0, (size - 1) * spread / 2 + 1);
            };
            f.top = f.bottom = pad(f.r, f.d), f.left = f.right = pad(f.s, f.e);
            if (random.chance(0.4)) f.top = pad(f.r, f.d), f.right = pad(f.s, f.e);
            if (random.chance(0.2)) f.top = f.left = f.bottom = f.right = 0;
            if (random.chance(0.3)) {  // groups, down to one channel per group
                f.groups = random.chance(0.5) ? std::min<std::int64_t>(c.x.c, 70) : random.range(1, 6);
                std::int64_t const in = f.groups == c.x.c ? 1 : random.range(1, 9), out = random.range(1, 9);
                c.x.c = f.groups * in, c.k = f.groups * out;
            }
        } else {
            c.k = c.x.c;
        }
        c.x_layout = random_layout(random, {"nchw", "nhwc"}, "nchw");
        bool const alike = random.chance(0.6);
        c.y_layout = alike ? c.x_layout : random_layout(random, {"nchw", "nhwc"}, "nchw");
        c.w_layout = random_layout(random, {"kcrs", "krsc"}, "kcrs");
        for (std::string* word : {&c.x_layout, &c.y_layout, &c.w_layout}) *word += random_idle_stride(random);
        c.threads = random.pick({1, 2, 3});
        c.real = random.chance(0.2);
        c.seed = random.next() % 1000;
        if (c.y().h < 1 || c.y().w < 1 || c.multiplications() > (random.chance(0.03) ? 1 : 0.05) * multiplications ||
            c.x.size() > 300000)
            continue;
        return c;
    }
}

}  // namespace test
