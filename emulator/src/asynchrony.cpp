// SPDX-License-Identifier: MIT
#include "asynchrony.hpp"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

#include "factor.hpp"

namespace hip_on_cpu {

namespace {

/// Value of accumulators before the wait.
constexpr std::uint32_t not_a_number = 0x7fc00000;

/// Operand of a wgmma in shared memory, see section 9.7.15.5.1 of the PTX ISA. A line is as wide as the swizzle. Eight
/// consecutive lines are eight rows or, MN-major, eight indices k.
class Operand {
public:
    Operand(std::uint64_t descriptor, sm90a::Major major, Factor factor)
        : factor(factor),
          is_mn(major == sm90a::Major::mn),
          swizzle(static_cast<unsigned>(descriptor >> 62)),
          width(swizzle == 0 ? 16 : 256u >> swizzle) {
        auto const bytes = [&](int shift) { return static_cast<std::uint32_t>(descriptor >> shift & 0x3fff) * 16; };
        first = bytes(0);
        // Without swizzle, the leading and the stride byte offset of MN-major operands are swapped.
        across = bytes(is_mn && swizzle == 0 ? 32 : 16), along = bytes(is_mn && swizzle == 0 ? 16 : 32);
    }

    /// Reads the elements of `rows` rows at `depth` indices k: put(row, k, value). Each 16 bytes are contiguous.
    template <class Put>
    void read(unsigned rows, unsigned depth, Put put) const {
        unsigned const bytes = bytes_of(factor), per_chunk = 16 / bytes;
        unsigned const lines = is_mn ? depth : rows, elements = is_mn ? rows : depth;
        for (unsigned line = 0; line < lines; ++line)
            for (unsigned from = 0; from < elements; from += per_chunk) {
                std::uint32_t words[4];
                std::memcpy(words, sm90a::shared_pointer(address(line, from * bytes)), sizeof words);
                for (unsigned i = 0; i < per_chunk; ++i) {
                    unsigned const bits = words[i * bytes / 4] >> i * bytes % 4 * 8;
                    double const value = value_of(factor, bytes == 2 ? bits & 0xffff : bits);
                    if (is_mn) put(from + i, line, value);
                    else put(line, from + i, value);
                }
            }
    }

private:
    Factor factor;
    bool is_mn;
    unsigned swizzle, width;
    std::uint32_t first, across, along;

    std::uint32_t address(unsigned line, unsigned byte) const {
        std::uint32_t address = first + line / 8 * along + line % 8 * width;
        if (swizzle == 0 || is_mn) address += byte / width * across + byte % width;
        else address += byte;
        return swizzle == 0 ? address : address ^ (address >> 7 & (width / 16 - 1)) << 4;
    }
};

void perform(Asynchrony::Copy const& copy) {
    if (copy.is_read) std::memcpy(copy.to, copy.from, copy.bytes);
    else std::memset(copy.to, 0, copy.bytes);
}

/// Performs the first `count` copies and removes them from `copies`.
void do_first(std::vector<Asynchrony::Copy>& copies, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) perform(copies[i]);
    copies.erase(copies.begin(), copies.begin() + static_cast<std::ptrdiff_t>(count));
}

}  // namespace

Moments const& Moments::chosen() {
    static Moments const moments = [] {
        char const* const text = std::getenv("HIP_ON_CPU_ASYNC");
        std::string const word = text ? text : "mixed";
        if (word == "eager") return Moments{at_issue, at_issue};
        if (word == "lazy") return Moments{late, late};
        if (word == "mixed") return Moments{at_issue, late};
        if (word == "random") return Moments{random, random};
        std::fprintf(stderr, "hip_on_cpu: HIP_ON_CPU_ASYNC is %s: set it to eager, lazy, mixed or random\n", text);
        std::exit(1);
    }();
    return moments;
}

void fault(char const* what, SourceLocation const& location) {
    dim3 const block = running->index, thread = running->thread();
    std::fprintf(stderr, "hip_on_cpu: %s in block (%u, %u, %u), thread (%u, %u, %u), at %s:%u\n", what, block.x,
                 block.y, block.z, thread.x, thread.y, thread.z, location.file, location.line);
    std::abort();
}

void Asynchrony::reset(unsigned count, std::size_t block) {
    drawn = block;
    threads.assign(count, {});
    products.assign((count + group - 1) / group, {});
    done.assign(products.size(), 0);
    loads.clear();
    named.clear();
}

