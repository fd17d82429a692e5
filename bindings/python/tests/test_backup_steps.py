"""Backups in steps: a restored file is the version of its last step, and nothing is restored from a broken chain."""

import os
import pathlib
import random
import shutil
import tempfile
import threading
from typing import Any, Optional

import pytest

import crealm
from crealm.cli import main
from test_interrupt import Interrupting, until

SECRETS = [{}, {"key": bytes(range(64))}, {"key": bytes(64), "page_cipher": "realm"}, {"key": bytes(64), "page_cipher": "aes256gcm"}]


class Note(crealm.Model):
    id: int = crealm.field(primary_key=True)
    text: str = crealm.field(index=True)
    other: "Optional[Note]" = None
    tags: list[str]
    data: Optional[bytes] = None
    any: Any = None


def contents(db):
    return sorted(str(row) for row in db["Note"].to_dicts()) if "Note" in db else []


def change(db, choice, *, clears=True):
    """A random transaction."""
    with db.write():
        for _ in range(choice.choice([1, 3, 40])):
            number = choice.randrange(3000)
            found = db["Note"].get(number)
            if found is None or choice.random() < 0.1:
                db.add(Note(id=number, text=f"{number} " * choice.randrange(9), tags=["a"] * choice.randrange(4),
                            data=os.urandom(choice.choice([0, 10, 5000])), any={"n": [number]}), update="modified")  # fmt: skip
            elif choice.random() < 0.3:
                found.delete()
            else:
                found.text = "changed " * choice.randrange(20)
                found.other = db["Note"].get(choice.randrange(3000))
        if clears and choice.random() < 0.02:
            db["Note"].delete_all()


def restored(steps, path, secret):
    crealm.restore(steps, path, key=secret.get("key"))
    with crealm.open(path, mode="immutable", **secret) as db:
        assert db.verify() == [] and crealm.check(path, key=secret.get("key")).is_sound
        return db.version, contents(db)


@pytest.mark.parametrize("secret", SECRETS)
def test_each_step_restores_its_version(tmp_path, secret):
    choice, steps, versions = random.Random(1), [], []
    with crealm.open(tmp_path / "notes.realm", schema=[Note], **secret) as db:
        for number in range(12):
            for _ in range(choice.randrange(4)):
                change(db, choice)
            steps.append(tmp_path / f"{number}.step")
            size = db.backup_since(steps[-2] if number else None, steps[-1])
            assert size == steps[-1].stat().st_size
            versions.append((db.version, contents(db)))
            if choice.random() < 0.2:
                db.shrink()
        for number in range(12):
            assert restored(steps[: number + 1], tmp_path / f"{number}.realm", secret) == versions[number]
    # The restored file is like any other: it can be written, backed up in further steps, and copied.
    with crealm.open(tmp_path / "11.realm", schema=[Note], **secret) as db:
        change(db, choice)
        db.backup_since(steps[-1], tmp_path / "12.step")
        after = db.version, contents(db)
    assert restored([*steps, tmp_path / "12.step"], tmp_path / "12.realm", secret) == after
    leftovers = {p.name for p in tmp_path.iterdir()} - {f"{n}.{kind}" for n in range(13) for kind in ("step", "realm")}
    assert {name for name in leftovers if not name.startswith(("notes.", "11.realm."))} == set()


def test_a_chain_of_100_steps_equals_a_full_backup(tmp_path):
    choice, steps = random.Random(2), []
    with crealm.open(tmp_path / "notes.realm", schema=[Note]) as db:
        with db.write():
            db.add_many("Note", ({"id": n, "text": f"note {n} " * 5, "tags": []} for n in range(20000)))
        for number in range(100):
            change(db, choice, clears=False)
            steps.append(tmp_path / f"{number}.step")
            db.backup_since(steps[-2] if number else None, steps[-1])
        db.backup(tmp_path / "full.realm")
        size = (tmp_path / "full.realm").stat().st_size
    crealm.restore(steps, tmp_path / "restored.realm")
    with crealm.open(tmp_path / "restored.realm") as db:
        db.backup(tmp_path / "again.realm")
    assert (tmp_path / "again.realm").read_bytes() == (tmp_path / "full.realm").read_bytes()
    # One transaction changes little.
    sizes = sorted(step.stat().st_size for step in steps[1:])
    assert steps[0].stat().st_size < size * 1.3 and sizes[50] < size / 4, (size, sizes)


