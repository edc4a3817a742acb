// SPDX-License-Identifier: BSD-3-Clause
// Computes digests from signatures and compares them with types.
#include "runtime/datatype/digest.hpp"

#include <algorithm>
#include <bit>

#include "runtime/datatype/datatype.hpp"
#include "runtime/datatype/signature.hpp"

namespace tutti {
namespace {

using Hash = TypeSignature::Hash;

enum NumberKind : unsigned { none, integer, ieee, extended, natural };   // natural: an unsigned integer

NumberKind kind_of(Elementary::Format format) {
    switch (format) {
    case Elementary::Format::signed_integer: return integer;
    case Elementary::Format::unsigned_integer: return natural;
    case Elementary::Format::ieee: return ieee;
    case Elementary::Format::extended: return extended;
    default: return none;
    }
}

Elementary::Format format_of(unsigned kind) {
    switch (kind) {
    case integer: return Elementary::Format::signed_integer;
    case natural: return Elementary::Format::unsigned_integer;
    case ieee: return Elementary::Format::ieee;
    default: return Elementary::Format::extended;
    }
}

std::uint16_t fold(Hash hash) {
    std::uint64_t const value = hash.value ^ hash.value >> 32;
    return static_cast<std::uint16_t>((value ^ value >> 15) & 0x7fff);
}

/// Returns the hash of the elements in the first `bytes` bytes of a signature, which must not end inside an element.
Hash hash_of_first(TypeSignature const& signature, std::int64_t bytes) {
    if (bytes == signature.bytes) return signature.hash;
    if (signature.parts.empty()) return signature.one.repeated(bytes / signature.unit.size);
    Hash hash;
    for (TypeSignature::Part const& part : signature.parts) {
        std::int64_t const each = part.signature->bytes, whole = std::min(part.count, each == 0 ? 0 : bytes / each);
        hash = hash.then(part.signature->hash.repeated(whole));
        bytes -= whole * each;
        if (whole == part.count) continue;
        return bytes == 0 ? hash : hash.then(hash_of_first(*part.signature, bytes));
    }
    return hash;
}

/// As above, for repeated elements of a type.
Hash hash_of_first(Datatype const& type, std::int64_t bytes) {
    TypeSignature const& signature = *type.signature();
    Hash const whole = signature.hash.repeated(bytes / signature.bytes);
    return whole.then(hash_of_first(signature, bytes % signature.bytes));
}

}   // namespace

TypeDigest TypeDigest::of(TypeSignature const* signature) {
    if (!signature || signature->untyped || signature->bytes == 0) return {};
    if (!signature->parts.empty()) return TypeDigest(hashed);
    unsigned const size = signature->unit.size / signature->unit.parts, kind = kind_of(signature->unit.format);
    if (kind == none || !std::has_single_bit(size)) return {};
    return TypeDigest(static_cast<std::uint16_t>(kind << 12 | static_cast<unsigned>(std::countr_zero(size)) << 8));
}

TypeDigest TypeDigest::of(TypeSignature const& signature, std::int64_t count) {
    return TypeDigest(hashed | fold(signature.hash.repeated(count)));
}

TypeDigest TypeDigest::with_number(unsigned number) const {
    if (bits_ == 0 || mixed() || number > 0xff) return *this;
    return TypeDigest(static_cast<std::uint16_t>((bits_ & 0xff00) | number));
}

std::size_t TypeDigest::unit() const { return mixed() || bits_ == 0 ? 0 : std::size_t{1} << (bits_ >> 8 & 0xf); }

char const* TypeDigest::c_name() const {
    std::size_t const size = unit();
    switch (bits_ >> 12) {
    case integer: return size == 1 ? "MPI_CHAR" : size == 2 ? "MPI_SHORT" : size == 4 ? "MPI_INT" : "MPI_LONG";
    case natural: return size == 2 ? "MPI_UNSIGNED_SHORT" : size == 4 ? "MPI_UNSIGNED" : "MPI_UNSIGNED_LONG";
    case ieee: return size == 4 ? "MPI_FLOAT" : size == 8 ? "MPI_DOUBLE" : nullptr;
    case extended: return "MPI_LONG_DOUBLE";
    default: return nullptr;
    }
}

bool TypeDigest::fits(std::size_t bytes, Datatype const& type, std::int64_t count) const {
    TypeDigest const wanted = type.digest();
    auto const used = std::min(static_cast<std::int64_t>(bytes), count * type.size());
    if (matches(wanted) || used == 0) return true;
    if (!mixed() && !wanted.mixed()) return false;
    // Truncated messages and messages that end inside an element are reported as other errors.
    if (static_cast<std::size_t>(used) != bytes || type.elements(bytes) < 0) return true;
    Hash const here = hash_of_first(type, used);
    if (mixed()) return (bits_ & ~hashed) == fold(here);
    Elementary const unit{.size = static_cast<std::uint8_t>(this->unit()), .format = format_of(bits_ >> 12)};
    return TypeSignature::of(unit, used / unit.size)->hash == here;
}

}   // namespace tutti
