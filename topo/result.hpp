// SPDX-License-Identifier: BSD-3-Clause
// A value, or an error message that says why there is none. Used to read user input about the topology: variables,
// options and files. The message ends with a full stop and fits after "tutti: ".
#pragma once

#include <optional>
#include <string>
#include <utility>

namespace tutti::topo {

template <class T>
class Result {
public:
    Result(T value) : value_(std::move(value)) {}

    static Result failure(std::string message) { return Result(Failure{std::move(message)}); }

    /// Must be true before the value is accessed.
    explicit operator bool() const { return value_.has_value(); }
    const T& operator*() const { return *value_; }
    T& operator*() { return *value_; }
    const T* operator->() const { return &*value_; }
    T* operator->() { return &*value_; }

    /// Empty if there is a value.
    const std::string& error() const { return error_; }

private:
    struct Failure {
        std::string message;
    };
    explicit Result(Failure failure) : error_(std::move(failure.message)) {}

    std::optional<T> value_;
    std::string error_;
};

}   // namespace tutti::topo
