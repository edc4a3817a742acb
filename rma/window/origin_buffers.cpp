// SPDX-License-Identifier: BSD-3-Clause
#include "rma/window/origin_buffers.hpp"

#include <algorithm>

#include "p2p/engine.hpp"
#include "runtime/base/error.hpp"

namespace tutti::rma {

struct OriginBuffers::Operation {
    int rank;   ///< of the target
    p2p::OperationBuffers buffers;
    p2p::Data result;                     ///< the program's; without bytes: none
    bool fetches;                         ///< the result is an accumulate's
    std::vector<Ref<Datatype>> types{};   ///< which the program may free before
};

/// What has gaps does not: others may use the gaps.
static bool overlap(p2p::Data const& a, p2p::Data const& b) {
    return a.dense() && b.dense() && a.base < b.base + b.bytes && b.base < a.base + a.bytes;
}

OriginBuffers::~OriginBuffers() {
    if (!process_.p2p) return;
    for (auto const& operation : operations_) p2p::engine(process_).checks()->ends(operation->buffers);
}

std::shared_ptr<OriginBuffers::Operation> OriginBuffers::begin(std::string const& name, int rank,
                                                               std::initializer_list<Local> sends, Local* result,
                                                               bool fetches) {
    p2p::Checks& checks = *p2p::engine(process_).checks();
    std::vector<p2p::Data> sent, got;
    for (Local const& one : sends) sent.push_back(data_of(one));
    if (result) got.push_back(data_of(*result));
    p2p::Data const into = result ? got.front() : p2p::Data{};
    // An earlier result in the same memory is given up: it stays aside, where a target may still send it.
    for (auto const& earlier : operations_) {
        if (!overlap(earlier->result, into)) continue;
        if (!fetches || !earlier->fetches) checks.warn_of_overlap(earlier->buffers, into);
        checks.ends(earlier->buffers);
    }
    std::string const on = join("rank ", rank, " of ", name.empty() ? "a window without a name" : "window " + name);
    auto made = std::make_shared<Operation>(
        Operation{rank, {p2p::OperationBuffers::Kind::one_sided, on, std::move(sent), std::move(got)}, into, fetches});
    for (Local const& one : sends) made->types.push_back(Ref<Datatype>::share(const_cast<Datatype*>(&one.type)));
    if (result) {
        made->types.push_back(Ref<Datatype>::share(const_cast<Datatype*>(&result->type)));
        auto const address = reinterpret_cast<std::uintptr_t>(result->buffer);   // 0 where it is MPI_BOTTOM
        result->buffer = reinterpret_cast<void*>(address + static_cast<std::uintptr_t>(made->buffers.lay_aside()));
    }
    checks.begins(made->buffers);
    operations_.push_back(made);
    return made;
}

void OriginBuffers::finish(Operation& operation) {
    p2p::Checks& checks = *p2p::engine(process_).checks();
    if (operation.result.bytes != 0) checks.order.may_learn();
    checks.arrives(operation.buffers);
    checks.settle(operation.buffers);
}

void OriginBuffers::complete(int rank) {
    std::erase_if(operations_, [&](auto const& operation) {
        bool const ends = rank < 0 || operation->rank == rank;
        if (ends) finish(*operation);
        return ends;
    });
}

void OriginBuffers::forget(Operation& operation) {
    if (operation.result.bytes == 0) p2p::engine(process_).checks()->ends(operation.buffers);
}

void OriginBuffers::complete(Operation& operation) {
    finish(operation);
    std::erase_if(operations_, [&](auto const& one) { return one.get() == &operation; });
}

}   // namespace tutti::rma
