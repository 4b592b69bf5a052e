// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "fusekit/tensor/view.hpp"
#include "support/format.hpp"

namespace test {

namespace fk = fusekit;

/// A tensor in raw memory of any type and strides. Every byte, also between, before and after the elements, is poisoned
/// with NaN until set.
///
/// Inputs end with their last element, so that a sanitizer detects reads beyond it; outputs have `margin` elements on
/// either side that untouched() checks.
template <int Rank>
class Memory {
public:
    fk::DataType type;
    fk::Layout<Rank> layout;

    Memory(fk::DataType type, fk::Layout<Rank> const& layout, int margin = 0, int misalign = 0)
        : type(type), layout(layout), margin(margin), misalign(misalign) {
        reset();
    }

    /// Stores elements in canonical order, rounded to the type.
    Memory(fk::DataType type, fk::Layout<Rank> const& layout, std::vector<double> const& values, int misalign = 0)
        : Memory(type, layout, 0, misalign) {
        std::size_t i = 0;
        for_each([&](std::int64_t offset) { set(offset, values[i++]); });
    }

    void reset() {
        std::int64_t span = layout.size() > 0;
        below = 0;
        for (int mode = 0; mode < Rank && span; ++mode) {
            std::int64_t const reach = (layout.shape[mode] - 1) * layout.stride[mode];
            span += std::abs(reach);
            below += reach < 0 ? -reach : 0;
        }
        std::size_t const elements = static_cast<std::size_t>(span + 2 * margin + misalign);
        bytes.resize(elements * width());
        for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = poison(i);
    }

    /// All bytes, including those outside elements.
    std::vector<unsigned char>& raw() { return bytes; }
    std::vector<unsigned char> const& raw() const { return bytes; }

    /// View of the elements, in these bytes or in a copy that begins at `copy`.
    template <class T>
    fk::TensorView<T, Rank> view(void* copy = nullptr) {
        auto* const from = copy ? static_cast<unsigned char*>(copy) : bytes.data();
        return {reinterpret_cast<T*>(from + first()), layout};
    }
    fk::AnyView<Rank> any(void* copy = nullptr) {
        using namespace fusekit;
        switch (type) {
#define TEST_VIEW(Type, data_type, number) \
    case DataType::data_type: return view<Type>(copy);
            FUSEKIT_ELEMENTS(TEST_VIEW)
#undef TEST_VIEW
        }
        std::abort();
    }

    std::uint64_t bits(std::int64_t offset) const {
        std::uint64_t value = 0;
        std::memcpy(&value, start() + offset * static_cast<std::int64_t>(width()), width());
        return value;
    }
    double get(std::int64_t offset) const { return format_of(type).decode(bits(offset)); }
    void set(std::int64_t offset, double value) {
        std::uint64_t const coded = format_of(type).encode(format_of(type).round(value));
        std::memcpy(start() + offset * static_cast<std::int64_t>(width()), &coded, width());
    }

    /// Calls f(offset) for every element, in canonical order.
    template <class F>
    void for_each(F f) const {
        fk::Index<Rank> at{};
        for (std::int64_t i = 0; i < layout.size(); ++i) {
            f(layout.offset(at));
            for (int mode = Rank - 1; mode >= 0 && ++at[mode] == layout.shape[mode]; --mode) at[mode] = 0;
        }
    }

    /// True if nothing outside the elements has been written; with `all`, nothing at all.
    bool untouched(bool all = false) const {
        std::vector<unsigned char> own(bytes.size());
        if (!all)
            for_each([&](std::int64_t offset) {
                auto const from = static_cast<std::int64_t>(first()) + offset * static_cast<std::int64_t>(width());
                for (std::size_t b = 0; b < width(); ++b) own[static_cast<std::size_t>(from) + b] = 1;
            });
        for (std::size_t i = 0; i < bytes.size(); ++i)
            if (!own[i] && bytes[i] != poison(i)) return false;
        return true;
    }

private:
    int margin, misalign;
    std::int64_t below = 0;  // elements below index 0, with negative strides
    std::vector<unsigned char> bytes;

    std::size_t width() const { return static_cast<std::size_t>(fk::size_of(type)); }
    std::size_t first() const { return static_cast<std::size_t>(margin + misalign + below) * width(); }
    unsigned char* start() { return bytes.data() + first(); }
    unsigned char const* start() const { return bytes.data() + first(); }

    /// 0x7ffd: NaN in half and bfloat16; repeated twice NaN in float, four times in double.
    static unsigned char poison(std::size_t i) { return i % 2 ? 0x7f : 0xfd; }
};

// Instantiated in one unit, which sanitized builds optimise.
extern template class Memory<1>;
extern template class Memory<2>;
extern template class Memory<3>;
extern template class Memory<4>;
extern template class Memory<5>;

}  // namespace test
