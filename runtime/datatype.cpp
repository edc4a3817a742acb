// SPDX-License-Identifier: BSD-3-Clause
// Moving bytes between the user's layout and the packed form.
#include "runtime/datatype.hpp"

#include <cstring>

#include "runtime/type_recipe.hpp"
#include "runtime/type_signature.hpp"
#include "runtime/type_walk.hpp"

namespace tutti {
namespace {

// Addresses are numbers here: with MPI_BOTTOM the origin is 0 and displacements are absolute addresses.
using Address = std::uintptr_t;

char* at(Address base, std::int64_t offset) { return reinterpret_cast<char*>(base + static_cast<Address>(offset)); }

template <std::size_t block>
void copy_blocks(Address to, std::int64_t to_stride, Address from, std::int64_t from_stride, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i)
        std::memcpy(at(to, i * to_stride), at(from, i * from_stride), block);
}

/// The sizes that matrices and structures have are compiled: a call of memcpy per block costs more than the copy.
void copy_strided(Address to, std::int64_t to_stride, Address from, std::int64_t from_stride, std::int64_t block,
                  std::int64_t count) {
    switch (block) {
    case 1: return copy_blocks<1>(to, to_stride, from, from_stride, count);
    case 2: return copy_blocks<2>(to, to_stride, from, from_stride, count);
    case 4: return copy_blocks<4>(to, to_stride, from, from_stride, count);
    case 8: return copy_blocks<8>(to, to_stride, from, from_stride, count);
    case 12: return copy_blocks<12>(to, to_stride, from, from_stride, count);
    case 16: return copy_blocks<16>(to, to_stride, from, from_stride, count);
    case 24: return copy_blocks<24>(to, to_stride, from, from_stride, count);
    case 32: return copy_blocks<32>(to, to_stride, from, from_stride, count);
    default:
        for (std::int64_t i = 0; i < count; ++i)
            std::memcpy(at(to, i * to_stride), at(from, i * from_stride), static_cast<std::size_t>(block));
    }
}

struct Packer {
    Address user, packed;
    void run(std::int64_t offset, std::int64_t bytes) {
        std::memcpy(at(packed, 0), at(user, offset), static_cast<std::size_t>(bytes));
        packed += static_cast<Address>(bytes);
    }
    void strided(std::int64_t offset, std::int64_t stride, std::int64_t block, std::int64_t count) {
        copy_strided(packed, block, user + static_cast<Address>(offset), stride, block, count);
        packed += static_cast<Address>(block * count);
    }
};

struct Unpacker {
    Address user, packed;
    void run(std::int64_t offset, std::int64_t bytes) {
        std::memcpy(at(user, offset), at(packed, 0), static_cast<std::size_t>(bytes));
        packed += static_cast<Address>(bytes);
    }
    void strided(std::int64_t offset, std::int64_t stride, std::int64_t block, std::int64_t count) {
        copy_strided(user + static_cast<Address>(offset), stride, packed, block, block, count);
        packed += static_cast<Address>(block * count);
    }
};

struct Copier {
    Address to, from;
    void run(std::int64_t offset, std::int64_t bytes) {
        std::memcpy(at(to, offset), at(from, offset), static_cast<std::size_t>(bytes));
    }
    void strided(std::int64_t offset, std::int64_t stride, std::int64_t block, std::int64_t count) {
        auto const by = static_cast<Address>(offset);
        copy_strided(to + by, stride, from + by, stride, block, count);
    }
};

/// How much of [position, position + bytes) there is in `total` bytes.
std::size_t available(std::int64_t total, std::size_t position, std::size_t bytes) {
    auto all = static_cast<std::size_t>(total);
    return position >= all ? 0 : std::min(bytes, all - position);
}

}  // namespace

Datatype::Datatype() = default;
Datatype::~Datatype() = default;

std::size_t Datatype::pack(void const* buffer, std::int64_t count, std::size_t position, void* out,
                           std::size_t bytes) const {
    bytes = available(size_ * count, position, bytes);
    if (bytes == 0) return 0;
    Packer sink{reinterpret_cast<Address>(buffer), reinterpret_cast<Address>(out)};
    if (dense(count))
        sink.run(true_lb_ + static_cast<std::int64_t>(position), static_cast<std::int64_t>(bytes));
    else
        TypeWalk(sink).repeated(*layout_, 0, count, extent_, static_cast<std::int64_t>(position),
                                static_cast<std::int64_t>(bytes));
    return bytes;
}

std::size_t Datatype::unpack(void* buffer, std::int64_t count, std::size_t position, void const* in,
                             std::size_t bytes) const {
    bytes = available(size_ * count, position, bytes);
    if (bytes == 0) return 0;
    Unpacker sink{reinterpret_cast<Address>(buffer), reinterpret_cast<Address>(in)};
    if (dense(count))
        sink.run(true_lb_ + static_cast<std::int64_t>(position), static_cast<std::int64_t>(bytes));
    else
        TypeWalk(sink).repeated(*layout_, 0, count, extent_, static_cast<std::int64_t>(position),
                                static_cast<std::int64_t>(bytes));
    return bytes;
}

std::int64_t Datatype::elements(std::size_t bytes) const {
    if (size_ == 0) return bytes == 0 ? 0 : -1;
    auto total = static_cast<std::int64_t>(bytes);
    std::int64_t rest = signature_->elements_in(total % size_);
    return rest < 0 ? -1 : total / size_ * signature_->elements + rest;
}

void copy_typed(void* to, void const* from, std::int64_t count, Datatype const& type) {
    copy_typed(to, count, type, from, count, type);
}

std::size_t copy_typed(void* to, std::int64_t to_count, Datatype const& to_type,
                       void const* from, std::int64_t from_count, Datatype const& from_type) {
    auto bytes = static_cast<std::size_t>(std::min(to_type.size() * to_count, from_type.size() * from_count));
    if (to_type.dense(to_count))
        return from_type.pack(from, from_count, 0, at(reinterpret_cast<Address>(to), to_type.true_lb()), bytes);
    if (from_type.dense(from_count))
        return to_type.unpack(to, to_count, 0, at(reinterpret_cast<Address>(from), from_type.true_lb()), bytes);
    if (&to_type == &from_type) {
        Copier sink{reinterpret_cast<Address>(to), reinterpret_cast<Address>(from)};
        TypeWalk(sink).repeated(*to_type.layout(), 0, std::min(to_count, from_count), to_type.extent(), 0,
                                static_cast<std::int64_t>(bytes));
        return bytes;
    }
    char piece[16384];
    for (std::size_t position = 0; position < bytes;) {
        std::size_t n = from_type.pack(from, from_count, position, piece, std::min(sizeof piece, bytes - position));
        position += to_type.unpack(to, to_count, position, piece, n);
    }
    return bytes;
}

}  // namespace tutti
