#!/usr/bin/env bash
# Builds what a machine without Rust needs, into target/dist (or the folder given): the binary, the C
# library with its header and pkg-config file as a tar file, and a wheel that carries them.
set -euo pipefail
cd "$(dirname "$0")/.."
out=${1:-target/dist}
target=${CARGO_TARGET_DIR:-target}
cargo build --locked --release -p rankcheck -p guest
version=$(cargo pkgid -p rankcheck | sed 's/.*[#@]//')

rm -rf "$out"
prefix=$out/rankcheck-$version
install -D -m 755 "$target/release/rankcheck" "$prefix/bin/rankcheck"
install -D -m 755 "$target/release/librankcheck_host.so" "$prefix/lib/librankcheck.so.0"
ln -s librankcheck.so.0 "$prefix/lib/librankcheck.so"
install -D -m 644 crates/guest/include/rankcheck_host.h "$prefix/include/rankcheck_host.h"
mkdir -p "$prefix/lib/pkgconfig"
cat > "$prefix/lib/pkgconfig/rankcheck.pc" <<PC
prefix=\${pcfiledir}/../..
libdir=\${prefix}/lib
includedir=\${prefix}/include

Name: rankcheck
Description: Judges collective kernels that your own program launches, byte by byte
Version: $version
Libs: -L\${libdir} -Wl,-rpath,\${libdir} -lrankcheck
Cflags: -I\${includedir}
PC
tar -C "$out" -czf "$out/rankcheck-$version.tar.gz" "rankcheck-$version"
python3 ci/wheel.py "$prefix" "$version" "$out"
ls -l "$out"
