! SPDX-License-Identifier: BSD-3-Clause
! The tags differ: 10 is sent, 11 is received.
! ranks: 2
! expect: T02 ranks 1
program wrong_tag
  use mpi
  implicit none
  integer :: rank, ierror
  double precision :: x(5)
  x = 1
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  if (rank == 0) call MPI_Send(x, 5, MPI_DOUBLE_PRECISION, 1, 10, MPI_COMM_WORLD, ierror)
  if (rank == 1) then
    call MPI_Recv(x, 5, MPI_DOUBLE_PRECISION, 0, 11, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)   ! HERE 1
  end if
  call MPI_Finalize(ierror)
end program
