// SPDX-License-Identifier: BSD-3-Clause
#include "coll/blocks/messages/messages.hpp"

#include "runtime/datatype/builder.hpp"

namespace tutti::coll {

MessagePart packed_part(std::byte const* data, std::size_t bytes) {
    static auto const byte = TypeBuilder::predefined(Basic::byte_);
    return {{data, static_cast<std::int64_t>(bytes), byte.get()}, 0, bytes};
}

BcastArgs bytes_from(void* data, std::size_t bytes, int root) {
    BcastArgs args{};
    args.data = {data, static_cast<std::int64_t>(bytes), packed_part(nullptr, 0).buffer.type};
    args.root = root;
    return args;
}

AllgatherArgs bytes_of_all(void const* mine, std::size_t bytes, void* all) {
    Datatype const& byte = *packed_part(nullptr, 0).buffer.type;
    auto const count = static_cast<std::int64_t>(bytes);
    AllgatherArgs args{};
    args.mine = {const_cast<void*>(mine), count, &byte};
    args.parts = Parts::regular(all, count, byte);
    args.largest = bytes;
    return args;
}

}   // namespace tutti::coll
