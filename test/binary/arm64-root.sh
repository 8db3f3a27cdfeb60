#!/bin/sh
# Makes DIR/root: the libraries of an arm64 Debian that the executable needs, for qemu's user mode. Touches nothing of the host's dpkg.
set -eu
dir=$1
mkdir -p "$dir/lists/partial" "$dir/cache/archives/partial" "$dir/packages" "$dir/root"
dir=$(cd "$dir" && pwd)
options="-o APT::Architecture=arm64 -o APT::Architectures=arm64 -o Dir::State::lists=$dir/lists
  -o Dir::Cache=$dir/cache -o Dir::State::status=/dev/null -o APT::Sandbox::User=root"
# shellcheck disable=SC2086 -- words on purpose
apt-get $options -qq update
cd "$dir/packages"
# shellcheck disable=SC2086
apt-get $options -qq download libc6 libstdc++6 libgcc-s1
for package in ./*.deb; do
  dpkg -x "$package" "$dir/root"
done
test -e "$dir/root/lib/ld-linux-aarch64.so.1"
