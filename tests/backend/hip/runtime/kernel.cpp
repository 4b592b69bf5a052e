// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/runtime/kernel.hpp"

#include <type_traits>

#include "backend/hip/blocks.hpp"

using namespace test;
namespace arch = fk::hip::arch;

namespace {

/// Maker of the program's targets, which is the same in all compiler passes.
using Maker = std::conditional_t<std::is_base_of_v<arch::Amd, arch::Target>, arch::Amd, arch::Nvidia>;

/// Tag of no GPU that this program targets.
struct Elsewhere : arch::Any {};

/// Writes 1. Does not compile for targets that lack Needed, because it calls an undeclared function.
template <class Needed>
struct Mark : BlockOf<1> {
    using Architecture = Needed;
    struct Params {
        int* out;
    };
    struct Shared {};
    __device__ static void run(Params const& params, Shared&, unsigned, unsigned) {
        if constexpr (std::is_same_v<Needed, Elsewhere>) Needed::instruction_of_another_architecture(params.out);
        else *params.out = 1;
    }
};

template <class Needed>
int marked(fk::hip::Device& device) {
    Array<int> const out(device, 1, 0);
    run_blocks<Mark<Needed>>(device, {out.data()});
    return out.values()[0];
}

}  // namespace

TEST_CASE("HIP: a mainloop is compiled for the architectures that have what it needs") {
    fk::hip::Device device = gpu();
    CHECK(marked<arch::Any>(device) == 1);
    CHECK(marked<Maker>(device) == 1);
    CHECK(marked<Elsewhere>(device) == 0);
}
