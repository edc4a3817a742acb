// SPDX-License-Identifier: BSD-3-Clause
#include "p2p/check/digest.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include <sodium/crypto_shorthash.h>
#include <sys/mman.h>
#include <unistd.h>

namespace tutti::p2p {
namespace {

constexpr std::size_t piece = 64 << 10;   // gathered at a time

/// Goes on from `before` with some more bytes.
std::uint64_t digest(std::uint64_t before, void const* data, std::size_t bytes) {
    std::array<std::uint64_t, 2> const key{before, bytes};
    static_assert(sizeof key == crypto_shorthash_KEYBYTES);
    std::uint64_t result;
    static_assert(sizeof result == crypto_shorthash_BYTES);
    crypto_shorthash(reinterpret_cast<unsigned char*>(&result), static_cast<unsigned char const*>(data), bytes,
                     reinterpret_cast<unsigned char const*>(key.data()));
    return result;
}

}   // namespace

bool mapped(void const* first, std::size_t bytes) {
    static auto const page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    std::array<unsigned char, 1024>
        residence;   // mincore fails where nothing is mapped; what it says is of no interest
    std::uintptr_t at = reinterpret_cast<std::uintptr_t>(first) / page * page;
    std::uintptr_t const end = reinterpret_cast<std::uintptr_t>(first) + bytes;
    for (; at < end; at += residence.size() * page) {
        std::size_t const length = std::min<std::size_t>(end - at, residence.size() * page);
        if (mincore(reinterpret_cast<void*>(at), length, residence.data()) != 0) return false;
    }
    return true;
}

AddressRange range_of(Data const& data) {
    if (data.dense()) return {reinterpret_cast<std::uintptr_t>(data.base), data.bytes};
    return AddressRange::of(data.base, data.count, *data.type);
}

std::optional<std::uint64_t> digest_of(Data const& data) {
    AddressRange const range = range_of(data);
    if (!mapped(reinterpret_cast<void const*>(range.first), range.bytes)) return std::nullopt;
    if (data.dense()) return digest(0, data.base, data.bytes);
    std::vector<std::byte> packed(std::min(piece, data.bytes));
    std::uint64_t all = 0;
    for (std::size_t at = 0; at < data.bytes; at += packed.size()) {
        std::size_t const bytes = std::min(packed.size(), data.bytes - at);
        data.gather(at, packed.data(), bytes);
        all = digest(all, packed.data(), bytes);
    }
    return all;
}

}   // namespace tutti::p2p
