"""Lists of bytes and texts as files."""

import hashlib
import io
import random
import shutil
import tempfile
import zipfile

import pytest

import crealm


class Document(crealm.Model):
    name: str = crealm.field(primary_key=True)
    content: list[bytes]
    text: list[str]
    numbers: list[int]


@pytest.fixture
def db(tmp_path):
    with crealm.open(tmp_path / "documents.realm", schema=[Document]) as opened:
        with opened.write():
            opened.add(Document(name="a"))
        yield opened


def test_a_file_is_copied_in_and_out(db):
    document = db[Document].get("a")
    source = io.BytesIO(random.Random(1).randbytes(300_000))
    with db.write(), document.content.open("wb") as file:
        shutil.copyfileobj(source, file, 10_000)
    assert len(document.content) == 5 and b"".join(document.content) == source.getvalue()
    with document.content.open() as file:
        assert file.read() == source.getvalue()
    with document.content.open() as file, io.BufferedReader(file) as lines:
        assert lines.read(7) == source.getvalue()[:7]


def test_like_a_file_of_the_system(db):
    chance = random.Random(2)
    document = db[Document].get("a")
    with tempfile.TemporaryFile() as model, db.write(), document.content.open("r+b") as file:
        for _ in range(400):
            step = chance.randrange(5)
            if step == 0:
                size = chance.randrange(250_000)
                assert file.truncate(size) == model.truncate(size)
            elif step == 1:
                position = chance.randrange(250_000)
                assert file.seek(position) == model.seek(position)
            elif step == 2:
                assert file.seek(0, io.SEEK_END) == model.seek(0, io.SEEK_END)
            elif step == 3:
                data = chance.randbytes(chance.choice([1, 50, 3000, 70_000]))
                assert file.write(data) == model.write(data)
            else:
                size = chance.choice([0, 10, 66_000])
                assert file.read(size) == model.read(size)
            assert file.tell() == model.tell()
        model.seek(0)
        file.seek(0)
        assert file.read() == model.read()
    assert not db.verify()


def test_the_end_is_appended_to(db):
    document = db[Document].get("a")
    with document.content.open("ab") as file:
        for part in (b"one", memoryview(b"two"), bytearray(b"three")):
            with db.write():
                file.write(part)
    assert list(document.content) == [b"onetwothree"]
    with pytest.raises(io.UnsupportedOperation):
        document.content.open("ab").read()


def test_texts(db):
    document = db[Document].get("a")
    text = "aä€😀\r\n" * 20_000
    with db.write(), document.text.open("w") as file:
        for start in range(0, len(text), 1777):
            file.write(text[start : start + 1777])
    assert "".join(document.text) == text and len(document.text) > 1
    with document.text.open("r") as file:
        assert file.read() == text
    with db.write(), document.text.open("a") as file:
        file.write("end")
    with document.text.open("rb") as file:
        assert file.read() == (text + "end").encode()


def test_what_is_refused(db):
    document = db[Document].get("a")
    with pytest.raises(crealm.NotSupportedError, match="numbers"):
        document.numbers.open()
    with pytest.raises(ValueError, match="invalid mode"):
        document.content.open("x")
    with pytest.raises(ValueError, match="rb"):
        document.content.open("r")
    with pytest.raises(crealm.NotInWriteError):
        document.content.open("wb")
    file = document.content.open("r+b")
    with pytest.raises(crealm.NotInWriteError):
        file.write(b"x")
    with pytest.raises(io.UnsupportedOperation):
        document.content.open("rb").write(b"x")
    for wrong, error in [((-1,), OSError), ((0, 7), ValueError), ((1.5,), TypeError), ((1 << 64,), OverflowError)]:
        with pytest.raises(error):
            file.seek(*wrong)
    with db.write(), pytest.raises(OverflowError):
        file.truncate((1 << 64) + 3)
    with db.write(), pytest.raises(OSError):
        file.truncate(-1)
    with db.write(), document.text.open("w") as writer, pytest.raises(TypeError):
        writer.write(b"x")
    with db.write(), pytest.raises(crealm.LimitExceeded):
        file.seek(1 << 40)
        file.write(b"x")
    with db.write(), pytest.raises(crealm.Error):
        document.text.open("ab").write(b"\xff")
    file.close()
    with pytest.raises(ValueError, match="closed"):
        file.read()
    with db.write():
        document.delete()
    with pytest.raises(crealm.InvalidatedError):
        document.content.open().read()


def test_copies_and_checks_know_long_values(db, tmp_path):
    document = db[Document].get("a")
    content = random.Random(3).randbytes(20_000_000)
    with db.write(), document.content.open("wb") as file:
        file.write(content)
    db.backup(tmp_path / "copy.realm")
    with crealm.open(tmp_path / "copy.realm", mode="r") as copy:
        with copy["Document"].get("a").content.open() as file:
            digest = hashlib.sha256()
            while part := file.read(1 << 20):
                digest.update(part)
    assert digest.digest() == hashlib.sha256(content).digest()
    assert not db.verify()
    frozen = db.freeze()
    with db.write(), document.content.open("r+b") as file:
        file.truncate(5)
    with frozen["Document"].get("a").content.open() as file:
        assert file.read() == content
    frozen.close()


def test_lines_and_archives(db):
    document = db[Document].get("a")
    lines = [b"line %d\n" % i for i in range(5000)] + [b"x" * 20_000 + b"\n", b"end"]
    with db.write(), document.content.open("wb") as file:
        file.writelines(lines)
    with document.content.open() as file:
        assert list(file) == lines
        file.seek(0)
        assert file.readline(4) == b"line" and file.readline() == b" 0\n" and file.tell() == len(lines[0])
    with db.write():
        with document.content.open("wb") as file:
            file.truncate(0)
        with zipfile.ZipFile(document.content.open("r+b"), "a") as archive:
            archive.writestr("a.txt", "content")
    with document.content.open() as file:
        assert zipfile.is_zipfile(file)
        assert zipfile.ZipFile(file).read("a.txt") == b"content"


def test_a_position_after_a_rollback(db):
    document = db[Document].get("a")
    with db.write(), document.content.open("wb") as file:
        file.write(b"12345")
    file = document.content.open("r+b")
    file.seek(0, io.SEEK_END)
    with pytest.raises(ZeroDivisionError), db.write():
        file.write(b"678901")
        1 / 0
    with db.write(), pytest.raises(ValueError, match="rollback"):
        file.write(b"Z")
    with db.write():
        file.seek(0, io.SEEK_END)
        file.write(b"Z")
    assert document.content.open().read() == b"12345Z"
