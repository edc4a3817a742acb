// SPDX-License-Identifier: BSD-3-Clause
// What a message is made of, in the 16 bits that travel with it (MPI 3.1, 3.3.1: types must match). Exact where all is
// copies of one elementary datum, a hash of the whole message else. Types that represent the same values in the same
// way are one here: those of C and of Fortran, MPI_LONG and MPI_INT64_T, a complex number and two real ones.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tutti {

class Datatype;
struct TypeSignature;

class TypeDigest {
public:
    /// Of anything: bytes, nothing, unknown.
    constexpr TypeDigest() = default;
    constexpr explicit TypeDigest(std::uint16_t bits) : bits_(bits) {}
    /// Of a type, whatever its count; `mixed()` where that needs the count.
    static TypeDigest of(TypeSignature const* signature);
    /// Of a message of a mixed type.
    static TypeDigest of(TypeSignature const& signature, std::int64_t count);

    std::uint16_t bits() const { return bits_; }
    bool mixed() const { return bits_ & hashed; }
    /// Which predefined type, if all is copies of it and its number is known; 0: not known.
    unsigned number() const { return mixed() ? 0 : bits_ & 0xff; }
    /// The same, where all is copies of one datum.
    TypeDigest with_number(unsigned number) const;
    /// A predefined type of C that holds the same, such as "MPI_INT"; null where there is none.
    char const* in_c() const;
    std::size_t unit() const;   ///< bytes of the elementary datum; 0: mixed, or anything

    /// False only where a message of so many bytes cannot be meant for `count` elements of `type`.
    bool fits(std::size_t bytes, Datatype const& type, std::int64_t count) const;

    bool operator==(TypeDigest const&) const = default;
    /// Both are copies of the same datum, or one may be anything. `fits` where this is false.
    bool agrees(TypeDigest other) const {
        return bits_ == other.bits_ || bits_ == 0 || other.bits_ == 0 ||
               (((bits_ ^ other.bits_) & 0xff00) == 0 && !mixed());
    }

private:
    // Of copies of one datum: what kind of number in bits 12 to 14, its size as a power of two in 8 to 11, and the
    // number of a predefined type. Of others `hashed`, and 15 bits of the hash.
    static constexpr std::uint16_t hashed = 0x8000;

    std::uint16_t bits_ = 0;
};

}   // namespace tutti
