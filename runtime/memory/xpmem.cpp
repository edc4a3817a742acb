// SPDX-License-Identifier: BSD-3-Clause
// Exposes this process's memory through XPMEM and attaches to that of peers.
#include "runtime/memory/xpmem.hpp"

#include <algorithm>
#include <string>

#include <dlfcn.h>
#include <unistd.h>

#include "runtime/memory/single_copy.hpp"
#include "topo/files.hpp"

namespace tutti {
namespace {

// Constants of the library's header.
constexpr std::size_t whole_address_space = ~std::size_t{0};
constexpr int read_and_write = 2, permit_by_mode = 1;
// Segment ids are easily guessed (a process and a counter), so only the mode keeps other users out.
void* const this_user_only = reinterpret_cast<void*>(0600);

// Unit of attachment: few attachments, none so large that page tables matter.
constexpr std::uint64_t piece_bytes = 64 << 20;

/// Returns the end of the highest mapping: attachments must not exceed it. Ignores mappings in the kernel's half.
std::uint64_t highest_address() {
    std::string const maps = topo::read_system_file("/proc/self/maps");
    std::uint64_t top = 0;
    topo::for_each_mapping(maps, [&](topo::Mapping const& mapping) {
        if (mapping.end >> 63 == 0) top = std::max(top, mapping.end);
    });
    return top;
}

}   // namespace

bool xpmem_works(char const* library) {
    void* const handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (!handle) return false;
    auto const make = reinterpret_cast<std::int64_t (*)(void*, std::size_t, int, void*)>(dlsym(handle, "xpmem_make"));
    auto const remove = reinterpret_cast<int (*)(std::int64_t)>(dlsym(handle, "xpmem_remove"));
    std::int64_t const id = make && remove ? make(nullptr, whole_address_space, permit_by_mode, this_user_only) : -1;
    if (id >= 0) remove(id);
    dlclose(handle);
    return id >= 0;
}

void record_access(SegmentHeader& header, bool arenas, bool cma, bool xpmem) {
    bool const attaches = xpmem && xpmem_works(xpmem_library);
    header.xpmem_absent = !attaches;
    header.loads_ruled_out = !arenas && !attaches;
    header.kernel_copies_ruled_out = !cma || !cma_works();
    header.copies_ruled_out = header.loads_ruled_out && header.kernel_copies_ruled_out;
}

Xpmem::Xpmem(Segment const& segment, unsigned rank, char const* library, bool caches)
    : segment_(segment), rank_(rank), caches_(caches) {
    if (!library || segment.header().xpmem_absent != 0 || !open(library)) return;
    std::int64_t const id = call_.make(nullptr, whole_address_space, permit_by_mode, this_user_only);
    if (id < 0) return;   // the kernel has no XPMEM, or denies it to this user
    exposed_ = true;
    peers_.resize(segment.ranks());
    RankState& rank_state = segment.rank_state(rank);
    rank_state.xpmem_top.store(highest_address(), std::memory_order_relaxed);
    rank_state.xpmem_segment.store(id, std::memory_order_release);
}

Xpmem::~Xpmem() {
    for (Peer& peer : peers_) {
        for (Attachment const& piece : peer.pieces) call_.detach(piece.at);
        if (peer.access >= 0) call_.release(peer.access);
    }
    if (exposed_) call_.remove(segment_.rank_state(rank_).xpmem_segment.exchange(0));
    if (handle_) dlclose(handle_);
}

bool Xpmem::open(char const* library) {
    handle_ = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (!handle_) return false;
    auto find = [this](auto& function, char const* name) {
        function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(handle_, name));
        return function != nullptr;
    };
    return find(call_.make, "xpmem_make") && find(call_.remove, "xpmem_remove") && find(call_.get, "xpmem_get") &&
           find(call_.release, "xpmem_release") && find(call_.attach, "xpmem_attach") &&
           find(call_.detach, "xpmem_detach");
}

std::byte* Xpmem::find_or_attach(unsigned rank, std::uint64_t address, std::size_t bytes) {
    Peer& peer = peers_[rank];
    for (Attachment const& piece : peer.pieces) {
        if (address < piece.first || address + bytes > piece.last) continue;
        segment_.rank_state(rank_).counters.hits.add(1);
        return piece.at + (address - piece.first);
    }
    if (!may_attach(rank, address, bytes)) return nullptr;
    std::uint64_t const top = segment_.rank_state(rank).xpmem_top.load(std::memory_order_relaxed);
    std::uint64_t const first = address / piece_bytes * piece_bytes;
    std::uint64_t const last = std::min(top, (address + bytes + piece_bytes - 1) / piece_bytes * piece_bytes);
    std::byte* const at = attach(rank, first, last);
    if (!at) return nullptr;
    peer.pieces.push_back({first, last, at});
    return at + (address - first);
}

/// Without a registration cache: attaches the pages of these bytes for one operation, which may access them again.
std::byte* Xpmem::find_or_attach(OwnAttachments& own, unsigned rank, std::uint64_t address, std::size_t bytes) {
    for (OwnAttachment const& one : own)
        if (one.rank_ == rank && address >= one.first_ && address + bytes <= one.last_)
            return one.at_ + (address - one.first_);
    if (!may_attach(rank, address, bytes)) return nullptr;
    auto const page = static_cast<std::uint64_t>(getpagesize());
    OwnAttachment& made = own.emplace_front(*this);
    made.rank_ = rank;
    made.first_ = address / page * page;
    made.last_ = (address + bytes + page - 1) / page * page;
    made.at_ = attach(rank, made.first_, made.last_);
    if (made.at_) return made.at_ + (address - made.first_);
    own.pop_front();
    return nullptr;
}

OwnAttachment::~OwnAttachment() {
    if (at_) xpmem_.detach(at_);
}

/// Returns true if a peer exposes these bytes, as far as this rank knows.
bool Xpmem::may_attach(unsigned rank, std::uint64_t address, std::size_t bytes) const {
    RankState const& there = segment_.rank_state(rank);
    if (!is_exposed() || there.xpmem_segment.load(std::memory_order_acquire) == 0) return false;
    std::uint64_t const top = there.xpmem_top.load(std::memory_order_relaxed);
    return address < top && bytes <= top - address;
}

std::byte* Xpmem::attach(unsigned rank, std::uint64_t first, std::uint64_t last) {
    Peer& peer = peers_[rank];
    if (peer.access < 0)
        peer.access = call_.get(segment_.rank_state(rank).xpmem_segment.load(std::memory_order_relaxed), read_and_write,
                                permit_by_mode, nullptr);
    if (peer.access < 0) return disable();
    void* const at = call_.attach({peer.access, static_cast<off_t>(first)}, last - first, nullptr);
    if (at == reinterpret_cast<void*>(-1)) return disable();
    segment_.rank_state(rank_).counters.maps.add(1);
    return static_cast<std::byte*>(at);
}

void Xpmem::detach(std::byte* at) {
    call_.detach(at);
    segment_.rank_state(rank_).counters.unmaps.add(1);
}

std::byte* Xpmem::disable() {
    segment_.header().xpmem_forbidden.store(1, std::memory_order_relaxed);
    return nullptr;
}

}   // namespace tutti
