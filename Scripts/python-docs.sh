#!/usr/bin/env bash
# Makes HTML of the pages of docs/python, in .build/docs/python, with a reference made from the package's
# docstrings.   python-docs.sh [--tools]
# --tools: only makes sure that the packages from PyPI are installed; fails if they are not.
set -eu
cd "$(dirname "$0")/.."
tools=.build/docs-tools
if [ ! -x $tools/bin/mkdocs ] || [ ! -d "$(echo $tools/lib/python3*/site-packages/mkdocstrings_handlers)" ]; then
    rm -rf $tools
    { python3 -m venv $tools && $tools/bin/pip install -q \
        mkdocs==1.6.1 mkdocs-material==9.8.1 'mkdocstrings[python]==1.0.8' mkdocstrings-python==2.0.11; } >.build/docs-tools.log 2>&1 || {
        echo "skipped: pages of the Python package (MkDocs Material and mkdocstrings cannot be installed from PyPI; see .build/docs-tools.log)"
        rm -rf $tools
        [ "${1:-}" != --tools ]
        exit
    }
fi
[ "${1:-}" != --tools ] || exit 0
# Warnings, such as broken links and unknown names, are errors.
NO_MKDOCS_2_WARNING=1 PYTHONDONTWRITEBYTECODE=1 $tools/bin/mkdocs build --quiet --strict --config-file Scripts/mkdocs.yml
echo "$(find .build/docs/python -name '*.html' | wc -l) pages: .build/docs/python/index.html"