def test_steps_beside_a_writer(tmp_path):
    """Each step is one version, whatever is written meanwhile."""
    path, ended = tmp_path / "notes.realm", threading.Event()
    crealm.open(path, schema=[Note]).close()

    def write():
        choice = random.Random(3)
        with crealm.open(path, schema=[Note]) as db:
            while not ended.is_set():
                change(db, choice)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        steps, versions = [], []
        with crealm.open(path, schema=[Note]) as db:
            for number in range(15):
                db.refresh()
                with db.freeze() as frozen:
                    steps.append(tmp_path / f"{number}.step")
                    db.backup_since(steps[-2] if number else None, steps[-1])
                    versions.append((frozen.version, contents(frozen)))
    finally:
        ended.set()
        writer.join()
    for number in (0, 7, 14):
        assert restored(steps[: number + 1], tmp_path / f"{number}.realm", {}) == versions[number]


@pytest.fixture
def chain(tmp_path):
    choice, steps = random.Random(4), []
    with crealm.open(tmp_path / "notes.realm", schema=[Note]) as db:
        for number in range(4):
            change(db, choice)
            steps.append(tmp_path / f"{number}.step")
            db.backup_since(steps[-2] if number else None, steps[-1])
    return steps


def test_a_broken_chain_restores_nothing(tmp_path, chain):
    out = tmp_path / "out.realm"
    for steps in ([], chain[1:], [chain[0], chain[2]], [chain[0], chain[0]], [chain[1], chain[0]], [*chain, chain[3]]):
        with pytest.raises(crealm.UsageError):
            crealm.restore(steps, out)
    with pytest.raises(crealm.UsageError):
        crealm.restore([tmp_path / "notes.realm"], out)
    with pytest.raises(crealm.FileNotFound):
        crealm.restore([chain[0], tmp_path / "none.step"], out)
    with pytest.raises(crealm.Error):
        crealm.restore(chain, out, key=bytes(64))
    assert not [p for p in tmp_path.iterdir() if p.name.startswith("out")]
    crealm.restore(chain, out)
    before = out.read_bytes()
    with pytest.raises(crealm.FileExists):
        crealm.restore(chain, out)
    with crealm.open(out) as db:
        for wrong in (out, tmp_path / "notes.realm", chain[0]):
            with pytest.raises(crealm.FileExists):
                db.backup_since(None, wrong)
        for wrong in (out, tmp_path / "notes.realm"):
            with pytest.raises(crealm.UsageError):
                db.backup_since(wrong, tmp_path / "new.step")
        assert out.read_bytes() == before
        with db.write(), pytest.raises(crealm.UsageError):
            db.backup_since(None, tmp_path / "new.step")
    assert not (tmp_path / "new.step").exists()


def test_a_damaged_step_restores_nothing_wrong(tmp_path, chain):
    """Random bytes of random steps are changed: either the restored file is right, or there is none."""
    crealm.restore(chain, tmp_path / "sound.realm")
    with crealm.open(tmp_path / "sound.realm", mode="immutable") as db:
        sound = contents(db)
    choice, refused = random.Random(5), 0
    for number in range(120):
        step = choice.choice(chain)
        image = bytearray(step.read_bytes())
        for _ in range(choice.choice([1, 1, 30])):
            image[choice.randrange(len(image))] = choice.randrange(256)
        kept = step.read_bytes()
        step.write_bytes(image)
        out = tmp_path / f"out{number}.realm"
        try:
            crealm.restore(chain, out)
        except crealm.Error:
            refused += 1
            assert not out.exists()
        else:
            with crealm.open(out, mode="immutable") as db:
                assert contents(db) == sound and db.verify() == []
        step.write_bytes(kept)
    assert refused > 20


