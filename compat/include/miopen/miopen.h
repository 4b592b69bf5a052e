// SPDX-License-Identifier: MIT
//
// MIOpen's fusion interface over fusekit: the names, values and signatures that MIOpen documents, for C and C++. A
// program that uses only this part of MIOpen compiles with this header and links with -lMIOpen, unchanged.
// docs/migration.md lists improvements, differences, and the status of each call's errors.
//
// A call that does not return miopenStatusSuccess changes nothing, writes to no tensor, and stores a message for
// fusekitMiopenLastError(). Null, destroyed or foreign handles are errors; only destroying null succeeds.
#ifndef FUSEKIT_MIOPEN_H
#define FUSEKIT_MIOPEN_H

#include <miopen/config.h>
#include <miopen/version.h>
#include <stdbool.h>
#include <stddef.h>

#if defined(__HIP__) || defined(__HIP_PLATFORM_AMD__) || defined(__HIP_PLATFORM_HCC__) || \
    defined(__HIP_PLATFORM_NVIDIA__)
#include <hip/hip_runtime_api.h>
typedef hipStream_t miopenAcceleratorQueue_t;
#else
typedef void* miopenAcceleratorQueue_t; /* a hipStream_t or cudaStream_t; NULL is the default stream */
#endif

#define MIOPEN_EXPORT __attribute__((visibility("default")))

/* In C++ an enumeration of so many bits may hold any number that a caller passes. */
#ifdef __cplusplus
#define FUSEKIT_MIOPEN_INT : int
#else
#define FUSEKIT_MIOPEN_INT
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef struct miopenHandle* miopenHandle_t;
typedef struct miopenTensorDescriptor* miopenTensorDescriptor_t;
typedef struct miopenConvolutionDescriptor* miopenConvolutionDescriptor_t;
typedef struct miopenActivationDescriptor* miopenActivationDescriptor_t;
typedef struct miopenFusionPlanDescriptor* miopenFusionPlanDescriptor_t;
typedef struct miopenFusionOpDescriptor* miopenFusionOpDescriptor_t;
typedef struct miopenOperatorDescriptor* miopenOperatorDescriptor_t; /* MIOpen has it, and no call takes it */
typedef struct miopenOperatorArgs* miopenOperatorArgs_t;

typedef enum FUSEKIT_MIOPEN_INT {
    miopenStatusSuccess = 0,
    miopenStatusNotInitialized = 1, /* a descriptor that was never set, or an operator whose arguments were never */
    miopenStatusInvalidValue = 2,   /* a count or an enumerator that is none of those that the call takes */
    miopenStatusBadParm = 3,        /* a handle, a pointer, a tensor or a convolution that is not the expected one */
    miopenStatusAllocFailed = 4,    /* no memory */
    miopenStatusInternalError = 5,  /* the device refused, or an earlier kernel failed */
    miopenStatusNotImplemented = 6, /* MIOpen's, and not of fusion */
    miopenStatusUnknownError = 7,   /* never returned */
    miopenStatusUnsupportedOp = 8,  /* operators that are not one kernel, or that the library has no kernel of */
    miopenStatusGpuOperationsSkipped = 9, /* never returned */
    miopenStatusVersionMismatch = 10      /* never returned */
} miopenStatus_t;

/* The enumerator's name. */
MIOPEN_EXPORT const char* miopenGetErrorString(miopenStatus_t error);
/* Of fusekit, not of MIOpen: why the last call of this thread that did not succeed did not; "" where none was. It
   stands until the next such call. */
MIOPEN_EXPORT const char* fusekitMiopenLastError(void);
/* Null pointers are passed over. */
MIOPEN_EXPORT miopenStatus_t miopenGetVersion(size_t* major, size_t* minor, size_t* patch);

/* A handle is a device and a stream: the current GPU where the library was built for GPUs, the CPU where not. One
   thread at a time uses a handle. Plans that are compiled may be run by several handles at once. */
