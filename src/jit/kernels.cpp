// SPDX-License-Identifier: MIT
#include "kernels.hpp"

#include <pthread.h>

#include <atomic>
#include <condition_variable>
#include <map>
#include <new>

#include "background.hpp"
#include "cubin.hpp"

namespace fusekit::jit {

namespace {

std::atomic<std::uint64_t> compiled = 0, from_disk = 0, from_memory = 0;

/// Machine code by key. An entry without code is being compiled by one thread, for which others wait; a child of fork()
/// does not have that thread, nor its entry.
struct Memory {
    std::mutex mutex;
    std::condition_variable done;
    std::map<std::string, std::shared_ptr<Code const>> codes;
    std::shared_ptr<DiskCache const> disk = std::make_shared<DiskCache>("", DiskCache::default_bytes);
    std::map<std::pair<Code const*, int>, driver::Kernel> loaded;

    static Memory& all() {
        static Memory* const own = new Memory;
        return *own;
    }

private:
    Memory() {
        pthread_atfork([] { all().mutex.lock(); }, [] { all().mutex.unlock(); }, [] { all().reset_in_child(); });
    }

    /// Precondition: fork() locked `mutex`.
    void reset_in_child() {
        new (&done) std::condition_variable;  // its destructor would wait for the parent's threads
        std::erase_if(codes, [](auto const& entry) { return !entry.second; });
        mutex.unlock();
    }
};

/// Removes a key from the map at the end, unless it has code, and wakes the threads that wait for it.
struct Pending {
    Memory& memory;
    std::string const& key;

    ~Pending() {
        std::lock_guard const lock(memory.mutex);
        auto const at = memory.codes.find(key);
        if (at != memory.codes.end() && !at->second) memory.codes.erase(at);
        memory.done.notify_all();
    }
};

}  // namespace

Counts counts() { return {compiled, from_disk, from_memory}; }

void use_disk_cache(std::string folder, std::uint64_t bytes) {
    auto disk = std::make_shared<DiskCache>(std::move(folder), bytes);
    Memory& memory = Memory::all();
    std::lock_guard const lock(memory.mutex);
    memory.disk = std::move(disk);
}

std::shared_ptr<Code const> code_of(std::string const& unit, Failure& failure) {
    Compiler const* const compiler = Compiler::find(failure);
    if (!compiler) return nullptr;
    std::string const key = compiler->identity() + unit;
    Memory& memory = Memory::all();
    std::shared_ptr<DiskCache const> disk;
    {
        std::unique_lock lock(memory.mutex);
        for (;;) {
            auto const [at, is_new] = memory.codes.emplace(key, nullptr);
            if (is_new) break;
            if (at->second) {
                ++from_memory;
                return at->second;
            }
            memory.done.wait(lock);
        }
        disk = memory.disk;
    }
    Pending const pending{memory, key};
    auto code = std::make_shared<Code>();
    if (disk->find(key, *code)) {
        ++from_disk;
    } else {
        if (!compiler->compile(unit, *code, failure)) return nullptr;
        ++compiled;
        disk->store(key, *code);
    }
    std::lock_guard const lock(memory.mutex);
    return memory.codes[key] = code;
}

std::shared_ptr<Code const> code_in_memory(std::string const& unit, Failure& failure) {
    Compiler const* const compiler = Compiler::find(failure);
    if (!compiler) return nullptr;
    Memory& memory = Memory::all();
    std::lock_guard const lock(memory.mutex);
    auto const at = memory.codes.find(compiler->identity() + unit);
    if (at == memory.codes.end() || !at->second) return nullptr;
    ++from_memory;
    return at->second;
}

driver::Kernel Kernels::find(Spec const& spec, KernelEntry const& kernel, Filter<2> const& filter, int device,
                             Compile how, Failure& failure) {
    {
        std::lock_guard const lock(mutex);
        for (Loaded const& one : all)
            if (one.kernel == &kernel && one.device == device && one.filter == filter) return one.loaded;
    }
    if (how == Compile::never) {
        failure = {"a plan that was prepared before its stream is captured", "a first compilation during capture"};
        return {};
    }
    std::string why;
    std::string const unit = unit_of(spec, kernel, filter, why);
    if (unit.empty()) {
        failure = {"a kernel whose headers the library has", why};
        return {};
    }
    std::shared_ptr<Code const> const code =
        how == Compile::now ? code_of(unit, failure) : code_in_background(unit, failure);
    if (!code) return {};
    std::uint32_t shared_bytes = 0;
    if (!initial_value(code->cubin, shared_bytes_name, shared_bytes)) {
        failure = {"machine code with the size of its shared memory", "none"};
        return {};
    }
    driver::Kernel found;
    {
        Memory& memory = Memory::all();
        std::lock_guard const lock(memory.mutex);
        driver::Kernel& known = memory.loaded[{code.get(), device}];  // codes stay until the program ends
        if (!known) known = driver::load_kernel(code->cubin, code->name, shared_bytes, why);
        found = known;
    }
    found.more_shared_bytes = static_cast<int>(shared_bytes) - static_cast<int>(kernel.dynamic_shared_bytes);
    if (!found) {
        failure = {"a driver that loads the kernel", why};
        return {};
    }
    std::lock_guard const lock(mutex);
    all.push_back({&kernel, filter, device, found});
    return found;
}

}  // namespace fusekit::jit
