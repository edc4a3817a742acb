// SPDX-License-Identifier: BSD-3-Clause
#include "p2p/check/digest.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace tutti::p2p {
namespace {

constexpr std::size_t word = 8, lanes = 8, block = lanes * word;
constexpr std::size_t piece = 64 * block;   // gathered at a time

/// Of either argument, the other one being given, each outcome has one: so whatever a single word was changed to, it
/// shows in the end. The turn makes what is in the upper bits, where products do not carry on, count in the next step.
std::uint64_t with(std::uint64_t before, std::uint64_t next) {
    return std::rotl((before ^ next) * 0x9e3779b97f4a7c15, 29);
}

std::uint64_t load(std::byte const* at, std::size_t bytes = word) {
    std::uint64_t value = 0;
    std::memcpy(&value, at, bytes);
    return value;
}

/// Blocks by eight lanes that need not wait for each other. Goes on with what is left, of less than a block.
std::uint64_t digest_blocks(std::uint64_t before, std::byte const*& at, std::size_t& bytes) {
    std::array<std::uint64_t, lanes> all;
#pragma GCC unroll 8   // so that the lanes stay in registers
    for (std::size_t i = 0; i < lanes; ++i) all[i] = before + i;
    for (; bytes >= block; bytes -= block, at += block)
#pragma GCC unroll 8
        for (std::size_t i = 0; i < lanes; ++i) all[i] = with(all[i], load(at + i * word));
    std::uint64_t result = before;
#pragma GCC unroll 8
    for (std::uint64_t const lane : all) result = with(result, lane);
    return result;
}

/// Goes on from `before` with some more bytes.
std::uint64_t digest(std::uint64_t before, std::byte const* at, std::size_t bytes) {
    std::uint64_t result = before ^ bytes;
    if (bytes >= block) result = digest_blocks(result, at, bytes);
    for (; bytes >= word; bytes -= word, at += word) result = with(result, load(at));
    return bytes == 0 ? result : with(result, load(at, bytes));
}

}   // namespace

AddressRange range_of(Data const& data) {
    if (data.dense()) return {reinterpret_cast<std::uintptr_t>(data.base), data.bytes};
    return AddressRange::of(data.base, data.count, *data.type);
}

std::uint64_t digest_of(Data const& data) {
    if (data.dense()) return digest(0, data.base, data.bytes);
    std::array<std::byte, piece> packed;
    std::uint64_t all = 0;
    for (std::size_t at = 0; at < data.bytes; at += packed.size()) {
        std::size_t const bytes = std::min(packed.size(), data.bytes - at);
        data.gather(at, packed.data(), bytes);
        all = digest(all, packed.data(), bytes);
    }
    return all;
}

}   // namespace tutti::p2p
