// SPDX-License-Identifier: BSD-3-Clause
// Datatypes as the rest of the library sees them: size, extent, and bytes moved between the user's layout and the
// packed form (MPI 3.1, chapter 4). "Packed" is the data without gaps, in type map order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "runtime/datatype/digest.hpp"
#include "runtime/kernels/kinds.hpp"
#include "runtime/objects/attribute.hpp"
#include "runtime/objects/object.hpp"

namespace tutti {

struct TypeLayout;      // where the bytes lie; runtime/datatype/layout/layout.hpp
struct TypeSignature;   // which elementary data they are; runtime/datatype/signature.hpp
struct TypeRecipe;      // how it was made, for MPI_Type_get_contents; runtime/datatype/recipe.hpp

class Datatype final : public Object {
public:
    Datatype();
    ~Datatype() override;

    std::int64_t size() const { return size_; }   ///< bytes of data in one element
    std::int64_t lb() const { return lb_; }
    std::int64_t extent() const { return extent_; }   ///< bytes from one element to the next
    std::int64_t true_lb() const { return true_lb_; }
    std::int64_t true_extent() const { return true_extent_; }
    /// What reduction kernels know it as: the kind of a predefined type (or its duplicate), Basic::none for all others.
    Basic basic() const { return basic_; }

    /// True when `count` elements lie in one piece of memory in type map order, starting at buffer + true_lb().
    bool dense(std::int64_t count) const { return dense_ || (count == 1 && dense_one_) || count == 0; }

    /// Copies up to `bytes` bytes of the packed form of (`buffer`, `count`), starting at packed position `position`,
    /// to `out`; returns how many (less than asked only at the end). Any position and length, also inside an element.
    std::size_t pack(void const* buffer, std::int64_t count, std::size_t position, void* out, std::size_t bytes) const;
    /// The reverse: writes packed bytes [position, position + bytes) into the user's layout.
    std::size_t unpack(void* buffer, std::int64_t count, std::size_t position, void const* in, std::size_t bytes) const;

    /// How many basic elements the first `bytes` bytes of packed data hold (MPI_Get_elements); −1: not a whole number.
    std::int64_t elements(std::size_t bytes) const;
    /// The reverse: bytes of packed data in which there are `elements` basic elements; −1: too many to count.
    std::int64_t bytes_of_elements(std::int64_t elements) const;

    TypeLayout const* layout() const { return layout_.get(); }            ///< null: no data in it
    TypeRecipe const* recipe() const { return recipe_.get(); }            ///< null: a predefined type
    TypeSignature const* signature() const { return signature_.get(); }   ///< null: no data in it
    /// What messages of it say of themselves.
    TypeDigest digest() const { return digest_; }
    /// It is the predefined type of that number, for messages.
    void be_number(unsigned number) { digest_ = digest_.with_number(number); }

    bool committed = false;
    std::string name;
    Attributes attributes;

private:
    friend class TypeBuilder;   // runtime/datatype/builder.hpp: every constructor of MPI 3.1, 4.1
    std::int64_t size_ = 0, lb_ = 0, extent_ = 0, true_lb_ = 0, true_extent_ = 0;
    std::int64_t alignment_ = 1;   ///< the strictest of its elementary data
    Basic basic_ = Basic::none;
    TypeDigest digest_;
    bool dense_ = true, dense_one_ = true;
    bool marked_lb_ = false, marked_ub_ = false;   ///< set by the user: MPI_Type_create_resized, MPI_LB, MPI_UB
    std::shared_ptr<TypeLayout const> layout_;     ///< null: no data in it
    std::shared_ptr<TypeSignature const> signature_;
    std::shared_ptr<TypeRecipe const> recipe_;
};

/// Copies `count` elements from one buffer to another of the same type, gaps left untouched; no temporary when dense.
void copy_typed(void* to, void const* from, std::int64_t count, Datatype const& type);

/// Copies packed data between two layouts in pieces, with no full-size temporary. Returns the bytes moved: the smaller
/// of the two sizes.
std::size_t copy_typed(void* to, std::int64_t to_count, Datatype const& to_type, void const* from,
                       std::int64_t from_count, Datatype const& from_type);

}   // namespace tutti
