// SPDX-License-Identifier: MIT
#include "cluster.hpp"

#include <cstdio>
#include <cstdlib>

#include "hip_on_cpu/cluster.hpp"

namespace hip_on_cpu {

void Cluster::leave() {
    std::unique_lock lock(mutex);
    ++finished;
    changed.notify_all();
    changed.wait(lock, [&] { return finished == size(); });
}

void Cluster::wait(SourceLocation const* location) {
    std::unique_lock lock(mutex);
    unsigned long const before = barriers;
    if (++arrived == size()) {
        arrived = 0;
        ++barriers;
        changed.notify_all();
        return;
    }
    changed.wait(lock, [&] { return barriers != before || finished > 0; });
    if (barriers != before) return;
    std::fprintf(
        stderr,
        "hip_on_cpu: a block waits at the cluster barrier %s:%u, but another block of its cluster has finished\n",
        location ? location->file : "", location ? location->line : 0);
    std::abort();
}

bool in_cluster() { return running_block().cluster != nullptr; }
unsigned cluster_rank() { return running_block().cluster_rank; }
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
