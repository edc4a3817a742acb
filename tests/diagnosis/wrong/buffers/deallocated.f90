! SPDX-License-Identifier: BSD-3-Clause
! An array is deallocated while it is being sent.
! ranks: 2
! expect: T10 ranks 0
! mpiexec: --check
program deallocated
    use mpi
    implicit none
    integer :: rank, request, ierror
    double precision, allocatable :: field(:)
    call MPI_Init(ierror)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
    allocate (field(100000))
    field = 1
    if (rank == 0) then
        call MPI_Isend(field, 100000, MPI_DOUBLE_PRECISION, 1, 0, MPI_COMM_WORLD, request, ierror) ! HERE 0
        deallocate (field)
        call MPI_Wait(request, MPI_STATUS_IGNORE, ierror) ! HERE 0
    else
        call MPI_Recv(field, 100000, MPI_DOUBLE_PRECISION, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
    end if
    call MPI_Finalize(ierror)
end program
