// SPDX-License-Identifier: MIT
//
// Fusion plans: a part of miopen.h, which includes it.
#ifndef FUSEKIT_MIOPEN_FUSION_H
#define FUSEKIT_MIOPEN_FUSION_H

#include <miopen/miopen.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum FUSEKIT_MIOPEN_INT {
    miopenVerticalFusion = 0,
    miopenHorizontalFusion = 1 /* not implemented */
} miopenFusionDirection_t;

/* A plan is operators in order on an input. It keeps copies of all descriptors that it is given, which may be changed
   or destroyed then. Operators live as long as their plan. */
MIOPEN_EXPORT miopenStatus_t miopenCreateFusionPlan(miopenFusionPlanDescriptor_t* fusePlanDesc,
                                                    const miopenFusionDirection_t fuseDirection,
                                                    const miopenTensorDescriptor_t inputDesc);
MIOPEN_EXPORT miopenStatus_t miopenDestroyFusionPlan(miopenFusionPlanDescriptor_t fusePlanDesc);
MIOPEN_EXPORT miopenStatus_t miopenFusionPlanGetOp(miopenFusionPlanDescriptor_t fusePlanDesc, const int op_idx,
                                                   miopenFusionOpDescriptor_t* op);

/* Once for each handle, and again after an operator is added. Compiles nothing: it picks a kernel of the library's and
   prepares its launch, in microseconds. */
MIOPEN_EXPORT miopenStatus_t miopenCompileFusionPlan(miopenHandle_t handle, miopenFusionPlanDescriptor_t fusePlanDesc);

/* The exact bytes that a run borrows; of a plan that is not compiled for the handle, what compiling it would give. */
MIOPEN_EXPORT miopenStatus_t miopenFusionPlanGetWorkSpaceSize(miopenHandle_t handle,
                                                              miopenFusionPlanDescriptor_t fusePlanDesc,
                                                              size_t* workSpaceSize, miopenConvFwdAlgorithm_t algo);

/* There is one algorithm, the implicit GEMM. Any other that MIOpen has may be set, and changes nothing. */
MIOPEN_EXPORT miopenStatus_t miopenFusionPlanConvolutionGetAlgo(miopenFusionPlanDescriptor_t fusePlanDesc,
                                                                const int requestAlgoCount, int* returnedAlgoCount,
                                                                miopenConvFwdAlgorithm_t* returnedAlgos);
MIOPEN_EXPORT miopenStatus_t miopenFusionPlanConvolutionSetAlgo(miopenFusionPlanDescriptor_t fusePlanDesc,
                                                                miopenConvFwdAlgorithm_t algo);

/* Operators in the order that they are applied in. One that cannot follow those before it in one kernel is refused
   here, with miopenStatusUnsupportedOp and the sentence of the rule, and not added. */
MIOPEN_EXPORT miopenStatus_t miopenCreateOpConvForward(miopenFusionPlanDescriptor_t fusePlanDesc,
                                                       miopenFusionOpDescriptor_t* convOp,
                                                       miopenConvolutionDescriptor_t convDesc,
                                                       const miopenTensorDescriptor_t wDesc);
/* bDesc has the output's extents or 1 in each mode, as 1 x C x 1 x 1: the bias is broadcast over modes of extent 1.
   With more than one value per channel the plan needs a convolution, and has no batch norm. */
MIOPEN_EXPORT miopenStatus_t miopenCreateOpBiasForward(miopenFusionPlanDescriptor_t fusePlanDesc,
                                                       miopenFusionOpDescriptor_t* biasOp,
                                                       const miopenTensorDescriptor_t bDesc);
MIOPEN_EXPORT miopenStatus_t miopenCreateOpActivationForward(miopenFusionPlanDescriptor_t fusePlanDesc,
                                                             miopenFusionOpDescriptor_t* activFwdOp,
                                                             miopenActivationMode_t mode);
MIOPEN_EXPORT miopenStatus_t miopenCreateOpActivationBackward(miopenFusionPlanDescriptor_t fusePlanDesc,
                                                              miopenFusionOpDescriptor_t* activBwdOp,
                                                              miopenActivationMode_t mode);
MIOPEN_EXPORT miopenStatus_t miopenCreateOpBatchNormInference(miopenFusionPlanDescriptor_t fusePlanDesc,
                                                              miopenFusionOpDescriptor_t* bnOp,
                                                              const miopenBatchNormMode_t bn_mode,
                                                              const miopenTensorDescriptor_t bnScaleBiasMeanVarDesc);
MIOPEN_EXPORT miopenStatus_t miopenCreateOpBatchNormForward(miopenFusionPlanDescriptor_t fusePlanDesc,
                                                            miopenFusionOpDescriptor_t* bnFwdOp,
                                                            const miopenBatchNormMode_t bn_mode,
                                                            bool runningMeanVariance);
MIOPEN_EXPORT miopenStatus_t miopenCreateOpBatchNormBackward(miopenFusionPlanDescriptor_t fusePlanDesc,
                                                             miopenFusionOpDescriptor_t* bnBwdOp,
                                                             const miopenBatchNormMode_t bn_mode);

/* Arguments of operators: pointers to memory of the device, and numbers. They may be set before the plan is compiled,
   or after, and again between runs.

   alpha and beta are never read, as MIOpen never uses them: an operator's result is alpha = 1 times it plus beta = 0
   times what was there, whatever they point to, a double, a float or nothing. */
