// SPDX-License-Identifier: BSD-3-Clause
// Datatypes of every layout and operators of every kind for the tests of algorithms, and buffers that reveal every byte
// that was written by mistake.
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "coll/env/arguments.hpp"
#include "runtime/datatype/builder.hpp"
#include "tests/coll/world/arena.hpp"

namespace tutti::coll::test {

enum class Unit { u32, f64, double_int };   ///< the unit of the packed form, for the operators

struct Kind {
    std::string name;
    Ref<Datatype> type;
    Unit unit;
};

inline std::vector<Kind> make_kinds() {
    auto integer = TypeBuilder::predefined(Basic::int32), real = TypeBuilder::predefined(Basic::float64);
    auto pair =
        TypeBuilder::pair("double_int", Basic::double_int, elementary(Basic::float64), elementary(Basic::int32));
    std::int64_t const one[] = {1, 1}, gap[] = {0, 8}, negative[] = {-8, 4};
    Datatype const* const both[] = {integer.get(), integer.get()};
    return {
        {"int", integer, Unit::u32},
        {"double", real, Unit::f64},
        {"strided", TypeBuilder::hvector(2, 1, 12, *integer), Unit::u32},
        {"struct with a gap", TypeBuilder::structure(one, gap, both), Unit::u32},
        {"negative bound", TypeBuilder::hindexed(one, negative, *integer), Unit::u32},
        {"no bytes", TypeBuilder::contiguous(0, *integer), Unit::u32},
        {"double_int", pair, Unit::double_int},
        {"huge", TypeBuilder::contiguous(20000, *integer), Unit::u32},
    };
}

/// Act element by element on the packed form, and therefore fit every layout: sums, or composed affine maps (x → a·x +
/// b as pairs a, b: associative, not commutative).
inline Op::User packed_operator(bool maps) {
    return [maps](void const* in, void* inout, int count, Datatype const& type) {
        std::size_t const bytes = static_cast<std::size_t>(count * type.size());
        std::vector<std::uint32_t> a(bytes / 4), b(bytes / 4);
        type.pack(in, count, 0, a.data(), bytes);
        type.pack(inout, count, 0, b.data(), bytes);
        for (std::size_t i = 0; i < b.size(); i += maps ? 2 : 1) {
            if (!maps) b[i] += a[i];
            else b[i + 1] += a[i + 1] * b[i], b[i] *= a[i];
        }
        type.unpack(inout, count, 0, b.data(), bytes);
    };
}

struct Operator {
    std::string name;
    Ref<Op> op;
    bool fits(Kind const& kind) const {
        if (op->builtin == BuiltinOp::minloc) return kind.unit == Unit::double_int;
        if (op->builtin != BuiltinOp::none) return kind.type->basic() != Basic::none && kind.unit != Unit::double_int;
        return kind.unit == Unit::u32 && (op->commutative || kind.type->size() % 8 == 0);
    }
};

inline std::vector<Operator> make_operators() {
    auto make = [](char const* name, BuiltinOp builtin, bool commutative, Op::User user) {
        auto* op = new Op;
        op->builtin = builtin;
        op->commutative = commutative;
        op->user = std::move(user);
        return Operator{name, Ref<Op>::adopt(op)};
    };
    return {make("sum", BuiltinOp::sum, true, {}), make("max", BuiltinOp::max, true, {}),
            make("minloc", BuiltinOp::minloc, true, {}),
            make("user's sum", BuiltinOp::none, true, packed_operator(false)),
            make("user's maps", BuiltinOp::none, false, packed_operator(true))};
}

/// Packed data that `from` sends to `to`: small whole numbers, so that sums of doubles are exact. They repeat after
/// `period` units.
inline std::vector<std::byte> packed_data(Unit unit, std::size_t bytes, unsigned seed, int from, int to) {
    constexpr std::size_t period = 101;
    unsigned const first = static_cast<unsigned>(from) * 13 + static_cast<unsigned>(to) * 29 + seed;
    std::byte one[period * (sizeof(double) + sizeof(int))];
    std::size_t period_bytes = 0;
    auto put = [&](auto v) {
        std::memcpy(one + period_bytes, &v, sizeof v);
        period_bytes += sizeof v;
    };
    for (unsigned i = 0; i < period; ++i) {
        unsigned const value = (i * 7 + first) % period;
        if (unit == Unit::u32) put(value);
        if (unit == Unit::f64) put(static_cast<double>(value));
        if (unit == Unit::double_int) {
            put(static_cast<double>(value % 5));
            put(from);
        }
    }
    std::vector<std::byte> data(bytes);
    for (std::size_t at = 0; at < bytes; at += period_bytes)
        std::memcpy(data.data() + at, one, std::min(period_bytes, bytes - at));
    return data;
}

/// Memory for messages, filled with a pattern and compared as a whole. It is accessed in whole ranges: a sanitizer's
/// check of every single byte would take most of a test's time.
class Memory {
public:
    /// Room for bytes from `low` to `high` around the origin.
    Memory(std::int64_t low, std::int64_t high)
        : low_((low - margin) / 16 * 16), bytes_(static_cast<std::size_t>(high + margin - low_), memory_of_messages()) {
        std::memset(bytes_.data, 0xa5, bytes_.size);
    }
    /// Room for `count` elements.
    Memory(std::int64_t count, Datatype const& type)
        : Memory(std::min<std::int64_t>(0, type.true_lb()), type.extent() * count + type.true_extent() + 16) {}
    /// The memory of a copy is never in the arena.
    Memory(Memory const& other) : low_(other.low_), bytes_(other.bytes_.size, std::pmr::new_delete_resource()) {
        std::memcpy(bytes_.data, other.bytes_.data, bytes_.size);
    }
    /// Must have the same size.
    Memory& operator=(Memory const& other) {
        std::memcpy(bytes_.data, other.bytes_.data, bytes_.size);
        return *this;
    }

    std::byte* origin() { return bytes_.data - low_; }
    void unpack_at(std::int64_t at, std::int64_t count, Datatype const& type, std::vector<std::byte> const& packed) {
        type.unpack(origin() + at, count, 0, packed.data(), packed.size());
    }
    bool operator==(Memory const& other) const {
        return bytes_.size == other.bytes_.size && std::memcmp(bytes_.data, other.bytes_.data, bytes_.size) == 0;
    }

private:
    static constexpr std::int64_t margin = 64;
    struct Bytes {
        Bytes(std::size_t n, std::pmr::memory_resource* from)
            : size(n), resource(from), data(static_cast<std::byte*>(from->allocate(n))) {}
        ~Bytes() { resource->deallocate(data, size); }
        Bytes(Bytes const&) = delete;
        std::size_t size;
        std::pmr::memory_resource* resource;
        std::byte* data;
    };
    std::int64_t low_;
    Bytes bytes_;
};

}   // namespace tutti::coll::test
