// SPDX-License-Identifier: BSD-3-Clause
// What hints decide: alloc_shared_noncontig, that each part of a shared window has memory of its own. The others are
// promises that nothing here needs: locks cost nothing until they are taken, accumulates are always in order, and the
// same whatever the operators.
#include "rma/making/hints.hpp"

namespace tutti::rma {
namespace {

bool says_yes(std::string const& value) { return value == "true" || value == "1" || value == "yes"; }

bool is_truth(std::string const& value) { return says_yes(value) || value == "false" || value == "0" || value == "no"; }

/// A value that means nothing leaves the one in use.
void take_truth(Info& info, Info const& given, char const* key, bool* decides = nullptr) {
    std::string const* value = given.find(key);
    if (!value || !is_truth(*value)) return;
    info.set(key, says_yes(*value) ? "true" : "false");
    if (decides) *decides = says_yes(*value);
}

}   // namespace

void take_hints(Window& window, Hints given) {
    window.info = Ref<Info>::adopt(new Info);
    Info& info = *window.info;
    info.set("no_locks", "false");
    info.set("accumulate_ordering", "rar,raw,war,waw");
    info.set("accumulate_ops", "same_op_no_op");
    info.set("mpi_accumulate_granularity", "0");
    info.set("same_size", "false");
    info.set("same_disp_unit", "false");
    if (window.flavor == Flavor::shared) info.set("alloc_shared_noncontig", "false");
    if (!given) return;
    take_truth(info, *given, "same_size");
    take_truth(info, *given, "same_disp_unit");
    if (window.flavor == Flavor::shared) take_truth(info, *given, "alloc_shared_noncontig", &window.noncontiguous);
    set_info(window, *given);
}

void set_info(Window& window, Info const& given) {
    take_truth(*window.info, given, "no_locks");
    for (char const* key : {"accumulate_ops", "accumulate_ordering", "mpi_accumulate_granularity"})
        if (std::string const* value = given.find(key)) window.info->set(key, *value);
    if (window.accesses) window.accesses->ordering = AccumulateOrdering::of(*window.info->find("accumulate_ordering"));
}

}   // namespace tutti::rma
