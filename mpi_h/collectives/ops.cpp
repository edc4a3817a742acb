// SPDX-License-Identifier: BSD-3-Clause
// Reduction operators, and reduction without communication (MPI 3.1, 5.9.5 and 5.9.7).
#include "mpi_h/entry/entry.hpp"

using namespace tutti;

TUTTI_FUNCTION(Op_create);
int PMPI_Op_create(MPI_User_function* user_fn, int commute, MPI_Op* op) {
    return enter(args(user_fn, commute, op), [&](Call& call) {
        call.callback(user_fn, "user_fn");
        call.pointer(op, "op");
        auto made = Ref<Op>::adopt(new Op);
        made->commutative = commute != 0;
        made->user = [user_fn](void const* in, void* inout, int count, Datatype const& type) {
            auto& types = library().tables.datatypes;
            // The program may have freed the datatype while the operation is in flight.
            auto const valid = abi::Tables::Datatypes::HandleGuard(types, const_cast<Datatype&>(type));
            auto handle = static_cast<MPI_Datatype>(type.handle);
            user_fn(const_cast<void*>(in), inout, &count, &handle);
        };
        *op = library().tables.ops.add(made.detach());
    });
}

TUTTI_FUNCTION(Op_free);
int PMPI_Op_free(MPI_Op* op) {
    return enter(args(op), [&](Call& call) {
        call.pointer(op, "op");
        if (call.op(*op).predefined) fail(ErrorClass::op, "a predefined operator cannot be freed");
        record_freed(*op);
        library().tables.ops.remove(*op);
        *op = MPI_OP_NULL;
    });
}

TUTTI_FUNCTION(Op_commutative);
int PMPI_Op_commutative(MPI_Op op, int* commute) {
    return enter(args(op, commute), [&](Call& call) {
        Op& o = call.op(op);
        call.pointer(commute, "commute");
        *commute = o.commutative;
    });
}

TUTTI_FUNCTION(Reduce_local);
int PMPI_Reduce_local(void const* inbuf, void* inoutbuf, int count, MPI_Datatype datatype, MPI_Op op) {
    return enter(args(inbuf, inoutbuf, count, datatype, op), [&](Call& call) {
        call.count(count);
        Datatype& type = call.type(datatype);
        Op& o = call.op(op);
        o.check(type);
        if (count == 0) return;
        call.buffer(inbuf, count, type, "inbuf");
        call.buffer(inoutbuf, count, type, "inoutbuf");
        if (inbuf == MPI_IN_PLACE || inoutbuf == MPI_IN_PLACE)
            fail(ErrorClass::buffer, "MPI_IN_PLACE is not allowed in this call");
        if (inbuf == inoutbuf) fail(ErrorClass::buffer, "inbuf and inoutbuf are the same buffer");
        o.apply(inbuf, inoutbuf, count, type);
    });
}
