// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/datatype/signature.hpp"

#include <algorithm>

namespace tutti {

TypeSignature::Hash TypeSignature::Hash::repeated(std::int64_t times) const {
    Hash all, doubled = *this;
    for (; times > 0; times >>= 1, doubled = doubled.then(doubled))
        if (times & 1) all = all.then(doubled);
    return all;
}

static TypeSignature::Hash hash_of(Elementary unit) {
    std::uint64_t const kind = static_cast<unsigned>(unit.size / unit.parts) | static_cast<unsigned>(unit.format) << 16;
    return TypeSignature::Hash{(kind + 1) * 0x9e3779b97f4a7c15, 0xd1342543de82ef95}.repeated(unit.parts);
}

static bool is_untyped(Elementary unit) {
    return unit.format == Elementary::Format::bytes ||
           (unit.size == 1 && unit.format == Elementary::Format::unsigned_integer);
}

TypeSignature::Ref TypeSignature::of(Elementary unit, std::int64_t count) {
    auto s = std::make_shared<TypeSignature>();
    s->unit = unit;
    s->elements = count;
    s->bytes = count * unit.size;
    s->external_bytes = count * unit.external;
    s->one = hash_of(unit);
    s->hash = s->one.repeated(count);
    s->untyped = is_untyped(unit);
    return s;
}

std::int64_t TypeSignature::elements_in(std::int64_t prefix) const {
    if (prefix == bytes) return elements;
    if (parts.empty()) return prefix % unit.size == 0 ? prefix / unit.size : -1;
    auto after = std::upper_bound(parts.begin(), parts.end(), prefix,
                                  [](std::int64_t p, Part const& part) { return p < part.bytes_before; });
    Part const& part = *(after - 1);
    std::int64_t inside = prefix - part.bytes_before;
    std::int64_t rest = part.signature->elements_in(inside % part.signature->bytes);
    if (rest < 0) return -1;
    return part.elements_before + inside / part.signature->bytes * part.signature->elements + rest;
}

std::int64_t TypeSignature::bytes_of(std::int64_t n) const {
    if (n == elements) return bytes;
    if (parts.empty()) return n * unit.size;
    auto after = std::upper_bound(parts.begin(), parts.end(), n,
                                  [](std::int64_t e, Part const& part) { return e < part.elements_before; });
    Part const& part = *(after - 1);
    std::int64_t inside = n - part.elements_before, each = part.signature->elements;
    return part.bytes_before + inside / each * part.signature->bytes + part.signature->bytes_of(inside % each);
}

void SignatureList::add(TypeSignature::Ref const& signature, std::int64_t count) {
    if (!parts_.empty()) {
        TypeSignature::Part& last = parts_.back();
        if (last.signature == signature) {
            last.count += count;
            return;
        }
        if (last.signature->parts.empty() && signature->parts.empty() && last.signature->unit == signature->unit) {
            std::int64_t elements = last.count * last.signature->elements + count * signature->elements;
            last.signature = TypeSignature::of(signature->unit, elements);
            last.count = 1;
            return;
        }
    }
    parts_.push_back({signature, count, 0, 0});
}

TypeSignature::Ref SignatureList::finish() {
    if (parts_.empty()) return nullptr;
    TypeSignature::Part const& first = parts_.front();
    if (parts_.size() == 1 && first.count == 1) return first.signature;
    if (parts_.size() == 1 && first.signature->parts.empty())
        return TypeSignature::of(first.signature->unit, first.count * first.signature->elements);
    auto s = std::make_shared<TypeSignature>();
    s->parts = std::move(parts_);
    for (TypeSignature::Part& part : s->parts) {
        part.bytes_before = s->bytes;
        part.elements_before = s->elements;
        s->bytes += part.count * part.signature->bytes;
        s->elements += part.count * part.signature->elements;
        s->external_bytes += part.count * part.signature->external_bytes;
        s->hash = s->hash.then(part.signature->hash.repeated(part.count));
        s->untyped |= part.signature->untyped;
    }
    return s;
}

}   // namespace tutti