/// Draws a bit if the moment is random, by SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
bool Asynchrony::is_late(Moments::Moment moment) {
    if (moment != Moments::random) return moment == Moments::late;
    std::uint64_t bits = drawn += 0x9e3779b97f4a7c15;
    bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9;
    bits = (bits ^ bits >> 27) * 0x94d049bb133111eb;
    return bits >> 63;
}

void Asynchrony::check_finished() const {
    auto const stores = [](Thread const& thread) { return !thread.stores.empty(); };
    auto const copies = [](Thread const& thread) { return !thread.copies.empty(); };
    char const* what = nullptr;
    if (std::any_of(threads.begin(), threads.end(), stores))
        what = "outstanding bulk or TMA stores (call bulk_wait_group_read())";
    else if (std::any_of(threads.begin(), threads.end(), copies))
        what = "outstanding cp.async copies (call wait_for_groups<0>())";
    else if (!loads.empty()) what = "outstanding bulk or TMA loads (call mbarrier_wait())";
    if (!what) return;
    std::fprintf(stderr, "hip_on_cpu: %s at the end of block (%u, %u, %u)\n", what, running->index.x, running->index.y,
                 running->index.z);
    std::abort();
}

void Asynchrony::load(std::uint32_t barrier, std::function<void()> copy) {
    if (is_late(Moments::chosen().loads)) loads.emplace(barrier, std::move(copy));
    else copy();
}

void Asynchrony::finish_loads(std::uint32_t barrier) {
    while (true) {
        auto const one = loads.find(barrier);
        if (one == loads.end()) return;
        auto const copy = std::move(one->second);
        loads.erase(one);
        copy();
    }
}

void Asynchrony::copy(Copy const& one) {
    if (is_late(Moments::chosen().rest)) threads[running_block().thread_number()].copies.push_back(one);
    else perform(one);
}

void Asynchrony::commit_copies() {
    Thread& thread = threads[running_block().thread_number()];
    thread.copy_groups.push_back(thread.copies.size());
}

void Asynchrony::wait_for_groups(std::size_t pending) {
    Thread& thread = threads[running_block().thread_number()];
    auto& groups = thread.copy_groups;
    if (groups.size() <= pending) return;
    std::size_t const waited = groups.size() - pending, done = groups[waited - 1];
    do_first(thread.copies, std::min(done, thread.copies.size()));
    groups.erase(groups.begin(), groups.begin() + static_cast<std::ptrdiff_t>(waited));
    for (std::size_t& group : groups) group -= std::min(done, group);
}

void Asynchrony::store(std::function<void()> copy) {
    if (is_late(Moments::chosen().rest)) threads[running_block().thread_number()].stores.push_back(std::move(copy));
    else copy();
}

void Asynchrony::finish_stores() {
    auto const stores = std::exchange(threads[running_block().thread_number()].stores, {});
    for (auto const& copy : stores) copy();
}

void Asynchrony::multiply(void* acc, int n, std::uint64_t a, std::uint32_t const* registers, std::uint64_t b, bool adds,
                          Factor factor, sm90a::Majors majors, SourceLocation const& location) {
    unsigned const number = running_block().thread_number(), warpgroup = number / group;
    Thread& thread = threads[number];
    auto& all = products[warpgroup];
    if (thread.begun == all.size()) all.push_back({a, b, n, adds, factor, majors, registers != nullptr});
    Product& product = all[thread.begun++];
    if (product.a != a || product.b != b || product.n != n || product.adds != adds || product.factor != factor ||
        product.majors != majors || product.of_registers != (registers != nullptr))
        fault("threads of a warpgroup issue wgmma with different operands", location);
    product.acc[number % group] = acc;
    if (registers) {
        product.registers.resize(group);
        std::copy_n(registers, 4, product.registers[number % group].begin());
    }
    auto const count = static_cast<std::size_t>(n) / 2;
    Kept& kept = thread.kept[acc];
    if (kept.products++ == 0) {
        kept.acc.resize(count);
        std::memcpy(kept.acc.data(), acc, 4 * count);
        std::fill_n(static_cast<std::uint32_t*>(acc), count, not_a_number);
    }
    if (++product.arrived == group && !is_late(Moments::chosen().rest))
        while (done[warpgroup] < thread.begun) multiply_now(warpgroup, all[done[warpgroup]++]);
}

