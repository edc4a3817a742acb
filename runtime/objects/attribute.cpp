// SPDX-License-Identifier: BSD-3-Clause
// Storage of attributes. The order of callbacks is the standard's (MPI 3.1, 6.7.2 and 8.7.1). Callbacks may change the
// attributes that are being traversed, so no iterator is used after a callback: attributes are found again by age.
#include "runtime/objects/attribute.hpp"

#include <algorithm>
#include <iterator>

#include "runtime/base/error.hpp"

namespace tutti {

Attributes::Slots::const_iterator Attributes::position(Keyval const& key) const {
    auto is_under = [&](auto const& entry) { return entry.second.key.get() == &key; };
    return std::find_if(slots_.begin(), slots_.end(), is_under);
}

AttributeValue const* Attributes::find(Keyval const& key) const {
    auto found = position(key);
    return found == slots_.end() ? nullptr : &found->second.value;
}

void Attributes::set(Object& of, Keyval& key, AttributeValue value) {
    Ref<Keyval> kept = Ref<Keyval>::share(&key);   // the delete callback may free the key
    if (position(key) != slots_.end()) erase(of, key);
    auto left = position(key);   // exists again only if the delete callback has set it
    if (left != slots_.end()) slots_.erase(left);
    slots_.emplace(next_age_++, Slot{kept, value});
}

void Attributes::erase(Object& of, Keyval& key) {
    auto found = position(key);
    if (found == slots_.end()) fail(ErrorClass::keyval, "no attribute is stored under this key value");
    auto [age, slot] = *found;   // a copy, which keeps the key value alive while the callback runs
    if (int code = slot.key->remove(of, slot.value)) throw Error(code);
    slots_.erase(age);
}

void Attributes::copy_to(Object& from, Attributes& to) const {
    for (auto next = slots_.begin(); next != slots_.end();) {
        auto [age, slot] = *next;
        AttributeValue copied;
        bool wanted = false;
        if (int code = slot.key->copy(from, slot.value, copied, wanted)) throw Error(code);
        if (wanted) to.slots_.emplace(to.next_age_++, Slot{slot.key, copied});
        next = slots_.upper_bound(age);
    }
}

void Attributes::clear(Object& of) {
    while (!slots_.empty()) {
        auto [age, slot] = *std::prev(slots_.end());
        if (int code = slot.key->remove(of, slot.value)) throw Error(code);
        slots_.erase(age);
    }
}

}   // namespace tutti
