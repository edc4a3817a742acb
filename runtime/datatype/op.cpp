// SPDX-License-Identifier: BSD-3-Clause
// Finds the kernel of an operator and applies operators to typed buffers.
#include "runtime/datatype/op.hpp"

#include <algorithm>
#include <climits>

#include "runtime/base/error.hpp"
#include "runtime/kernels/reduce.hpp"

namespace tutti {
namespace {

/// Returns the best vector kernels of this processor, or null if it has none.
KernelTable const* vector_kernels() {
#if defined(__x86_64__)
    static KernelTable const* const best = []() -> KernelTable const* {
        bool wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                    __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
        return wide ? &avx512_kernels : __builtin_cpu_supports("avx2") ? &avx2_kernels : nullptr;
    }();
    return best;
#else
    return nullptr;
#endif
}

Kernels kernels(BuiltinOp op, Basic kind) {
    KernelTable const* best = vector_kernels();
    if (best && best->get(op, kind).binary) return best->get(op, kind);
    return portable_kernels.get(op, kind);
}

char const* name_of(BuiltinOp op) {
    constexpr char const* names[] = {"a user's operator", "MPI_MAX",    "MPI_MIN",    "MPI_SUM",     "MPI_PROD",
                                     "MPI_LAND",          "MPI_BAND",   "MPI_LOR",    "MPI_BOR",     "MPI_LXOR",
                                     "MPI_BXOR",          "MPI_MINLOC", "MPI_MAXLOC", "MPI_REPLACE", "MPI_NO_OP"};
    return names[static_cast<int>(op)];
}

char const* domain_of(BuiltinOp op) {
    switch (op) {
    case BuiltinOp::max:
    case BuiltinOp::min: return "integers and floating-point numbers";
    case BuiltinOp::sum:
    case BuiltinOp::prod: return "integers, floating-point and complex numbers";
    case BuiltinOp::land:
    case BuiltinOp::lor:
    case BuiltinOp::lxor: return "integers and logicals";
    case BuiltinOp::band:
    case BuiltinOp::bor:
    case BuiltinOp::bxor: return "integers and MPI_BYTE";
    case BuiltinOp::minloc:
    case BuiltinOp::maxloc: return "pairs of a value and an index such as MPI_DOUBLE_INT";
    default: return "one-sided communication only";
    }
}

}   // namespace

BinaryKernel binary_kernel(BuiltinOp op, Basic kind) { return kernels(op, kind).binary; }
NaryKernel nary_kernel(BuiltinOp op, Basic kind) { return kernels(op, kind).nary; }

std::size_t basic_size(Basic kind) {
    switch (kind) {
    case Basic::none: return 0;
    case Basic::byte_:
    case Basic::int8:
    case Basic::uint8:
    case Basic::c_bool: return 1;
    case Basic::int16:
    case Basic::uint16: return 2;
    case Basic::int32:
    case Basic::uint32:
    case Basic::float32:
    case Basic::fortran_logical: return 4;
    case Basic::int64:
    case Basic::uint64:
    case Basic::float64:
    case Basic::complex32: return 8;
    case Basic::float_int:
    case Basic::two_int:
    case Basic::short_int:
    case Basic::two_real: return 8;
    case Basic::float80: return sizeof(long double);
    case Basic::complex64:
    case Basic::float128: return 16;
    case Basic::double_int:
    case Basic::long_int:
    case Basic::two_double: return 16;
    case Basic::complex80:
    case Basic::long_double_int: return 2 * sizeof(long double);
    case Basic::complex128: return 32;
    }
    return 0;
}

Kernels Op::find_kernels(Datatype const& type) const {
    static_assert(KernelTable::kinds <= std::tuple_size_v<decltype(known_)>);
    if (user) return {};
    if (Basic const kind = type.basic(); kind != Basic::none && binary_kernel(builtin, kind))
        return known_[static_cast<std::size_t>(kind)] = tutti::kernels(builtin, kind);
    std::string what = type.name.empty() ? "a derived datatype" : type.name;
    fail(ErrorClass::op, name_of(builtin), " is not defined on ", what, ": it is for ", domain_of(builtin));
}

void Op::apply(void const* in, void* inout, std::int64_t count, Datatype const& type) const {
    if (!user) return binary_kernel(builtin, type.basic())(in, inout, static_cast<std::size_t>(count));
    for (std::int64_t done = 0; done < count;) {
        auto const n = static_cast<int>(std::min<std::int64_t>(count - done, INT_MAX));
        std::int64_t const offset = done * type.extent();
        user(static_cast<char const*>(in) + offset, static_cast<char*>(inout) + offset, n, type);
        done += n;
    }
}

}   // namespace tutti
