// SPDX-License-Identifier: BSD-3-Clause
// A value, or one sentence that says why there is none. Used to read user input about the topology: variables, options
// and files. The sentence ends with a full stop and fits after "tutti: ".
#pragma once

#include <optional>
#include <string>
#include <utility>

namespace tutti::topo {

template <class T>
class Result {
public:
    Result(T value) : value_(std::move(value)) {}

    static Result failure(std::string sentence) { return Result(Failure{std::move(sentence)}); }

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
        std::string sentence;
    };
    explicit Result(Failure failure) : error_(std::move(failure.sentence)) {}

    std::optional<T> value_;
    std::string error_;
};

}   // namespace tutti::topo
