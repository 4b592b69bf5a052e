// SPDX-License-Identifier: MIT
//
// y = relu(conv3x3(x, w) + b) by MIOpen's calls.

#include <miopen/miopen.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

void check(miopenStatus_t status) {
    if (status == miopenStatusSuccess) return;
    std::fprintf(stderr, "%s: %s\n", miopenGetErrorString(status), fusekitMiopenLastError());
    std::exit(1);
}

int main() {
    // Host memory, for the drop-in for the CPU. The drop-in for GPUs takes memory of hipMalloc.
    std::vector<float> x(2 * 16 * 8 * 8, 1), w(16 * 16 * 3 * 3, 0.5f), b(16, -4), y(2 * 16 * 8 * 8, -1);
    miopenHandle_t handle;
    check(miopenCreate(&handle));

    miopenTensorDescriptor_t x_desc, w_desc, b_desc, y_desc;
    for (auto* desc : {&x_desc, &w_desc, &b_desc, &y_desc}) check(miopenCreateTensorDescriptor(desc));
    check(miopenSet4dTensorDescriptor(x_desc, miopenFloat, 2, 16, 8, 8));
    check(miopenSet4dTensorDescriptor(w_desc, miopenFloat, 16, 16, 3, 3));
    check(miopenSet4dTensorDescriptor(b_desc, miopenFloat, 1, 16, 1, 1));
    check(miopenSet4dTensorDescriptor(y_desc, miopenFloat, 2, 16, 8, 8));
    miopenConvolutionDescriptor_t conv_desc;
    check(miopenCreateConvolutionDescriptor(&conv_desc));
    check(miopenInitConvolutionDescriptor(conv_desc, miopenConvolution, 1, 1, 1, 1, 1, 1));

    miopenFusionPlanDescriptor_t plan;
    miopenFusionOpDescriptor_t conv, bias, relu;
    check(miopenCreateFusionPlan(&plan, miopenVerticalFusion, x_desc));
    check(miopenCreateOpConvForward(plan, &conv, conv_desc, w_desc));
    check(miopenCreateOpBiasForward(plan, &bias, b_desc));
    check(miopenCreateOpActivationForward(plan, &relu, miopenActivationRELU));
    check(miopenCompileFusionPlan(handle, plan));

    miopenOperatorArgs_t args;
    float const alpha = 1, beta = 0;
    check(miopenCreateOperatorArgs(&args));
    check(miopenSetOpArgsConvForward(args, conv, &alpha, &beta, w.data()));
    check(miopenSetOpArgsBiasForward(args, bias, &alpha, &beta, b.data()));
    check(miopenSetOpArgsActivForward(args, relu, &alpha, &beta, 0, 0, 0));
    check(miopenExecuteFusionPlan(handle, plan, x_desc, x.data(), y_desc, y.data(), args));

    std::printf("y[0] = %g, y[9] = %g\n", y[0], y[9]);  // 4 and 9 taps in the image: 16 / 2 times that, less 4

    check(miopenDestroyOperatorArgs(args));
    check(miopenDestroyFusionPlan(plan));
    check(miopenDestroyConvolutionDescriptor(conv_desc));
    for (auto desc : {x_desc, w_desc, b_desc, y_desc}) check(miopenDestroyTensorDescriptor(desc));
    check(miopenDestroy(handle));
}
