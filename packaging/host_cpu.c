/* SPDX-License-Identifier: MIT
 *
 * Prints the CPU for which the compiled library's running code was compiled. */
#include <fusekit/runtime/c/fusekit.h>
#include <stdio.h>

int main(void) {
    puts(fusekit_host_cpu());
    return 0;
}
