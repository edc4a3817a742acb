// SPDX-License-Identifier: BSD-3-Clause
// Key values with the user's functions, and the attribute calls that communicators, datatypes and windows share. A
// key's number stays valid, freed or not, while an attribute uses it (MPI 3.1, 6.7.2): its object forgets the number at
// its end.
#pragma once

#include "mpi_h/entry/entry.hpp"

namespace tutti {

/// Callbacks for communicators, datatypes and windows have the same form in this ABI, where every handle is an int.
using CopyFunction = MPI_Comm_copy_attr_function;
using DeleteFunction = MPI_Comm_delete_attr_function;
static_assert(std::is_same_v<CopyFunction, MPI_Type_copy_attr_function>);
static_assert(std::is_same_v<CopyFunction, MPI_Win_copy_attr_function>);

/// Another language's way of calling the user's functions; the binding that registers the key gives it. `given_as` is
/// the binding's number for GivenAs: 0 a pointer, 1 an integer as wide as an address, 3 a default integer.
using CopyProxy = int(CopyFunction* user, int handle, int keyval, void* extra, int given_as, void* value, void** copy,
                      int* flag);
using DeleteProxy = int(DeleteFunction* user, int handle, int keyval, int given_as, void* value, void* extra);

class UserKeyval final : public Keyval {
public:
    UserKeyval(On objects, CopyFunction* copy_function, DeleteFunction* delete_function, void* extra_state);
    ~UserKeyval() override;

    int copy(Object& from, AttributeValue const& value, AttributeValue& copied, bool& wanted) override;
    int remove(Object& of, AttributeValue const& value) override;

    CopyProxy* copy_proxy = nullptr;   ///< null: C's own way
    DeleteProxy* delete_proxy = nullptr;
    bool freed = false;   ///< by the user; attributes may still need it

private:
    CopyFunction* copy_;
    DeleteFunction* delete_;
    void* extra_;
};

/// MPI_*_create_keyval: makes a key and returns its number.
int make_keyval(Call const& call, Keyval::On on, CopyFunction* copy, DeleteFunction* remove, void* extra_state);
/// MPI_*_free_keyval: sets the user's variable to MPI_KEYVAL_INVALID. Freeing a key in use twice does no harm.
void free_keyval(Call& call, Keyval::On on, int* keyval);

/// The attribute calls of every language: `handle` is a communicator's, a datatype's or a window's, as the key says.
void set_attribute(Call& call, Keyval::On on, int handle, int keyval, AttributeValue value);
void delete_attribute(Call& call, Keyval::On on, int handle, int keyval);
/// Writes the value to `out` as the asking language sees it (C: a void*, Fortran: an integer as wide as an address, in
/// which an integer that Fortran gave is found again); false when there is none. Predefined attributes answer too.
bool get_attribute(Call& call, Keyval::On on, int handle, int keyval, GivenAs asked, void* out);

/// The binding's number for how a value is given, and back.
int attribute_kind_out(GivenAs as);
GivenAs attribute_kind_in(int number);

/// A predefined attribute: the pointer that C gets, and the integer that Fortran gets.
struct PredefinedAttribute {
    void const* pointer;
    std::intptr_t number;
};
/// The value of a predefined attribute of a communicator (MPI_TAG_UB, …) or window (MPI_WIN_BASE, …); none when nothing
/// is known. Keys of C are odd, those of Fortran the even numbers after them. The address stays valid while `of` does.
std::optional<PredefinedAttribute> predefined_attribute(Object const& of, int keyval);
/// Whose attribute it is if the number is a predefined key, which can be neither set nor deleted nor freed.
std::optional<Keyval::On> predefined_key(int keyval);

}   // namespace tutti
