"""Comparisons of texts by Unicode's rules: the marks [u], [cu], [du] and [cdu] of the query language."""

import random
import unicodedata

import crealm
import pytest

LETTERS = "aAeEéÉoOöÖsSſßẞσςΣиИйЙİıIiæÆøØñÑåÅ가각ǅкК"
MARKS = "\u0301\u0308\u0327\u0323"


@pytest.fixture
def db(tmp_path):
    schema = [
        crealm.ClassSchema(
            "Word", {"id": crealm.Prop(int), "text": crealm.Prop(str, optional=True)}, primary_key="id"
        )
    ]
    with crealm.open(tmp_path / "words.realm", schema=schema) as db:
        yield db


def fill(db, texts):
    with db.write():
        db["Word"].delete_all()
        db.add_many("Word", [{"id": i, "text": text} for i, text in enumerate(texts)])


def found(db, query, *arguments):
    return [row.text for row in db["Word"].where(query, *arguments).sort("id")]


@pytest.mark.parametrize(
    "query, wanted",
    [
        ("text ==[cu] 'МОСКВА'", ["Москва"]),
        ("text ==[c] 'МОСКВА'", []),
        ("text ==[cu] 'straße'", ["Straße", "STRASSE"]),
        ("text ==[u] 'Zoe\u0308'", ["Zoë"]),
        ("text == 'Zoe\u0308'", []),
        ("text ==[du] 'Zoe'", ["Zoë"]),
        ("text ==[cdu] 'JOSE'", ["José", "jose\u0301"]),
        ("text ==[cu] 'JOSE'", []),
        ("text CONTAINS[u] 'e'", ["Straße", "Здание e", "STRASSe"]),
        ("text BEGINSWITH[cu] 'jos'", ["José", "jose\u0301"]),
        ("text BEGINSWITH[cu] 'jose'", []),
        ("text ENDSWITH[cdu] 'OE'", ["Zoë"]),
        ("text LIKE[cu] 'jos?'", ["José", "jose\u0301"]),
        ("text LIKE[u] 'jose*'", []),
        ("text LIKE[cu] '*скв*'", ["Москва"]),
        ("text IN[cdu] {'zoe', 'москва'}", ["Москва", "Zoë"]),
        ("text !=[cdu] 'zoe' AND text CONTAINS 'o'", ["José", "jose\u0301"]),
        ("text ==[cu] nil", [None]),
        ("text ==[cu] 'ΟΔΟΣ'", ["οδος", "οδοσ"]),
    ],
)
def test_examples(db, query, wanted):
    fill(
        db,
        [
            "Москва",
            "Straße",
            "STRASSE",
            "Zoë",
            "José",
            "jose\u0301",
            "Здание e",
            "STRASSe",
            None,
            "οδος",
            "οδοσ",
        ],
    )
    if "straße" in query:
        wanted = [*wanted, "STRASSe"]
    assert found(db, query) == wanted


def test_refused_marks(db):
    for mark in ["[x]", "[uu]", "[d]", "[cd]", "[u c]", "[]"]:
        with pytest.raises(crealm.QueryError):
            db["Word"].where(f"text =={mark} 'a'")
    with pytest.raises(crealm.QueryError):
        db["Word"].where("text LIKE[du] 'a'")
    with pytest.raises(crealm.QueryError):
        db["Word"].where("text <[u] 'a'")


def test_a_text_of_a_query_is_read_back(db):
    for mark in ["[u]", "[cu]", "[du]", "[cdu]"]:
        query = db["Word"].where(f"text CONTAINS{mark} 'a'")
        assert mark in query.description
        assert list(db["Word"].where(query.description)) == list(query)


def is_accent(mark):
    return unicodedata.combining(mark) >= 200 or unicodedata.combining(mark) == 1


def folded(text, cases, accents):
    text = unicodedata.normalize("NFD", text)
    if accents:
        text = "".join(letter for letter in text if not is_accent(letter))
    if cases:
        text = unicodedata.normalize("NFD", text.casefold())
    if accents:
        text = "".join(letter for letter in text if not is_accent(letter))
    return text


def is_whole(text, end):
    """Whether the text goes on with a new character at `end`."""
    return end >= len(text) or not unicodedata.combining(text[end])


def expected(operator, text, pattern, cases, accents):
    value, wanted = folded(text, cases, accents), folded(pattern, cases, accents)
    if operator in ("==", "!="):
        return (value == wanted) == (operator == "==")
    if operator == "BEGINSWITH":
        return value.startswith(wanted) and is_whole(value, len(wanted))
    if operator == "ENDSWITH":
        return value.endswith(wanted)
    places = (i for i in range(len(value) - len(wanted) + 1) if value.startswith(wanted, i))
    return not wanted or any(is_whole(value, i + len(wanted)) for i in places)


def some_text(rng, least, letters=LETTERS):
    """letters: ASCII letters get no marks: leaves of ASCII texts are searched in another way."""
    most = 2 if letters is LETTERS else 0
    marks = ["".join(rng.choices(MARKS, k=min(most, rng.choice([0, 0, 0, 1, 2])))) for _ in range(5)]
    text = "".join(rng.choice(letters) + marks[i] for i in range(rng.randint(least, 5)))
    return unicodedata.normalize(rng.choice(["NFC", "NFD"]), text) if rng.random() < 0.5 else text


