! SPDX-License-Identifier: BSD-3-Clause
! joined.c in Fortran
program joined
  use, intrinsic :: iso_c_binding, only: c_long_long
  implicit none
  include 'mpif.h'
  interface
    function direct_bytes() bind(c)
      import :: c_long_long
      integer(c_long_long) :: direct_bytes
    end function
  end interface
  integer, parameter :: count = 2**20 / 4
  integer, allocatable :: in(:), out(:)
  integer :: rank, ranks, node, on_node, error
  integer(c_long_long) :: before, copied
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  call MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, node, error)
  call MPI_Comm_size(node, on_node, error)
  allocate (in(count), out(count))
  in = rank
  before = direct_bytes()
  call MPI_Allreduce(in, out, count, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  copied = direct_bytes() - before
  if (any(out /= out(1))) call MPI_Abort(MPI_COMM_WORLD, 1, error)
  print '(5(a, i0), a)', 'rank ', rank, ' of ', ranks, ', ', on_node, ' on its node, sum ', out(1), ', ', copied, &
    ' bytes direct'
  call MPI_Comm_free(node, error)
  call MPI_Finalize(error)
end program
