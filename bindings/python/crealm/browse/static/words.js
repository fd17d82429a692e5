// `make words` wrote this from Sources/CoreEngine/Language/Words.swift.

// The usual spelling of each word, by its place in a query.
export const WORDS = {
  connective: ["AND", "OR"],
  negation: ["NOT"],
  quantifier: ["ANY", "ALL", "NONE"],
  sign: ["==", "!=", "<", "<=", ">", ">="],
  listOperator: ["IN", "BETWEEN"],
  fullText: ["TEXT"],
  shapeOperator: ["GEOWITHIN"],
  ordering: ["SORT", "DISTINCT"],
  limit: ["LIMIT"],
  direction: ["ASC", "DESC"],
  predicate: ["TRUEPREDICATE", "FALSEPREDICATE"],
  subquery: ["SUBQUERY"],
  function: ["OBJ", "BINARY"],
  shape: ["GEOBOX", "GEOCIRCLE", "GEOPOLYGON"],
  constant: ["NULL", "INF", "NAN", "TRUE", "FALSE"],
  place: ["FIRST", "LAST", "SIZE"],
  size: ["@count", "@size"],
  aggregate: ["@sum", "@min", "@max", "@avg"],
  step: ["@links", "@type", "@keys", "@values"],
  stringOperator: ["CONTAINS", "BEGINSWITH", "ENDSWITH", "LIKE"],
};
// Other spellings.
export const ALIASES = {
  connective: ["&&", "||"],
  negation: ["!"],
  quantifier: ["SOME"],
  sign: ["=", "<>", "=<", "=>"],
  direction: ["ASCENDING", "DESCENDING"],
  function: ["BIN"],
  constant: ["NIL", "INFINITY"],
};
// Operators on texts that ignore case with [c].
export const FOLDING = ["CONTAINS", "BEGINSWITH", "ENDSWITH", "LIKE"];
