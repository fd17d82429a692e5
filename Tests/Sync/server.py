"""A PostgreSQL of its own for tests: made in a temporary folder, reached by a Unix socket only, removed at the end.

PostgreSQL refuses to run as root: then the server runs as the user `postgres` or `nobody`.
"""

from __future__ import annotations

import glob
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from typing import Any, List, Optional

OWNER = "hub_owner"  # A plain role, which owns the databases of the tests.


def programs() -> Optional[str]:
    """The folder with initdb and postgres; None if there is none."""
    places = sorted(glob.glob("/usr/lib/postgresql/*/bin"), reverse=True)
    found = shutil.which("initdb")
    if found:
        places.insert(0, os.path.dirname(os.path.realpath(found)))
    return next((p for p in places if os.path.exists(f"{p}/initdb") and os.path.exists(f"{p}/postgres")), None)


def missing() -> Optional[str]:
    """What the tests with a real hub lack; None if nothing."""
    try:
        import psycopg  # noqa: F401
    except ImportError:
        return "psycopg 3 (pip install psycopg[binary])"
    if programs() is None:
        return "PostgreSQL (Debian: apt install postgresql)"
    return None


class Server:
    """One cluster. Databases are made by `database`."""

    def __init__(self, *, is_quick: bool = True) -> None:
        """is_quick: without flushes, so that nothing but the end of the machine loses data."""
        self.is_quick = is_quick
        folder = programs()
        assert folder is not None
        self._programs = folder
        self.folder = tempfile.mkdtemp(prefix="crealm-hub-")
        self._user: Optional[int] = None
        if os.geteuid() == 0:
            names = {entry.pw_name: entry for entry in pwd.getpwall()}
            entry = names.get("postgres") or names["nobody"]
            self._user = entry.pw_uid
            self._group = entry.pw_gid
            os.chown(self.folder, entry.pw_uid, entry.pw_gid)
        self._run(
            ["initdb", "-D", self._data, "-A", "trust", "-U", "boss", "--no-sync", "-E", "UTF8", "--locale=C"]
        )
        self._process: Optional[subprocess.Popen[bytes]] = None
        self.start()
        with self.boss() as connection:
            connection.execute(f"CREATE ROLE {OWNER} LOGIN")

    @property
    def _data(self) -> str:
        return f"{self.folder}/data"

    def _arguments(self) -> "dict[str, Any]":
        if self._user is None:
            return {}
        return {"user": self._user, "group": self._group, "extra_groups": []}

    def _run(self, command: List[str]) -> None:
        done = subprocess.run(
            [f"{self._programs}/{command[0]}", *command[1:]],
            capture_output=True,
            text=True,
            cwd="/",
            env={**os.environ, "LC_ALL": "C"},
            **self._arguments(),
        )
        if done.returncode:
            raise RuntimeError(f"{command[0]} failed: {done.stderr}")

    def start(self) -> None:
        log = open(f"{self.folder}/log", "ab")
        self._process = subprocess.Popen(
            [
                f"{self._programs}/postgres",
                "-D",
                self._data,
                "-c",
                "listen_addresses=",
                "-k",
                self.folder,
                "-c",
                "max_connections=60",
                "-c",
                "fsync=off" if self.is_quick else "fsync=on",
                "-c",
                "log_min_messages=fatal",
            ],
            stdout=log,
            stderr=log,
            cwd="/",
            env={**os.environ, "LC_ALL": "C"},
            **self._arguments(),
        )
        log.close()
        for _ in range(300):
            try:
                self.boss().close()
                return
            except Exception:
                time.sleep(0.1)
        raise RuntimeError("PostgreSQL did not start: see " + self.folder)

    def stop(self, how: int = signal.SIGINT) -> None:
        """Ends the server: SIGINT at once but in order, SIGKILL as a crash."""
        if self._process is None:
            return
        self._process.send_signal(how)
        self._process.wait()
        self._process = None

    def remove(self) -> None:
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def boss(self, database: str = "postgres") -> Any:
        """A connection as superuser."""
        import psycopg

        return psycopg.connect(f"host={self.folder} user=boss dbname={database}", autocommit=True)

    def database(self, name: str) -> str:
        """A new database that the plain role owns; its address."""
        with self.boss() as connection:
            connection.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')
            connection.execute(f'CREATE DATABASE "{name}" OWNER {OWNER}')
        with self.boss(name) as connection:
            connection.execute(f"ALTER SCHEMA public OWNER TO {OWNER}")
        return self.address(name)

    def address(self, name: str, role: str = OWNER) -> str:
        return f"postgresql://{role}@/{name}?host={self.folder}"
