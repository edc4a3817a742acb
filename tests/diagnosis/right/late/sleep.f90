! SPDX-License-Identifier: BSD-3-Clause
! The first rank computes for half a second; the others wait for its value.
! ranks: 2 4
program late
  use mpi_f08
  implicit none
  integer :: rank
  double precision :: start, x
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  start = MPI_Wtime()
  x = 1
  if (rank == 0) then
    do while (MPI_Wtime() - start < 0.5d0)
      x = x * 0.5d0 + 1
    end do
  end if
  call MPI_Bcast(x, 1, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD)
  call MPI_Finalize()
end program
