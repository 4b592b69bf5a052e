// Fragment layouts of all matrix instructions: which thread holds which operand element and which accumulator. Checked
// here, not in the headers: each program that includes a header would take a third of a second longer to compile.
#include <catch2/catch_test_macros.hpp>

#include "fusekit/backend/hip/atom/mfma.hpp"
#include "fusekit/backend/hip/atom/mma_sync.hpp"
#include "fusekit/backend/hip/atom/row_tile.hpp"
#include "fusekit/backend/hip/atom/wgmma.hpp"
#include "fusekit/backend/hip/atom/wmma.hpp"

using namespace fusekit::hip;
using fusekit::bfloat16, fusekit::half, fusekit::int8, fusekit::tf32;

namespace {

/// True if each element of an MMA's tile (Atom::m, Atom::n) is exactly one accumulator of one thread.
template <class Atom>
consteval bool sums_are_a_bijection() {
    bool found[Atom::m * Atom::n] = {};
    for (int thread = 0; thread < Atom::threads; ++thread)
        for (int e = 0; e < Atom::acc_per_thread; ++e) {
            bool& one = found[Atom::row(thread, e) * Atom::n + Atom::column(thread, e)];
            if (one) return false;
            one = true;
        }
    return Atom::threads * Atom::acc_per_thread == Atom::m * Atom::n;
}

/// True if each operand element (Atom::m rows, Atom::k indices) is held by `times` threads.
template <class Atom>
consteval bool factors_are_held(int times) {
    int found[Atom::m * Atom::k] = {};
    for (int thread = 0; thread < Atom::threads; ++thread)
        for (int e = 0; e < Atom::factors_per_thread; ++e)
            ++found[Atom::factor_row(thread, e) * Atom::k + Atom::factor_k(thread, e)];
    for (int const count : found)
        if (count != times) return false;
    return true;
}

template <class Atom>
consteval bool is_a_product(int times_held = 1) {
    return sums_are_a_bijection<Atom>() && factors_are_held<Atom>(times_held);
}

/// True if eight consecutive lanes, which NVIDIA's GPUs serve at once, read their 16 bytes of each row of an operand
/// from different banks of shared memory: 32 banks of 4 bytes.
template <class Tile, class Unit>
consteval bool eights_read_different_banks() {
    constexpr int factors = Unit::factors_per_thread / Unit::rows_per_thread;
    constexpr int bytes = static_cast<int>(sizeof(typename Tile::Operand));
    for (int first = 0; first < Unit::threads; first += 8)
        for (int own = 0; own < Unit::rows_per_thread; ++own) {
            unsigned found = 0;
            for (int lane = first; lane < first + 8; ++lane) {
                auto const row = static_cast<unsigned>(Unit::factor_row(lane, own * factors));
                auto const chunk = static_cast<unsigned>(Unit::factor_k(lane, 0) / factors);
                found |= 1u << Tile::element_index(chunk * 16 / bytes, row) * bytes / 16 % 8;
            }
            if (found != 0xff) return false;
        }
    return true;
}

}  // namespace

TEST_CASE("HIP: fragment layouts: each accumulator has one thread, each factor its documented lanes") {
    STATIC_CHECK(is_a_product<Mfma<half, 8>>());
    STATIC_CHECK(is_a_product<Mfma<half, 16, 16>>());
    STATIC_CHECK(is_a_product<Mfma<bfloat16, 4>>());
    STATIC_CHECK(is_a_product<Mfma<bfloat16, 8>>());
    STATIC_CHECK(is_a_product<Mfma<int8, 8>>());
    STATIC_CHECK(is_a_product<Mfma<int8, 16>>());
    STATIC_CHECK(is_a_product<Mfma<float, 2>>());
    STATIC_CHECK(is_a_product<Mfma<tf32, 4>>());
    STATIC_CHECK(is_a_product<Wmma<half, arch::Gfx11>>(2));
    STATIC_CHECK(is_a_product<Wmma<bfloat16, arch::Gfx11>>(2));
    STATIC_CHECK(is_a_product<Wmma<int8, arch::Gfx11>>(2));
    STATIC_CHECK(is_a_product<Wmma<half, arch::Gfx12>>());
    STATIC_CHECK(is_a_product<Wmma<int8, arch::Gfx12>>());
    STATIC_CHECK(is_a_product<MmaSync<half>>());
    STATIC_CHECK(is_a_product<MmaSync<int8>>());
    STATIC_CHECK(is_a_product<MmaSync<tf32>>());
    STATIC_CHECK(sums_are_a_bijection<Wgmma<half, 64>>());
    STATIC_CHECK(sums_are_a_bijection<Wgmma<half, 112>>());
}

TEST_CASE("HIP: eight lanes read factors without bank conflicts") {
    STATIC_CHECK(eights_read_different_banks<RowTile<half, 64, 64>, MmaSync<half>>());
    STATIC_CHECK(eights_read_different_banks<RowTile<int8, 64, 64>, MmaSync<int8>>());
    STATIC_CHECK(eights_read_different_banks<RowTile<float, 64, 64>, MmaSync<tf32>>());
}
