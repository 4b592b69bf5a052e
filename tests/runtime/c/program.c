/* SPDX-License-Identifier: MIT
 *
 * A C99 program that uses the shared library: y = relu(conv1x1(x, w) + b), found, described, run and prepared; and what
 * it is told where it is wrong. */
#include <fusekit/runtime/c/fusekit.h>
#include <stdio.h>
#include <string.h>

static int failures = 0;

static void expect(int holds, char const* what) {
    if (holds) return;
    ++failures;
    printf("WRONG: %s; the last message: %s\n", what, fusekit_last_message());
}

static fusekit_tensor tensor(float* data, int64_t n, int64_t c, int64_t h, int64_t w) {
    fusekit_tensor result = {0};
    result.data = data;
    result.type = FUSEKIT_FLOAT;
    result.rank = 4;
    result.extents[0] = n, result.extents[1] = c, result.extents[2] = h, result.extents[3] = w;
    result.strides[0] = c * h * w, result.strides[1] = h * w, result.strides[2] = w, result.strides[3] = 1;
    return result;
}

int main(void) {
    float x_values[8] = {1, 2, 3, 4, 5, 6, 7, 8}, w_values[6] = {1, 0, 0, 1, 1, -1}, b_values[3] = {10, 20, 1};
    float y_values[12];
    float const expected[12] = {11, 12, 13, 14, 25, 26, 27, 28, 0, 0, 0, 0};
    fusekit_operator operators[3] = {{FUSEKIT_CONV, 0, FUSEKIT_FILTER(1, 1, 0, 1)}};
    fusekit_types const floats = {FUSEKIT_FLOAT, FUSEKIT_FLOAT, FUSEKIT_FLOAT};
    fusekit_tensor const x = tensor(x_values, 1, 2, 2, 2), y = tensor(y_values, 1, 3, 2, 2);
    fusekit_arguments arguments[3];
    fusekit_explanation why;
    fusekit_device device = NULL;
    fusekit_plan plan = NULL;
    fusekit_run run = NULL;
    fusekit_types own;
    char name[128];
    int64_t extents[5];
    int32_t plans = 0;
    size_t needed = 1, bytes = 1;
    int i;

    operators[1].kind = FUSEKIT_BIAS;
    operators[2].kind = FUSEKIT_ACTIVATION, operators[2].mode = FUSEKIT_RELU;
    for (i = 0; i < 3; ++i) expect(fusekit_arguments_init(&arguments[i]) == FUSEKIT_SUCCESS, "init");
    arguments[0].tensors[FUSEKIT_WEIGHTS] = tensor(w_values, 3, 2, 1, 1);
    arguments[1].tensors[FUSEKIT_BIASES] = tensor(b_values, 1, 3, 1, 1);

    expect(fusekit_version() == 1 && fusekit_has_backend(FUSEKIT_HOST) == 1, "version and backend");
    expect(fusekit_host_cpu()[0] != 0, "the CPU of the host's code");
    expect(strcmp(fusekit_last_message(), "") == 0, "no message before anything went wrong");
    expect(fusekit_set_size(FUSEKIT_HOST, &plans) == FUSEKIT_SUCCESS && plans > 0, "set size");
    expect(fusekit_set_plan(FUSEKIT_HOST, 0, name, sizeof name, &needed, &own) == FUSEKIT_SUCCESS &&
               strncmp(name, "Plan<", 5) == 0 && needed == strlen(name) + 1,
           "the first plan of the set");
    expect(fusekit_device_create_host(1, &device) == FUSEKIT_SUCCESS, "create host");
    expect(fusekit_find(FUSEKIT_HOST, operators, 3, &floats, &plan) == FUSEKIT_SUCCESS, "find");
    expect(fusekit_plan_name(plan, name, sizeof name, NULL) == FUSEKIT_SUCCESS &&
               strcmp(name, "Plan<Conv<dynamic>, Optional<Bias>, PiecewiseActivation>") == 0,
           "name");
    expect(fusekit_plan_name(plan, name, 5, &needed) == FUSEKIT_SUCCESS && strcmp(name, "Plan") == 0 && needed == 57,
           "a name that is cut");
    expect(fusekit_output_shape(plan, arguments, 3, &x, extents) == FUSEKIT_SUCCESS && extents[0] == 1 &&
               extents[1] == 3 && extents[2] == 2 && extents[3] == 2 && extents[4] == 1,
           "output shape");
    expect(fusekit_workspace_bytes(plan, device, arguments, 3, &x, &y, &bytes) == FUSEKIT_SUCCESS, "workspace bytes");

    memset(y_values, 255, sizeof y_values);
    expect(fusekit_execute(plan, device, FUSEKIT_OWN_STREAM, arguments, 3, &x, &y, NULL, 0) == FUSEKIT_SUCCESS &&
               fusekit_device_synchronize(device) == FUSEKIT_SUCCESS &&
               memcmp(y_values, expected, sizeof expected) == 0,
           "execute");
    memset(y_values, 255, sizeof y_values);
    expect(fusekit_prepare_async(plan, device, arguments, 3, &x, &y, 4, &run) == FUSEKIT_SUCCESS, "prepare async");
    expect(fusekit_run_destroy(run) == FUSEKIT_SUCCESS, "destroy");
    expect(fusekit_prepare(plan, device, arguments, 3, &x, &y, 4, &run) == FUSEKIT_SUCCESS, "prepare");
    expect(fusekit_run_workspace_bytes(run, &needed) == FUSEKIT_SUCCESS && needed == bytes, "workspace of the run");
    expect(fusekit_run_execute(run, device, NULL, x_values, y_values, NULL, 0) == FUSEKIT_SUCCESS &&
               memcmp(y_values, expected, sizeof expected) == 0,
           "run");

    /* A batch of 0 is a run that writes nothing, and its pointers may be null. Sums over no channels are 0. */
    {
        fusekit_tensor const no_x = tensor(NULL, 0, 2, 2, 2), no_y = tensor(NULL, 0, 3, 2, 2),
                             thin_x = tensor(NULL, 1, 0, 2, 2);
        fusekit_run none = NULL;
        float const of_bias[12] = {10, 10, 10, 10, 20, 20, 20, 20, 1, 1, 1, 1};
        memset(y_values, 255, sizeof y_values);
        expect(fusekit_output_shape(plan, arguments, 3, &no_x, extents) == FUSEKIT_SUCCESS && extents[0] == 0 &&
                   extents[1] == 3 && extents[2] == 2 && extents[3] == 2,
               "output shape of no images");
        expect(fusekit_workspace_bytes(plan, device, arguments, 3, &no_x, &no_y, &needed) == FUSEKIT_SUCCESS &&
                   needed == 0,
               "workspace of no images");
        expect(fusekit_execute(plan, device, NULL, arguments, 3, &no_x, &no_y, NULL, 0) == FUSEKIT_SUCCESS,
               "execute on no images");
        expect(fusekit_prepare(plan, device, arguments, 3, &no_x, &no_y, 0, &none) == FUSEKIT_SUCCESS &&
                   fusekit_run_execute(none, device, NULL, NULL, NULL, NULL, 0) == FUSEKIT_SUCCESS &&
                   fusekit_run_destroy(none) == FUSEKIT_SUCCESS,
               "a prepared run on no images");
        expect(
            fusekit_execute(plan, device, NULL, arguments, 3, &no_x, &y, NULL, 0) == FUSEKIT_REFUSED &&
                strstr(fusekit_last_message(), "y: expected 0 x 3 x 2 x 2 (N x K x P x Q), got 1 x 3 x 2 x 2") != NULL,
            "y of another batch");
        arguments[0].tensors[FUSEKIT_WEIGHTS] = tensor(NULL, 3, 0, 1, 1);
        expect(fusekit_execute(plan, device, NULL, arguments, 3, &thin_x, &y, NULL, 0) == FUSEKIT_SUCCESS &&
                   memcmp(y_values, of_bias, sizeof of_bias) == 0,
               "execute on no channels");
        arguments[0].tensors[FUSEKIT_WEIGHTS] = tensor(w_values, 3, 2, 1, 1);
    }

    /* An order that is no kernel, in the rules' words, and before the sequence is whole. */
    operators[1] = operators[2];
    operators[2].kind = FUSEKIT_BIAS, operators[2].mode = 0;
    expect(fusekit_explain(FUSEKIT_HOST, operators, 3, &floats, &why) == FUSEKIT_NO_PLAN &&
               why.reason == FUSEKIT_BROKEN_RULE && why.position == 2 && strcmp(why.rule, "BiasComesEarly") == 0 &&
               strcmp(why.sentence, "Bias shifts the accumulator, so it stands before BatchNorm and Activation") == 0 &&
               strstr(fusekit_last_message(), why.sentence) != NULL,
           "a broken rule");
    expect(fusekit_explain(FUSEKIT_HOST, operators, 2, NULL, &why) == FUSEKIT_SUCCESS &&
               why.reason == FUSEKIT_SUPPORTED && why.sentence[0] == 0,
           "a beginning");
    expect(fusekit_find(FUSEKIT_HOST, operators, 3, &floats, &plan) == FUSEKIT_NO_PLAN && plan != NULL,
           "find leaves the handle as it was");

    /* What is refused. */
    memset(y_values, 0, sizeof y_values);
    arguments[1].tensors[FUSEKIT_BIASES].data = NULL;
    expect(fusekit_execute(plan, device, NULL, arguments, 3, &x, &y, NULL, 0) == FUSEKIT_REFUSED &&
               strstr(fusekit_last_message(), "Optional<Bias>.bias: expected a pointer, got a null pointer") != NULL &&
               y_values[0] == 0,
           "a null bias");
    expect(fusekit_execute(plan, device, NULL, arguments, 2, &x, &y, NULL, 0) == FUSEKIT_INVALID_VALUE, "two of three");
    expect(fusekit_execute(plan, device, NULL, NULL, 3, &x, &y, NULL, 0) == FUSEKIT_INVALID_VALUE, "no arguments");
    expect(fusekit_execute((fusekit_plan)run, device, NULL, arguments, 3, &x, &y, NULL, 0) == FUSEKIT_INVALID_HANDLE,
           "a run in the place of a plan");
    expect(fusekit_run_destroy(run) == FUSEKIT_SUCCESS, "destroy the run");
    expect(fusekit_run_destroy(run) == FUSEKIT_INVALID_HANDLE, "destroy it again");
    expect(fusekit_run_execute(run, device, NULL, x_values, y_values, NULL, 0) == FUSEKIT_INVALID_HANDLE,
           "a run that is destroyed");
    expect(fusekit_device_create_gpu(0, NULL) == FUSEKIT_INVALID_VALUE, "nowhere to put a device");
    expect(fusekit_device_create_host(-1, &device) == FUSEKIT_INVALID_VALUE, "-1 threads");
    expect(strcmp(fusekit_status_name(FUSEKIT_REFUSED), "FUSEKIT_REFUSED") == 0 &&
               strcmp(fusekit_status_name(99), "FUSEKIT_UNKNOWN") == 0,
           "names of statuses");
    expect(fusekit_plan_destroy(plan) == FUSEKIT_SUCCESS && fusekit_device_destroy(device) == FUSEKIT_SUCCESS,
           "destroy");
    if (failures == 0) printf("ok\n");
    return failures;
}
