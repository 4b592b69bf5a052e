// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <initializer_list>
#include <random>
#include <vector>

#include "support/problem.hpp"

namespace bench::zoo {

/// Random convolutions, the same in every run: any channels, groups, filters to 7x7, strides, dilations and padding;
/// two thirds have channels that are multiples of 8. x and y have 64 million elements at most.
class RandomProblems {
public:
    std::vector<Problem> make(int count) {
        std::vector<Problem> all;
        while (static_cast<int>(all.size()) < count) {
            Problem const problem = one();
            if (parse_layer(problem.layer.name) && problem.layer.elements(problem.batch) <= 64'000'000)
                all.push_back(problem);
        }
        return all;
    }

private:
    std::mt19937_64 random{1};

    int from(int least, int most) {
        return least + static_cast<int>(random() % static_cast<std::uint64_t>(most - least + 1));
    }
    int one_of(std::initializer_list<int> choices) {
        return choices.begin()[from(0, static_cast<int>(choices.size()) - 1)];
    }

    Problem one() {
        int const groups = from(0, 4) ? 1 : one_of({2, 4, 8, 32, 0});  // 0: depthwise
        bool const aligned = from(0, 2);
        auto const channels = [&] { return aligned ? 8 * from(1, 96) : from(1, 400); };
        int const shared = groups > 1 ? groups * from(1, 32) : channels();
        Layer l{};
        l.c = shared, l.k = groups > 1 ? groups * from(1, 32) : groups == 1 ? channels() : shared;
        l.groups = groups ? groups : shared;
        l.h = from(1, 112), l.w = from(0, 3) ? l.h : from(1, 112);
        l.r = one_of({1, 1, 3, 3, 5, 7}), l.s = from(0, 5) ? l.r : one_of({1, 3, 7});
        l.dilation = from(0, 5) ? 1 : 2, l.stride = from(0, 2) ? 1 : from(2, 3);
        l.pad_h = from(0, l.dilation * (l.r - 1) / 2), l.pad_w = from(0, l.dilation * (l.s - 1) / 2);
        l.name = name_of(l);
        int const batch = one_of({1, 2, 8, 32, 64});
        return {l, batch, from(0, 2) > 0, from(0, 1) > 0};
    }
};

}  // namespace bench::zoo
