! SPDX-License-Identifier: BSD-3-Clause
! The array is changed before the send is complete.
! ranks: 2
! expect: T10 ranks 0
! mpiexec: --check
program changed_under_way
  use mpi_f08
  implicit none
  integer :: rank
  integer, asynchronous :: x(100)
  type(MPI_Request) :: request
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  x = rank
  if (rank == 0) then
    call MPI_Isend(x, 100, MPI_INTEGER, 1, 0, MPI_COMM_WORLD, request)   ! HERE 0
    x = 7
    call MPI_Wait(request, MPI_STATUS_IGNORE)   ! HERE 0
  else
    call MPI_Recv(x, 100, MPI_INTEGER, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
  end if
  call MPI_Finalize()
end program changed_under_way
