// SPDX-License-Identifier: BSD-3-Clause
// Key values and attributes, for communicators, datatypes and windows and for every language.
#include "mpi_h/communicators/keyval.hpp"

namespace tutti {
namespace {

/// What C sees: the pointer that it gave, or the address of the integer that Fortran gave (MPI 3.1, 17.2.7).
void* seen_from_c(AttributeValue const& value) {
    if (value.as == GivenAs::pointer) return reinterpret_cast<void*>(value.bits);
    return const_cast<std::intptr_t*>(&value.bits);
}

struct Target {
    Object& object;
    Attributes& attributes;
};

Target target(Call& call, Keyval::On on, int handle) {
    if (on == Keyval::On::comm) {
        Comm& c = call.any_comm(handle);
        return {c, c.attributes};
    }
    if (on == Keyval::On::win) {
        rma::Window& w = call.win(handle);
        return {w, w.attributes};
    }
    Datatype& t = call.any_type(handle);
    return {t, t.attributes};
}

char const* plural(Keyval::On on) {
    return on == Keyval::On::comm ? "communicators" : on == Keyval::On::win ? "windows" : "datatypes";
}

UserKeyval& key_for(Call& call, Keyval::On on, int keyval) {
    if (predefined_key(keyval)) fail(ErrorClass::keyval, "keyval is a predefined one, which cannot be changed");
    Keyval& key = call.keyval(keyval);
    if (key.on != on) fail(ErrorClass::keyval, "keyval was made for ", plural(key.on));
    return static_cast<UserKeyval&>(key);
}

}   // namespace

UserKeyval::UserKeyval(On objects, CopyFunction* copy_function, DeleteFunction* delete_function, void* extra_state)
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
    void* seen = seen_from_c(value);
    int code = copy_(object, number, extra_, seen, &result, &flag);
    // A function that passes on the address of Fortran's integer means that integer.
    bool same = result == seen;
    copied = same ? value : AttributeValue{reinterpret_cast<std::intptr_t>(result), GivenAs::pointer};
    wanted = flag != 0;
    return code;
}

int UserKeyval::remove(Object& of, AttributeValue const& value) {
    if (!delete_) return MPI_SUCCESS;
    int object = static_cast<int>(of.handle), number = static_cast<int>(handle);
    if (!delete_proxy) return delete_(object, number, seen_from_c(value), extra_);
    void* bits = reinterpret_cast<void*>(value.bits);
    return delete_proxy(delete_, object, number, attribute_kind_out(value.as), bits, extra_);
}

int make_keyval(Call const& call, Keyval::On on, CopyFunction* copy, DeleteFunction* remove, void* extra_state) {
    if (copy) call.function(copy, "the copy function");
    if (remove) call.function(remove, "the delete function");
    return library().tables.keyvals.add(new UserKeyval(on, copy, remove, extra_state));
}

void free_keyval(Call& call, Keyval::On on, int* keyval) {
    call.pointer(keyval, "keyval");
    UserKeyval& key = key_for(call, on, *keyval);
    *keyval = MPI_KEYVAL_INVALID;
    if (key.freed) return;
    key.freed = true;
    Ref<Keyval>::release(&key);
}

void set_attribute(Call& call, Keyval::On on, int handle, int keyval, AttributeValue value) {
    Target t = target(call, on, handle);
    t.attributes.set(t.object, key_for(call, on, keyval), value);
}

void delete_attribute(Call& call, Keyval::On on, int handle, int keyval) {
    Target t = target(call, on, handle);
    t.attributes.erase(t.object, key_for(call, on, keyval));
}

bool get_attribute(Call& call, Keyval::On on, int handle, int keyval, GivenAs asked, void* out) {
    call.pointer(out, "attribute_val");
    Target t = target(call, on, handle);
    bool from_c = asked == GivenAs::pointer;
    if (std::optional<Keyval::On> const predefined = predefined_key(keyval)) {
        if (predefined != on) fail(ErrorClass::keyval, "keyval is a predefined one of ", plural(*predefined));
        std::optional<PredefinedAttribute> const value = predefined_attribute(t.object, keyval);
        if (value && from_c) *static_cast<void const**>(out) = value->pointer;
        else if (value) *static_cast<std::intptr_t*>(out) = value->number;
        return value.has_value();
    }
    AttributeValue const* value = t.attributes.find(key_for(call, on, keyval));
    if (value && from_c) *static_cast<void**>(out) = seen_from_c(*value);
    else if (value) *static_cast<std::intptr_t*>(out) = value->bits;
    return value != nullptr;
}

int attribute_kind_out(GivenAs as) { return as == GivenAs::pointer ? 0 : as == GivenAs::address ? 1 : 3; }

GivenAs attribute_kind_in(int number) {
    return number == 0 ? GivenAs::pointer : number == 1 ? GivenAs::address : GivenAs::integer;
}

}   // namespace tutti
