// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/tuning/select.hpp"

#include <catch2/catch_test_macros.hpp>
#include <type_traits>
#include <vector>

namespace hip = fusekit::hip;

namespace {

using Large = hip::Gemm<128, 64, 16, 3>;
using Small = hip::Gemm<64, 64, 16, 6>;

/// TileM of the schedule that is chosen for m x n in one group.
int chosen(std::int64_t m, std::int64_t n, int processors = 132) {
    std::vector<int> tiles;
    hip::with_fastest(hip::Table<Large, Small>{}, m, n, 1, processors,
                      [&]<class Schedule>(Schedule) { tiles.push_back(Schedule::tile_m); });
    REQUIRE(tiles.size() == 1);
    return tiles[0];
}

}  // namespace

TEST_CASE("HIP: large products take large tiles, and small ones enough of them for all processors") {
    CHECK(chosen(64 * 3025, 256) == 128);  // thousands of tiles of either kind
    CHECK(chosen(64 * 3025, 64) == 128);
    CHECK(chosen(64 * 49, 2048) == 64);  // 800 large tiles are 6.06 a processor, which counts as 7
    CHECK(chosen(64 * 49, 512) ==
          128);  // two large tiles or three small: two waves a scheduler, of which large load less
}

TEST_CASE("HIP: the time of a product is that of the processor with the most tiles") {
    double const one = hip::gemm_time<Large>(128, 64, 1, 132);
    CHECK(hip::gemm_time<Large>(1, 1, 1, 132) == one);
    CHECK(hip::gemm_time<Large>(128 * 132, 64, 1, 132) == one);
    CHECK(hip::gemm_time<Large>(128, 64, 132, 132) == one);
    CHECK(hip::gemm_time<Large>(128 * 133, 64, 1, 132) > one);
    CHECK(hip::gemm_time<Large>(128 * 132, 64, 1, 66) > one);
}

namespace {

/// Parts of m x n x k on 132 processors.
int parts(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t most_blocks = 1 << 20, double cycles = 1500) {
    return hip::choose_parts<hip::Split<Small>>(hip::Table<Large, Small>{}, {m, n, 1, k, 3 * 132, most_blocks, cycles},
                                                132)
        .parts;
}

}  // namespace

TEST_CASE("HIP: blocks share tiles that leave processors idle, where GemmK is long") {
    CHECK(parts(49, 512, 4608) == 8);
    CHECK(parts(784, 128, 1152) == 8);
    CHECK(parts(196, 1024, 256) == 4);  // four pieces of 64
    CHECK(parts(64 * 132, 192, 4608) == 2);  // three tiles a processor of this schedule, and two of the larger one's
    CHECK(parts(64 * 132 + 1, 192, 4608) == 1);
    CHECK(parts(49, 512, 64) == 1);
    CHECK(parts(49, 512, 65) == 1);  // an index less is not worth an exchange
    CHECK(parts(49, 512, 128) == 2);
    CHECK(parts(49, 512, 4608, 63) == 4);  // 8 tiles in 63 blocks
    CHECK(parts(49, 512, 4608, 15) == 1);
}

TEST_CASE("HIP: floats are multiplied on matrix units where products are long") {
    /// Channels of the faster tile on matrix units; 0 where plain arithmetic takes less.
    auto const chosen = [](std::int64_t m, std::int64_t n, std::int64_t k) {
        hip::SplitProduct const product{m, n, 1, k, 3 * 132, 1 << 20, 1500};
        double const wide = hip::float_matrix_cycles<hip::MatrixGemm<128, 128, 1>>(product, 132),
                     narrow = hip::float_matrix_cycles<hip::MatrixGemm<128, 64, 1>>(product, 132),
                     plain = hip::choose_parts<hip::Split<Small>>(hip::Table<Large, Small>{}, product, 132).cycles;
        return plain < wide && plain < narrow ? 0 : wide < narrow ? 128 : 64;
    };
    CHECK(chosen(64 * 784, 128, 1152) == 128);
    CHECK(chosen(64 * 784, 128, 512) == 128);
    CHECK(chosen(64 * 49, 512, 4608) == 128);  // better than tiles that blocks share
    CHECK(chosen(64 * 3025, 64, 576) == 64);
    CHECK(chosen(8 * 784, 128, 1152) == 64);  // 98 tiles, where the other has 49
    CHECK(chosen(64 * 3025, 256, 64) == 0);
    CHECK(chosen(8 * 196, 256, 2304) == 0);
    CHECK(chosen(49, 512, 4608) == 0);
}

TEST_CASE("HIP: tiles are shared only as far as it takes less time than the exchanges") {
    // An index takes 192 cycles: 64 for the sums, half as many for loads, twice that with one wave a scheduler.
    double const whole = 64 * 3.0 * 512;
    CHECK(parts(49, 512, 512, 1 << 20, 0) == 8);
    CHECK(parts(49, 512, 512, 1 << 20, whole / 2 + 1) == 1);
    CHECK(parts(49, 512, 512, 1 << 20, whole / 4 + 1) == 2);  // a quarter less, for another exchange
    CHECK(parts(49, 512, 512, 1 << 20, whole / 8 + 1) == 4);
    CHECK(parts(3025, 64, 576) == 4);  // 48 tiles: four parts are two blocks a processor, eight three
}

