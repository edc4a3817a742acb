// SPDX-License-Identifier: BSD-3-Clause
// Datatypes as the rest of the library uses them: size, extent, and copies between the user's layout and the packed
// form (MPI 3.1, chapter 4). The packed form is the data without gaps, in type map order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/base/error.hpp"
#include "runtime/datatype/digest.hpp"
#include "runtime/kernels/reduce.hpp"
#include "runtime/objects/attribute.hpp"
#include "runtime/objects/object.hpp"

// Checked arithmetic on the byte counts of types. A type that would span more than max_type_bytes is rejected
// (ErrorClass::type); an overflow would silently make it a small one.

namespace tutti {

/// Upper limit in bytes of every bound, size and extent. The sum of three of them does not overflow.
inline constexpr std::int64_t max_type_bytes = std::int64_t{1} << 61;

[[noreturn]] inline void type_too_large() { fail(ErrorClass::type, "the type would span more than 2^61 bytes"); }

inline std::int64_t type_bytes(std::int64_t value) {
    if (value > max_type_bytes || value < -max_type_bytes) [[unlikely]]
        type_too_large();
    return value;
}

inline std::int64_t type_product(std::int64_t a, std::int64_t b) {
    std::int64_t result;
    if (__builtin_mul_overflow(a, b, &result)) [[unlikely]]
        type_too_large();
    return type_bytes(result);
}

inline std::int64_t type_sum(std::int64_t a, std::int64_t b) {
    std::int64_t result;
    if (__builtin_add_overflow(a, b, &result)) [[unlikely]]
        type_too_large();
    return type_bytes(result);
}

struct TypeLayout;      ///< where the bytes are; runtime/datatype/layout.hpp
struct TypeSignature;   ///< which elementary data they are; runtime/datatype/signature.hpp
struct TypeRecipe;      ///< arguments of the constructor, for MPI_Type_get_contents; below

class Datatype final : public Object {
public:
    Datatype();
    ~Datatype() override;

    std::int64_t size() const { return size_; }         ///< bytes of data in one element
    std::int64_t lb() const { return lb_; }             ///< in bytes (MPI 3.1, 4.1.7)
    std::int64_t extent() const { return extent_; }     ///< bytes from one element to the next
    std::int64_t true_lb() const { return true_lb_; }   ///< of the data alone, in bytes (MPI 3.1, 4.1.8)
    std::int64_t true_extent() const { return true_extent_; }
    /// Returns the kind by which reduction kernels are found: that of a predefined type or its duplicate, else
    /// Basic::none.
    Basic basic() const { return basic_; }

    /// Returns true if `count` elements are contiguous in memory in type map order, starting at buffer + true_lb().
    bool dense(std::int64_t count) const { return dense_ || (count == 1 && dense_one_) || count == 0; }

    /// Copies up to `bytes` bytes of the packed form of (`buffer`, `count`), from packed position `position` on, to
    /// `out`. Position and length are arbitrary and may be inside an element. Returns the number of bytes copied, which
    /// is smaller than `bytes` only at the end of the data.
    std::size_t pack(void const* buffer, std::int64_t count, std::size_t position, void* out, std::size_t bytes) const;
    /// The reverse of pack: writes packed bytes [position, position + bytes) into the user's layout.
    std::size_t unpack(void* buffer, std::int64_t count, std::size_t position, void const* in, std::size_t bytes) const;

    /// Returns the number of basic elements in the first `bytes` bytes of packed data (MPI_Get_elements), or −1 if it
    /// is not a whole number.
    std::int64_t elements(std::size_t bytes) const;
    /// Returns the number of bytes of packed data that hold `elements` basic elements, or −1 if it is too large to
    /// represent.
    std::int64_t bytes_of_elements(std::int64_t elements) const;

    TypeLayout const* layout() const { return layout_.get(); }            ///< null: the type contains no data
    TypeRecipe const* recipe() const { return recipe_.get(); }            ///< null: a predefined type
    TypeSignature const* signature() const { return signature_.get(); }   ///< null: the type contains no data
    /// Returns the type information that travels with messages of this type.
    TypeDigest digest() const { return digest_; }
    /// Marks the type as the predefined type with this number, for its digest.
    void set_number(unsigned number) { digest_ = digest_.with_number(number); }

    bool committed = false;
    std::string name;
    Attributes attributes;

private:
    friend class TypeBuilder;   // runtime/datatype/builder.hpp: the constructors of MPI 3.1, 4.1
    std::int64_t size_ = 0, lb_ = 0, extent_ = 0, true_lb_ = 0, true_extent_ = 0;
    std::int64_t alignment_ = 1;   ///< strictest alignment of its elementary data
    Basic basic_ = Basic::none;
    TypeDigest digest_;
    bool dense_ = true, dense_one_ = true;
    bool explicit_lb_ = false, explicit_ub_ = false;   ///< set explicitly: MPI_Type_create_resized, MPI_LB, MPI_UB
    std::shared_ptr<TypeLayout const> layout_;         ///< null: the type contains no data
    std::shared_ptr<TypeSignature const> signature_;
    std::shared_ptr<TypeRecipe const> recipe_;
};

/// Copies data between two buffers of any types, which must not overlap, through a small temporary buffer at most.
/// Returns the number of bytes copied: the smaller of the two sizes.
std::size_t copy_typed(void* to, std::int64_t to_count, Datatype const& to_type, void const* from,
                       std::int64_t from_count, Datatype const& from_type);

// The external32 representation (MPI 3.1, 13.5.2): big-endian, standardised sizes, no gaps.

/// Returns the size of `count` elements in external32 in bytes.
std::int64_t external_size(std::int64_t count, Datatype const& type);
/// Both return the number of bytes of external32 written or read, which is external_size(count, type). Integers that do
/// not fit lose their upper bits.
std::int64_t pack_external(void const* buffer, std::int64_t count, Datatype const& type, void* out);
std::int64_t unpack_external(void* buffer, std::int64_t count, Datatype const& type, void const* in);

// Recipe of a datatype, for MPI_Type_get_envelope and MPI_Type_get_contents (MPI 3.1, 4.1.13).

/// In the standard's order; the ABI's numbers are defined in mpi_h/.
enum class Combiner {
    named,
    dup,
    contiguous,
    vector,
    hvector,
    indexed,
    hindexed,
    indexed_block,
    hindexed_block,
    struct_,
    subarray,
    darray,
    f90_real,
    f90_complex,
    f90_integer,
    resized
};

/// The arguments of the constructor in the order in which MPI_Type_get_contents returns them.
struct TypeRecipe {
    Combiner combiner = Combiner::named;
    std::vector<int> integers;
    std::vector<std::int64_t> addresses;
    std::vector<Ref<Datatype>> types;
};

}   // namespace tutti
