// SPDX-License-Identifier: MIT
#include "fusekit/hip.hpp"
#include "table/run.hpp"

/// Runs the table on the first GPU; exits with 4 (skipped) if there is none.
int main() {
    if (fusekit::hip::device_count() == 0) try {
            fusekit::hip::Device{};
        } catch (fusekit::Error const& error) {
            std::printf("skipped: this needs a GPU. %s\n", error.what());
            return 4;
        }
    fusekit::hip::Device device;
    return test::table::run_table(device.name().c_str(), device);
}
