! SPDX-License-Identifier: BSD-3-Clause
! Two receives into one variable.
! ranks: 2
! expect: T11 ranks 0
! mpiexec: --check
program receives_overlap
  use mpi
  implicit none
  integer :: rank, ierror
  integer :: x, requests(2)
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  x = rank
  if (rank == 0) then
    call MPI_Irecv(x, 1, MPI_INTEGER, 1, 0, MPI_COMM_WORLD, requests(1), ierror)   ! HERE 0
    call MPI_Irecv(x, 1, MPI_INTEGER, 1, 1, MPI_COMM_WORLD, requests(2), ierror)   ! HERE 0
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierror)
  else
    call MPI_Send(x, 1, MPI_INTEGER, 0, 0, MPI_COMM_WORLD, ierror)
    call MPI_Send(x, 1, MPI_INTEGER, 0, 1, MPI_COMM_WORLD, ierror)
  end if
  call MPI_Finalize(ierror)
end program receives_overlap
