/* SPDX-License-Identifier: MIT */
/* Stand-in for a GPU's driver with two GPUs; CUDA and HIP name the same functions. */
#include <stdio.h>

static int name_of(char* name, int size, int device) {
    return snprintf(name, (size_t)size, "GPU of a test, %d", device) < 0;
}
static int capability_of(int* major, int* minor, int device) {
    *major = 9, *minor = device;
    return 0;
}
static int count_of(int* devices) {
    *devices = 2;
    return 0;
}
static int device_of(int* device, int index) {
    *device = index;
    return 0;
}

int cuInit(unsigned flags) { return (int)flags; }
int cuDeviceGetCount(int* devices) { return count_of(devices); }
int cuDeviceGet(int* device, int index) { return device_of(device, index); }
int cuDeviceGetName(char* name, int size, int device) { return name_of(name, size, device); }
int cuDeviceComputeCapability(int* major, int* minor, int device) { return capability_of(major, minor, device); }

int hipInit(unsigned flags) { return (int)flags + 101; } /* fails */
int hipGetDeviceCount(int* devices) { return count_of(devices); }
int hipDeviceGet(int* device, int index) { return device_of(device, index); }
int hipDeviceGetName(char* name, int size, int device) { return name_of(name, size, device); }
int hipDeviceComputeCapability(int* major, int* minor, int device) { return capability_of(major, minor, device); }
