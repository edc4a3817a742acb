// SPDX-License-Identifier: BSD-3-Clause
// The signature of a datatype: which elementary data it holds, in type map order, without their places. It counts
// elements in partial data (MPI_Get_elements) and says how each is written in external32 (MPI 3.1, 13.5.2).
// Repetition stays repetition, so a signature is as small as the way its type was made.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace tutti {

/// One elementary datum, here and in external32.
struct Elementary {
    enum class Format : std::uint8_t { bytes, signed_integer, unsigned_integer, ieee, extended };

    std::uint8_t size = 1;       ///< bytes in memory
    std::uint8_t external = 1;   ///< bytes in external32
    std::uint8_t parts = 1;      ///< numbers in it: 2 for a complex one
    Format format = Format::bytes;

    bool operator==(Elementary const&) const = default;
};

struct TypeSignature {
    using Ref = std::shared_ptr<TypeSignature const>;
    struct Part {
        Ref signature;
        std::int64_t count;   ///< repetitions
        std::int64_t bytes_before, elements_before;
    };

    /// What equal sequences of elementary data have in common, however their types were made: a polynomial over the
    /// elements, so that sequences can be joined and repeated without visiting their elements again. Types that
    /// represent the same values in the same way are equal: the size in external32 does not count, and a complex number
    /// is two real ones. A program that sends MPI_LONG to MPI_INT64_T, or MPI_COMPLEX to two MPI_REAL, is right here.
    struct Hash {
        std::uint64_t value = 0, power = 1;   ///< of nothing

        Hash then(Hash const& behind) const { return {value * behind.power + behind.value, power * behind.power}; }
        Hash repeated(std::int64_t times) const;
        bool operator==(Hash const&) const = default;
    };

    std::int64_t bytes = 0, elements = 0, external_bytes = 0;
    Hash hash;
    bool untyped = false;   ///< has single bytes: MPI_BYTE, MPI_PACKED and what else may stand for anything
    Elementary unit;        ///< what all elements are when there are no parts,
    Hash one;               ///< and the hash of one
    std::vector<Part> parts;

    static Ref of(Elementary unit, std::int64_t count);

    /// How many whole elements the first `prefix` bytes hold (at most `bytes`); −1 when they end inside one.
    std::int64_t elements_in(std::int64_t prefix) const;
    /// How many bytes the first `n` elements hold (at most `elements`).
    std::int64_t bytes_of(std::int64_t n) const;

    /// Calls visit(unit, count) for each stretch of equal elements, in order.
    template <class Visit>
    void for_each(Visit&& visit) const {
        if (parts.empty()) return visit(unit, elements);
        for (Part const& part : parts)
            for (std::int64_t i = 0; i < part.count; ++i) part.signature->for_each(visit);
    }
};

/// Puts signatures one after the other.
class SignatureList {
public:
    void add(TypeSignature::Ref const& signature, std::int64_t count);
    /// Null when nothing was added.
    TypeSignature::Ref finish();

private:
    std::vector<TypeSignature::Part> parts_;
};

}   // namespace tutti
