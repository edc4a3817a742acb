// SPDX-License-Identifier: BSD-3-Clause
#include "algorithm.hpp"

namespace bench {
namespace {

// Between MPI_T_init_thread and MPI_T_finalize.
class Tool {
public:
    Tool()
    {
        int provided;
        there_ = MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) == MPI_SUCCESS &&
                 MPI_T_pvar_session_create(&session_) == MPI_SUCCESS;
    }
    ~Tool()
    {
        if (there_) {
            MPI_T_pvar_session_free(&session_);
            MPI_T_finalize();
        }
    }
    Tool(const Tool &) = delete;
    Tool &operator=(const Tool &) = delete;

    // The name of the state that the variable tells of the communicator; empty where there is no such variable.
    std::string state(const std::string &variable, MPI_Comm comm) const
    {
        int index, counters, value = 0;
        if (!there_ || MPI_T_pvar_get_index(variable.c_str(), MPI_T_PVAR_CLASS_STATE, &index) != MPI_SUCCESS)
            return "";
        MPI_T_pvar_handle handle;
        if (MPI_T_pvar_handle_alloc(session_, index, &comm, &handle, &counters) != MPI_SUCCESS)
            return "";
        const bool known = MPI_T_pvar_read(session_, handle, &value) == MPI_SUCCESS;
        MPI_T_pvar_handle_free(session_, &handle);
        return known ? item(index, value) : "";
    }

private:
    static std::string item(int index, int value)
    {
        MPI_T_enum items = MPI_T_ENUM_NULL;
        int verbosity, kind, bind, readonly, continuous, atomic, name_length = 0, text_length = 0, found;
        MPI_Datatype type;
        MPI_T_pvar_get_info(index, nullptr, &name_length, &verbosity, &kind, &type, &items, nullptr, &text_length,
                            &bind, &readonly, &continuous, &atomic);
        char name[64] = "";
        int length = sizeof name;
        for (int i = 0; items != MPI_T_ENUM_NULL; ++i, length = sizeof name)
            if (MPI_T_enum_get_item(items, i, &found, name, &length) != MPI_SUCCESS)
                break;
            else if (found == value)
                return name;
        return "";
    }

    MPI_T_pvar_session session_{};
    bool there_;
};

} // namespace

std::string algorithm_of_last_call(const Operation &operation, MPI_Comm comm)
{
    return Tool().state("tutti_" + operation.collective() + "_algorithm", comm);
}

} // namespace bench
