// SPDX-License-Identifier: BSD-3-Clause
// The type signature of a datatype: its elementary data in type map order, without displacements. It counts elements in
// partial data (MPI_Get_elements) and determines how each element is written in external32 (MPI 3.1, 13.5.2).
// Repetitions are kept, so a signature is as small as the description of its type.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace tutti {

/// One elementary datum, in memory and in external32.
struct Elementary {
    enum class Format : std::uint8_t { bytes, signed_integer, unsigned_integer, ieee, extended };

    std::uint8_t size = 1;       ///< bytes in memory
    std::uint8_t external = 1;   ///< bytes in external32
    std::uint8_t parts = 1;      ///< numbers in it: 2 if complex
    Format format = Format::bytes;

    bool operator==(Elementary const&) const = default;
};

struct TypeSignature {
    using Ref = std::shared_ptr<TypeSignature const>;
    struct Part {
        Ref signature;
        std::int64_t count;                           ///< repetitions
        std::int64_t bytes_before, elements_before;   ///< in the parts before this one
    };

    /// Hash of a sequence of elementary data, independent of how the type was constructed: a polynomial over the
    /// elements, so that sequences can be concatenated and repeated without visiting their elements again. Types that
    /// represent the same values in the same way have equal hashes: the size in external32 is ignored, and a complex
    /// number counts as two real ones. A program that sends MPI_LONG to MPI_INT64_T, or MPI_COMPLEX to two MPI_REAL, is
    /// correct here.
    struct Hash {
        std::uint64_t value = 0, power = 1;   ///< of the empty sequence

        Hash then(Hash const& behind) const { return {value * behind.power + behind.value, power * behind.power}; }
        Hash repeated(std::int64_t times) const;
        bool operator==(Hash const&) const = default;
    };

    std::int64_t bytes = 0, elements = 0, external_bytes = 0;
    Hash hash;
    bool untyped = false;   ///< contains single bytes: MPI_BYTE, MPI_PACKED and other types that match anything
    Elementary unit;        ///< each of the elements, if there are no parts
    Hash one;               ///< hash of one unit
    std::vector<Part> parts;

    static Ref of(Elementary unit, std::int64_t count);

    /// Returns the number of whole elements in the first `prefix` bytes (at most `bytes`), or −1 if they end inside an
    /// element.
    std::int64_t elements_in(std::int64_t prefix) const;
    /// Returns the number of bytes of the first `n` elements (at most `elements`).
    std::int64_t bytes_of(std::int64_t n) const;

    /// Calls visit(unit, count) for each sequence of equal elements, in order.
    template <class Visit>
    void for_each(Visit&& visit) const {
        if (parts.empty()) return visit(unit, elements);
        for (Part const& part : parts)
            for (std::int64_t i = 0; i < part.count; ++i) part.signature->for_each(visit);
    }
};

/// Concatenates signatures.
class SignatureList {
public:
    void add(TypeSignature::Ref const& signature, std::int64_t count);
    /// Returns null if nothing was added.
    TypeSignature::Ref finish();

private:
    std::vector<TypeSignature::Part> parts_;
};

}   // namespace tutti
