#!/usr/bin/env bash
# Installs what the tests with a real hub need, where that is allowed: psycopg into the virtual environment of the build
# folder, PostgreSQL with the system's package manager. Says what is missing otherwise, and succeeds.
set -u
python=python3
[ -x .build/venv/bin/python ] && python=.build/venv/bin/python
if ! $python -c 'import psycopg' 2>/dev/null; then
    [ -x .build/venv/bin/pip ] || python3 -m venv --system-site-packages .build/venv >/dev/null 2>&1
    .build/venv/bin/pip install -q 'psycopg[binary]>=3.1' >/dev/null 2>&1 || echo "missing: psycopg 3 (pip install 'psycopg[binary]')"
fi
if ! compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null && ! command -v initdb >/dev/null; then
    { [ "$(id -u)" = 0 ] && apt-get install -y -qq postgresql >/dev/null 2>&1; } || echo "missing: PostgreSQL (apt install postgresql)"
fi
exit 0
