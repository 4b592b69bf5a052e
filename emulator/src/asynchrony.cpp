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

/// Returns the element of row `row` at index k of an operand in shared memory, see section 9.7.15.5.1 of the PTX ISA. A
/// line is as wide as the swizzle. Eight consecutive lines are eight rows or, MN-major, eight indices k.
double element(std::uint64_t descriptor, sm90a::Major major, unsigned row, unsigned k, Factor factor) {
    auto const bytes = [&](int shift) { return static_cast<std::uint32_t>(descriptor >> shift & 0x3fff) * 16; };
    bool const is_mn = major == sm90a::Major::mn;
    unsigned const swizzle = static_cast<unsigned>(descriptor >> 62), width = swizzle == 0 ? 16 : 256u >> swizzle;
    unsigned const line = is_mn ? k : row, byte = (is_mn ? row : k) * bytes_of(factor);
    // Without swizzle, the leading and the stride byte offset of MN-major operands are swapped.
    std::uint32_t const across = bytes(is_mn && swizzle == 0 ? 32 : 16), along = bytes(is_mn && swizzle == 0 ? 16 : 32);
    std::uint32_t address = bytes(0) + line / 8 * along + line % 8 * width;
    if (swizzle == 0 || is_mn) address += byte / width * across + byte % width;
    else address += byte;
    if (swizzle != 0) address ^= (address >> 7 & (width / 16 - 1)) << 4;
    std::uint32_t bits = 0;
    std::memcpy(&bits, sm90a::shared_pointer(address), bytes_of(factor));
    return value_of(factor, bits);
}

/// Performs the first `count` copies and removes them from `copies`.
void do_first(std::vector<Asynchrony::Copy>& copies, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
        auto const& [to, from, bytes, is_read] = copies[i];
        if (is_read) std::memcpy(to, from, bytes);
        else std::memset(to, 0, bytes);
    }
    copies.erase(copies.begin(), copies.begin() + static_cast<std::ptrdiff_t>(count));
}

}  // namespace

Moments const& Moments::chosen() {
    static Moments const moments = [] {
        char const* const text = std::getenv("HIP_ON_CPU_ASYNC");
        std::string const word = text ? text : "mixed";
        if (word != "eager" && word != "lazy" && word != "mixed") {
            std::fprintf(stderr, "hip_on_cpu: HIP_ON_CPU_ASYNC is %s: set it to eager, lazy or mixed\n", word.c_str());
            std::exit(1);
        }
        return Moments{word == "lazy", word != "eager"};
    }();
    return moments;
}

void fault(char const* what, SourceLocation const& location) {
    dim3 const block = running->index, thread = running->thread();
    std::fprintf(stderr, "hip_on_cpu: %s in block (%u, %u, %u), thread (%u, %u, %u), at %s:%u\n", what, block.x,
                 block.y, block.z, thread.x, thread.y, thread.z, location.file, location.line);
    std::abort();
}

void Asynchrony::reset(unsigned count) {
    threads.assign(count, {});
    products.assign((count + group - 1) / group, {});
    done.assign(products.size(), 0);
    loads.clear();
    named.clear();
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
    if (Moments::chosen().loads_late) loads.emplace(barrier, std::move(copy));
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
    auto& copies = threads[running_block().thread_number()].copies;
    copies.push_back(one);
    if (!Moments::chosen().rest_late) do_first(copies, 1);
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
    if (Moments::chosen().rest_late) threads[running_block().thread_number()].stores.push_back(std::move(copy));
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
    if (++product.arrived == group && !Moments::chosen().rest_late) multiply_now(warpgroup, all[done[warpgroup]++]);
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
/// truncated (factor.hpp). Element e of thread t is in row 16 (t / 32) + t % 32 / 4 + 8 (e / 2 % 2) and column 8 (e /
/// 4) + 2 (t % 4) + e % 2 (section 9.7.15.5.1, figure of D). Registers of A: the figure of A for .k16.
void Asynchrony::multiply_now(unsigned warpgroup, Product const& product) {
    constexpr unsigned m = 64, row_bytes = 32;
    unsigned const depth = row_bytes / bytes_of(product.factor);
    auto const n = static_cast<unsigned>(product.n);
    std::vector<double> a(m * depth), b(n * depth);
    for (unsigned i = 0; i < a.size(); ++i) {
        unsigned const row = i / depth, k = i % depth, thread = row / 16 * 32 + row % 8 * 4 + k % 8 / 2;
        a[i] =
            product.of_registers
                ? value_of(product.factor, product.registers[thread][row / 8 % 2 + k / 8 * 2] >> 16 * (k % 2) & 0xffff)
                : element(product.a, product.majors.a, row, k, product.factor);
    }
    for (unsigned i = 0; i < b.size(); ++i)
        b[i] = element(product.b, product.majors.b, i / depth, i % depth, product.factor);
    for (unsigned t = 0; t < group; ++t) {
        Kept& kept = threads[warpgroup * group + t].kept[product.acc[t]];
        for (unsigned e = 0; e < n / 2; ++e) {
            double const* const row = &a[depth * (16 * (t / 32) + t % 32 / 4 + 8 * (e / 2 % 2))];
            double const* const column = &b[depth * (8 * (e / 4) + 2 * (t % 4) + e % 2)];
            std::uint32_t& sum = kept.acc[e];
            bool const integers = product.factor == Factor::int8;
            double exact = product.adds && !integers ? std::bit_cast<float>(sum) : 0;
            if (is_float8(product.factor)) {
                sum = std::bit_cast<std::uint32_t>(float8_sum(product.factor, exact, row, column, depth));
                continue;
            }
            exact = sum_of_products(exact, row, column, depth);
            if (integers) sum = (product.adds ? sum : 0) + static_cast<std::uint32_t>(static_cast<std::int32_t>(exact));
            else sum = std::bit_cast<std::uint32_t>(static_cast<float>(exact));
        }
        if (--kept.products == 0) std::memcpy(product.acc[t], kept.acc.data(), 4 * kept.acc.size());
    }
}

}  // namespace hip_on_cpu