def test_encryption_must_match(tmp_path):
    key = bytes(range(64))
    with crealm.open(tmp_path / "plain.realm", schema=[Note]) as plain, crealm.open(
        tmp_path / "secret.realm", schema=[Note], key=key
    ) as secret:
        for db in (plain, secret):
            with db.write():
                db.add(Note(id=1, text="somebody's secret"))
        plain.backup_since(None, tmp_path / "plain.step")
        secret.backup_since(None, tmp_path / "secret.step")
        with pytest.raises(crealm.Error):
            secret.backup_since(tmp_path / "plain.step", tmp_path / "next.step")
    assert b"somebody" not in (tmp_path / "secret.step").read_bytes()
    with pytest.raises(crealm.Error):
        crealm.restore([tmp_path / "secret.step"], tmp_path / "out.realm")
    crealm.restore([tmp_path / "secret.step"], tmp_path / "out.realm", key=key)
    assert b"somebody" not in (tmp_path / "out.realm").read_bytes()


@pytest.mark.parametrize("secret", SECRETS)
def test_steps_keep_cipher_and_permissions(tmp_path, secret):
    """Also when the program that makes the step does not name the cipher."""
    path, step, out = tmp_path / "notes.realm", tmp_path / "0.step", tmp_path / "out.realm"
    key = {name: value for name, value in secret.items() if name == "key"}
    crealm.open(path, schema=[Note], **secret).close()
    path.chmod(0o600)
    with crealm.open(path, **key) as db:
        db.backup_since(None, step)
    crealm.restore([step], out, **key)
    for made in (step, out):
        facts = crealm.file_info(made, **key)
        assert facts.cipher == crealm.file_info(path, **key).cipher and facts.use == "write"
        assert made.stat().st_mode & 0o777 == 0o600


def test_steps_can_be_interrupted(tmp_path):
    """Calls are repeated until one of them lasts long enough to be asked whether it goes on."""
    with crealm.open(tmp_path / "notes.realm", schema=[Note]) as db:
        with db.write():
            db.add_many("Note", ({"id": n, "text": "a", "data": os.urandom(5000), "tags": []} for n in range(12000)))
        db.backup_since(None, tmp_path / "whole.step")

        def again(call):
            (tmp_path / "new").unlink(missing_ok=True)
            call()

        with Interrupting(db):
            until(crealm.Interrupted, lambda: again(lambda: db.backup_since(None, tmp_path / "new")))
        assert not list(tmp_path.glob("new*"))
        told = []

        def ends(*step):
            told.append(step)
            return False

        until(crealm.Interrupted, lambda: again(lambda: crealm.restore([tmp_path / "whole.step"], tmp_path / "new", progress=ends)))
        assert not list(tmp_path.glob("new*"))
        assert told and all(activity == "copying" and done <= total for activity, done, total in told)


def test_the_command_line(tmp_path, chain, capsys):
    os.chdir(tmp_path)
    assert main(["backup", "notes.realm", "a.step", "--first-step"]) == 0
    with crealm.open("notes.realm") as db:
        with db.write():
            db["Note"].delete_all()
        assert main(["backup", "notes.realm", "b.step", "--since", "a.step", "--json"]) == 0
    assert main(["restore", "out.realm", "a.step", "b.step"]) == 0
    assert "from 2 steps" in capsys.readouterr().out
    assert main(["restore", "again.realm", "b.step"]) == 1
    assert "is not a first step" in capsys.readouterr().err and not os.path.exists("again.realm")
    assert main(["backup", "notes.realm", "c.step", "--since", "b.step", "--plain"]) == 1
    with crealm.open("out.realm", mode="immutable") as db:
        assert len(db["Note"]) == 0


def test_an_empty_file(tmp_path):
    with crealm.open(tmp_path / "empty.realm", schema=[]) as db:
        db.backup_since(None, tmp_path / "0.step")
    crealm.restore([tmp_path / "0.step"], tmp_path / "out.realm")
    with crealm.open(tmp_path / "out.realm") as db:
        assert list(db) == []


