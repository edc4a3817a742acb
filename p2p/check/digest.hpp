// SPDX-License-Identifier: BSD-3-Clause
// Whether a buffer has changed: a number for what is in it, and whether there is memory at all. SipHash of libsodium,
// which connections need in any case: some 3 GB/s, and no other library for the sake of a check.
#pragma once

#include <cstdint>
#include <optional>

#include "p2p/matching/operation.hpp"
#include "runtime/datatype/layout/remote.hpp"

namespace tutti::p2p {

/// All pages of [first, first + bytes) are there.
bool mapped(void const* first, std::size_t bytes);
/// The memory that all elements of `data` lie in, gaps included.
AddressRange range_of(Data const& data);
/// Of the bytes that belong to the elements, gaps left out; nothing when not all of their memory is there.
std::optional<std::uint64_t> digest_of(Data const& data);

}   // namespace tutti::p2p
