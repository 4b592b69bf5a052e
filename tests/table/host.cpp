// SPDX-License-Identifier: MIT
#include <cstring>

#include "table/page.hpp"
#include "table/run.hpp"

/// Runs the table on the host; with --markdown, prints its page.
int main(int count, char** arguments) {
    if (count > 1 && std::strcmp(arguments[1], "--markdown") == 0)
        return std::fputs(test::table::page().c_str(), stdout) < 0;
    fusekit::host::Device device(3);
    return test::table::run_table("host", device);
}
