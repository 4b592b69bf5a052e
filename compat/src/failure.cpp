// SPDX-License-Identifier: MIT
#include "failure.hpp"

#include <cstdio>
#include <exception>
#include <new>

namespace fusekit::compat {
namespace {

thread_local char last_error[1024] = "";

}  // namespace

void remember(char const* call, char const* sentence) noexcept {
    std::snprintf(last_error, sizeof last_error, "%s: %s", call, sentence);
}

void fail(miopenStatus_t status, Text sentence) { throw Failure{status, std::move(sentence)}; }

miopenStatus_t status_of(Error const& error, miopenStatus_t of_neither) {
    constexpr int out_of_memory = 2;  // value of hipErrorOutOfMemory and cudaErrorMemoryAllocation
    if (error.code == out_of_memory || error.operator_name == "allocate") return miopenStatusAllocFailed;
    return error.code ? miopenStatusInternalError : of_neither;
}

miopenStatus_t status_of_exception(char const* call) noexcept {
    try {
        throw;
    } catch (Failure const& failure) {
        remember(call, failure.sentence.c_str());
        return failure.status;
    } catch (Error const& error) {
        remember(call, error.what());
        return status_of(error);
    } catch (std::bad_alloc const&) {
        remember(call, "memory is exhausted");
        return miopenStatusAllocFailed;
    } catch (std::exception const& error) {
        remember(call, error.what());
    } catch (...) {
        remember(call, "an unknown exception");
    }
    return miopenStatusInternalError;
}

}  // namespace fusekit::compat

extern "C" {

char const* fusekitMiopenLastError() { return fusekit::compat::last_error; }

char const* miopenGetErrorString(miopenStatus_t error) {
    switch (error) {
        case miopenStatusSuccess: return "miopenStatusSuccess";
        case miopenStatusNotInitialized: return "miopenStatusNotInitialized";
        case miopenStatusInvalidValue: return "miopenStatusInvalidValue";
        case miopenStatusBadParm: return "miopenStatusBadParm";
        case miopenStatusAllocFailed: return "miopenStatusAllocFailed";
        case miopenStatusInternalError: return "miopenStatusInternalError";
        case miopenStatusNotImplemented: return "miopenStatusNotImplemented";
        case miopenStatusUnknownError: return "miopenStatusUnknownError";
        case miopenStatusUnsupportedOp: return "miopenStatusUnsupportedOp";
        case miopenStatusGpuOperationsSkipped: return "miopenStatusGpuOperationsSkipped";
        case miopenStatusVersionMismatch: return "miopenStatusVersionMismatch";
    }
    return "not a miopenStatus_t";
}

miopenStatus_t miopenGetVersion(size_t* major, size_t* minor, size_t* patch) {
    if (major) *major = MIOPEN_VERSION_MAJOR;
    if (minor) *minor = MIOPEN_VERSION_MINOR;
    if (patch) *patch = MIOPEN_VERSION_PATCH;
    return miopenStatusSuccess;
}
}
