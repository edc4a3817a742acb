// SPDX-License-Identifier: BSD-3-Clause
// Error handlers of communicators and windows: made, set, given back, called.
#include "mpi_h/entry/errhandlers.hpp"

#include "mpi_h/entry/errors.hpp"

namespace tutti {

void create_errhandler(Call const& call, ErrhandlerFunction* function, bool of_windows, MPI_Errhandler* errhandler) {
    call.function(function, of_windows ? "win_errhandler_fn" : "comm_errhandler_fn");
    call.pointer(errhandler, "errhandler");
    auto* made = new Errhandler;
    made->kind = Errhandler::Kind::user;
    made->of_windows = of_windows;
    made->call = [function](Object* on, int code) {
        int handle = on ? static_cast<int>(on->handle) : MPI_COMM_NULL;
        if (auto* const comm = dynamic_cast<Comm*>(on)) {   // which the program may have freed while requests use it
            auto const valid = abi::Tables::Comms::Valid(library().tables.comms, *comm);
            return function(&handle, &code);
        }
        function(&handle, &code);
    };
    *errhandler = library().tables.errhandlers.add(made);
}

void set_errhandler(Call& call, HasErrhandler& of, bool is_window, MPI_Errhandler errhandler) {
    Errhandler& e = call.errhandler(errhandler);
    if (e.kind == Errhandler::Kind::user && e.of_windows != is_window)
        fail(ErrorClass::arg, "errhandler was made for ", e.of_windows ? "windows" : "communicators",
             e.of_windows ? " (MPI_Win_create_errhandler)" : " (MPI_Comm_create_errhandler)");
    of.errhandler = Ref<Errhandler>::share(&e);
}

void get_errhandler(Call const& call, HasErrhandler& of, MPI_Errhandler* errhandler) {
    call.pointer(errhandler, "errhandler");
    Errhandler* e = of.errhandler.get();
    if (e->kept_by) {
        ++e->references;
        library().tables.errhandlers.add(e);
    } else if (!e->predefined) {
        ++e->more_handles;
    }
    *errhandler = static_cast<MPI_Errhandler>(e->handle);
}

void call_errhandler(Call const& call, HasErrhandler& of, int errorcode) {
    std::string text = error_text(errorcode);
    Errhandler const& handler = *of.errhandler;
    if (handler.kind == Errhandler::Kind::fatal)
        abort_job({errorcode & 0x7f, join(call.name, ": ", text), error_name(errorcode),
                   call_words(call.name, given(of.handle, errorcode).values())});
    if (handler.kind == Errhandler::Kind::user) handler.call(&of, errorcode);
}

}   // namespace tutti
