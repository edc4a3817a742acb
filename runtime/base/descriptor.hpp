// SPDX-License-Identifier: BSD-3-Clause
// A file descriptor that closes itself.
#pragma once

#include <utility>

#include <unistd.h>

namespace tutti::launcher {

/// Owns one descriptor, or none (−1), and closes it on destruction.
class Descriptor {
public:
    Descriptor() = default;
    explicit Descriptor(int number) : number_(number) {}
    Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
    Descriptor& operator=(Descriptor&& other) noexcept {
        std::swap(number_, other.number_);
        return *this;
    }
    ~Descriptor() { reset(); }

    int get() const { return number_; }
    explicit operator bool() const { return number_ >= 0; }
    void reset() {
        if (number_ >= 0) close(number_);
        number_ = -1;
    }

private:
    int number_ = -1;
};

/// Both ends of a pipe, closed on exec so that no rank inherits them by accident. make() throws LaunchError.
struct Pipe {
    Descriptor read, write;
    static Pipe make();
};

}   // namespace tutti::launcher
