#!/usr/bin/env bash
# The journeys of Tests/Browse. Their driver, playwright, comes from PyPI into .build/venv; the web client is a Chromium of the system.
set -eu
cd "$(dirname "$0")/.."
if ! command -v chromium chromium-browser google-chrome >/dev/null && [ -z "${CHROMIUM:-}" ]; then
    Scripts/need.sh chromium
fi
[ -x .build/venv/bin/python ] || python3 -m venv .build/venv
.build/venv/bin/python -c 'import playwright, pytest, starlette, uvicorn, httpx' 2>/dev/null \
    || .build/venv/bin/pip install -q pytest starlette uvicorn httpx playwright
exec .build/venv/bin/python -m pytest -q -p no:cacheprovider Tests/Browse "$@"
