// SPDX-License-Identifier: BSD-3-Clause
// Whether a buffer has changed: a number for what is in it, at the speed of memory.
#pragma once

#include <cstdint>

#include "p2p/matching/operation.hpp"
#include "runtime/datatype/layout/remote.hpp"

namespace tutti::p2p {

/// The memory that all elements of `data` lie in, gaps included.
AddressRange range_of(Data const& data);
/// Of the bytes that belong to the elements, gaps left out; all of their memory is there. It differs wherever one word
/// of eight bytes differs, and with all but one of 2⁶⁴ chances where several do.
std::uint64_t digest_of(Data const& data);

}   // namespace tutti::p2p
