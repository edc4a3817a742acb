// SPDX-License-Identifier: BSD-3-Clause
// Base of all MPI objects: a reference count, and the handle by which mpi_h/ identifies the object.
#pragma once

#include <cstdint>

namespace tutti {

/// The table that issues the numbers of handles.
class HandleOwner {
public:
    /// Called when an object that kept its number for callbacks is destroyed; the number may then be reused.
    virtual void release_handle(std::intptr_t handle) noexcept = 0;

protected:
    ~HandleOwner() = default;
};

/// Base of communicators, groups, datatypes, … An object starts with one reference, its creator's. MPI_*_free releases
/// that one; operations in flight hold their own (MPI 3.1, 2.5.1). Not thread-safe: mpi_h/ serialises access.
struct Object {
    Object() = default;
    Object(Object const&) = delete;
    Object& operator=(Object const&) = delete;
    virtual ~Object() {
        if (handle_owner) handle_owner->release_handle(handle);
    }

    int references = 1;
    bool predefined = false;    ///< built-in: can be neither freed nor modified
    std::intptr_t handle = 0;   ///< the ABI's handle; opaque below mpi_h/
    /// The table that issued `handle`, if the program has freed the handle but operations in flight still refer to the
    /// object by it; else null.
    HandleOwner* handle_owner = nullptr;
    void const* site = nullptr;   ///< return address of the call that created it; null: not known
};

/// Owns one reference to an object. The last reference to be released deletes the object unless it is predefined.
template <class T>
class Ref {
public:
    Ref() = default;
    /// Takes over the caller's reference.
    static Ref adopt(T* object) {
        Ref r;
        r.object_ = object;
        return r;
    }
    /// Adds a reference.
    static Ref share(T* object) {
        if (object) ++object->references;
        return adopt(object);
    }
    Ref(Ref const& other) : object_(other.object_) {
        if (object_) ++object_->references;
    }
    Ref(Ref&& other) noexcept : object_(other.object_) { other.object_ = nullptr; }
    Ref& operator=(Ref other) noexcept {
        T* mine = object_;
        object_ = other.object_;
        other.object_ = mine;
        return *this;
    }
    ~Ref() { release(object_); }

    T* get() const { return object_; }
    T* operator->() const { return object_; }
    T& operator*() const { return *object_; }
    explicit operator bool() const { return object_ != nullptr; }

    /// Passes the reference to the caller, who must release it.
    T* detach() {
        T* mine = object_;
        object_ = nullptr;
        return mine;
    }
    /// Releases one reference to `object`, which may be null.
    static void release(T* object) {
        if (object && --object->references == 0 && !object->predefined) delete object;
    }

private:
    T* object_ = nullptr;
};

}   // namespace tutti
