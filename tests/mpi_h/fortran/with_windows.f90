! SPDX-License-Identifier: BSD-3-Clause
! One-sided communication by the module mpi: windows, their attributes with Fortran callbacks, operations, epochs.
module callbacks
    implicit none
    integer :: deletes = 0, errors = 0
contains
    subroutine delete_value(win, keyval, value, extra, ierr)
        use mpi
        integer :: win, keyval, ierr
        integer(kind=MPI_ADDRESS_KIND) :: value, extra
        if (value == 5000000000_MPI_ADDRESS_KIND .and. extra == 1000) deletes = deletes + 1
        ierr = MPI_SUCCESS
    end subroutine

    subroutine count_error(win, code)
        integer :: win, code
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

program with_windows
    use mpi
    use callbacks
    implicit none
    integer :: rank, ranks, ierr, win, right, code, class, handler, key, old, added
    integer, asynchronous :: memory(10)
    integer(kind=MPI_ADDRESS_KIND) :: bytes, place, value, extra
    logical :: flag
    call MPI_Init(ierr)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
    right = mod(rank + 1, ranks)
    memory = 0
    bytes = 40
    call MPI_Win_create(memory, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win, ierr)

    call MPI_Win_get_attr(win, MPI_WIN_SIZE, value, flag, ierr)
    call check(flag .and. value == 40, 'size')
    call MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, value, flag, ierr)
    call check(flag .and. value == 4, 'unit')
    call MPI_Win_get_attr(win, MPI_WIN_BASE, value, flag, ierr)
    call MPI_Get_address(memory, place, ierr)
    call check(flag .and. value == place, 'base')
    call MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, value, flag, ierr)
    call check(flag .and. value == MPI_WIN_FLAVOR_CREATE, 'flavour')
    extra = 1000
    call MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, delete_value, key, extra, ierr)
    value = 5000000000_MPI_ADDRESS_KIND
    call MPI_Win_set_attr(win, key, value, ierr)
    value = 0
    call MPI_Win_get_attr(win, key, value, flag, ierr)
    call check(flag .and. value == 5000000000_MPI_ADDRESS_KIND, 'attribute')

    place = 3
    call MPI_Win_fence(0, win, ierr)
    call MPI_Put([rank + 100], 1, MPI_INTEGER, right, place, 1, MPI_INTEGER, win, ierr)
    call MPI_Win_fence(MPI_MODE_NOSUCCEED, win, ierr)
    call check(memory(4) == 100 + mod(rank + ranks - 1, ranks), 'put')
    added = 5
    place = 0
    call MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win, ierr)
    call MPI_Fetch_and_op(added, old, MPI_INTEGER, 0, place, MPI_SUM, win, ierr)
    call MPI_Win_unlock(0, win, ierr)
    call check(mod(old, 5) == 0 .and. old < 5 * ranks, 'fetch and op')
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
    call check(rank /= 0 .or. memory(1) == 5 * ranks, 'sum')

    call MPI_Win_create_errhandler(count_error, handler, ierr)
    call MPI_Win_set_errhandler(win, handler, ierr)
    call MPI_Win_lock(0, 0, 0, win, code)
    call MPI_Error_class(code, class, ierr)
    call check(errors == 1 .and. class == MPI_ERR_LOCKTYPE, 'error handler')
    call MPI_Errhandler_free(handler, ierr)
    call MPI_Win_free(win, ierr)
    call check(win == MPI_WIN_NULL .and. deletes == 1, 'freed window')
    call MPI_Win_free_keyval(key, ierr)
    if (rank == 0) print '(a,i0)', 'right on ', ranks
    call MPI_Finalize(ierr)
end program
