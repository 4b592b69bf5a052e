// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include "fusekit/abi.hpp"

#if defined(_WIN32)
#include <malloc.h>
#include <process.h>

// Declared here as <windows.h> declares them: that header defines macros such as min, near and interface.
struct _RTL_SRWLOCK;
struct _RTL_CONDITION_VARIABLE;
extern "C" {
__declspec(dllimport) void __stdcall AcquireSRWLockExclusive(struct _RTL_SRWLOCK*);
__declspec(dllimport) void __stdcall ReleaseSRWLockExclusive(struct _RTL_SRWLOCK*);
__declspec(dllimport) int __stdcall SleepConditionVariableSRW(struct _RTL_CONDITION_VARIABLE*, struct _RTL_SRWLOCK*,
                                                              unsigned long, unsigned long);
__declspec(dllimport) void __stdcall WakeConditionVariable(struct _RTL_CONDITION_VARIABLE*);
__declspec(dllimport) void __stdcall WakeAllConditionVariable(struct _RTL_CONDITION_VARIABLE*);
__declspec(dllimport) unsigned long __stdcall WaitForSingleObject(void*, unsigned long);
__declspec(dllimport) int __stdcall CloseHandle(void*);
__declspec(dllimport) unsigned long __stdcall GetActiveProcessorCount(unsigned short);
}
#else
#include <pthread.h>
#include <unistd.h>

#include <cstdlib>
#endif

/// Threads, aligned memory and processors of the operating system: POSIX or Windows.
//
// Neither has an allocation, an exception or a destructor that runs at exit. <pthread.h> takes 0.02 s to include,
// <thread> 0.25 s. OpenMP needs -fopenmp from every user and silently runs on one core without it; oneTBB is a package.
namespace fusekit::host::platform {

#if defined(_WIN32)

/// A mutex. Its initialisation is constant, so that it may be static.
class Mutex {
public:
    FUSEKIT_H constexpr Mutex() = default;
    FUSEKIT_H void lock() { AcquireSRWLockExclusive(native()); }
    FUSEKIT_H void unlock() { ReleaseSRWLockExclusive(native()); }
    FUSEKIT_H void destroy() {}
    FUSEKIT_H struct _RTL_SRWLOCK* native() { return reinterpret_cast<struct _RTL_SRWLOCK*>(&word); }

private:
    void* word = nullptr;  // SRWLOCK_INIT
};

/// A condition variable.
class Condition {
public:
    FUSEKIT_H constexpr Condition() = default;
    /// Precondition: the calling thread holds the mutex.
    FUSEKIT_H void wait(Mutex& held) { SleepConditionVariableSRW(native(), held.native(), 0xffffffffUL, 0); }
    FUSEKIT_H void wake_one() { WakeConditionVariable(native()); }
    FUSEKIT_H void wake_all() { WakeAllConditionVariable(native()); }
    FUSEKIT_H void destroy() {}

private:
    void* word = nullptr;  // CONDITION_VARIABLE_INIT

    FUSEKIT_H struct _RTL_CONDITION_VARIABLE* native() {
        return reinterpret_cast<struct _RTL_CONDITION_VARIABLE*>(&word);
    }
};

/// An OS thread that runs body(argument).
class Thread {
public:
    using Body = void (*)(void*);

    FUSEKIT_H constexpr Thread() = default;
    /// Returns false if the system starts no more threads. `this` must not move before join().
    FUSEKIT_H bool start(Body the_body, void* the_argument) {
        body = the_body, argument = the_argument;
        handle = reinterpret_cast<void*>(_beginthreadex(nullptr, 0, enter, this, 0, nullptr));
        return handle != nullptr;
    }
    FUSEKIT_H void join() {
        WaitForSingleObject(handle, 0xffffffffUL);
        CloseHandle(handle);
    }

private:
    Body body = nullptr;
    void* argument = nullptr;
    void* handle = nullptr;

    FUSEKIT_H static unsigned __stdcall enter(void* self) {
        static_cast<Thread*>(self)->body(static_cast<Thread*>(self)->argument);
        return 0;
    }
};

/// Windows has no fork().
FUSEKIT_H inline void watch_forks(void (*)(), void (*)(), void (*)()) {}

/// Processors of all processor groups.
FUSEKIT_H inline int processors() {
    constexpr unsigned short all_groups = 0xffff;
    return static_cast<int>(GetActiveProcessorCount(all_groups));
}

/// Null if memory is exhausted. `bytes` must be a multiple of `alignment`.
FUSEKIT_H inline void* allocate(std::size_t alignment, std::size_t bytes) { return _aligned_malloc(bytes, alignment); }
FUSEKIT_H inline void release(void* memory) { _aligned_free(memory); }

#else

/// A mutex. Its initialisation is constant, so that it may be static.
class Mutex {
public:
    FUSEKIT_H constexpr Mutex() = default;
    FUSEKIT_H void lock() { pthread_mutex_lock(&mutex); }
    FUSEKIT_H void unlock() { pthread_mutex_unlock(&mutex); }
    FUSEKIT_H void destroy() { pthread_mutex_destroy(&mutex); }
    FUSEKIT_H pthread_mutex_t* native() { return &mutex; }

private:
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
};

/// A condition variable.
class Condition {
public:
    FUSEKIT_H constexpr Condition() = default;
    /// Precondition: the calling thread holds the mutex.
    FUSEKIT_H void wait(Mutex& held) { pthread_cond_wait(&condition, held.native()); }
    FUSEKIT_H void wake_one() { pthread_cond_signal(&condition); }
    FUSEKIT_H void wake_all() { pthread_cond_broadcast(&condition); }
    FUSEKIT_H void destroy() { pthread_cond_destroy(&condition); }

private:
    pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
};

/// An OS thread that runs body(argument).
class Thread {
public:
    using Body = void (*)(void*);

    FUSEKIT_H constexpr Thread() = default;
    /// Returns false if the system starts no more threads. `this` must not move before join().
    FUSEKIT_H bool start(Body the_body, void* the_argument) {
        body = the_body, argument = the_argument;
        return pthread_create(&thread, nullptr, enter, this) == 0;
    }
    FUSEKIT_H void join() { pthread_join(thread, nullptr); }

private:
    Body body = nullptr;
    void* argument = nullptr;
    pthread_t thread = {};

    FUSEKIT_H static void* enter(void* self) {
        static_cast<Thread*>(self)->body(static_cast<Thread*>(self)->argument);
        return nullptr;
    }
};

/// Calls before() in every fork(), then after() in the parent and in_child() in the child.
FUSEKIT_H inline void watch_forks(void (*before)(), void (*after)(), void (*in_child)()) {
    pthread_atfork(before, after, in_child);
}

/// Online processors.
FUSEKIT_H inline int processors() { return static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN)); }

/// Null if memory is exhausted. `bytes` must be a multiple of `alignment`.
FUSEKIT_H inline void* allocate(std::size_t alignment, std::size_t bytes) {
    return std::aligned_alloc(alignment, bytes);
}
FUSEKIT_H inline void release(void* memory) { std::free(memory); }

#endif

}  // namespace fusekit::host::platform
