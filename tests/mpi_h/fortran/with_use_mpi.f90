! SPDX-License-Identifier: BSD-3-Clause
! The module mpi: attributes with Fortran callbacks, error handlers and strings, info, names, derived types.
module callbacks
    implicit none
    integer :: copies = 0, deletes = 0, errors = 0
contains
    subroutine copy_value(comm, keyval, extra, value_in, value_out, flag, ierr)
        use mpi
        integer :: comm, keyval, ierr
        integer(kind=MPI_ADDRESS_KIND) :: extra, value_in, value_out
        logical :: flag
        copies = copies + 1
        value_out = value_in + extra
        flag = .true.
        ierr = MPI_SUCCESS
    end subroutine

    subroutine delete_value(comm, keyval, value, extra, ierr)
        use mpi
        integer :: comm, keyval, ierr
        integer(kind=MPI_ADDRESS_KIND) :: value, extra
        deletes = deletes + 1
        ierr = MPI_SUCCESS
    end subroutine

    subroutine count_error(comm, code)
        integer :: comm, code
        errors = errors + 1
    end subroutine

    subroutine check(good, what)
        logical, intent(in) :: good
        character(*), intent(in) :: what
        if (good) return
        print '(2a)', 'wrong: ', what
        stop 1
    end subroutine
end module

program with_use_mpi
    use mpi
    use callbacks
    implicit none
    integer :: rank, ranks, ierr
    call MPI_Init(ierr)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
    call attributes
    call old_attributes
    call error_handlers
    call infos_and_names
    call columns
    if (rank == 0) print '(a,i0)', 'right on ', ranks
    call MPI_Finalize(ierr)
contains
    subroutine attributes
        integer :: key, comm
        integer(kind=MPI_ADDRESS_KIND) :: value, extra
        logical :: flag
        extra = 1000
        call MPI_Comm_create_keyval(copy_value, delete_value, key, extra, ierr)
        value = 5000000000_MPI_ADDRESS_KIND
        call MPI_Comm_set_attr(MPI_COMM_WORLD, key, value, ierr)
        value = 0
        call MPI_Comm_get_attr(MPI_COMM_WORLD, key, value, flag, ierr)
        call check(flag .and. value == 5000000000_MPI_ADDRESS_KIND, 'attribute')
        call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierr)
        call MPI_Comm_get_attr(comm, key, value, flag, ierr)
        call check(flag .and. value == 5000001000_MPI_ADDRESS_KIND, 'copied attribute')
        call MPI_Comm_free(comm, ierr)
        call MPI_Comm_delete_attr(MPI_COMM_WORLD, key, ierr)
        call check(copies == 1 .and. deletes == 2, 'callbacks')
        call MPI_Comm_free_keyval(key, ierr)
        call check(key == MPI_KEYVAL_INVALID, 'freed key')
        call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, value, flag, ierr)
        call check(flag .and. value >= 32767, 'MPI_TAG_UB')
    end subroutine

    subroutine old_attributes
        integer :: key, comm, value
        logical :: flag
        call MPI_Keyval_create(MPI_DUP_FN, MPI_NULL_DELETE_FN, key, 0, ierr)
        call MPI_Attr_put(MPI_COMM_WORLD, key, -17, ierr)
        call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierr)
        call MPI_Attr_get(comm, key, value, flag, ierr)
        call check(flag .and. value == -17, 'old attribute')
        call MPI_Comm_free(comm, ierr)
        call MPI_Attr_delete(MPI_COMM_WORLD, key, ierr)
        call MPI_Keyval_free(key, ierr)
    end subroutine

    subroutine error_handlers
        integer :: handler, code, class, length
        character(MPI_MAX_ERROR_STRING) :: text
        call MPI_Comm_create_errhandler(count_error, handler, ierr)
        call MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler, ierr)
        call MPI_Send(rank, 1, MPI_INTEGER, ranks, 1, MPI_COMM_WORLD, code)
        call check(errors == 1, 'error handler')
        call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, ierr)
        call MPI_Errhandler_free(handler, ierr)
        call MPI_Send(rank, 1, MPI_INTEGER, ranks, 1, MPI_COMM_WORLD, code)
        call MPI_Error_class(code, class, ierr)
        call check(class == MPI_ERR_RANK, 'error class')
        call MPI_Error_string(code, text, length, ierr)
        call check(index(text(1:length), 'MPI_Send') > 0, 'error string')
        call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL, ierr)
    end subroutine

    subroutine infos_and_names
        integer :: info, length
        logical :: flag
        character(20) :: value
        character(MPI_MAX_OBJECT_NAME) :: name
        call MPI_Info_create(info, ierr)
        call MPI_Info_set(info, 'colour', 'dark blue', ierr)
        call MPI_Info_get(info, 'colour', 20, value, flag, ierr)
        call check(flag .and. value == 'dark blue', 'info')
        call MPI_Info_free(info, ierr)
        call check(info == MPI_INFO_NULL, 'freed info')
        call MPI_Comm_get_name(MPI_COMM_WORLD, name, length, ierr)
        call check(name(1:length) == 'MPI_COMM_WORLD', 'name')
    end subroutine

    ! A row of a Fortran matrix is a strided type; its two neighbours get it.
    subroutine columns
        integer, parameter :: n = 5
        integer :: row, requests(2), statuses(MPI_STATUS_SIZE, 2)
        double precision :: mine(n, n), theirs(n, n)
        mine = rank
        theirs = -1
        call MPI_Type_vector(n, 1, n, MPI_DOUBLE_PRECISION, row, ierr)
        call MPI_Type_commit(row, ierr)
        call MPI_Irecv(theirs(2, 1), 1, row, mod(rank + ranks - 1, ranks), 3, MPI_COMM_WORLD, requests(1), ierr)
        call MPI_Isend(mine(4, 1), 1, row, mod(rank + 1, ranks), 3, MPI_COMM_WORLD, requests(2), ierr)
        call MPI_Waitall(2, requests, statuses, ierr)
        call MPI_Type_free(row, ierr)
        call check(all(theirs(2, :) == mod(rank + ranks - 1, ranks)), 'row')
        call check(all(theirs(1, :) == -1) .and. all(theirs(3:, :) == -1), 'other rows')
    end subroutine
end program
