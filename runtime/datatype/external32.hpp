// SPDX-License-Identifier: BSD-3-Clause
// The external32 representation (MPI 3.1, 13.5.2): big-endian, standardised sizes, no gaps.
#pragma once

#include "runtime/datatype/datatype.hpp"

namespace tutti {

/// Returns the size of `count` elements in external32 in bytes.
std::int64_t external_size(std::int64_t count, Datatype const& type);
/// Both return the number of bytes of external32 written or read, which is external_size(count, type). Integers that do
/// not fit lose their upper bits.
std::int64_t pack_external(void const* buffer, std::int64_t count, Datatype const& type, void* out);
std::int64_t unpack_external(void* buffer, std::int64_t count, Datatype const& type, void const* in);

}   // namespace tutti
