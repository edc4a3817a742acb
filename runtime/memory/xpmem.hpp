// SPDX-License-Identifier: BSD-3-Clause
// The second single-copy method: load and store in a peer's memory outside of arenas, if the kernel has XPMEM (a
// module that shares one process's pages with another). Each rank exposes its whole address space once, to its own
// user alone; peers attach to large pieces of it at the first use and keep them. The module follows the owner's
// mapping changes, so a piece stays valid permanently. Attaching to addresses that the owner has not mapped does not
// fail; touching them faults.
//
// The library is loaded at run time, so it is required neither to build nor to run. The first failure ends all
// attaching on this node, by a flag in the segment, so that ranks agree on what they expose as AccessPath::attach;
// existing attachments remain in use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <sys/types.h>

#include "runtime/memory/segment.hpp"

namespace tutti {

inline constexpr char xpmem_library[] = "libxpmem.so.0";

/// Returns true if this process can expose memory through the library of this name.
bool xpmem_works(char const* library);
/// Called by the creator of a segment: records what the settings of the ranks permit, and whether XPMEM works, for all
/// ranks of the node, because they must choose algorithms alike.
void record_access(SegmentHeader& header, bool arenas, bool cma, bool xpmem);

class Xpmem {
public:
    /// Exposes the memory of this process on behalf of local rank `rank`. `library`: name to load; null: do nothing.
    Xpmem(Segment const& segment, unsigned rank, char const* library);
    ~Xpmem();
    Xpmem(Xpmem const&) = delete;
    Xpmem& operator=(Xpmem const&) = delete;

    /// Returns true if peers may try to attach to memory of this rank.
    bool is_exposed() const {
        return exposed_ && segment_.header().xpmem_forbidden.load(std::memory_order_relaxed) == 0;
    }
    /// Returns the local address of bytes that lie at `address` in the memory of local rank `peer`; null if they
    /// cannot be attached.
    std::byte* at(unsigned peer, std::uint64_t address, std::size_t bytes) {
        return exposed_ ? find_or_attach(peer, address, bytes) : nullptr;
    }

private:
    struct Address {   // passed by value, as in the library's header
        std::int64_t access;
        off_t offset;
    };
    struct Functions {
        std::int64_t (*make)(void* address, std::size_t bytes, int permit_type, void* permit);
        int (*remove)(std::int64_t segment);
        std::int64_t (*get)(std::int64_t segment, int flags, int permit_type, void* permit);
        int (*release)(std::int64_t access);
        void* (*attach)(Address from, std::size_t bytes, void* wanted);
        int (*detach)(void* at);
    };
    struct Attachment {
        std::uint64_t first, last;   ///< in the peer's address space
        std::byte* at;
    };
    struct Peer {
        std::int64_t access = -1;
        std::vector<Attachment> pieces;
    };

    bool open(char const* library);
    std::byte* find_or_attach(unsigned rank, std::uint64_t address, std::size_t bytes);
    std::byte* attach(unsigned rank, Peer& peer, std::uint64_t first, std::uint64_t last);
    std::byte* disable();

    Segment const& segment_;
    unsigned rank_;
    void* handle_ = nullptr;
    Functions call_{};
    bool exposed_ = false;
    std::vector<Peer> peers_;
};

}   // namespace tutti
