// SPDX-License-Identifier: BSD-3-Clause
// Serialises plain data for messages between the launchers of one job. One function lists the members of a structure
// for both directions:
//     template <class A> void members(A& a, Program& p) { a(p.command, p.ranks); }
// Numbers are sent as 64-bit integers in the byte order of this machine: all nodes of a job have the same architecture
// and run the same version of Tutti. Strings and vectors begin with their number of elements.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "runtime/base/error.hpp"

namespace tutti::launcher {

template <class T>
concept PlainNumber = std::is_arithmetic_v<T> || std::is_enum_v<T>;

/// Appends values to a string of bytes.
class Packer {
public:
    template <class... T>
    void operator()(T const&... values) {
        (put(values), ...);
    }
    /// Returns the bytes; call it once, at the end.
    std::string take() { return std::move(bytes_); }

private:
    template <PlainNumber T>
    void put(T value) {
        auto const wide = static_cast<std::int64_t>(value);
        bytes_.append(reinterpret_cast<char const*>(&wide), sizeof wide);
    }
    void put(std::string const& text) {
        put(text.size());
        bytes_ += text;
    }
    void put(std::chrono::milliseconds time) { put(time.count()); }
    template <class T>
    void put(std::vector<T> const& all) {
        put(all.size());
        for (T const& one : all) put(one);
    }
    template <class T, class U>
    void put(std::pair<T, U> const& pair) {
        put(pair.first);
        put(pair.second);
    }
    template <class T>
    void put(std::optional<T> const& maybe) {
        put(maybe.has_value());
        if (maybe) put(*maybe);
    }
    template <class T>
    requires(std::is_class_v<T>) void put(T const& structure) {
        members(*this, const_cast<T&>(structure));   // members() only reads here
    }

    std::string bytes_;
};

/// Reads values in the order in which Packer has written them. Accepts any bytes: throws Error if they are too short
/// for the values, but does not check the values themselves.
class Unpacker {
public:
    /// `bytes` must stay valid as long as this object.
    explicit Unpacker(std::string_view bytes) : rest_(bytes) {}

    template <class... T>
    void operator()(T&... values) {
        (get(values), ...);
    }
    /// Returns the bytes that have not been read yet.
    std::string_view rest() const { return rest_; }

private:
    std::string_view bytes(std::size_t count) {
        if (count > rest_.size()) fail(ErrorClass::other, "a message between launchers is too short");
        std::string_view const part = rest_.substr(0, count);
        rest_.remove_prefix(count);
        return part;
    }
    std::int64_t wide() {
        std::int64_t value;
        std::memcpy(&value, bytes(sizeof value).data(), sizeof value);
        return value;
    }
    std::size_t count() {
        auto const n = static_cast<std::uint64_t>(wide());
        if (n > rest_.size()) fail(ErrorClass::other, "a message between launchers is too short");
        return n;   // each element takes at least one byte
    }
    template <PlainNumber T>
    void get(T& value) {
        value = static_cast<T>(wide());
    }
    void get(std::string& text) { text = bytes(count()); }
    void get(std::chrono::milliseconds& time) { time = std::chrono::milliseconds(wide()); }
    template <class T>
    void get(std::vector<T>& all) {
        std::size_t const n = count();
        all.clear();
        for (std::size_t i = 0; i < n; ++i) get(all.emplace_back());
    }
    template <class T, class U>
    void get(std::pair<T, U>& pair) {
        get(pair.first);
        get(pair.second);
    }
    template <class T>
    void get(std::optional<T>& maybe) {
        bool present = false;
        get(present);
        maybe.reset();
        if (present) get(maybe.emplace());
    }
    template <class T>
    requires(std::is_class_v<T>) void get(T& structure) { members(*this, structure); }

    std::string_view rest_;
};

template <class T>
std::string packed(T const& value) {
    Packer packer;
    packer(value);
    return packer.take();
}

template <class T>
T unpacked(std::string_view bytes) {
    T value{};
    Unpacker unpacker(bytes);
    unpacker(value);
    return value;
}

}   // namespace tutti::launcher
