// SPDX-License-Identifier: MIT
#include "background.hpp"

#include <pthread.h>

#include <condition_variable>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <new>
#include <set>
#include <thread>

#include "kernels.hpp"

namespace fusekit::jit {

namespace {

/// The thread, and units that wait for it. A child of fork() has neither: it starts a thread of its own when a unit is
/// passed to it.
class Worker {
public:
    static Worker& only() {
        static Worker own;
        return own;
    }
    Worker(Worker const&) = delete;
    Worker& operator=(Worker const&) = delete;
    ~Worker() {
        {
            std::lock_guard const lock(mutex);
            ends = true;
            waiting.clear();
        }
        changed.notify_one();
        if (thread.joinable()) thread.join();
    }

    void compile(std::string const& unit, Failure& failure) {
        std::lock_guard const lock(mutex);
        if (auto const at = failures.find(unit); at != failures.end()) {
            failure = std::move(at->second);
            failures.erase(at);
            return;
        }
        failure = {"a kernel that is compiled", "one that is being compiled: call again", true};
        if (!thread.joinable()) thread = std::thread([this] { run(); });
        auto const [at, is_new] = pending.insert(unit);
        if (!is_new) return;
        try {
            waiting.push_back(unit);
        } catch (...) {
            pending.erase(at);
            throw;
        }
        changed.notify_one();
    }

private:
    std::mutex mutex;  // guards all below
    std::condition_variable changed;
    std::deque<std::string> waiting;
    std::set<std::string> pending;  ///< `waiting`, and the unit that is being compiled
    std::map<std::string, Failure> failures;
    bool ends = false;
    std::thread thread;

    Worker() {
        pthread_atfork([] { only().mutex.lock(); }, [] { only().mutex.unlock(); }, [] { only().reset_in_child(); });
    }

    /// Precondition: fork() locked `mutex`. Destructors of the two objects would wait for the parent's thread.
    void reset_in_child() {
        new (&thread) std::thread;
        new (&changed) std::condition_variable;
        waiting.clear();
        pending.clear();
        mutex.unlock();
    }

    void run() {
        std::unique_lock lock(mutex);
        for (;;) {
            changed.wait(lock, [this] { return ends || !waiting.empty(); });
            if (ends) return;
            std::string const unit = std::move(waiting.front());
            waiting.pop_front();
            lock.unlock();
            Failure failure;
            bool succeeds = false;
            try {
                succeeds = code_of(unit, failure) != nullptr;
            } catch (std::exception const& error) {
                failure = {"memory to compile", error.what()};
            }
            lock.lock();
            pending.erase(unit);
            if (!succeeds) failures[unit] = std::move(failure);
        }
    }
};

}  // namespace

std::shared_ptr<Code const> code_in_background(std::string const& unit, Failure& failure) {
    std::shared_ptr<Code const> const known = code_in_memory(unit, failure);
    if (!known && failure.expected.empty()) Worker::only().compile(unit, failure);
    return known;
}

}  // namespace fusekit::jit
