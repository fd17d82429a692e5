import Foundation

/// Implements `NSPredicate(format:)` where Foundation does not have it. The format is stored inside a block predicate,
/// and read back by evaluating the predicate with a probe.
///
///     results.filter(NSPredicate(format: "age > %@", 3))
///
/// Compound predicates are combined. Other predicates would have to run code of the program for every object, so they
/// are misuse; use `filter` with a closure for that. `NSPredicate(value:)` matches all objects or none.
extension NSPredicate {
    /// Creates a predicate for `filter` from a format and its arguments.
    public convenience init(format predicateFormat: String, _ args: Any?...) {
        self.init(format: predicateFormat, argumentArray: args.map { $0 as Any })
    }

    public convenience init(format predicateFormat: String, argumentArray arguments: [Any]?) {
        nonisolated(unsafe) let carried = (predicateFormat, arguments ?? [])
        self.init { probe, _ in
            if let probe = probe as? Probe { probe.found = carried }
            return true
        }
    }

    /// The format and its arguments.
    var carried: (format: String, arguments: [Any]) {
        if let compound = self as? NSCompoundPredicate { return compound.combined }
        if isEqual(NSPredicate(value: true)) { return ("TRUEPREDICATE", []) }
        if isEqual(NSPredicate(value: false)) { return ("FALSEPREDICATE", []) }
        let probe = Probe()
        if evaluate(with: probe), let found = probe.found { return found }
        misuse("Only predicates that were made with a format can be evaluated by the engine")
    }
}

/// The object in which a format predicate leaves its format.
private final class Probe {
    var found: (String, [Any])?
}

extension NSCompoundPredicate {
    fileprivate var combined: (format: String, arguments: [Any]) {
        let parts = subpredicates.map(\.carried)
        let arguments = parts.flatMap(\.arguments), texts = parts.map { "(\($0.format))" }
        switch compoundPredicateType {
        case .not: return ("NOT " + (texts.first ?? "(FALSEPREDICATE)"), arguments)
        case .and: return (texts.isEmpty ? "TRUEPREDICATE" : texts.joined(separator: " AND "), arguments)
        case .or: return (texts.isEmpty ? "FALSEPREDICATE" : texts.joined(separator: " OR "), arguments)
        @unknown default: misuse("A compound predicate of an unknown kind")
        }
    }
}

extension FormatString {
    init(_ predicate: NSPredicate) {
        let (format, arguments) = predicate.carried
        self.init(format, arguments)
    }
}

extension RealmCollection {
    /// Returns the elements that match a predicate.
    public func filter(_ predicate: NSPredicate) -> Results<Element> { filtered(FormatString(predicate)) }

    /// Returns the index of the first element that matches a predicate; nil if no element matches.
    public func index(matching predicate: NSPredicate) -> Int? { firstIndex(FormatString(predicate)) }
}

extension Map {
    /// Returns the values that match a predicate.
    public func filter(_ predicate: NSPredicate) -> Results<Value> {
        filtered(FormatString(predicate))
    }
}
