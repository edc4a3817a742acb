// SPDX-License-Identifier: BSD-3-Clause
#include "rma/window/origin_buffers.hpp"

#include <utility>

#include "p2p/engine.hpp"
#include "runtime/base/error.hpp"

namespace tutti::rma {

struct OriginBuffers::Operation {
    int rank;   ///< of the target
    p2p::OperationBuffers buffers;
    bool has_result;
    std::vector<Ref<Datatype>> types;   ///< which the program may free before
    OriginBuffers* all;                 ///< null: it is complete
    std::list<std::shared_ptr<Operation>>::iterator at{};
};

OriginBuffers::~OriginBuffers() {
    for (auto const& operation : operations_) {
        if (process_.p2p) p2p::engine(process_).checks()->ends(operation->buffers);
        operation->all = nullptr;
    }
}

std::shared_ptr<OriginBuffers::Operation> OriginBuffers::begin(std::string const& window, int rank,
                                                               std::initializer_list<Local> sends, Local* result,
                                                               bool fetches) {
    p2p::Checks& checks = *p2p::engine(process_).checks();
    std::vector<p2p::Data> sent, got;
    for (Local const& one : sends) sent.push_back(data_of(one));
    if (result) got.push_back(data_of(*result));
    auto const kind = fetches ? p2p::OperationBuffers::Kind::fetching : p2p::OperationBuffers::Kind::one_sided;
    std::string const on = join("rank ", rank, " of ", window);
    auto made = std::make_shared<Operation>(
        Operation{rank, {kind, on, std::move(sent), std::move(got)}, result != nullptr, {}, this});
    for (Local const& one : sends) made->types.push_back(Ref<Datatype>::share(const_cast<Datatype*>(&one.type)));
    if (result) {
        made->types.push_back(Ref<Datatype>::share(const_cast<Datatype*>(&result->type)));
        auto const address = reinterpret_cast<std::uintptr_t>(result->buffer);   // 0 where it is MPI_BOTTOM
        result->buffer = reinterpret_cast<void*>(address + static_cast<std::uintptr_t>(made->buffers.lay_aside()));
    }
    checks.begins(made->buffers);
    made->at = operations_.insert(operations_.end(), made);
    return made;
}

void OriginBuffers::complete(int rank) {
    for (auto at = operations_.begin(); at != operations_.end();) {
        Operation& operation = **at++;
        if (rank < 0 || operation.rank == rank) complete(operation);
    }
}

void OriginBuffers::complete(Operation& operation) {
    if (!operation.all) return;
    p2p::Checks& checks = *p2p::engine(operation.all->process_).checks();
    if (operation.has_result) checks.call_order.may_learn();
    checks.arrives(operation.buffers);
    checks.settle(operation.buffers);
    std::exchange(operation.all, nullptr)->operations_.erase(operation.at);   // which may end it
}

void OriginBuffers::forget(Operation& operation) {
    if (operation.all && !operation.has_result) p2p::engine(operation.all->process_).checks()->ends(operation.buffers);
}

}   // namespace tutti::rma
