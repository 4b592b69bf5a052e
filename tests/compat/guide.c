/* SPDX-License-Identifier: MIT
 *
 * The header in C, and a plan from beginning to end on the CPU: y = relu(2 x + 1). */
#include <miopen/miopen.h>
#include <stdio.h>
#include <stdlib.h>

static void check(miopenStatus_t status) {
    if (status == miopenStatusSuccess) return;
    fprintf(stderr, "%s: %s\n", miopenGetErrorString(status), fusekitMiopenLastError());
    exit(1);
}

int main(void) {
    float const x[6] = {-2, -1, 0, 1, 2, 3}, w[1] = {2}, b[1] = {1}, alpha = 1, beta = 0;
    float y[6] = {9, 9, 9, 9, 9, 9}, milliseconds = 0;
    int i, wrong = 0;
    miopenHandle_t handle;
    miopenTensorDescriptor_t image, one;
    miopenConvolutionDescriptor_t convolution;
    miopenFusionPlanDescriptor_t plan;
    miopenFusionOpDescriptor_t conv, bias, relu, early;
    miopenOperatorArgs_t args;

    check(miopenCreate(&handle));
    check(miopenEnableProfiling(handle, true));
    check(miopenCreateTensorDescriptor(&image));
    check(miopenCreateTensorDescriptor(&one));
    check(miopenSet4dTensorDescriptor(image, miopenFloat, 0, 0, 0, 0)); /* as a wrapper's constructor does */
    check(miopenSet4dTensorDescriptor(image, miopenFloat, 1, 1, 2, 3));
    check(miopenSet4dTensorDescriptor(one, miopenFloat, 1, 1, 1, 1));
    check(miopenCreateConvolutionDescriptor(&convolution));
    check(miopenInitConvolutionDescriptor(convolution, miopenConvolution, 0, 0, 1, 1, 1, 1));

    check(miopenCreateFusionPlan(&plan, miopenVerticalFusion, image));
    check(miopenCreateOpConvForward(plan, &conv, convolution, one));
    check(miopenCreateOpBiasForward(plan, &bias, one));
    check(miopenCreateOpActivationForward(plan, &relu, miopenActivationRELU));
    wrong += miopenCreateOpBiasForward(plan, &early, one) != miopenStatusUnsupportedOp;
    check(miopenCompileFusionPlan(handle, plan));

    check(miopenCreateOperatorArgs(&args));
    check(miopenSetOpArgsConvForward(args, conv, &alpha, &beta, w));
    check(miopenSetOpArgsBiasForward(args, bias, &alpha, &beta, b));
    check(miopenSetOpArgsActivForward(args, relu, &alpha, &beta, 0.0, 0.0, 0.0));
    check(miopenExecuteFusionPlan(handle, plan, image, x, image, y, args));
    check(miopenGetKernelTime(handle, &milliseconds));
    wrong += !(milliseconds > 0);
    for (i = 0; i < 6; ++i) wrong += y[i] != (2 * x[i] + 1 > 0 ? 2 * x[i] + 1 : 0);

    check(miopenDestroyOperatorArgs(args));
    check(miopenDestroyFusionPlan(plan));
    check(miopenDestroyConvolutionDescriptor(convolution));
    check(miopenDestroyTensorDescriptor(one));
    check(miopenDestroyTensorDescriptor(image));
    check(miopenDestroy(handle));
    printf("%d wrong\n", wrong);
    return wrong != 0;
}