namespace {

/// Parts of m x n x k on 132 processors' matrix units.
int matrix_parts(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t most_blocks = 1 << 20,
                 double cycles = 500) {
    return hip::choose_matrix_parts<hip::Split<hip::MatrixGemm<64, 64, 4>>>(
               hip::Table<hip::MatrixGemm<128, 64, 2>>{}, {m, n, 1, k, 2 * 132, most_blocks, cycles}, 132)
        .parts;
}

}  // namespace

TEST_CASE("HIP: blocks share tiles on matrix units, where steps along GemmK are many") {
    CHECK(matrix_parts(49, 512, 4608) == 8);
    CHECK(matrix_parts(49, 512, 2048) == 8);
    CHECK(matrix_parts(196, 1024, 256) == 2);  // two pieces of 128
    CHECK(matrix_parts(3025, 64, 64) == 1);
    CHECK(matrix_parts(49, 512, 4608, 63) == 4);  // 8 tiles in 63 blocks
    CHECK(matrix_parts(64 * 132 + 1, 128, 4608) == 1);  // three tiles a processor
    // A step of one block takes 2200 and 64 x 64 / 10; without parts those of 128 x 64 take 3019.2.
    CHECK(matrix_parts(49, 512, 512, 1 << 20, 8 * 3020 - 4 * 2609) == 1);
    CHECK(matrix_parts(49, 512, 512, 1 << 20, 2 * 2610 + 1) == 2);
    CHECK(matrix_parts(49, 512, 512, 1 << 20, 2 * 2609) == 4);
}

namespace {

using Wide = hip::WarpSpecialized<192, 128, 4>;
using Turns = hip::WarpSpecialized<64, 128, 5, hip::Roles::ping_pong>;
using Thin = hip::WarpSpecialized<64, 64, 8>;

int chosen_on_matrix_units(std::int64_t m, std::int64_t n, std::int64_t steps) {
    return hip::with_fastest_warp_specialized(
        hip::Table<Wide, Turns, Thin>{}, {m, n, steps}, 132,
        []<class Schedule>(Schedule) { return Schedule::tile_m * 1000 + Schedule::tile_n; });
}

}  // namespace

TEST_CASE("HIP: on matrix units too, processors get equal shares of large tiles, or small products small tiles") {
    CHECK(chosen_on_matrix_units(64 * 196, 256, 36) == 192128);  // 132 tiles
    CHECK(chosen_on_matrix_units(64 * 49, 2048, 8) == 64128);  // 784 small tiles are 6 a processor, 272 large ones 3
    CHECK(chosen_on_matrix_units(49, 512, 72) == 64064);
    CHECK(hip::warp_specialized_time<Wide>({1, 1, 9}, 132) == 9 * 768);
    CHECK(hip::warp_specialized_time<Wide>({192 * 132, 128, 9}, 132) == 9 * 768);
    CHECK(hip::warp_specialized_time<Wide>({192 * 132 + 1, 128, 9}, 132) == 2 * 9 * 768);
    CHECK(hip::warp_specialized_time<Thin>({1, 1, 9}, 132) == 9 * 200);
    // 132 processors are 16 blocks for each of 8 columns, or one for each of 200.
    CHECK(hip::warp_specialized_time<Wide>({192 * 66, 128 * 8, 9}, 132) == 4 * 9 * 768);
    CHECK(hip::warp_specialized_time<Wide>({192 * 66, 128 * 8, 9, false, true}, 132) == 5 * 9 * 768);
    CHECK(hip::warp_specialized_time<Wide>({192 * 3, 128 * 200, 9, false, true}, 132) == 6 * 9 * 768);
}

TEST_CASE("HIP: where rows are narrow, tiles that copy fewer of them are chosen") {
    CHECK(hip::warp_specialized_time<Wide>({1, 64, 9, true}, 132) == 9 * 5 * (192 + 64));
    CHECK(hip::warp_specialized_time<Turns>({1, 512, 9, true}, 132) == 9 * 5 * (64 + 128));
    hip::BulkProduct const layer{64 * 3025, 64, 9, true};
    CHECK(hip::warp_specialized_time<Wide>(layer, 132) < hip::warp_specialized_time<Turns>(layer, 132));
}

namespace {

using Image = hip::Planes<240, 1>;
using Pair = hip::Planes<64, 2>;

/// Whether planes win a layer of `pixels` and c to k channels with r x r filters, in so many tiles of the schedule.
template <class Schedule>
bool planes_win(std::int64_t tiles, std::int64_t pixels, std::int64_t c, std::int64_t k, int r) {
    return hip::planes_time<Schedule>({tiles, (c + 63) / 64, r * r, r > 1}, 132) <
           hip::matrix_cycles<hip::MatrixGemm<128, 64, 2>>(pixels, k, 1, (c * r * r + 63) / 64, 132);
}

}  // namespace

