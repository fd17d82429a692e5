#!/usr/bin/env bash
# Runs the browser tests of Tests/Browse. Their driver, playwright, is installed from PyPI into .build/venv; the web
# client is the system's Chromium.
set -eu
cd "$(dirname "$0")/.."
if ! command -v chromium chromium-browser google-chrome >/dev/null && [ -z "${CHROMIUM:-}" ]; then
    Scripts/need.sh chromium
fi
[ -x .build/venv/bin/python ] || python3 -m venv .build/venv
.build/venv/bin/python -c 'import playwright, pytest, starlette, uvicorn, httpx' 2>/dev/null \
    || .build/venv/bin/pip install -q pytest starlette uvicorn httpx playwright
exec .build/venv/bin/python -m pytest -q -p no:cacheprovider Tests/Browse "$@"
