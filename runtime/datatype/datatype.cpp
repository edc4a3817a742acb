// SPDX-License-Identifier: BSD-3-Clause
// Copies of data in the user's layout to and from the packed form, and to and from external32.
#include "runtime/datatype/datatype.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "runtime/datatype/layout.hpp"
#include "runtime/datatype/signature.hpp"

namespace tutti {

Datatype::Datatype() = default;
Datatype::~Datatype() = default;

std::size_t Datatype::pack(void const* buffer, std::int64_t count, std::size_t position, void* out,
                           std::size_t bytes) const {
    return pack_typed(TypedMemory::of(buffer, count, *this), position, out, bytes);
}

std::size_t Datatype::unpack(void* buffer, std::int64_t count, std::size_t position, void const* in,
                             std::size_t bytes) const {
    return unpack_typed(TypedMemory::of(buffer, count, *this), position, in, bytes);
}

std::int64_t Datatype::elements(std::size_t bytes) const {
    if (size_ == 0) return bytes == 0 ? 0 : -1;
    auto total = static_cast<std::int64_t>(bytes);
    std::int64_t rest = signature_->elements_in(total % size_);
    return rest < 0 ? -1 : total / size_ * signature_->elements + rest;
}

std::int64_t Datatype::bytes_of_elements(std::int64_t elements) const {
    if (size_ == 0) return elements == 0 ? 0 : -1;
    std::int64_t whole = 0;
    if (__builtin_mul_overflow(elements / signature_->elements, size_, &whole)) return -1;
    return __builtin_add_overflow(whole, signature_->bytes_of(elements % signature_->elements), &whole) ? -1 : whole;
}

std::size_t copy_typed(void* to, std::int64_t to_count, Datatype const& to_type, void const* from,
                       std::int64_t from_count, Datatype const& from_type) {
    auto const bytes = static_cast<std::size_t>(std::min(to_type.size() * to_count, from_type.size() * from_count));
    return copy_typed(TypedMemory::of(to, to_count, to_type), TypedMemory::of(from, from_count, from_type), 0, bytes);
}

// Conversion to and from external32, one sequence of equal elements at a time.

namespace {

__extension__ using Quad = __float128;
using Format = Elementary::Format;

void copy_big_endian(char* to, char const* from, int bytes) {
    if constexpr (std::endian::native == std::endian::little) std::reverse_copy(from, from + bytes, to);
    else std::memcpy(to, from, static_cast<std::size_t>(bytes));
}

/// Converts one number of `size` bytes in memory to `external` bytes.
void to_external(char* to, char const* from, int size, int external, Format format) {
    if (format == Format::extended) {
        long double here;
        std::memcpy(&here, from, sizeof here);
        Quad wide = here;
        char bytes[sizeof wide];
        std::memcpy(bytes, &wide, sizeof wide);
        return copy_big_endian(to, bytes, external);
    }
    char low[16] = {};
    std::memcpy(low, from, static_cast<std::size_t>(size));
    copy_big_endian(to, low, external);   // a shorter integer consists of the lower bytes, which come first in memory
}

void from_external(char* to, char const* from, int size, int external, Format format) {
    char bytes[16] = {};
    copy_big_endian(bytes, from, external);
    if (format == Format::extended) {
        Quad wide;
        std::memcpy(&wide, bytes, sizeof wide);
        auto here = static_cast<long double>(wide);
        std::memcpy(to, &here, sizeof here);
        return;
    }
    bool const negative = format == Format::signed_integer && (bytes[external - 1] & 0x80) != 0;
    if (negative) std::memset(bytes + external, 0xff, sizeof bytes - static_cast<std::size_t>(external));
    std::memcpy(to, bytes, static_cast<std::size_t>(size));
}

/// Processes all elements in pieces. `move` transfers a piece between the user's buffer and packed form, and converts
/// it by calling its last argument, which calls convert(packed bytes, external offset, unit, elements).
template <class Move, class Convert>
std::int64_t for_each_piece(std::int64_t count, Datatype const& type, Move&& move, Convert&& convert) {
    char piece[4096];
    std::size_t position = 0;
    std::int64_t external = 0;
    auto stretch = [&](Elementary unit, std::int64_t elements) {
        std::int64_t const most = static_cast<std::int64_t>(sizeof piece) / unit.size;
        for (std::int64_t n; elements > 0; elements -= n) {
            n = std::min(elements, most);
            move(position, piece, static_cast<std::size_t>(n * unit.size), [&] { convert(piece, external, unit, n); });
            position += static_cast<std::size_t>(n * unit.size);
            external += n * unit.external;
        }
    };
    if (type.signature())
        for (std::int64_t i = 0; i < count; ++i) type.signature()->for_each(stretch);
    return external;
}

}   // namespace

std::int64_t external_size(std::int64_t count, Datatype const& type) {
    return type.signature() ? count * type.signature()->external_bytes : 0;
}

std::int64_t pack_external(void const* buffer, std::int64_t count, Datatype const& type, void* out) {
    auto move = [&](std::size_t position, char* piece, std::size_t bytes, auto const& convert) {
        type.pack(buffer, count, position, piece, bytes);
        convert();
    };
    auto convert = [&](char const* piece, std::int64_t at, Elementary unit, std::int64_t n) {
        int const size = unit.size / unit.parts, external = unit.external / unit.parts;
        char* to = static_cast<char*>(out) + at;
        for (std::int64_t i = 0; i < n * unit.parts; ++i)
            to_external(to + i * external, piece + i * size, size, external, unit.format);
    };
    return for_each_piece(count, type, move, convert);
}

std::int64_t unpack_external(void* buffer, std::int64_t count, Datatype const& type, void const* in) {
    auto move = [&](std::size_t position, char* piece, std::size_t bytes, auto const& convert) {
        convert();
        type.unpack(buffer, count, position, piece, bytes);
    };
    auto convert = [&](char* piece, std::int64_t at, Elementary unit, std::int64_t n) {
        int const size = unit.size / unit.parts, external = unit.external / unit.parts;
        char const* from = static_cast<char const*>(in) + at;
        for (std::int64_t i = 0; i < n * unit.parts; ++i)
            from_external(piece + i * size, from + i * external, size, external, unit.format);
    };
    return for_each_piece(count, type, move, convert);
}

}   // namespace tutti