void Asynchrony::commit_products() {
    Thread& thread = threads[running_block().thread_number()];
    thread.groups.push_back(thread.begun);
}

void Asynchrony::wait_for_products(unsigned pending, SourceLocation const& location) {
    unsigned const number = running_block().thread_number(), warpgroup = number / group;
    auto const& groups = threads[number].groups;
    if (groups.size() <= pending) return;
    std::size_t const needed = groups[groups.size() - 1 - pending];
    auto const& all = products[warpgroup];
    running_block().wait_until([&all, needed] { return needed == 0 || all[needed - 1].arrived == group; },
                               "the warpgroup's wgmma", location);
    while (done[warpgroup] < needed) multiply_now(warpgroup, all[done[warpgroup]++]);
}

/// Performs a wgmma. An accumulator is exact except for one rounding; int8 wraps modulo 2^32, and 8-bit floats are
/// truncated (factor.hpp). The element of row r and column c is element 4 (c / 8) + 2 (r / 8 % 2) + c % 2 of thread
/// 32 (r / 16) + 4 (r % 8) + c % 8 / 2 (section 9.7.15.5.1, figure of D). Registers of A: the figure of A for .k16.
void Asynchrony::multiply_now(unsigned warpgroup, Product const& product) {
    constexpr unsigned m = 64, row_bytes = 32;
    unsigned const depth = row_bytes / bytes_of(product.factor);
    auto const n = static_cast<unsigned>(product.n);
    std::vector<double> a(m * depth), b(depth * n), sums(n);  // (M, K), (K, N)
    if (product.of_registers) {
        for (unsigned row = 0; row < m; ++row)
            for (unsigned k = 0; k < depth; ++k) {
                auto const& words = product.registers[row / 16 * 32 + row % 8 * 4 + k % 8 / 2];
                a[row * depth + k] = value_of(product.factor, words[row / 8 % 2 + k / 8 * 2] >> 16 * (k % 2) & 0xffff);
            }
    } else {
        Operand(product.a, product.majors.a, product.factor)
            .read(m, depth, [&](unsigned row, unsigned k, double value) { a[row * depth + k] = value; });
    }
    Operand(product.b, product.majors.b, product.factor).read(n, depth, [&](unsigned column, unsigned k, double value) {
        b[k * n + column] = value;
    });
    std::vector<int> of_a, of_b;
    if (is_float8(product.factor)) {
        of_a.resize(a.size()), of_b.resize(b.size());
        exponents_of(product.factor, of_a.data(), a.data(), m * depth);
        exponents_of(product.factor, of_b.data(), b.data(), depth * n);
    }
    Kept* kept[group];
    for (unsigned t = 0; t < group; ++t) kept[t] = &threads[warpgroup * group + t].kept[product.acc[t]];
    bool const integers = product.factor == Factor::int8;
    for (unsigned row = 0; row < m; ++row) {
        std::uint32_t* acc[4];  // of the four threads that share the row
        for (unsigned i = 0; i < 4; ++i) acc[i] = kept[row / 16 * 32 + row % 8 * 4 + i]->acc.data() + row / 8 % 2 * 2;
        auto const acc_of = [&](unsigned column) -> std::uint32_t& {
            return acc[column % 8 / 2][column / 8 * 4 + column % 2];
        };
        for (unsigned column = 0; column < n; ++column)
            sums[column] = product.adds && !integers ? std::bit_cast<float>(acc_of(column)) : 0;
        double const* const of_row = &a[row * depth];
        if (is_float8(product.factor))
            add_float8_products(sums.data(), of_row, &of_a[row * depth], b.data(), of_b.data(), depth, n);
        else add_products(sums.data(), of_row, b.data(), depth, n);
        for (unsigned column = 0; column < n; ++column) {
            std::uint32_t& sum = acc_of(column);
            if (integers)
                sum = (product.adds ? sum : 0) + static_cast<std::uint32_t>(static_cast<std::int32_t>(sums[column]));
            else sum = std::bit_cast<std::uint32_t>(static_cast<float>(sums[column]));
        }
    }
    for (unsigned t = 0; t < group; ++t)
        if (--kept[t]->products == 0) std::memcpy(product.acc[t], kept[t]->acc.data(), 4 * kept[t]->acc.size());
}

}  // namespace hip_on_cpu
