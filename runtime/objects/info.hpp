// SPDX-License-Identifier: BSD-3-Clause
// Info objects: an ordered list of keys and values (MPI 3.1, chapter 9).
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "runtime/objects/object.hpp"

namespace tutti {

class Info final : public Object {
public:
    /// In the order in which the keys were first set.
    std::vector<std::pair<std::string, std::string>> entries;

    /// Returns null if the key does not exist.
    std::string const* find(std::string const& key) const {
        for (auto const& [k, v] : entries)
            if (k == key) return &v;
        return nullptr;
    }
    void set(std::string const& key, std::string const& value) {
        for (auto& [k, v] : entries)
            if (k == key) {
                v = value;
                return;
            }
        entries.emplace_back(key, value);
    }
    /// Returns false if the key does not exist.
    bool erase(std::string const& key) {
        for (auto it = entries.begin(); it != entries.end(); ++it)
            if (it->first == key) {
                entries.erase(it);
                return true;
            }
        return false;
    }
};

}   // namespace tutti
