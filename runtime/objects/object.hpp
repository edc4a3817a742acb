// SPDX-License-Identifier: BSD-3-Clause
// What every MPI object has: a count of references and the handle that mpi_h/ knows it by.
#pragma once

#include <cstdint>

namespace tutti {

/// Where the numbers of handles come from.
class HandleOwner {
public:
    /// The object that kept this number for callbacks is being destroyed: the number can be used again.
    virtual void give_back(std::intptr_t handle) noexcept = 0;

protected:
    ~HandleOwner() = default;
};

/// Base of communicators, groups, datatypes, … An object starts with one reference, its creator's; MPI_*_free gives
/// that one up, operations in flight hold their own (MPI 3.1, 2.5.1). Not thread-safe: mpi_h/ serialises.
struct Object {
    Object() = default;
    Object(Object const&) = delete;
    Object& operator=(Object const&) = delete;
    virtual ~Object() {
        if (kept_by) kept_by->give_back(handle);
    }

    int references = 1;
    bool predefined = false;    ///< built in: can be neither freed nor changed
    std::intptr_t handle = 0;   ///< the ABI's name for it; opaque below mpi_h/
    /// Not null: the program has freed the handle, and operations in flight still use the object under it.
    HandleOwner* kept_by = nullptr;
    void const* site = nullptr;   ///< where the program goes on behind the call that has made it; null: not known
};

/// Owns one reference to an object; the last one to go deletes it (predefined objects excepted).
template <class T>
class Ref {
public:
    Ref() = default;
    /// Takes over the reference that the caller holds.
    static Ref adopt(T* object) {
        Ref r;
        r.object_ = object;
        return r;
    }
    /// Adds a reference of its own.
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

    /// Hands the reference to the caller, who must give it up some day.
    T* detach() {
        T* mine = object_;
        object_ = nullptr;
        return mine;
    }
    /// Gives up one reference to `object`; null is allowed.
    static void release(T* object) {
        if (object && --object->references == 0 && !object->predefined) delete object;
    }

private:
    T* object_ = nullptr;
};

}   // namespace tutti
