#!/usr/bin/env bash
# Tests of synchronisation.   run.sh LIBRARY [--long]
# Parts that need a real PostgreSQL print one line where it is missing.
set -eu
cd "$(dirname "$0")/../.."
export CREALM_LIBRARY=$PWD/$1 PYTHONPATH=$PWD/bindings/python
python=python3
[ -x .build/venv/bin/python ] && python=.build/venv/bin/python
if [ "${2:-}" = --long ]; then
    $python Tests/Sync/simulation.py --seeds "${SYNC_SEEDS:-2000}"
    $python Tests/Sync/simulation.py --seeds 300 --fault all
    seconds=${SYNC_SECONDS:-120} devices=12
else
    $python Tests/Sync/simulation.py --seeds "${SYNC_SEEDS:-40}"
    seconds=${SYNC_SECONDS:-8} devices=4
fi
if [ "${2:-}" = --long ]; then
    # Skipped tests are no error: pytest then ends with 5.
    $python -m pytest -q -rs -p no:cacheprovider Tests/Sync/test_postgres.py Tests/Sync/test_types.py Tests/Sync/test_subsets.py Tests/Sync/test_hardness.py Tests/Sync/test_swift.py || [ $? = 5 ]
else
    $python -m pytest -q -rs -p no:cacheprovider Tests/Sync/test_postgres.py Tests/Sync/test_subsets.py Tests/Sync/test_hardness.py Tests/Sync/test_swift.py -k "made_again or marks_of_rows or reach or refused_change or merged or lost or restored_elsewhere or subset or links or (query and 0) or share_objects or answers" || [ $? = 5 ]
fi
$python Tests/Sync/kills.py --seconds "$seconds" --devices "$devices"
