// SPDX-License-Identifier: BSD-3-Clause
// Keys and attributes: the functions for communicators, with the names of MPI-2 and of MPI-1 (MPI 3.1, 6.7 and 15.1),
// and the calls that all kinds of objects and all languages share.
#include <climits>
#include <cstdlib>

#include "mpi_h/communicators/communicators.hpp"
#include "topo/text.hpp"

using namespace tutti;

namespace {

constexpr auto on_comm = Keyval::ObjectKind::comm;

[[gnu::always_inline]] inline int create(CopyFunction* copy, DeleteFunction* remove, int* keyval, void* extra_state,
                                         Function function = __builtin_FUNCTION()) {
    return enter(function, args(copy, remove, keyval, extra_state), [&](Call& call) {
        call.pointer(keyval, "keyval");
        *keyval = make_keyval(call, on_comm, copy, remove, extra_state);
    });
}

[[gnu::always_inline]] inline int release(int* keyval, Function function = __builtin_FUNCTION()) {
    return enter(function, args(keyval), [&](Call& call) { free_keyval(call, on_comm, keyval); });
}

[[gnu::always_inline]] inline int set(MPI_Comm comm, int keyval, void* value,
                                      Function function = __builtin_FUNCTION()) {
    return enter(function, args(comm, keyval, value), [&](Call& call) {
        set_attribute(call, on_comm, comm, keyval, {reinterpret_cast<std::intptr_t>(value), AttributeForm::pointer});
    });
}

[[gnu::always_inline]] inline int get(MPI_Comm comm, int keyval, void* value, int* flag,
                                      Function function = __builtin_FUNCTION()) {
    return enter(function, args(comm, keyval, value, flag), [&](Call& call) {
        call.pointer(flag, "flag");
        *flag = get_attribute(call, on_comm, comm, keyval, AttributeForm::pointer, value);
    });
}

[[gnu::always_inline]] inline int erase(MPI_Comm comm, int keyval, Function function = __builtin_FUNCTION()) {
    return enter(function, args(comm, keyval), [&](Call& call) { delete_attribute(call, on_comm, comm, keyval); });
}

}   // namespace

TUTTI_FUNCTION(Comm_create_keyval);
int PMPI_Comm_create_keyval(MPI_Comm_copy_attr_function* copy, MPI_Comm_delete_attr_function* remove, int* keyval,
                            void* extra_state) {
    return create(copy, remove, keyval, extra_state);
}

TUTTI_FUNCTION(Comm_free_keyval);
int PMPI_Comm_free_keyval(int* keyval) { return release(keyval); }

TUTTI_FUNCTION(Comm_set_attr);
int PMPI_Comm_set_attr(MPI_Comm comm, int keyval, void* value) { return set(comm, keyval, value); }

TUTTI_FUNCTION(Comm_get_attr);
int PMPI_Comm_get_attr(MPI_Comm comm, int keyval, void* value, int* flag) { return get(comm, keyval, value, flag); }

TUTTI_FUNCTION(Comm_delete_attr);
int PMPI_Comm_delete_attr(MPI_Comm comm, int keyval) { return erase(comm, keyval); }

TUTTI_FUNCTION(Keyval_create);
int PMPI_Keyval_create(MPI_Copy_function* copy, MPI_Delete_function* remove, int* keyval, void* extra_state) {
    return create(copy, remove, keyval, extra_state);
}

TUTTI_FUNCTION(Keyval_free);
int PMPI_Keyval_free(int* keyval) { return release(keyval); }

TUTTI_FUNCTION(Attr_put);
int PMPI_Attr_put(MPI_Comm comm, int keyval, void* value) { return set(comm, keyval, value); }

TUTTI_FUNCTION(Attr_get);
int PMPI_Attr_get(MPI_Comm comm, int keyval, void* value, int* flag) { return get(comm, keyval, value, flag); }

TUTTI_FUNCTION(Attr_delete);
int PMPI_Attr_delete(MPI_Comm comm, int keyval) { return erase(comm, keyval); }

// Keys and attributes of communicators, datatypes and windows, for every language.

