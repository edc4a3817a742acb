// SPDX-License-Identifier: BSD-3-Clause
// The program's buffers of one-sided operations that this process has called and not completed yet, under --check: what
// is put or accumulated must not change, what is got must not be used before the operation is complete at its origin
// (MPI 4.1, 12.3 and 12.5). Results are laid aside until then. Called inside the rank's lock.
#pragma once

#include <initializer_list>
#include <list>
#include <memory>
#include <string>

#include "p2p/check/operation_buffers.hpp"
#include "rma/window/elements.hpp"
#include "runtime/objects/request.hpp"
#include "runtime/process.hpp"

namespace tutti::rma {

/// As messages have them.
inline p2p::Data data_of(Local const& local) { return p2p::Data::of(local.buffer, local.count, local.type); }

class OriginBuffers {
public:
    struct Operation;

    explicit OriginBuffers(Process& process) : process_(process) {}
    ~OriginBuffers();

    /// The running call begins an operation towards `rank` of `window`, in words, that reads `sends` and writes
    /// `result` (null: none), whose buffer becomes the memory aside. `fetches`: it is an accumulate. Those may share a
    /// result, as programs do that never look at it; warns where others do.
    std::shared_ptr<Operation> begin(std::string const& window, int rank, std::initializer_list<Local> sends,
                                     Local* result, bool fetches);
    /// All those towards a target (−1: all) are complete here: compares, and gives the results to the program.
    void complete(int rank);
    /// One of them is. May be called again, and when its window is gone.
    static void complete(Operation& operation);
    /// The program has freed its request, and will not be notified: what is sent is watched no more.
    static void forget(Operation& operation);

private:
    Process& process_;
    std::list<std::shared_ptr<Operation>> operations_;   ///< in the order of their calls
};

/// The request of an operation, whose buffers it completes where it is asked to (Request::settle).
class OneSidedRequest : public Request {
public:
    void watch(std::shared_ptr<OriginBuffers::Operation> operation) {
        operation_ = std::move(operation);
        special = true;
    }
    void settle() override {
        if (operation_) OriginBuffers::complete(*operation_);
        operation_.reset();
    }
    void forget() override {
        if (operation_) OriginBuffers::forget(*operation_);
    }

private:
    std::shared_ptr<OriginBuffers::Operation> operation_;   ///< null: not watched, or settled
};

}   // namespace tutti::rma