TEST_CASE("HIP: planes are chosen where they take less than loads through registers") {
    CHECK(hip::planes_time<Image>({132, 4, 9, false}, 132) == 5000 + 4 * (9 * 960 + 1000) + 8000);
    CHECK(hip::planes_time<Image>({133, 4, 9, false}, 132) == 5000 + 2 * (4 * (9 * 960 + 1000) + 8000));
    CHECK(hip::planes_time<Pair>({1, 1, 1, false}, 132) == 5000 + 2600 + 8000);
    CHECK(hip::planes_time<Pair>({1, 1, 9, true}, 132) == 5000 + 9 * 512 + 5800 + 8000);
    CHECK(planes_win<Image>(128, 64 * 196, 256, 256, 3));
    CHECK(planes_win<Image>(128, 64 * 196, 1024, 256, 1));
    CHECK(planes_win<Image>(1024, 64 * 784, 128, 512, 1));
    CHECK(planes_win<Pair>(128, 64 * 49, 512, 512, 3));
    CHECK_FALSE(planes_win<Image>(256, 64 * 49, 2048, 512, 1));  // most of a tile is empty
    CHECK_FALSE(planes_win<Image>(832, 64 * 3025, 64, 64, 1));  // half of its channels
    CHECK_FALSE(planes_win<Image>(13, 3025, 64, 64, 1));
}

namespace {

namespace arch = hip::arch;
using hip::Architecture;

/// Tables of some architectures, each with a number.
template <class Tag, int number>
struct Tuned {
    using Architecture = Tag;
    static constexpr int value = number;
};
using Amd = Tuned<arch::Amd, 0>;
using Gfx942 = Tuned<arch::Gfx942, 1>;
using Sm80 = Tuned<arch::Sm80, 2>;
using Sm90 = Tuned<arch::Sm90, 3>;

template <class Tunings>
int chosen_for(Architecture architecture) {
    return hip::with_tuning(Tunings{}, architecture, []<class Tuning>(Tuning) { return Tuning::value; });
}

template <class... Tags>
struct Compiling {
    template <class Tag>
    struct IsTargeted : std::bool_constant<(std::is_same_v<Tags, Tag> || ...)> {};
    using Type = typename hip::detail::CompiledFrom<IsTargeted, Amd, Gfx942, Sm80, Sm90>::Type;
};

}  // namespace

TEST_CASE("HIP: a GPU runs with the table of the nearest architecture that it extends") {
    using All = hip::Table<Amd, Gfx942, Sm80, Sm90>;
    CHECK(chosen_for<All>(Architecture::gfx(0x90a)) == 0);
    CHECK(chosen_for<All>(Architecture::gfx(0x942)) == 1);
    CHECK(chosen_for<All>(Architecture::gfx(0x950)) == 1);
    CHECK(chosen_for<All>(Architecture::gfx(0x1100)) == 0);
    CHECK(chosen_for<All>(Architecture::sm(80)) == 2);
    CHECK(chosen_for<All>(Architecture::sm(89)) == 2);
    CHECK(chosen_for<All>(Architecture::sm(90)) == 3);
    CHECK(chosen_for<All>(Architecture::sm(100)) == 3);
    using Reversed = hip::Table<Sm90, Sm80, Gfx942, Amd>;
    CHECK(chosen_for<Reversed>(Architecture::gfx(0x942)) == 1);
    CHECK(chosen_for<Reversed>(Architecture::sm(86)) == 2);
    CHECK(chosen_for<Reversed>(Architecture::sm(90)) == 3);
}

TEST_CASE("HIP: a GPU that no table describes runs with the first that was compiled") {
    CHECK(chosen_for<hip::Table<Sm80, Sm90>>(Architecture::sm(75)) == 2);
    CHECK(chosen_for<hip::Table<Sm90, Sm80>>(Architecture{}) == 3);
}

TEST_CASE("HIP: the tables of a program are those nearest to what it is compiled for") {
    static_assert(std::is_same_v<Compiling<arch::Sm90>::Type, hip::Table<Sm90>>);
    static_assert(std::is_same_v<Compiling<arch::Sm86>::Type, hip::Table<Sm80>>);
    static_assert(std::is_same_v<Compiling<arch::Sm86, arch::Sm89>::Type, hip::Table<Sm80>>);
    static_assert(std::is_same_v<Compiling<arch::Sm80, arch::Sm90>::Type, hip::Table<Sm80, Sm90>>);
    static_assert(std::is_same_v<Compiling<arch::Gfx942, arch::Gfx90a>::Type, hip::Table<Amd, Gfx942>>);
    static_assert(std::is_same_v<Compiling<arch::Gfx950>::Type, hip::Table<Gfx942>>);
    CHECK((std::is_same_v<hip::CompiledTunings, hip::Table<hip::AmdTuning>> ||
           std::is_same_v<hip::CompiledTunings, hip::Table<hip::NvidiaTuning>>));
}
