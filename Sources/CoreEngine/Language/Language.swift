/// # Language
///
/// The Realm Query Language as text: words (`Lexer`), the tree of a query (`QueryParser`, `Syntax`), and the shapes of
/// geographic conditions.
///
/// Promise
/// 1. No query text causes a trap or a hang, and parsing takes time linear in the text. Nesting is bounded; a query
///    that exceeds the bound gets an error that says so.
/// 2. Parsing knows no schema and no data: an error of the text (3008) is found here, and only here.
///
/// May use: Platform, Basics.
package enum QueryLimits {
    /// The greatest depth of an accepted operator tree. Evaluation and release recurse over the tree.
    static let maxDepth = 2000

    /// Trees up to this depth need no check of the thread's stack: the smallest stack that a thread must have is enough
    /// for them.
    static let flatDepth = 24
    /// Upper bounds in bytes: the stack that evaluation and release use for each level of the tree, and the stack that
    /// all other calls use.
    #if DEBUG
        static let stackOfLevel = 3600, stackBeside = 96 << 10
    #else
        static let stackOfLevel = 832, stackBeside = 20 << 10
    #endif

    /// The greatest tree depth that this thread's stack allows.
    static var levelsOfStack: Int { Thread.levels(of: stackOfLevel, beside: stackBeside) }

    /// Throws if a query is too deep, or too deep for this thread's stack.
    package static func expect(depth: Int) throws(RealmError) {
        guard depth <= maxDepth else {
            throw RealmError(.limitExceeded, "A query cannot have more than \(maxDepth) levels")
        }
        if depth > flatDepth, depth > levelsOfStack { throw stackTooSmall(for: depth) }
    }

    /// Steps into nested collections up to this number need no check of the thread's stack.
    static let flatSteps = 40

    /// Throws if the rest of this thread's stack is too small for eight more steps into nested collections.
    static func expectStack(steps: Int) throws(RealmError) {
        #if DEBUG
            let step = 5000, beside = 24 << 10
        #else
            let step = 1300, beside = 12 << 10
        #endif
        guard Thread.levels(of: step, beside: beside) > 8 else { throw stackTooSmall(for: steps) }
    }

    static func stackTooSmall(for depth: Int) -> RealmError {
        RealmError(.limitExceeded, "A query of \(depth) levels needs a larger stack than this thread has")
    }

    /// The greatest number of lists and backlinks on one key path. Walking a path recurses over them.
    static let maxHops = 200

    /// The greatest number of objects that one row may reach over one key path. Each list on the path can double it.
    static let maxReached = 1 << 24

    /// The greatest number of values that one row may have on one key path: all of them are in memory at the same time.
    /// Also the limit for one collection.
    static let maxValues = 1 << 25

    /// The greatest nesting depth of subqueries.
    static let maxSubqueries = 32

    /// The greatest number of columns of a grouping.
    static let maxGroupColumns = 1000
}

extension RealmError {
    static func querySyntax(_ text: String, _ what: String, at: Int) -> RealmError {
        RealmError(.invalidQueryString, "Invalid predicate: '\(excerpt(text, at))': \(what) (at byte \(at))")
    }

    /// The text; when it is long, only the part around `at`.
    private static func excerpt(_ text: String, _ at: Int) -> String {
        let bytes = Array(text.utf8)
        guard bytes.count > 400 else { return text }
        let from = max(0, min(at, bytes.count) - 60), to = min(bytes.count, at + 60)
        return (from > 0 ? "…" : "") + String(decoding: bytes[from..<to], as: UTF8.self) + (to < bytes.count ? "…" : "")
    }

    static func query(_ what: String) -> RealmError { RealmError(.invalidQuery, what) }

    static func queryArgument(_ what: String) -> RealmError { RealmError(.invalidQueryArg, what) }
}