typedef void* (*miopenAllocatorFunction)(void* context, size_t sizeBytes);
typedef void (*miopenDeallocatorFunction)(void* context, void* memory);
MIOPEN_EXPORT miopenStatus_t miopenCreate(miopenHandle_t* handle);
MIOPEN_EXPORT miopenStatus_t miopenCreateWithStream(miopenHandle_t* handle, miopenAcceleratorQueue_t stream);
MIOPEN_EXPORT miopenStatus_t miopenDestroy(miopenHandle_t handle);
MIOPEN_EXPORT miopenStatus_t miopenSetStream(miopenHandle_t handle, miopenAcceleratorQueue_t streamID);
MIOPEN_EXPORT miopenStatus_t miopenGetStream(miopenHandle_t handle, miopenAcceleratorQueue_t* streamID);
/* What the handle's workspace is allocated with from then on; null pointers restore the device's own. */
MIOPEN_EXPORT miopenStatus_t miopenSetAllocator(miopenHandle_t handle, miopenAllocatorFunction allocator,
                                                miopenDeallocatorFunction deallocator, void* allocatorContext);
/* With profiling, a run synchronizes its stream and records the time between events before and after it; on the CPU,
   its own. A run that is captured into a graph does not synchronize, and records 0. */
MIOPEN_EXPORT miopenStatus_t miopenEnableProfiling(miopenHandle_t handle, bool enable);
/* Milliseconds of the last run with profiling; 0 before one. */
MIOPEN_EXPORT miopenStatus_t miopenGetKernelTime(miopenHandle_t handle, float* time);

typedef enum FUSEKIT_MIOPEN_INT {
    miopenHalf = 0,
    miopenFloat = 1,
    miopenInt32 = 2,
    miopenInt8 = 3,
    miopenBFloat16 = 5,
    miopenDouble = 6,
    miopenInt64 = 9
} miopenDataType_t;

typedef enum FUSEKIT_MIOPEN_INT {
    miopenTensorNCHW = 0,
    miopenTensorNHWC = 1,
    miopenTensorCHWN = 2,
    miopenTensorNCHWc4 = 3,
    miopenTensorNCHWc8 = 4,
    miopenTensorCHWNc4 = 5,
    miopenTensorCHWNc8 = 6,
    miopenTensorNCDHW = 7,
    miopenTensorNDHWC = 8
} miopenTensorLayout_t;

/* Extents and strides stand in the order N, C, then space, whatever lies closest together in memory: strides make a
   tensor NCHW or NHWC. Without strides it is packed, the last mode closest. One to five modes. An extent may be 0: the
   tensor has no elements. A stride of 0 is a broadcast, for tensors that are read. */
MIOPEN_EXPORT miopenStatus_t miopenCreateTensorDescriptor(miopenTensorDescriptor_t* tensorDesc);
MIOPEN_EXPORT miopenStatus_t miopenSet4dTensorDescriptor(miopenTensorDescriptor_t tensorDesc, miopenDataType_t dataType,
                                                         int n, int c, int h, int w);
MIOPEN_EXPORT miopenStatus_t miopenSet4dTensorDescriptorEx(miopenTensorDescriptor_t tensorDesc,
                                                           miopenDataType_t dataType, int n, int c, int h, int w,
                                                           int nStride, int cStride, int hStride, int wStride);
MIOPEN_EXPORT miopenStatus_t miopenSetTensorDescriptor(miopenTensorDescriptor_t tensorDesc, miopenDataType_t dataType,
                                                       int nbDims, const int* dimsA, const int* stridesA);
MIOPEN_EXPORT miopenStatus_t miopenSetTensorDescriptorV2(miopenTensorDescriptor_t tensorDesc, miopenDataType_t dataType,
                                                         int nbDims, const size_t* dimsA, const size_t* stridesA);
/* NCHW, NHWC, CHWN, NCDHW or NDHWC; lens stand in the order N, C, then space. */
MIOPEN_EXPORT miopenStatus_t miopenSetNdTensorDescriptorWithLayout(miopenTensorDescriptor_t tensorDesc,
                                                                   miopenDataType_t dataType,
                                                                   miopenTensorLayout_t tensorLayout, const int* lens,
                                                                   int num_lens);
