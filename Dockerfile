# The image holds the executable, the eight libraries that it is linked with, their licences, and an empty /data: no shell, no package
# manager.
#   docker build -t findling .        (or buildah, podman; --platform linux/amd64,linux/arm64 with buildx)
#   docker run --read-only -v findling:/data -p 8080:8080 findling
# Both executables are built on the machine that builds, whichever it is: nothing is emulated but two lines of shell.

FROM --platform=$BUILDPLATFORM node:24-bookworm-slim AS build
ARG TARGETARCH
ARG FINDLING_COMMIT
WORKDIR /findling
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
COPY . .
RUN npm run build -- --arch "$(echo "$TARGETARCH" | sed s/amd64/x64/)" \
  && mv dist/findling-linux-* /findling/executable

FROM debian:bookworm-slim AS libraries
ARG TARGETARCH
# At the very paths where the loader looks for them; cp -L because some are links to a version.
RUN set -eu; \
  case "$TARGETARCH" in \
    amd64) loader=/lib64/ld-linux-x86-64.so.2; folder=x86_64-linux-gnu ;; \
    arm64) loader=/lib/ld-linux-aarch64.so.1; folder=aarch64-linux-gnu ;; \
  esac; \
  mkdir -p /empty "/rootfs$(dirname $loader)" "/rootfs/lib/$folder"; \
  cp -L "$loader" "/rootfs$loader"; \
  for name in libc.so.6 libm.so.6 libdl.so.2 libpthread.so.0 librt.so.1 libgcc_s.so.1; do \
    cp -L "/lib/$folder/$name" "/rootfs/lib/$folder/$name"; \
  done; \
  cp -L "/usr/lib/$folder/libstdc++.so.6" "/rootfs/lib/$folder/libstdc++.so.6"; \
  mkdir /rootfs/licenses; \
  for name in libc6 libgcc-s1 libstdc++6; do cp -L "/usr/share/doc/$name/copyright" "/rootfs/licenses/$name"; done; \
  cp -L /usr/share/common-licenses/LGPL-2.1 /usr/share/common-licenses/GPL-3 /rootfs/licenses/

FROM scratch
COPY --from=libraries /rootfs/ /
COPY --from=libraries --chown=10001:10001 /empty/ /data/
COPY --from=build /findling/executable /findling
USER 10001:10001
ENV FINDLING_DATA=/data FINDLING_LISTEN=0.0.0.0:8080
VOLUME /data
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s CMD ["/findling", "health"]
ENTRYPOINT ["/findling"]
