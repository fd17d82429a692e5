"""The words of the query language. `make words` wrote this from Sources/CoreEngine/Language/Words.swift."""

# Words that the language reserves: a property with such a name cannot be written as a plain name.
KEYWORDS = frozenset(
    (
        "all",
        "and",
        "any",
        "asc",
        "ascending",
        "beginswith",
        "between",
        "bin",
        "binary",
        "contains",
        "desc",
        "descending",
        "distinct",
        "endswith",
        "false",
        "falsepredicate",
        "first",
        "geobox",
        "geocircle",
        "geopolygon",
        "geowithin",
        "in",
        "inf",
        "infinity",
        "last",
        "like",
        "limit",
        "nan",
        "nil",
        "none",
        "not",
        "null",
        "obj",
        "or",
        "size",
        "some",
        "sort",
        "subquery",
        "text",
        "true",
        "truepredicate",
    )
)
# The words of an order, and their usual spellings.
DIRECTIONS = {
    "asc": "ASC",
    "ascending": "ASC",
    "desc": "DESC",
    "descending": "DESC",
}
# The words that begin a clause behind a condition.
CLAUSES = ("sort", "distinct", "limit")