MIOPEN_EXPORT miopenStatus_t miopenGet4dTensorDescriptor(miopenTensorDescriptor_t tensorDesc,
                                                         miopenDataType_t* dataType, int* n, int* c, int* h, int* w,
                                                         int* nStride, int* cStride, int* hStride, int* wStride);
MIOPEN_EXPORT miopenStatus_t miopenGetTensorDescriptor(miopenTensorDescriptor_t tensorDesc, miopenDataType_t* dataType,
                                                       int* dimsA, int* stridesA);
/* The number of modes, 0 before the descriptor is set; and bytes from the first to one past the last element. */
MIOPEN_EXPORT miopenStatus_t miopenGetTensorDescriptorSize(miopenTensorDescriptor_t tensorDesc, int* size);
MIOPEN_EXPORT miopenStatus_t miopenGetTensorNumBytes(miopenTensorDescriptor_t tensorDesc, size_t* numBytes);
MIOPEN_EXPORT miopenStatus_t miopenDestroyTensorDescriptor(miopenTensorDescriptor_t tensorDesc);

typedef enum FUSEKIT_MIOPEN_INT {
    miopenConvolution = 0,
    miopenTranspose = 1,
    miopenGroupConv = 2, /* miopenConvolution: the group count says it */
    miopenDepthwise = 3  /* the same */
} miopenConvolutionMode_t;

typedef enum FUSEKIT_MIOPEN_INT {
    MIOPEN_CONVOLUTION_ATTRIB_FP16_ALT_IMPL = 0,
    MIOPEN_CONVOLUTION_ATTRIB_DETERMINISTIC = 1
} miopenConvolutionAttrib_t;

typedef enum FUSEKIT_MIOPEN_INT {
    miopenConvolutionFwdAlgoGEMM = 0,
    miopenConvolutionFwdAlgoDirect = 1,
    miopenConvolutionFwdAlgoFFT = 2,
    miopenConvolutionFwdAlgoWinograd = 3,
    miopenConvolutionFwdAlgoImplicitGEMM = 5
} miopenConvFwdAlgorithm_t;

MIOPEN_EXPORT miopenStatus_t miopenCreateConvolutionDescriptor(miopenConvolutionDescriptor_t* convDesc);
MIOPEN_EXPORT miopenStatus_t miopenInitConvolutionDescriptor(miopenConvolutionDescriptor_t convDesc,
                                                             miopenConvolutionMode_t c_mode, int pad_h, int pad_w,
                                                             int stride_h, int stride_w, int dilation_h,
                                                             int dilation_w);
MIOPEN_EXPORT miopenStatus_t miopenInitConvolutionNdDescriptor(miopenConvolutionDescriptor_t convDesc, int spatialDim,
                                                               const int* padA, const int* strideA,
                                                               const int* dilationA, miopenConvolutionMode_t c_mode);
MIOPEN_EXPORT miopenStatus_t miopenGetConvolutionSpatialDim(miopenConvolutionDescriptor_t convDesc, int* spatialDim);
MIOPEN_EXPORT miopenStatus_t miopenGetConvolutionDescriptor(miopenConvolutionDescriptor_t convDesc,
                                                            miopenConvolutionMode_t* c_mode, int* pad_h, int* pad_w,
                                                            int* stride_h, int* stride_w, int* dilation_h,
                                                            int* dilation_w);
/* Fills at most requestedSpatialDim elements of each array. spatialDim is the descriptor's. */
MIOPEN_EXPORT miopenStatus_t miopenGetConvolutionNdDescriptor(miopenConvolutionDescriptor_t convDesc,
                                                              int requestedSpatialDim, int* spatialDim, int* padA,
                                                              int* strideA, int* dilationA,
                                                              miopenConvolutionMode_t* c_mode);
