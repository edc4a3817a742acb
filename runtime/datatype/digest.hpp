// SPDX-License-Identifier: BSD-3-Clause
// Type information of a message in the 16 bits that travel with it, to check that types match (MPI 3.1, 3.3.1). It is
// exact if the message consists of copies of one elementary datum, otherwise a hash of the whole message. Types that
// represent the same values in the same way have equal digests: C and Fortran types, MPI_LONG and MPI_INT64_T, a
// complex number and two real ones.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tutti {

class Datatype;
struct TypeSignature;

class TypeDigest {
public:
    /// The digest that matches anything: bytes, no data, or an unknown type.
    constexpr TypeDigest() = default;
    constexpr explicit TypeDigest(std::uint16_t bits) : bits_(bits) {}
    /// Returns the digest of a type for any count. If the digest depends on the count, it is mixed().
    static TypeDigest of(TypeSignature const* signature);
    /// Returns the digest of a message of `count` elements of a mixed type.
    static TypeDigest of(TypeSignature const& signature, std::int64_t count);

    std::uint16_t bits() const { return bits_; }
    bool mixed() const { return bits_ & hashed; }
    /// Returns the number of the predefined type of which all data are copies; 0 if there is none or it is not known.
    unsigned number() const { return mixed() ? 0 : bits_ & 0xff; }
    /// Returns the digest with this number, or an unchanged digest if the data are not copies of one datum or the
    /// number exceeds 255.
    TypeDigest with_number(unsigned number) const;
    /// Returns a predefined C type with the same representation, such as "MPI_INT", or null if there is none.
    char const* c_name() const;
    std::size_t unit() const;   ///< bytes of the elementary datum; 0: mixed, or anything

    /// Returns false only if a message of `bytes` bytes with this digest cannot match `count` elements of `type`.
    bool fits(std::size_t bytes, Datatype const& type, std::int64_t count) const;

    bool operator==(TypeDigest const&) const = default;
    /// Returns true if both are copies of the same datum, or one may be anything. If it returns false, `fits` decides.
    bool matches(TypeDigest other) const {
        return bits_ == other.bits_ || bits_ == 0 || other.bits_ == 0 ||
               (((bits_ ^ other.bits_) & 0xff00) == 0 && !mixed());
    }

private:
    // Copies of one datum: the kind of number in bits 12 to 14, the binary logarithm of its size in bits 8 to 11, and
    // the number of a predefined type in bits 0 to 7. Other data: `hashed` and 15 bits of the hash.
    static constexpr std::uint16_t hashed = 0x8000;

    std::uint16_t bits_ = 0;
};

}   // namespace tutti
