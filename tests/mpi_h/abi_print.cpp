// SPDX-License-Identifier: BSD-3-Clause
// Prints the values, structure layouts and types that an mpi.h defines. list.inc holds one line per name.
#include <mpi.h>

#include <cstddef>
#include <cstdio>
#include <type_traits>
#include <typeinfo>

template <class T>
void show(const char* name, T value) {
    if constexpr (std::is_same_v<T, const char*>) {
        std::printf("%s \"%s\"\n", name, value);
    } else if constexpr (std::is_pointer_v<T> && std::is_function_v<std::remove_pointer_t<T>>) {
        // A function's address is not a property of the header, but its existence is.
        std::printf("%s %s %s\n", name, value == nullptr ? "none" : "function", typeid(T).name());
    } else if constexpr (std::is_pointer_v<T>) {
        std::printf("%s %s %ld\n", name, typeid(T).name(), reinterpret_cast<long>(value));
    } else if constexpr (std::is_class_v<T>) {
        std::printf("%s %s\n", name, typeid(T).name());
    } else {
        std::printf("%s %lld (%zu bytes)\n", name, static_cast<long long>(value), sizeof value);
    }
}

template <class T>
void show_type(const char* name) {
    std::printf("%s %s, size %zu, alignment %zu\n", name, typeid(T).name(), sizeof(T), alignof(T));
}

#define SHOW(value) show(#value, value);
#define SHOW_DECLARED(declared) std::printf("%s %s\n", #declared, typeid(decltype(declared)).name());
#define SHOW_TYPE(type) show_type<type>(#type);
#define SHOW_FIELD(type, field) \
    std::printf("%s.%s at %zu, size %zu\n", #type, #field, offsetof(type, field), sizeof(type::field));
#define SHOW_CONVERSION(kind, handle)                                                                \
    std::printf("MPI_%s_c2f %d, f2c %d\n", #kind, MPI_##kind##_c2f(handle), MPI_##kind##_f2c(1234)); \
    std::printf("sizes %zu %zu\n", sizeof(MPI_##kind##_c2f(handle)), sizeof(MPI_##kind##_f2c(1234)));

// The only function whose address is the value of a constant in the header.
extern "C" int MPIR_Dup_fn(MPI_Comm, int, void*, void*, void*, int*) { return 0; }

int main() {
#include "list.inc"
    SHOW_FIELD(MPI_Status, count_lo)
    SHOW_FIELD(MPI_Status, count_hi_and_cancelled)
    SHOW_FIELD(MPI_Status, MPI_SOURCE)
    SHOW_FIELD(MPI_Status, MPI_TAG)
    SHOW_FIELD(MPI_Status, MPI_ERROR)
    SHOW_FIELD(MPI_F08_status, MPI_SOURCE)
    SHOW_FIELD(MPI_F08_status, MPI_ERROR)
    SHOW_CONVERSION(Comm, MPI_COMM_WORLD)
    SHOW_CONVERSION(Type, MPI_DOUBLE_INT)
    SHOW_CONVERSION(Group, MPI_GROUP_EMPTY)
    SHOW_CONVERSION(Op, MPI_SUM)
    SHOW_CONVERSION(Request, MPI_REQUEST_NULL)
    SHOW_CONVERSION(Info, MPI_INFO_NULL)
    SHOW_CONVERSION(Errhandler, MPI_ERRORS_RETURN)
    SHOW_CONVERSION(Message, MPI_MESSAGE_NULL)
    return 0;
}