MIOPEN_EXPORT miopenStatus_t miopenCreateOperatorArgs(miopenOperatorArgs_t* args);
MIOPEN_EXPORT miopenStatus_t miopenDestroyOperatorArgs(miopenOperatorArgs_t args);
MIOPEN_EXPORT miopenStatus_t miopenSetOpArgsConvForward(miopenOperatorArgs_t args,
                                                        const miopenFusionOpDescriptor_t convOp, const void* alpha,
                                                        const void* beta, const void* w);
MIOPEN_EXPORT miopenStatus_t miopenSetOpArgsBiasForward(miopenOperatorArgs_t args,
                                                        const miopenFusionOpDescriptor_t biasOp, const void* alpha,
                                                        const void* beta, const void* bias);
MIOPEN_EXPORT miopenStatus_t miopenSetOpArgsActivForward(miopenOperatorArgs_t args,
                                                         const miopenFusionOpDescriptor_t activFwdOp, const void* alpha,
                                                         const void* beta, double activAlpha, double activBeta,
                                                         double activGamma);
/* y and reserved are not read, and may be null: the forward pass is computed again from x. */
MIOPEN_EXPORT miopenStatus_t miopenSetOpArgsActivBackward(miopenOperatorArgs_t args,
                                                          const miopenFusionOpDescriptor_t activBwdOp,
                                                          const void* alpha, const void* beta, const void* y,
                                                          const void* reserved, double activAlpha, double activBeta,
                                                          double activGamma);
/* The variance, and not its inverse. */
MIOPEN_EXPORT miopenStatus_t miopenSetOpArgsBatchNormInference(miopenOperatorArgs_t args,
                                                               const miopenFusionOpDescriptor_t bnOp, const void* alpha,
                                                               const void* beta, const void* bnScale,
                                                               const void* bnBias, const void* estimatedMean,
                                                               const void* estimatedVariance, double epsilon);
/* savedMean and savedInvVariance may be null, and so may the running statistics where the operator was created without
   them. savedInvVariance is 1 / sqrt(variance + epsilon). */
MIOPEN_EXPORT miopenStatus_t miopenSetOpArgsBatchNormForward(miopenOperatorArgs_t args,
                                                             const miopenFusionOpDescriptor_t bnOp, const void* alpha,
                                                             const void* beta, const void* bnScale, const void* bnBias,
                                                             void* savedMean, void* savedInvVariance, void* runningMean,
                                                             void* runningVariance, double expAvgFactor,
                                                             double epsilon);
/* The plan's input is dy, its output dx, and x the forward pass's input. */
MIOPEN_EXPORT miopenStatus_t miopenSetOpArgsBatchNormBackward(miopenOperatorArgs_t args,
                                                              const miopenFusionOpDescriptor_t bnOp, const void* alpha,
                                                              const void* beta, const void* x, const void* bnScale,
                                                              const void* bnBias, void* resultBnScaleDiff,
                                                              void* resultBnBiasDiff, const void* savedMean,
                                                              const void* savedInvVariance);

/* One kernel on the handle's stream. inputDesc is the plan's input, outputDesc of the extents that the operators make
   of it and of any strides. The first borrows the handle's own workspace; the second the caller's, whatever its bytes
   are, or, where that is null or not aligned to 64 bytes, the handle's. */
MIOPEN_EXPORT miopenStatus_t miopenExecuteFusionPlan(const miopenHandle_t handle,
                                                     const miopenFusionPlanDescriptor_t fusePlanDesc,
                                                     const miopenTensorDescriptor_t inputDesc, const void* input,
                                                     const miopenTensorDescriptor_t outputDesc, void* output,
                                                     miopenOperatorArgs_t args);
MIOPEN_EXPORT miopenStatus_t miopenExecuteFusionPlan_v2(const miopenHandle_t handle,
                                                        const miopenFusionPlanDescriptor_t fusePlanDesc,
                                                        const miopenTensorDescriptor_t inputDesc, const void* input,
                                                        const miopenTensorDescriptor_t outputDesc, void* output,
                                                        miopenOperatorArgs_t args, void* workspace,
                                                        size_t workspaceSize);

/* y = activation(alpha1 conv(x, w) + alpha2 z + bias), for every activation; prepared anew in each call.

   z and bias have y's extents or 1 in each mode, and are broadcast over modes of extent 1. One of them has at most one
   value per channel; if only z has, alpha2 = 1.

   alpha1 and alpha2 point to floats, and are 1 where null, as in MIOpen. Where alpha2 is 0, z is not read, and z and
   its descriptor may be null. z is also left out where it is null and its descriptor is null or was never set. alpha1 =
   0 is refused: the first bytes of the double 1.0 are the float 0.0f, and MIOpen makes zeros of such a call. */
MIOPEN_EXPORT miopenStatus_t miopenConvolutionBiasActivationForward(
    miopenHandle_t handle, const void* alpha1, const miopenTensorDescriptor_t xDesc, const void* x,
    const miopenTensorDescriptor_t wDesc, const void* w, const miopenConvolutionDescriptor_t convDesc,
    miopenConvFwdAlgorithm_t algo, void* workspace, size_t workspaceSizeInBytes, const void* alpha2,
    const miopenTensorDescriptor_t zDesc, const void* z, const miopenTensorDescriptor_t biasDesc, const void* bias,
    const miopenActivationDescriptor_t activationDesc, const miopenTensorDescriptor_t yDesc, void* y);

#ifdef __cplusplus
}
#endif

#endif
