/// # Query
///
/// The Realm Query Language: text to tree (`Lexer`, `QueryParser`), tree to conditions bound to tables (`Binder`),
/// conditions over rows (`Condition`, `Expression`), orderings, and the tree back to text (`QueryPrinter`).
///
/// Promise
/// 1. No text makes it trap, hang or take more than linear time in the text; nesting is bounded, and said to be when
///    exceeded.
/// 2. Parsing knows no schema (3008); binding finds every name, type and argument error (1009, 3015, 2007); running
///    finds what depends on data.
/// 3. A condition narrows the rows of one cluster at a time: a mask of up to 256 bytes, the width of a leaf decided
///    once per leaf.
///
/// May use: Tables and below.
enum QueryRoom {
    /// Deepest tree of operators that is accepted: evaluation and release recurse over it.
    static let maxDepth = 2000

    /// Trees up to this depth need no look at the thread's stack: the least stack that a thread must have is enough for
    /// them.
    static let flatDepth = 24
    /// What evaluation and release take of the stack for each level of the tree, at most, and what calls take beside
    /// that.
    #if DEBUG
        static let stackOfLevel = 3600, stackBeside = 96 << 10
    #else
        static let stackOfLevel = 832, stackBeside = 20 << 10
    #endif

    /// How deep a tree may be for this thread's stack.
    static var levelsOfStack: Int { Thread.levels(of: stackOfLevel, beside: stackBeside) }

    static func stackTooSmall(for depth: Int) -> RealmError {
        RealmError(.limitExceeded, "A query of \(depth) levels needs a larger stack than this thread has")
    }

    /// Lists and backlinks on one key path: walking recurses over them.
    static let maxHops = 200

    /// Objects that one row may reach over one key path: their number can double with each list on it.
    static let maxReached = 1 << 24

    /// Values that they may have, or that one collection may have: all of a row are held in memory together.
    static let maxValues = 1 << 25

    /// Subqueries within subqueries.
    static let maxSubqueries = 32
}

extension RealmError {
    static func querySyntax(_ text: String, _ what: String, at: Int) -> RealmError {
        RealmError(.invalidQueryString, "Invalid predicate: '\(excerpt(text, at))': \(what) (at byte \(at))")
    }

    /// The text, or what stands around `at` when it is long.
    private static func excerpt(_ text: String, _ at: Int) -> String {
        let bytes = Array(text.utf8)
        guard bytes.count > 400 else { return text }
        let from = max(0, min(at, bytes.count) - 60), to = min(bytes.count, at + 60)
        return (from > 0 ? "…" : "") + String(decoding: bytes[from..<to], as: UTF8.self) + (to < bytes.count ? "…" : "")
    }

    static func query(_ what: String) -> RealmError { RealmError(.invalidQuery, what) }

    static func queryArgument(_ what: String) -> RealmError { RealmError(.invalidQueryArg, what) }
}
