// SPDX-License-Identifier: BSD-3-Clause
// The second single-copy method: load and store in a peer's memory outside of arenas, if the kernel has XPMEM (a
// module that shares one process's pages with another). Each rank exposes its whole address space once, to its own
// user alone; peers attach to large pieces of it at the first use and keep them. The module follows the owner's
// mapping changes, so a piece stays valid permanently. Attaching to addresses that the owner has not mapped does not
// fail; touching them faults.
//
// The pieces are the registration cache of the XHC paper (Katevenis, Ploumidis, Marazakis, section II.B). Without it
// (TUTTI_REGISTRATION_CACHE=no; the dashed bars of figure 3), an operation attaches the pages of the bytes that it
// accesses, and detaches them at its end. Windows keep their attachments in either case.
//
// The library is loaded at run time, so it is required neither to build nor to run. The first failure ends all
// attaching on this node, by a flag in the segment, so that ranks agree on what they expose as AccessPath::attach;
// existing attachments remain in use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <forward_list>
#include <vector>

#include <sys/types.h>

#include "runtime/memory/segment.hpp"

namespace tutti {

inline constexpr char xpmem_library[] = "libxpmem.so.0";

/// The message to a user who has switched the registration cache off where no rank attaches to memory.
inline constexpr char no_registrations[] =
    "TUTTI_REGISTRATION_CACHE=no has no effect: this system has no XPMEM, or the settings do not permit it";

/// Returns true if this process can expose memory through the library of this name.
bool xpmem_works(char const* library);
/// Called by the creator of a segment: records what the settings of the ranks permit, and whether XPMEM and CMA work,
/// for all ranks of the node, because they must choose algorithms alike.
void record_access(SegmentHeader& header, bool arenas, bool cma, bool xpmem);

class Xpmem;

/// An attachment that lasts as long as the operation that has made it.
class OwnAttachment {
public:
    explicit OwnAttachment(Xpmem& xpmem) : xpmem_(xpmem) {}
    ~OwnAttachment();
    OwnAttachment(OwnAttachment const&) = delete;
    OwnAttachment& operator=(OwnAttachment const&) = delete;

private:
    friend class Xpmem;
    Xpmem& xpmem_;
    unsigned rank_ = 0;
    std::uint64_t first_ = 0, last_ = 0;   ///< in the peer's address space
    std::byte* at_ = nullptr;              ///< null: not attached
};
/// The attachments of one operation. Must be destroyed before the Xpmem.
using OwnAttachments = std::forward_list<OwnAttachment>;

class Xpmem {
public:
    /// Exposes the memory of this process on behalf of local rank `rank`. `library`: name to load; null: do nothing.
    /// `caches`: there is a registration cache.
    Xpmem(Segment const& segment, unsigned rank, char const* library, bool caches = true);
    ~Xpmem();
    Xpmem(Xpmem const&) = delete;
    Xpmem& operator=(Xpmem const&) = delete;

    /// Returns true if peers may try to attach to memory of this rank.
    bool is_exposed() const {
        return exposed_ && segment_.header().xpmem_forbidden.load(std::memory_order_relaxed) == 0;
    }
    /// Returns the local address of bytes that lie at `address` in the memory of local rank `peer`; null if they
    /// cannot be attached. `own`: without a registration cache, the address is valid as long as these attachments,
    /// among which alone the bytes are looked up; null: in any case until the end of the process.
    std::byte* at(unsigned peer, std::uint64_t address, std::size_t bytes, OwnAttachments* own = nullptr) {
        if (!exposed_) return nullptr;
        if (peer == rank_) return reinterpret_cast<std::byte*>(address);
        return own && !caches_ ? find_or_attach(*own, peer, address, bytes) : find_or_attach(peer, address, bytes);
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

    friend class OwnAttachment;

    bool open(char const* library);
    std::byte* find_or_attach(unsigned rank, std::uint64_t address, std::size_t bytes);
    std::byte* find_or_attach(OwnAttachments& own, unsigned rank, std::uint64_t address, std::size_t bytes);
    bool may_attach(unsigned rank, std::uint64_t address, std::size_t bytes) const;
    std::byte* attach(unsigned rank, std::uint64_t first, std::uint64_t last);
    void detach(std::byte* at);
    std::byte* disable();

    Segment const& segment_;
    unsigned rank_;
    void* handle_ = nullptr;
    Functions call_{};
    bool exposed_ = false;
    bool const caches_;
    std::vector<Peer> peers_;
};

}   // namespace tutti