namespace tutti {
namespace {

/// Returns the value in C's representation: the pointer that C set, or the address of the integer that Fortran set (MPI
/// 3.1, 17.2.7).
void* value_for_c(AttributeValue const& value) {
    if (value.as == AttributeForm::pointer) return reinterpret_cast<void*>(value.bits);
    return const_cast<std::intptr_t*>(&value.bits);
}

struct Target {
    Object& object;
    Attributes& attributes;
};

Target target(Call& call, Keyval::ObjectKind on, int handle) {
    if (on == Keyval::ObjectKind::comm) {
        Comm& c = call.any_comm(handle);
        return {c, c.attributes};
    }
    if (on == Keyval::ObjectKind::win) {
        rma::Window& w = call.win(handle);
        return {w, w.attributes};
    }
    Datatype& t = call.any_type(handle);
    return {t, t.attributes};
}

char const* plural(Keyval::ObjectKind on) {
    return on == Keyval::ObjectKind::comm ? "communicators" : on == Keyval::ObjectKind::win ? "windows" : "datatypes";
}

UserKeyval& key_for(Call& call, Keyval::ObjectKind on, int keyval) {
    if (predefined_key(keyval)) fail(ErrorClass::keyval, "keyval is predefined and cannot be changed");
    Keyval& key = call.keyval(keyval);
    if (key.object_kind != on) fail(ErrorClass::keyval, "keyval was created for ", plural(key.object_kind));
    return static_cast<UserKeyval&>(key);
}

}   // namespace

UserKeyval::UserKeyval(ObjectKind objects, CopyFunction* copy_function, DeleteFunction* delete_function,
                       void* extra_state)
    : Keyval(objects), copy_(copy_function), delete_(delete_function), extra_(extra_state) {}

UserKeyval::~UserKeyval() { library().tables.keyvals.forget(static_cast<int>(handle)); }

int UserKeyval::copy(Object& from, AttributeValue const& value, AttributeValue& copied, bool& wanted) {
    if (!copy_) return MPI_SUCCESS;
    int flag = 0, object = static_cast<int>(from.handle), number = static_cast<int>(handle);
    void* result = nullptr;
    if (copy_proxy) {
        void* bits = reinterpret_cast<void*>(value.bits);
        int code = copy_proxy(copy_, object, number, extra_, attribute_kind_out(value.as), bits, &result, &flag);
        copied = {reinterpret_cast<std::intptr_t>(result), value.as};
        wanted = flag != 0;
        return code;
    }
    void* c_value = value_for_c(value);
    int code = copy_(object, number, extra_, c_value, &result, &flag);
    // A callback that returns the address of Fortran's integer copies that integer.
    bool same = result == c_value;
    copied = same ? value : AttributeValue{reinterpret_cast<std::intptr_t>(result), AttributeForm::pointer};
    wanted = flag != 0;
    return code;
}

int UserKeyval::remove(Object& of, AttributeValue const& value) {
    if (!delete_) return MPI_SUCCESS;
    int object = static_cast<int>(of.handle), number = static_cast<int>(handle);
    if (!delete_proxy) return delete_(object, number, value_for_c(value), extra_);
    void* bits = reinterpret_cast<void*>(value.bits);
    return delete_proxy(delete_, object, number, attribute_kind_out(value.as), bits, extra_);
}

int make_keyval(Call const& call, Keyval::ObjectKind on, CopyFunction* copy, DeleteFunction* remove,
                void* extra_state) {
    if (copy) call.callback(copy, "the copy function");
    if (remove) call.callback(remove, "the delete function");
    return library().tables.keyvals.add(new UserKeyval(on, copy, remove, extra_state));
}

void free_keyval(Call& call, Keyval::ObjectKind on, int* keyval) {
    call.pointer(keyval, "keyval");
    UserKeyval& key = key_for(call, on, *keyval);
    *keyval = MPI_KEYVAL_INVALID;
    if (key.freed) return;
    key.freed = true;
    Ref<Keyval>::release(&key);
}

void set_attribute(Call& call, Keyval::ObjectKind on, int handle, int keyval, AttributeValue value) {
    Target t = target(call, on, handle);
    t.attributes.set(t.object, key_for(call, on, keyval), value);
}

void delete_attribute(Call& call, Keyval::ObjectKind on, int handle, int keyval) {
    Target t = target(call, on, handle);
    t.attributes.erase(t.object, key_for(call, on, keyval));
}

bool get_attribute(Call& call, Keyval::ObjectKind on, int handle, int keyval, AttributeForm form, void* out) {
    call.pointer(out, "attribute_val");
    Target t = target(call, on, handle);
    bool from_c = form == AttributeForm::pointer;
    if (std::optional<Keyval::ObjectKind> const predefined = predefined_key(keyval)) {
        if (predefined != on) fail(ErrorClass::keyval, "keyval is a predefined key of ", plural(*predefined));
        std::optional<PredefinedAttribute> const value = predefined_attribute(t.object, keyval);
        if (value && from_c) *static_cast<void const**>(out) = value->pointer;
        else if (value) *static_cast<std::intptr_t*>(out) = value->number;
        return value.has_value();
    }
    AttributeValue const* value = t.attributes.find(key_for(call, on, keyval));
    if (value && from_c) *static_cast<void**>(out) = value_for_c(*value);
    else if (value) *static_cast<std::intptr_t*>(out) = value->bits;
    return value != nullptr;
}

int attribute_kind_out(AttributeForm as) {
    return as == AttributeForm::pointer ? 0 : as == AttributeForm::address ? 1 : 3;
}

AttributeForm attribute_kind_in(int number) {
    return number == 0 ? AttributeForm::pointer : number == 1 ? AttributeForm::address : AttributeForm::integer;
}

// Predefined attributes of communicators (MPI 3.1, 8.1.2 and 10.5) and windows (11.2.6). As in MPICH, a C program
// receives a pointer to an int for the former, and any communicator returns those of MPI_COMM_WORLD.

namespace {

constexpr int first_key = MPI_TAG_UB, last_key = MPI_APPNUM + 1;
constexpr int first_win_key = MPI_WIN_BASE, last_win_key = MPI_WIN_MODEL + 1;

// Fortran's keys are the even numbers after C's
int key_of_c(int keyval) { return keyval - (keyval % 2 == 0 ? 1 : 0); }

/// Returns the index of this program among those that the launcher started; null: another launcher may not set it.
int const* application_number() {
    static char const* const text = std::getenv("PMI_APPNUM");
    static int const number = text ? topo::parse_number<int>(text).value_or(0) : 0;
    return text ? &number : nullptr;
}

int const* universe_size() {
    static int const size = library().process->size();
    return &size;
}

int const* comm_attribute(int keyval) {
    static constexpr int largest_tag = INT_MAX, no_host = MPI_PROC_NULL, any_rank = MPI_ANY_SOURCE, yes = 1, no = 0;
    switch (key_of_c(keyval)) {
    case MPI_TAG_UB: return &largest_tag;
    case MPI_HOST: return &no_host;
    case MPI_IO: return &any_rank;
    // The ranks of a node read the same clock; the clocks of several nodes are not compared.
    case MPI_WTIME_IS_GLOBAL: return library().process->cluster.is_single_node() ? &yes : &no;
    case MPI_UNIVERSE_SIZE: return universe_size();
    case MPI_LASTUSEDCODE: return &library().last_used_code;
    case MPI_APPNUM: return application_number();
    }
    return nullptr;
}

int const* flavor_of(rma::Window const& window) {
    static constexpr int create = MPI_WIN_FLAVOR_CREATE, allocate = MPI_WIN_FLAVOR_ALLOCATE,
                         shared = MPI_WIN_FLAVOR_SHARED, dynamic = MPI_WIN_FLAVOR_DYNAMIC;
    switch (window.flavor) {
    case rma::Flavor::create: return &create;
    case rma::Flavor::allocate: return &allocate;
    case rma::Flavor::shared: return &shared;
    case rma::Flavor::dynamic: break;
    }
    return &dynamic;
}

PredefinedAttribute number_at(int const* value) { return {value, *value}; }

std::optional<PredefinedAttribute> window_attribute(rma::Window const& window, int keyval) {
    static constexpr int unified = MPI_WIN_UNIFIED;
    static_assert(sizeof window.bytes == sizeof(MPI_Aint), "MPI_WIN_SIZE points to an MPI_Aint");
    switch (key_of_c(keyval)) {
    case MPI_WIN_BASE: return PredefinedAttribute{window.base, reinterpret_cast<std::intptr_t>(window.base)};
    case MPI_WIN_SIZE: return PredefinedAttribute{&window.bytes, window.bytes};
    case MPI_WIN_DISP_UNIT: return number_at(&window.disp_unit);
    case MPI_WIN_CREATE_FLAVOR: return number_at(flavor_of(window));
    case MPI_WIN_MODEL: return number_at(&unified);
    }
    return std::nullopt;
}

}   // namespace

std::optional<Keyval::ObjectKind> predefined_key(int keyval) {
    if (keyval >= first_key && keyval <= last_key) return Keyval::ObjectKind::comm;
    if (keyval >= first_win_key && keyval <= last_win_key) return Keyval::ObjectKind::win;
    return std::nullopt;
}

std::optional<PredefinedAttribute> predefined_attribute(Object const& of, int keyval) {
    if (predefined_key(keyval) == Keyval::ObjectKind::win)
        return window_attribute(static_cast<rma::Window const&>(of), keyval);
    int const* const value = comm_attribute(keyval);
    return value ? std::optional(number_at(value)) : std::nullopt;
}

}   // namespace tutti
