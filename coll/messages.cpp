// SPDX-License-Identifier: BSD-3-Clause
#include "coll/messages.hpp"

#include "runtime/type_builder.hpp"

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

}  // namespace tutti::coll