@pytest.mark.parametrize(
    "name, value", [("topRef", 0), ("topRef", 24), ("fileFormat", 25), ("snapshot", 1), ("size", -8), ("blockSize", 8192), ("cipher", 1)]
)
def test_a_changed_description_is_refused(tmp_path, name, value):
    """The description of a step is part of its digest; before, a step with another top restored as an empty file."""
    with crealm.open(tmp_path / "notes.realm", schema=[Note]) as db:
        with db.write():
            db.add_many("Note", ({"id": n, "text": "a", "data": b"", "tags": []} for n in range(50)))
        db.backup_since(None, tmp_path / "0.step")
    with crealm.open(tmp_path / "0.step") as step, step.write():
        described = step["BackupStep"].one()
        setattr(described, name, described.size + value if name == "size" else value)
    with pytest.raises(crealm.CorruptFileError):
        crealm.restore([tmp_path / "0.step"], tmp_path / "out.realm")
    assert not (tmp_path / "out.realm").exists()


def test_a_huge_size_costs_no_memory(tmp_path):
    import resource

    with crealm.open(tmp_path / "notes.realm", schema=[Note]) as db:
        db.backup_since(None, tmp_path / "0.step")
    with crealm.open(tmp_path / "0.step") as step, step.write():
        step["BackupStep"].one().size = 1 << 40
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(crealm.CorruptFileError):
        crealm.restore(tmp_path / "0.step", tmp_path / "out.realm")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < before + 100_000


def test_the_open_file_is_no_step(tmp_path):
    with crealm.open(tmp_path / "notes.realm", schema=[Note]) as db:
        with pytest.raises(crealm.UsageError, match="no backup step"):
            db.backup_since(tmp_path / "notes.realm", tmp_path / "0.step")


def test_a_step_removes_what_killed_ones_left(tmp_path):
    with crealm.open(tmp_path / "notes.realm", schema=[Note]) as db:
        old, new, other = (tmp_path / f"{name}.step.tmp_step_12_{n}" for n, name in enumerate(("monday", "tuesday", "wednesday")))
        copy, foreign = tmp_path / "friday.realm.tmp_copy_77_3", tmp_path / "my.tmp_step_notes_1"
        for path in (old, new, other, copy, foreign):
            path.write_bytes(b"rest")
            path.with_name(path.name + ".lock").write_bytes(b"")
        for path in (old, copy, foreign):
            os.utime(path, (1, 1))
        db.backup_since(None, tmp_path / "thursday.step")
    assert not old.exists() and not old.with_name(old.name + ".lock").exists() and not copy.exists()
    assert new.exists() and other.exists() and foreign.exists()


@pytest.mark.skipif(not hasattr(os, "fork") or os.geteuid() != 0, reason="needs the right to change owners")
def test_a_copy_gives_no_other_group_rights():
    """The file belongs to a group; the program's own group is another one, and may not be given the copy's group."""
    tmp_path = pathlib.Path(tempfile.mkdtemp())  # The folders of pytest are closed for others.
    tmp_path.chmod(0o777)
    path = tmp_path / "notes.realm"
    crealm.open(path, schema=[Note]).close()
    for lock in tmp_path.glob("notes.realm.*"):
        if lock.is_file():
            lock.unlink()
    os.chown(path, 0, 65534)
    path.chmod(0o6664)
    child = os.fork()
    if child == 0:
        try:
            os.setgroups([])
            os.setgid(1234)
            os.setuid(1000)
            os.umask(0)
            with crealm.open(path, mode="snapshot") as db:
                db.backup_since(None, tmp_path / "s")
                db.backup(tmp_path / "copy")
            crealm.restore(tmp_path / "s", tmp_path / "r")
            modes = {(tmp_path / name).stat().st_mode & 0o7777 for name in ("s", "copy", "r")}
            os._exit(0 if modes == {0o644} else 1)
        except BaseException:
            os._exit(2)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    shutil.rmtree(tmp_path)
    assert status == 0
