! SPDX-License-Identifier: BSD-3-Clause
! Both ranks send a large array first.
! ranks: 2
! expect: T01 ranks 0-1
program send_send
  use mpi_f08
  implicit none
  integer :: rank
  double precision :: x(100000), y(100000)
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  x = rank
  call MPI_Send(x, 100000, MPI_DOUBLE_PRECISION, 1 - rank, 0, MPI_COMM_WORLD)   ! HERE 0-1
  call MPI_Recv(y, 100000, MPI_DOUBLE_PRECISION, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
  call MPI_Finalize()
end program send_send
