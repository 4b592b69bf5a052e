// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>
#include <utility>

#include "fusekit/error.hpp"

namespace fusekit {

/// An Error that is returned instead of thrown, or none:
///     if (fk::Refusal const refusal = run.try_run(stream, x, y)) log(refusal->what());
class Refusal {
public:
    Refusal() = default;
    [[gnu::cold]] Refusal(Error the_error) : error(new Error(std::move(the_error))) {}
    Refusal(Refusal&& other) noexcept : error(std::exchange(other.error, nullptr)) {}
    Refusal& operator=(Refusal&& other) noexcept {
        std::swap(error, other.error);
        return *this;
    }
    ~Refusal() {
        if (error) destroy();
    }

    explicit operator bool() const { return error != nullptr; }
    Error const& operator*() const { return *error; }
    Error const* operator->() const { return error; }

    /// Throws the error, if there is one.
    void raise() const {
        if (error) detail::raise(*error);
    }

private:
    Error* error = nullptr;

    [[gnu::cold, gnu::noinline]] void destroy() { delete error; }
};

/// A value, or an Error instead of one.
template <class T>
class [[nodiscard("it may hold an Error instead of the value")]] Result {
    static_assert(std::is_trivially_copyable_v<T>);

public:
    Result(T const& value) : held(value) {}
    [[gnu::cold]] Result(Error error) : refused(std::move(error)) {}

    /// Whether there is a value.
    explicit operator bool() const { return !refused; }
    T const& operator*() const { return held; }
    T const* operator->() const { return &held; }

    /// The error; only where there is no value.
    Error const& error() const { return *refused; }

    /// The value. Throws the error where there is none.
    T const& value() const {
        refused.raise();
        return held;
    }

private:
    Refusal refused;
    union {
        T held;
    };
};

}  // namespace fusekit
