// SPDX-License-Identifier: MIT
#include "cluster.hpp"

#include "asynchrony.hpp"

#include <cstdio>
#include <cstdlib>

#include "hip_on_cpu/cluster.hpp"

namespace hip_on_cpu {

void Cluster::leave(unsigned rank) {
    std::unique_lock lock(mutex);
    ++finished;
    over[rank] = true;
    changed.notify_all();
    changed.wait(lock, [&] { return finished == size(); });
}

void Cluster::wait(SourceLocation const* location) {
    std::unique_lock lock(mutex);
    unsigned long const before = barriers;
    if (++arrived == size()) {
        synchronized = synchronized || location;
        arrived = 0;
        ++barriers;
        changed.notify_all();
        return;
    }
    changed.notify_all();  // blocks that wait for operations may now wait for ever
    changed.wait(lock, [&] { return barriers != before || finished > 0; });
    if (barriers != before) return;
    std::fprintf(
        stderr,
        "hip_on_cpu: a block waits at the cluster barrier %s:%u, but another block of its cluster has finished\n",
        location ? location->file : "", location ? location->line : 0);
    std::abort();
}

void Cluster::post(unsigned rank, std::function<void()> operation, SourceLocation const& location) {
    std::unique_lock const lock(mutex);
    if (!synchronized)
        fault("an operation on another block's shared memory before the first cluster barrier", location);
    if (over[rank]) fault("an operation on the shared memory of a block that has finished", location);
    posted[rank].push_back(std::move(operation));
    changed.notify_all();
}

bool Cluster::deliver(unsigned rank) {
    std::vector<std::function<void()>> operations;
    {
        std::unique_lock const lock(mutex);
        operations.swap(posted[rank]);
    }
    for (auto const& each : operations) each();
    return !operations.empty();
}

bool Cluster::wait_for_operations(unsigned rank) {
    std::unique_lock lock(mutex);
    idle[rank] = true;
    changed.notify_all();
    auto const none_can = [&] {
        unsigned waiting = arrived + finished;
        for (unsigned i = 0; i < size(); ++i) {
            if (idle[i] && !posted[i].empty()) return false;
            waiting += idle[i];
        }
        return waiting == size();
    };
    changed.wait(lock, [&] { return !posted[rank].empty() || none_can(); });
    idle[rank] = false;
    return !posted[rank].empty();
}

bool in_cluster() { return running_block().cluster != nullptr; }
unsigned cluster_rank() { return running_block().cluster ? running_block().cluster_rank : 0; }
unsigned cluster_size() { return running_block().cluster ? running_block().cluster->size() : 1; }

void cluster_barrier(SourceLocation location) {
    running->barrier(location);
    if (running_block().cluster && running_block().thread_number() == 0) running_block().cluster->wait(&location);
    running->barrier(location);
}

void* shared_of_block(void* own, unsigned rank) {
    return running_block().cluster ? running_block().cluster->shared_of(own, running_block().cluster_rank, rank) : own;
}

}  // namespace hip_on_cpu
