// SPDX-License-Identifier: MIT
#pragma once

#include <new>
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
    Refusal(Refusal&& other) noexcept : error(config::exchange(other.error, nullptr)) {}
    Refusal& operator=(Refusal&& other) noexcept {
        config::swap(error, other.error);
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

namespace detail {

/// A value, or none: std::optional, whose functions' names carry no flags (abi.hpp).
template <class T>
class Maybe {
public:
    Maybe() : none() {}
    Maybe(T value) : has_value(true), held(static_cast<T&&>(value)) {}
    Maybe(Maybe&& other) noexcept : has_value(other.has_value), none() {
        if (has_value) new (&held) T(static_cast<T&&>(other.held));
    }
    ~Maybe() {
        if (has_value) held.~T();
    }

    explicit operator bool() const { return has_value; }
    T const& operator*() const { return held; }
    T& operator*() { return held; }
    T const* operator->() const { return &held; }

private:
    bool has_value = false;
    union {
        char none;
        T held;
    };
};

}  // namespace detail

/// A value, or an Error instead of one.
template <class T>
class [[nodiscard("it may hold an Error instead of the value")]] Result {
    static_assert(std::is_trivially_copyable_v<T>);

public:
    Result(T const& value) : held(value) {}
    [[gnu::cold]] Result(Error error) : refused(std::move(error)) {}

    FUSEKIT_H Result(Result&&) = default;
    FUSEKIT_H Result& operator=(Result&&) = default;
    FUSEKIT_H ~Result() = default;

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
