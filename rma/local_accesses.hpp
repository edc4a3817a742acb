// SPDX-License-Identifier: BSD-3-Clause
// Local memory under --check: the program's own stores to its part of a window, and the origin buffers of operations.
//
// Stores of the program to its part of a window conflict with accesses of other ranks between the same two fences (MPI
// 4.1, 12.7). Each fence copies the part, after all ranks have arrived and before any may leave; the next fence
// compares the copy with the part where other ranks only read it. Where one of them put something, the comparison uses
// the digests of the bytes that it found before and left there. Loads cannot be detected.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <list>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "p2p/check/operation_buffers.hpp"
#include "rma/accumulate.hpp"
#include "runtime/objects/request.hpp"
#include "runtime/process.hpp"

namespace tutti::rma {

struct AccessRecord;

/// Detects stores of the program to its own part of a window.
class LocalStores {
public:
    static constexpr std::size_t max_part_bytes = 16 << 20;   ///< bytes of a part; larger parts are not checked

    /// Begins an epoch: copies the part. `site`: call site of the fence.
    void begin_epoch(void const* base, std::int64_t bytes, std::uint64_t site);
    /// The next epoch is not checked.
    void skip_epoch() { is_open_ = false; }
    /// Returns the accesses among `all`, those of all ranks to the part in the epoch that ends, whose bytes the program
    /// has changed. `all` must be sorted by first byte.
    std::vector<AccessRecord> changed_accesses(std::span<AccessRecord const> all) const;
    /// Call site of the fence that opened the epoch.
    std::uint64_t site() const { return site_; }

private:
    bool has_changed(AccessRecord const& one) const;

    bool is_open_ = false;
    std::byte const* base_ = nullptr;
    std::uint64_t site_ = 0;
    std::vector<std::byte> snapshot_;
};

// The program's buffers of one-sided operations that this process has called and not completed: a buffer of a put or an
// accumulate must not change, and a buffer of a get must not be used, before the operation is complete at its origin
// (MPI 4.1, 12.3 and 12.5). Results are kept in separate memory until then. Must be called with the rank's lock held.

/// Conversion to the buffers that messages use.
inline p2p::Data data_of(Local const& local) { return p2p::Data::of(local.buffer, local.count, local.type); }

class OriginBuffers {
public:
    struct Operation;

    explicit OriginBuffers(Process& process) : process_(process) {}
    ~OriginBuffers();

    /// The running call begins an operation towards `rank` of `window` (a description) that reads `sends` and writes
    /// `result` (may be null), whose buffer is replaced by the separate memory. `fetches`: it is an accumulate.
    /// Accumulates may share a result buffer, as programs do that ignore the result; warns if others do.
    std::shared_ptr<Operation> begin(std::string const& window, int rank, std::initializer_list<Local> sends,
                                     Local* result, bool fetches);
    /// Completes all operations towards a target (−1: all targets): compares buffers and copies the results to the
    /// program.
    void complete(int rank);
    /// Completes one operation. May be called again, and after the window is gone.
    static void complete(Operation& operation);
    /// The program has freed the request and will not be notified of completion: send buffers are no longer checked.
    static void forget(Operation& operation);

private:
    Process& process_;
    std::list<std::shared_ptr<Operation>> operations_;   ///< in the order of their calls
};

/// The request of a one-sided operation; completes the operation's buffers in Request::finalize.
class OneSidedRequest : public Request {
public:
    void set_buffers(std::shared_ptr<OriginBuffers::Operation> operation) {
        operation_ = std::move(operation);
        needs_finalize = true;
    }
    void finalize() override {
        if (operation_) OriginBuffers::complete(*operation_);
        operation_.reset();
    }
    void abandon() override {
        if (operation_) OriginBuffers::forget(*operation_);
    }

private:
    std::shared_ptr<OriginBuffers::Operation> operation_;   ///< null: not checked, or completed
};

}   // namespace tutti::rma
