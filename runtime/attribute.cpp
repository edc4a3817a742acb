// SPDX-License-Identifier: BSD-3-Clause
// Attribute storage; the order of callbacks is the standard's (MPI 3.1, 6.7.2 and 8.7.1).
#include "runtime/attribute.hpp"

#include <algorithm>
#include <vector>

#include "runtime/error.hpp"

namespace tutti {

bool Attributes::get(Keyval const& key, void** value) const {
    auto found = slots_.find(&key);
    if (found == slots_.end()) return false;
    *value = found->second.value;
    return true;
}

void Attributes::set(Object& of, Keyval& key, void* value) {
    if (slots_.count(&key)) erase(of, key);
    slots_.emplace(&key, Slot{Ref<Keyval>::share(&key), value, next_age_++});
}

void Attributes::erase(Object& of, Keyval& key) {
    auto found = slots_.find(&key);
    if (found == slots_.end()) fail(ErrorClass::keyval, "no attribute is stored under this key value");
    if (key.remove)
        if (int code = key.remove(of, found->second.value)) throw Error(code);
    slots_.erase(&key);   // by key: the callback may have changed the map
}

void Attributes::copy_to(Object& from, Attributes& to) const {
    std::vector<Slot> all;
    for (auto const& [key, slot] : slots_) all.push_back(slot);
    std::sort(all.begin(), all.end(), [](Slot const& a, Slot const& b) { return a.age < b.age; });
    for (Slot const& slot : all) {
        if (!slot.key->copy) continue;
        void* copied = nullptr;
        bool wanted = false;
        if (int code = slot.key->copy(from, slot.value, &copied, wanted)) throw Error(code);
        if (wanted) to.slots_.emplace(slot.key.get(), Slot{slot.key, copied, to.next_age_++});
    }
}

void Attributes::clear(Object& of) {
    while (!slots_.empty()) {
        auto last = std::max_element(slots_.begin(), slots_.end(),
                                     [](auto const& a, auto const& b) { return a.second.age < b.second.age; });
        Ref<Keyval> key = last->second.key;
        if (key->remove)
            if (int code = key->remove(of, last->second.value)) throw Error(code);
        slots_.erase(key.get());
    }
}

}  // namespace tutti
