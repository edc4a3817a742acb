// SPDX-License-Identifier: BSD-3-Clause
// Packing into buffers of the program (MPI 3.1, 4.2 and 4.3).
#include <climits>
#include <cstring>

#include "mpi_h/entry/entry.hpp"
#include "runtime/datatype/datatype.hpp"

namespace tutti {
namespace {

/// Throws unless `needed` bytes fit between the position and the end of the packed buffer.
template <class Number>
void check_room(Call const& call, Number const* position, std::int64_t size, char const* size_name,
                std::int64_t needed) {
    call.pointer(position, "position");
    if (size < 0) fail(ErrorClass::arg, size_name, " is ", size, " but must be at least 0");
    if (*position < 0 || *position > size)
        fail(ErrorClass::arg, "position is ", *position, " but must be from 0 to ", size_name, ", which is ", size);
    if (needed > size - *position)
        throw Error(ErrorClass::truncate,
                    join(needed, " bytes are needed but only ", size - *position, " lie between position ", *position,
                         " and ", size_name, ", which is ", size))
            .with_help("use MPI_Pack_size to compute the size of the buffer, and start at position 0");
}

void check_external32(Call const& call, char const* datarep) {
    call.pointer(datarep, "datarep");
    if (std::strcmp(datarep, "external32") != 0)
        fail(ErrorClass::arg, "datarep is ", datarep, " but must be external32");
}

}   // namespace
}   // namespace tutti

using namespace tutti;

TUTTI_FUNCTION(Pack_size);
int PMPI_Pack_size(int incount, MPI_Datatype datatype, MPI_Comm comm, int* size) {
    return enter(args(incount, datatype, comm, size), [&](Call& call) {
        call.any_comm(comm);
        call.count(incount, "incount");
        Datatype& type = call.type(datatype);
        call.size(incount, type, "incount");
        call.pointer(size, "size");
        std::int64_t const bytes = type.size() * incount;
        *size = bytes > INT_MAX ? MPI_UNDEFINED : static_cast<int>(bytes);
    });
}

TUTTI_FUNCTION(Pack);
int PMPI_Pack(void const* inbuf, int incount, MPI_Datatype datatype, void* outbuf, int outsize, int* position,
              MPI_Comm comm) {
    return enter(args(inbuf, incount, datatype, outbuf, outsize, position, comm), [&](Call& call) {
        call.any_comm(comm);
        call.count(incount, "incount");
        Datatype& type = call.type(datatype);
        call.buffer(inbuf, incount, type, "inbuf");
        std::int64_t bytes = type.size() * incount;
        check_room(call, position, outsize, "outsize", bytes);
        if (bytes > 0) call.pointer(outbuf, "outbuf");
        type.pack(inbuf, incount, 0, static_cast<char*>(outbuf) + *position, static_cast<std::size_t>(bytes));
        *position += static_cast<int>(bytes);
    });
}

TUTTI_FUNCTION(Unpack);
int PMPI_Unpack(void const* inbuf, int insize, int* position, void* outbuf, int outcount, MPI_Datatype datatype,
                MPI_Comm comm) {
    return enter(args(inbuf, insize, position, outbuf, outcount, datatype, comm), [&](Call& call) {
        call.any_comm(comm);
        call.count(outcount, "outcount");
        Datatype& type = call.type(datatype);
        call.buffer(outbuf, outcount, type, "outbuf");
        std::int64_t bytes = type.size() * outcount;
        check_room(call, position, insize, "insize", bytes);
        if (bytes > 0) call.pointer(inbuf, "inbuf");
        type.unpack(outbuf, outcount, 0, static_cast<char const*>(inbuf) + *position, static_cast<std::size_t>(bytes));
        *position += static_cast<int>(bytes);
    });
}

TUTTI_FUNCTION(Pack_external_size);
int PMPI_Pack_external_size(char const* datarep, int incount, MPI_Datatype datatype, MPI_Aint* size) {
    return enter(args(datarep, incount, datatype, size), [&](Call& call) {
        check_external32(call, datarep);
        call.count(incount, "incount");
        Datatype& type = call.type(datatype);
        call.size(incount, type, "incount");
        call.pointer(size, "size");
        *size = external_size(incount, type);
    });
}

TUTTI_FUNCTION(Pack_external);
int PMPI_Pack_external(char const* datarep, void const* inbuf, int incount, MPI_Datatype datatype, void* outbuf,
                       MPI_Aint outsize, MPI_Aint* position) {
    return enter(args(datarep, inbuf, incount, datatype, outbuf, outsize, position), [&](Call& call) {
        check_external32(call, datarep);
        call.count(incount, "incount");
        Datatype& type = call.type(datatype);
        call.buffer(inbuf, incount, type, "inbuf");
        std::int64_t bytes = external_size(incount, type);
        check_room(call, position, outsize, "outsize", bytes);
        if (bytes > 0) call.pointer(outbuf, "outbuf");
        *position += pack_external(inbuf, incount, type, static_cast<char*>(outbuf) + *position);
    });
}

TUTTI_FUNCTION(Unpack_external);
int PMPI_Unpack_external(char const datarep[], void const* inbuf, MPI_Aint insize, MPI_Aint* position, void* outbuf,
                         int outcount, MPI_Datatype datatype) {
    return enter(args(datarep, inbuf, insize, position, outbuf, outcount, datatype), [&](Call& call) {
        check_external32(call, datarep);
        call.count(outcount, "outcount");
        Datatype& type = call.type(datatype);
        call.buffer(outbuf, outcount, type, "outbuf");
        std::int64_t bytes = external_size(outcount, type);
        check_room(call, position, insize, "insize", bytes);
        if (bytes > 0) call.pointer(inbuf, "inbuf");
        *position += unpack_external(outbuf, outcount, type, static_cast<char const*>(inbuf) + *position);
    });
}
