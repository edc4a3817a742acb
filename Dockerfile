# SPDX-License-Identifier: BSD-3-Clause
# An image with Tutti in /opt/tutti and the compilers that its wrappers call:
#     docker build -t tutti .
#     docker run --rm tutti tutti-bench -n 2 allreduce
#     docker run --rm -v "$PWD:/work" -w /work tutti sh -c "mpicc app.c -o app && mpiexec -n 4 ./app"
# tests/packages lists the packages, in the groups `build` and `image`. The sources are mounted and not copied, and
# what only the build needs is removed in the step that installs it, so no layer contains it.
FROM debian:12-slim
RUN --mount=type=bind,target=/tutti /tutti/packaging/image.sh --in-image
ENV PATH=/opt/tutti/bin:$PATH
CMD ["tutti-info"]
