// SPDX-License-Identifier: MIT
//
// MIOpen's fusion interface, implemented with fusekit: the names, values and signatures that MIOpen documents, for C
// and C++. A program that uses only this part of MIOpen compiles with this header and links with -lMIOpen, unchanged.
// docs/migration.md lists improvements, differences, and the statuses that each call returns.
//
// A call that does not return miopenStatusSuccess changes nothing, writes to no tensor, and stores a message for
// fusekitMiopenLastError(). Null, destroyed and invalid handles are errors; only destroying a null handle succeeds.
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

/* With a fixed underlying type, a C++ enumeration may hold any int that a caller passes. */
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
typedef struct miopenOperatorDescriptor* miopenOperatorDescriptor_t; /* no function has a parameter of it */
typedef struct miopenOperatorArgs* miopenOperatorArgs_t;

typedef enum FUSEKIT_MIOPEN_INT {
    miopenStatusSuccess = 0,
    miopenStatusNotInitialized = 1, /* a descriptor, or the arguments of an operator, were never set */
    miopenStatusInvalidValue = 2,   /* a count or an enumerator is out of range */
    miopenStatusBadParm = 3,        /* a handle, a pointer, a tensor or a convolution is invalid for the call */
    miopenStatusAllocFailed = 4,    /* memory is exhausted */
    miopenStatusInternalError = 5,  /* a device call or an earlier kernel failed */
    miopenStatusNotImplemented = 6, /* horizontal fusion, or a vectorized layout */
    miopenStatusUnknownError = 7,   /* never returned */
    miopenStatusUnsupportedOp = 8,  /* the library has no kernel of these operators */
    miopenStatusGpuOperationsSkipped = 9, /* never returned */
    miopenStatusVersionMismatch = 10      /* never returned */
} miopenStatus_t;

/* Returns the name of the enumerator, such as "miopenStatusBadParm". */
MIOPEN_EXPORT const char* miopenGetErrorString(miopenStatus_t error);
/* Extension of fusekit: returns the message of this thread's last call that failed, or "" if none did. The text is
   valid until this thread's next call that fails. */
MIOPEN_EXPORT const char* fusekitMiopenLastError(void);
/* Returns the version of MIOpen's interface, MIOPEN_VERSION_MAJOR and so on. Pointers may be null. */
MIOPEN_EXPORT miopenStatus_t miopenGetVersion(size_t* major, size_t* minor, size_t* patch);

/* A handle is a device and a stream on it. The device is the current GPU if the library was built for GPUs, else the
   CPU. One thread at a time may use a handle. Several handles may run a compiled plan at the same time. */
typedef void* (*miopenAllocatorFunction)(void* context, size_t sizeBytes);
typedef void (*miopenDeallocatorFunction)(void* context, void* memory);
MIOPEN_EXPORT miopenStatus_t miopenCreate(miopenHandle_t* handle);
MIOPEN_EXPORT miopenStatus_t miopenCreateWithStream(miopenHandle_t* handle, miopenAcceleratorQueue_t stream);
MIOPEN_EXPORT miopenStatus_t miopenDestroy(miopenHandle_t handle);
MIOPEN_EXPORT miopenStatus_t miopenSetStream(miopenHandle_t handle, miopenAcceleratorQueue_t streamID);
MIOPEN_EXPORT miopenStatus_t miopenGetStream(miopenHandle_t handle, miopenAcceleratorQueue_t* streamID);
/* Sets the functions that allocate and free the handle's later workspaces; null pointers restore the device's
   allocator. */
MIOPEN_EXPORT miopenStatus_t miopenSetAllocator(miopenHandle_t handle, miopenAllocatorFunction allocator,
                                                miopenDeallocatorFunction deallocator, void* allocatorContext);
/* With profiling, a run on a GPU records the time between events before and after it, and synchronizes its stream; a
   run on the CPU records its own time. A run that is captured into a graph does not synchronize, and records 0. */
MIOPEN_EXPORT miopenStatus_t miopenEnableProfiling(miopenHandle_t handle, bool enable);
/* Returns the milliseconds of the last run with profiling; 0 before the first one. */
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

