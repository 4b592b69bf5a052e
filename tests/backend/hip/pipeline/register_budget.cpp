// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/pipeline/register_budget.hpp"

#include "backend/hip/blocks.hpp"
#include "backend/hip/sm90a_device.hpp"

using namespace test;

namespace {

/// On a GPU, the kernel would hang if producers did not free the registers that consumers wait for.
struct Reallocate : BlockOf<384> {
    using Architecture = fk::hip::arch::Sm90a;
    using Registers = fk::hip::RegisterBudget<40, 232>;
    struct Params {
        unsigned* done;
    };
    struct Shared {};
    __device__ static void run(Params const& params, Shared&, unsigned thread, unsigned) {
        if (thread < 128) Registers::producer_deallocate();
        else Registers::consumer_allocate();
        params.done[thread] = thread;
    }
};

}  // namespace

TEST_CASE("HIP: warpgroups continue with the registers of their role") {
    fk::hip::Device device = sm90a_device();
    Array<unsigned> const done(device, 384, 0xffffffff);
    run_blocks<Reallocate>(device, {done.data()});
    auto const found = done.values();
    for (unsigned i = 0; i < found.size(); ++i) CHECK(found[i] == i);
}

TEST_CASE("HIP: register budgets are refused that setmaxnreg or the register file does not allow") {
    CHECK(fk::hip::is_register_count(24));
    CHECK(fk::hip::is_register_count(256));
    for (int const count : {0, 16, 20, 36, 257, 264}) CHECK_FALSE(fk::hip::is_register_count(count));
    CHECK(fk::hip::fits_register_file(40, 232, 1, 2));
    CHECK(fk::hip::fits_register_file(48, 208, 2, 2));  // 65,536
    CHECK_FALSE(fk::hip::fits_register_file(56, 208, 2, 2));
    CHECK(fk::hip::fits_register_file(72, 216, 1, 2));  // 3 * 168 of the launch
    CHECK_FALSE(fk::hip::fits_register_file(80, 216, 1, 2));  // 65,536
    CHECK_FALSE(fk::hip::fits_register_file(40, 232, 2, 2));
}