@pytest.mark.parametrize("seed", range(20))
def test_random_texts_agree_with_pythons_rules(db, seed):
    rng = random.Random(seed)
    texts = [some_text(rng, 0, "aAeEsSkKiI" if seed % 3 == 0 else LETTERS) for _ in range(150)]
    if seed % 3 == 0 and seed % 2:
        texts = [text * 20 for text in texts]  # Stored in another form of leaf.
    fill(db, texts)
    hits = 0
    for _ in range(60):
        source = rng.choice(texts)
        start = rng.randint(0, len(source))
        pattern = source[start : rng.randint(start, len(source))] if rng.random() < 0.7 else some_text(rng, 1)
        if unicodedata.combining(pattern[:1] or "a"):
            continue  # Begins inside of a character.
        pattern = rng.choice([str, str.upper, str.lower])(pattern)
        operator = rng.choice(["==", "!=", "BEGINSWITH", "ENDSWITH", "CONTAINS"])
        cases, accents = rng.random() < 0.5, rng.random() < 0.5
        mark = f"[{'c' * cases}{'d' * accents}u]"
        wanted = [text for text in texts if expected(operator, text, pattern, cases, accents)]
        assert found(db, f"text {operator}{mark} $0", pattern) == wanted, (operator, mark, pattern)
        hits += len(wanted)
    assert hits > 100


def test_fold_of_conditions(db, tmp_path):
    class Word(crealm.Model):
        id: int = crealm.field(primary_key=True)
        text: str

    with crealm.open(tmp_path / "models.realm", schema=[Word]) as models:
        with models.write():
            for i, text in enumerate(["José", "JOSÉ", "jose", "Иван"]):
                models.add(Word(id=i, text=text))

        def ids(condition):
            return [word.id for word in models[Word].where(condition).sort("id")]

        assert ids(Word.text.equals("josé", fold="unicode")) == [0, 1]
        assert ids(Word.text.equals("josé", fold="accents")) == [0, 1, 2]
        assert ids(Word.text.contains("ИВ", fold="unicode")) == [3]
        assert ids(Word.text.startswith("JOS", fold=True)) == [0, 1, 2]
        assert ids(Word.text.endswith("E", fold="accents")) == [0, 1, 2]
        assert ids(Word.text.like("jos?", fold="unicode")) == [0, 1, 2]
        with pytest.raises(ValueError):
            Word.text.equals("a", fold="no")


WORDS = [
    "Zebra",
    "Äpfel",
    "apfel",
    "Öl",
    "öl",
    "Ofen",
    "zu",
    "éclair",
    "eclair",
    "Eclair",
    "item10",
    "item9",
    None,
    "Ähre",
    "Яна",
    "Аня",
]


def collated(db, locale, **options):
    try:
        return [row.text for row in db["Word"].sort("text", locale=locale, **options)]
    except crealm.NotSupportedError:
        pytest.skip("needs ICU")


def test_sorted_by_a_language(db):
    fill(db, WORDS)
    german = collated(db, "de")
    wanted = "apfel Äpfel Ähre eclair Eclair éclair item10 item9 Ofen öl Öl Zebra zu Аня Яна".split()
    assert german[0] is None and german[1:] == sorted(wanted, key=lambda word: german.index(word))
    assert german.index("Ähre") < german.index("apfel") < german.index("Äpfel") < german.index("éclair")
    assert german.index("öl") < german.index("Öl") < german.index("Zebra")
    swedish = collated(db, "sv")
    assert swedish.index("zu") < swedish.index("Ähre") < swedish.index("Äpfel") < swedish.index("öl")
    assert collated(db, "en@colNumeric=yes").index("item9") < collated(db, "en@colNumeric=yes").index(
        "item10"
    )
    assert collated(db, "de-DE") == german
    assert collated(db, "de", descending=True)[-1] is None


def test_a_language_in_a_query(db):
    fill(db, WORDS)
    by_method = collated(db, "de")
    query = db["Word"].where("TRUEPREDICATE SORT(text COLLATE 'de' ASC, id DESC) LIMIT(5)")
    assert "COLLATE 'de'" in query.description
    assert [row.text for row in query] == by_method[:5]
    assert [row.text for row in db["Word"].where(query.description)] == by_method[:5]
    numbers = db["Word"].where("TRUEPREDICATE SORT(id collate 'de' DESC)")
    assert [row.id for row in numbers] == sorted(range(len(WORDS)), reverse=True)
    for wrong in [
        "SORT(text COLLATE ASC)",
        "SORT(text COLLATE 'de')",
        "SORT(text COLLATE 'd e' ASC)",
        "DISTINCT(text COLLATE 'de')",
    ]:
        with pytest.raises(crealm.QueryError):
            db["Word"].where(f"TRUEPREDICATE {wrong}")
    with pytest.raises(crealm.QueryError):
        db["Word"].sort("text", locale="de'")


def test_live_results_keep_the_order_of_a_language(db):
    fill(db, WORDS)
    collated(db, "de")  # Skips without ICU.
    told = []
    rows = db["Word"].sort("text", locale="de")
    observation = rows.observe(told.append)
    db.refresh()
    rng = random.Random(3)
    shown = [row.text for row in rows]
    changes = 0
    for i in range(60):
        told.clear()
        with db.write():
            if rng.random() < 0.6:
                db["Word"].create(id=100 + i, text=some_text(rng, 1))
            else:
                rng.choice(list(db["Word"])).delete()
        db.refresh()
        after = [row.text for row in rows]
        assert after == collated(db, "de")
        for change in told:
            for index in sorted(change.deletions, reverse=True):
                del shown[index]
            for index in sorted(change.insertions):
                shown.insert(index, after[index])
            changes += 1
        assert shown == after
    observation.cancel()
    assert changes >= 50
