// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/base/error.hpp"

#include <new>
#include <system_error>

namespace tutti {

Error error_of(std::exception const& thrown) {
    if (auto const* error = dynamic_cast<Error const*>(&thrown)) return *error;
    if (dynamic_cast<std::bad_alloc const*>(&thrown) || dynamic_cast<std::length_error const*>(&thrown))
        return {ErrorClass::no_mem, "the system has no more memory"};
    if (auto const* refused = dynamic_cast<std::system_error const*>(&thrown)) {
        bool const scarce = refused->code() == std::errc::resource_unavailable_try_again ||
                            refused->code() == std::errc::not_enough_memory ||
                            refused->code() == std::errc::too_many_files_open ||
                            refused->code() == std::errc::too_many_files_open_in_system ||
                            refused->code() == std::errc::no_space_on_device;
        return {scarce ? ErrorClass::no_mem : ErrorClass::other, join("a system call failed: ", thrown.what())};
    }
    return {ErrorClass::intern, thrown.what()};
}

}   // namespace tutti