/* A tensor descriptor has one to five modes. Extents and strides, in elements, are in the order N, C, then space, for
   every memory order: the strides make a tensor NCHW or NHWC. Without strides the tensor is packed, with the last mode
   contiguous. A tensor with an extent of 0 has no elements. A stride of 0 broadcasts along its mode, and is valid for
   tensors that are only read. */
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
/* tensorLayout is NCHW, NHWC, CHWN, NCDHW or NDHWC. The extents in lens are in the order N, C, then space. */
MIOPEN_EXPORT miopenStatus_t miopenSetNdTensorDescriptorWithLayout(miopenTensorDescriptor_t tensorDesc,
                                                                   miopenDataType_t dataType,
                                                                   miopenTensorLayout_t tensorLayout, const int* lens,
                                                                   int num_lens);
MIOPEN_EXPORT miopenStatus_t miopenGet4dTensorDescriptor(miopenTensorDescriptor_t tensorDesc,
                                                         miopenDataType_t* dataType, int* n, int* c, int* h, int* w,
                                                         int* nStride, int* cStride, int* hStride, int* wStride);
MIOPEN_EXPORT miopenStatus_t miopenGetTensorDescriptor(miopenTensorDescriptor_t tensorDesc, miopenDataType_t* dataType,
                                                       int* dimsA, int* stridesA);
/* miopenGetTensorDescriptorSize() returns the number of modes, 0 if the descriptor was never set.
   miopenGetTensorNumBytes() returns the bytes from the start of the first element to the end of the last. */
MIOPEN_EXPORT miopenStatus_t miopenGetTensorDescriptorSize(miopenTensorDescriptor_t tensorDesc, int* size);
MIOPEN_EXPORT miopenStatus_t miopenGetTensorNumBytes(miopenTensorDescriptor_t tensorDesc, size_t* numBytes);
MIOPEN_EXPORT miopenStatus_t miopenDestroyTensorDescriptor(miopenTensorDescriptor_t tensorDesc);

typedef enum FUSEKIT_MIOPEN_INT {
    miopenConvolution = 0,
    miopenTranspose = 1,
    miopenGroupConv = 2, /* equivalent to miopenConvolution with a group count */
    miopenDepthwise = 3  /* equivalent to miopenConvolution with a group count of C */
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
/* Writes at most requestedSpatialDim elements of each array. Returns the descriptor's number of spatial modes in
   spatialDim. */
MIOPEN_EXPORT miopenStatus_t miopenGetConvolutionNdDescriptor(miopenConvolutionDescriptor_t convDesc,
                                                              int requestedSpatialDim, int* spatialDim, int* padA,
                                                              int* strideA, int* dilationA,
                                                              miopenConvolutionMode_t* c_mode);
MIOPEN_EXPORT miopenStatus_t miopenSetConvolutionGroupCount(miopenConvolutionDescriptor_t convDesc, int groupCount);
MIOPEN_EXPORT miopenStatus_t miopenGetConvolutionGroupCount(miopenConvolutionDescriptor_t convDesc, int* groupCount);
/* Stores the attribute and changes nothing else: every result is deterministic. miopenGetConvolutionAttribute() returns
   it. */
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
    miopenActivationPASTHRU = 0, /* x */
    miopenActivationLOGISTIC = 1, /* 1 / (1 + e^-x) */
    miopenActivationTANH = 2, /* beta tanh(alpha x) */
    miopenActivationRELU = 3, /* max(0, x) */
    miopenActivationSOFTRELU = 4, /* log(1 + e^x) */
    miopenActivationABS = 5, /* |x| */
    miopenActivationPOWER = 6, /* (alpha + beta x)^gamma, 0 where the base is 1e-6 or less */
    miopenActivationCLIPPEDRELU = 7, /* min(alpha, max(0, x)) */
    miopenActivationLEAKYRELU = 8, /* x > 0 ? x : alpha x */
    miopenActivationELU = 9, /* x > 0 ? x : alpha (e^x - 1) */
    miopenActivationCLAMP = 10 /* max(alpha, min(beta, x)) */
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

/* Sets derivedBnDesc to the layout of batch norm's parameters for x, which are floats: 1 x C x 1 x 1 if bn_mode is
   miopenBNSpatial; else 1 x C x H x W, with channels first or last as in x. */
MIOPEN_EXPORT miopenStatus_t miopenDeriveBNTensorDescriptor(miopenTensorDescriptor_t derivedBnDesc,
                                                            const miopenTensorDescriptor_t xDesc,
                                                            miopenBatchNormMode_t bn_mode);

#ifdef __cplusplus
}
#endif

#include <miopen/fusion.h>

#endif
