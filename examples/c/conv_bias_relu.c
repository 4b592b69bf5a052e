/* SPDX-License-Identifier: MIT
 *
 * y = relu(conv3x3(x, w) + b) from C, on the CPU. */
#include <fusekit/runtime/c/fusekit.h>
#include <stdio.h>
#include <stdlib.h>

static void check(fusekit_status status) {
    if (status == FUSEKIT_SUCCESS) return;
    fprintf(stderr, "%s: %s\n", fusekit_status_name(status), fusekit_last_message());
    exit(1);
}

static void fill(float* values, int count, float value) {
    for (int i = 0; i < count; ++i) values[i] = value;
}

int main(void) {
    static float x[2 * 16 * 8 * 8], w[16 * 16 * 3 * 3], b[16], y[2 * 16 * 8 * 8];
    fill(x, 2 * 16 * 8 * 8, 1), fill(w, 16 * 16 * 3 * 3, 0.5f), fill(b, 16, -4);

    fusekit_operator operators[3] = {{FUSEKIT_CONV, 0, FUSEKIT_FILTER(3, 3, 1, 1)},
                                     {.kind = FUSEKIT_BIAS},
                                     {.kind = FUSEKIT_ACTIVATION, .mode = FUSEKIT_RELU}};
    fusekit_types types = {FUSEKIT_FLOAT, FUSEKIT_FLOAT, FUSEKIT_FLOAT};
    fusekit_device device;
    fusekit_plan plan;
    check(fusekit_device_create_host(0, &device));
    check(fusekit_find(FUSEKIT_HOST, operators, 3, &types, &plan));

    fusekit_arguments arguments[3];
    for (int i = 0; i < 3; ++i) check(fusekit_arguments_init(&arguments[i]));
    arguments[0].tensors[FUSEKIT_WEIGHTS] =
        (fusekit_tensor){w, FUSEKIT_FLOAT, 4, {16, 16, 3, 3}, {16 * 3 * 3, 3 * 3, 3, 1}};
    arguments[1].tensors[FUSEKIT_BIASES] = (fusekit_tensor){b, FUSEKIT_FLOAT, 1, {16}, {1}};
    fusekit_tensor of_x = {x, FUSEKIT_FLOAT, 4, {2, 16, 8, 8}, {16 * 8 * 8, 8 * 8, 8, 1}}, of_y = of_x;
    of_y.data = y;
    check(fusekit_execute(plan, device, FUSEKIT_OWN_STREAM, arguments, 3, &of_x, &of_y, NULL, 0));

    printf("y[0] = %g, y[9] = %g\n", y[0], y[9]); /* 4 and 9 taps in the image: 16 / 2 times that, less 4 */
    check(fusekit_plan_destroy(plan));
    check(fusekit_device_destroy(device));
    return 0;
}
