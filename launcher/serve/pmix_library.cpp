// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/serve/pmix_library.hpp"

#include <cstring>
#include <type_traits>

#include <dlfcn.h>

#include "launcher/base/job.hpp"
#include "runtime/base/error.hpp"

namespace tutti::launcher {

PmixLibrary::PmixLibrary() {
    void* const handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (!handle) throw LaunchError(dlerror(), 1);
    auto find = [handle](auto& function, char const* name) {
        function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(handle, name));
        if (!function) throw LaunchError(join(file, " has no ", name), 1);
    };
    find(init, "PMIx_server_init");
    find(generate_regex, "PMIx_generate_regex");
    find(generate_ppn, "PMIx_generate_ppn");
    find(register_nspace, "PMIx_server_register_nspace");
    find(deregister_nspace, "PMIx_server_deregister_nspace");
    find(register_client, "PMIx_server_register_client");
    find(deregister_client, "PMIx_server_deregister_client");
    find(setup_fork, "PMIx_server_setup_fork");
    find(error_string, "PMIx_Error_string");
}

PmixLibrary const& PmixLibrary::get() {
    static PmixLibrary const library;
    return library;
}

void PmixLibrary::check(pmix_status_t status, char const* call) const {
    if (status != PMIX_SUCCESS && status != PMIX_OPERATION_SUCCEEDED)
        throw LaunchError(join("the PMIx server of this node failed in ", call, ": ", error_string(status)), 1);
}

pmix_value_t& PmixInfos::append(char const* key, pmix_data_type_t type) {
    pmix_info_t& info = infos_.emplace_back();
    std::memset(&info, 0, sizeof info);
    std::strncpy(info.key, key, PMIX_MAX_KEYLEN);
    info.value.type = type;
    return info.value;
}

void PmixInfos::add(char const* key, std::string text) {
    append(key, PMIX_STRING).data.string = texts_.emplace_back(std::move(text)).data();
}
void PmixInfos::add(char const* key, std::uint32_t number) { append(key, PMIX_UINT32).data.uint32 = number; }
void PmixInfos::add_short(char const* key, std::uint16_t number) { append(key, PMIX_UINT16).data.uint16 = number; }
void PmixInfos::add_rank(char const* key, int rank) {
    append(key, PMIX_PROC_RANK).data.rank = static_cast<pmix_rank_t>(rank);
}
void PmixInfos::add_flag(char const* key, bool flag) { append(key, PMIX_BOOL).data.flag = flag; }

PmixInfos& PmixInfos::add_array(char const* key) {
    append(key, PMIX_DATA_ARRAY);
    return arrays_.emplace_back(infos_.size() - 1).infos;
}

pmix_info_t* PmixInfos::data() {
    for (Array& one : arrays_) {
        one.array.type = PMIX_INFO;
        one.array.size = one.infos.size();
        one.array.array = one.infos.data();
        infos_[one.index].value.data.darray = &one.array;
    }
    return infos_.data();
}

pmix_status_t PmixCompletion::wait(pmix_status_t returned) {
    if (returned != PMIX_SUCCESS) return returned;
    std::unique_lock lock(mutex_);
    // Not wait(), which needs the C++ library of GCC 12: wheels run with that of GCC 11.
    while (!changed_.wait_for(lock, std::chrono::hours(1), [this] { return status_.has_value(); })) {}
    return *status_;
}

bool PmixCompletion::wait_for(std::chrono::milliseconds timeout) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, timeout, [this] { return status_.has_value(); });
}

void PmixCompletion::done(pmix_status_t status, void* completion) {
    auto& self = *static_cast<PmixCompletion*>(completion);
    std::lock_guard const lock(self.mutex_);
    self.status_ = status;
    self.changed_.notify_one();   // with the lock held: the waiting thread destroys this object
}

}   // namespace tutti::launcher