MIOPEN_EXPORT miopenStatus_t miopenSetConvolutionGroupCount(miopenConvolutionDescriptor_t convDesc, int groupCount);
MIOPEN_EXPORT miopenStatus_t miopenGetConvolutionGroupCount(miopenConvolutionDescriptor_t convDesc, int* groupCount);
/* Kept and given back: every result is deterministic, whatever is asked for. */
MIOPEN_EXPORT miopenStatus_t miopenSetConvolutionAttribute(miopenConvolutionDescriptor_t convDesc,
                                                           const miopenConvolutionAttrib_t attr, int value);
MIOPEN_EXPORT miopenStatus_t miopenGetConvolutionAttribute(miopenConvolutionDescriptor_t convDesc,
                                                           const miopenConvolutionAttrib_t attr, int* value);
MIOPEN_EXPORT miopenStatus_t miopenGetConvolutionForwardOutputDim(miopenConvolutionDescriptor_t convDesc,
                                                                  const miopenTensorDescriptor_t inputTensorDesc,
                                                                  const miopenTensorDescriptor_t filterDesc, int* n,
                                                                  int* c, int* h, int* w);
MIOPEN_EXPORT miopenStatus_t miopenGetConvolutionNdForwardOutputDim(miopenConvolutionDescriptor_t convDesc,
                                                                    const miopenTensorDescriptor_t inputTensorDesc,
                                                                    const miopenTensorDescriptor_t filterDesc,
                                                                    int* nDim, int* outputTensorDimA);
MIOPEN_EXPORT miopenStatus_t miopenDestroyConvolutionDescriptor(miopenConvolutionDescriptor_t convDesc);

typedef enum FUSEKIT_MIOPEN_INT {
    miopenActivationPASTHRU = 0,     /* x */
    miopenActivationLOGISTIC = 1,    /* 1 / (1 + e^-x) */
    miopenActivationTANH = 2,        /* beta tanh(alpha x) */
    miopenActivationRELU = 3,        /* max(0, x) */
    miopenActivationSOFTRELU = 4,    /* log(1 + e^x) */
    miopenActivationABS = 5,         /* |x| */
    miopenActivationPOWER = 6,       /* (alpha + beta x)^gamma, 0 where the base is 1e-6 or less */
    miopenActivationCLIPPEDRELU = 7, /* min(alpha, max(0, x)) */
    miopenActivationLEAKYRELU = 8,   /* x > 0 ? x : alpha x */
    miopenActivationELU = 9,         /* x > 0 ? x : alpha (e^x - 1) */
    miopenActivationCLAMP = 10       /* max(alpha, min(beta, x)) */
} miopenActivationMode_t;

MIOPEN_EXPORT miopenStatus_t miopenCreateActivationDescriptor(miopenActivationDescriptor_t* activDesc);
MIOPEN_EXPORT miopenStatus_t miopenSetActivationDescriptor(const miopenActivationDescriptor_t activDesc,
                                                           miopenActivationMode_t mode, double activAlpha,
                                                           double activBeta, double activGamma);
MIOPEN_EXPORT miopenStatus_t miopenGetActivationDescriptor(const miopenActivationDescriptor_t activDesc,
                                                           miopenActivationMode_t* mode, double* activAlpha,
                                                           double* activBeta, double* activGamma);
MIOPEN_EXPORT miopenStatus_t miopenDestroyActivationDescriptor(miopenActivationDescriptor_t activDesc);

typedef enum FUSEKIT_MIOPEN_INT { miopenBNPerActivation = 0, miopenBNSpatial = 1 } miopenBatchNormMode_t;

/* Of floats: 1 x C x 1 x 1 where it is spatial; 1 x C x H x W, channels first or last as in x, where not. */
MIOPEN_EXPORT miopenStatus_t miopenDeriveBNTensorDescriptor(miopenTensorDescriptor_t derivedBnDesc,
                                                            const miopenTensorDescriptor_t xDesc,
                                                            miopenBatchNormMode_t bn_mode);

#ifdef __cplusplus
}
#endif

#include <miopen/fusion.h>

#endif
