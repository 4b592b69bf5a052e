// SPDX-License-Identifier: MIT
//
// Fusion plans, a part of MIOpen's interface. Programs include miopen.h, which includes this file.
#ifndef FUSEKIT_MIOPEN_FUSION_H
#define FUSEKIT_MIOPEN_FUSION_H

#include <miopen/miopen.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum FUSEKIT_MIOPEN_INT {
    miopenVerticalFusion = 0,
    miopenHorizontalFusion = 1 /* unsupported: miopenStatusNotImplemented */
} miopenFusionDirection_t;

/* Creates a plan without operators, for an input with the extents and element type of inputDesc. The plan copies every
   descriptor that a call passes, so that it may be changed or destroyed after the call. Operators are valid until their
   plan is destroyed. */
MIOPEN_EXPORT miopenStatus_t miopenCreateFusionPlan(miopenFusionPlanDescriptor_t* fusePlanDesc,
                                                    const miopenFusionDirection_t fuseDirection,
                                                    const miopenTensorDescriptor_t inputDesc);
MIOPEN_EXPORT miopenStatus_t miopenDestroyFusionPlan(miopenFusionPlanDescriptor_t fusePlanDesc);
MIOPEN_EXPORT miopenStatus_t miopenFusionPlanGetOp(miopenFusionPlanDescriptor_t fusePlanDesc, const int op_idx,
                                                   miopenFusionOpDescriptor_t* op);

/* Selects a kernel of the library for this handle, in microseconds. A library whose plans are compiled at run time
   compiles and loads the kernel, in about a second, so that Execute compiles none. Must be called once per handle, and
   again after an operator is added. */
MIOPEN_EXPORT miopenStatus_t miopenCompileFusionPlan(miopenHandle_t handle, miopenFusionPlanDescriptor_t fusePlanDesc);

/* Returns the exact bytes of workspace that a run needs. If the plan is not compiled for the handle, selects the kernel
   as miopenCompileFusionPlan() does, without storing it. */
MIOPEN_EXPORT miopenStatus_t miopenFusionPlanGetWorkSpaceSize(miopenHandle_t handle,
                                                              miopenFusionPlanDescriptor_t fusePlanDesc,
                                                              size_t* workSpaceSize, miopenConvFwdAlgorithm_t algo);

/* The only algorithm is the implicit GEMM. Setting any other algorithm of MIOpen succeeds and changes nothing. */
MIOPEN_EXPORT miopenStatus_t miopenFusionPlanConvolutionGetAlgo(miopenFusionPlanDescriptor_t fusePlanDesc,
                                                                const int requestAlgoCount, int* returnedAlgoCount,
                                                                miopenConvFwdAlgorithm_t* returnedAlgos);
MIOPEN_EXPORT miopenStatus_t miopenFusionPlanConvolutionSetAlgo(miopenFusionPlanDescriptor_t fusePlanDesc,
                                                                miopenConvFwdAlgorithm_t algo);

/* The following calls add operators to a plan, in the order in which they are applied. If no kernel has the operator
   after those before it, the call returns miopenStatusUnsupportedOp, stores the broken rule for
   fusekitMiopenLastError(), and adds nothing. */
MIOPEN_EXPORT miopenStatus_t miopenCreateOpConvForward(miopenFusionPlanDescriptor_t fusePlanDesc,
                                                       miopenFusionOpDescriptor_t* convOp,
                                                       miopenConvolutionDescriptor_t convDesc,
                                                       const miopenTensorDescriptor_t wDesc);
/* Each extent of bDesc is 1 or the output's, as in 1 x C x 1 x 1; the bias is broadcast over modes of extent 1. A plan
   with a batch norm after a bias that has more than one value per channel, or after any bias if it has no convolution,
   runs two kernels, with y between them. */
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

/* Arguments of operators: pointers to memory of the device, and numbers. They may be set before or after the plan is
   compiled, and again between runs.

   alpha and beta are not read, because MIOpen does not use them either: an operator's result is always that of alpha =
   1 and beta = 0, and the pointers may be null. */
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
/* y and reserved are not read and may be null: the run recomputes the forward pass from x. */
MIOPEN_EXPORT miopenStatus_t miopenSetOpArgsActivBackward(miopenOperatorArgs_t args,
                                                          const miopenFusionOpDescriptor_t activBwdOp,
                                                          const void* alpha, const void* beta, const void* y,
                                                          const void* reserved, double activAlpha, double activBeta,
                                                          double activGamma);
/* estimatedVariance is the variance, not its inverse. */
MIOPEN_EXPORT miopenStatus_t miopenSetOpArgsBatchNormInference(miopenOperatorArgs_t args,
                                                               const miopenFusionOpDescriptor_t bnOp, const void* alpha,
                                                               const void* beta, const void* bnScale,
                                                               const void* bnBias, const void* estimatedMean,
                                                               const void* estimatedVariance, double epsilon);
/* savedMean and savedInvVariance, outputs, may be null. The running statistics may be null if the operator was created
   with runningMeanVariance = false. savedInvVariance is 1 / sqrt(variance + epsilon). */
MIOPEN_EXPORT miopenStatus_t miopenSetOpArgsBatchNormForward(miopenOperatorArgs_t args,
                                                             const miopenFusionOpDescriptor_t bnOp, const void* alpha,
                                                             const void* beta, const void* bnScale, const void* bnBias,
                                                             void* savedMean, void* savedInvVariance, void* runningMean,
                                                             void* runningVariance, double expAvgFactor,
                                                             double epsilon);
/* The plan's input is dy and its output is dx; the argument x is the input of the forward pass. */
MIOPEN_EXPORT miopenStatus_t miopenSetOpArgsBatchNormBackward(miopenOperatorArgs_t args,
                                                              const miopenFusionOpDescriptor_t bnOp, const void* alpha,
                                                              const void* beta, const void* x, const void* bnScale,
                                                              const void* bnBias, void* resultBnScaleDiff,
                                                              void* resultBnBiasDiff, const void* savedMean,
                                                              const void* savedInvVariance);

/* Launches one kernel on the handle's stream. inputDesc must equal the plan's input; outputDesc must have the extents
   of the last operator's result, with any strides. miopenExecuteFusionPlan() uses the handle's workspace.
   miopenExecuteFusionPlan_v2() uses the caller's workspace, of any content, or, if that is null or not aligned to 64
   bytes, the handle's. */
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

/* Computes y = activation(alpha1 conv(x, w) + alpha2 z + bias), for every activation. Each call prepares its launch
   anew.

   Each extent of z and of bias is 1 or y's; both are broadcast over modes of extent 1. The call runs one kernel if
   bias has one value per channel, or z has and alpha2 is 1, or no z is added; else two, with y between them.

   alpha1 and alpha2 point to floats; null means 1, as in MIOpen. If alpha2 is 0, z is not read, and z and zDesc may be
   null. The call also adds no z if z is null and zDesc is null or was never set. alpha1 = 0 returns
   miopenStatusBadParm: the first 4 bytes of the double 1.0 are the float 0.0f, and MIOpen returns zeros for such a
   call. */
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
