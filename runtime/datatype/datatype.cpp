// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/datatype/datatype.hpp"

#include <algorithm>

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

void copy_typed(void* to, void const* from, std::int64_t count, Datatype const& type) {
    copy_typed(to, count, type, from, count, type);
}

std::size_t copy_typed(void* to, std::int64_t to_count, Datatype const& to_type, void const* from,
                       std::int64_t from_count, Datatype const& from_type) {
    auto const bytes = static_cast<std::size_t>(std::min(to_type.size() * to_count, from_type.size() * from_count));
    return copy_typed(TypedMemory::of(to, to_count, to_type), TypedMemory::of(from, from_count, from_type), 0, bytes);
}

}   // namespace tutti
