/// A violated invariant of a snapshot, with its place.
package struct Fault: Sendable {
    /// Numbers of the C API (`crealm_fault_kind_e`).
    package enum Kind: Int32, Sendable {
        /// A node that is damaged, missing, or of another kind than expected in its place.
        case node = 1
        /// Bytes with two owners, or without an owner.
        case space = 2
        /// Counts, offsets or keys of a tree that contradict each other.
        case tree = 3
        /// Columns that do not match each other.
        case column = 4
        /// A value that its column cannot hold.
        case value = 5
        /// A link without its backlink, or the reverse.
        case link = 6
        /// A search index that contradicts the values.
        case index = 7

        var name: String { ["node", "space", "tree", "column", "value", "link", "index"][Int(rawValue) - 1] }
    }

    /// The place of a fault, as far as known.
    struct Place {
        var table: Name?
        var property: Name?
        var object: ObjKey?

        /// The part of the table or object, if it is not a property.
        var part: String?
    }

    package let kind: Kind

    /// Offset in the file of the affected node; 0 if no single node is affected.
    package let offset: Int

    /// Name of the class, or of a table that is not a class.
    package let table: Name?
    package let property: Name?
    package let object: ObjKey?

    /// The place and the fault, in words.
    package let message: String

    /// A fault of the whole file, or of a place that belongs to no class.
    static func ofFile(_ what: String, offset: Int = 0) -> Fault {
        Fault(.node, offset == 0 ? what : "\(what) (at byte \(offset))", Place(), offset: offset)
    }

    /// The fault that prevents reading the file.
    /// - Parameter offset: the place, if the error contains none.
    static func ofFile(_ error: RealmError, offset: Int) -> Fault {
        Fault(.node, error.message, Place(), offset: error.offset == 0 ? offset : error.offset)
    }

    /// - Parameter what: already contains the offset.
    fileprivate init(_ kind: Kind, _ what: String, _ place: Place, offset: Int) {
        self.kind = kind
        // A ref that leads out of the file may have any value.
        self.offset = max(0, offset)
        (table, property, object) = (place.table, place.property, place.object)
        var text = ""
        if let table = place.table {
            text += "'\(table)"
            if let property = place.property { text += ".\(property)" }
            text += "'"
            if let key = place.object { text += ", object \(key.raw)" }
            if let part = place.part { text += ", \(part)" }
            text += ": "
        }
        message = text + what
    }
}

/// The faults of a snapshot: the first ones with their places, and the total number.
package struct Faults {
    /// Maximum number of faults in `first`.
    let limit: Int
    package private(set) var first: [Fault] = []
    package private(set) var count = 0
    private var counts: [Fault.Kind: Int] = [:]

    /// Offsets of nodes already reported. A node is reported once, from wherever it is reached.
    private var nodes: Swift.Set<Int> = []

    /// Messages already reported about damage at an unknown node.
    private var unplaced: Swift.Set<Name> = []

    init(limit: Int) { self.limit = limit }

    mutating func add(
        _ kind: Fault.Kind, _ what: @autoclosure () -> String, _ place: Fault.Place, offset: Int = 0
    ) {
        append(kind, offset == 0 ? what() : "\(what()) (at byte \(offset))", place, offset)
    }

    /// Adds an error that occurred while a node was read.
    mutating func add(_ error: RealmError, _ place: Fault.Place) { append(.node, error.message, place, error.offset) }

    /// - Parameter what: made only for a fault that is kept, because a damaged list may have millions of faults.
    private mutating func append(
        _ kind: Fault.Kind, _ what: @autoclosure () -> String, _ place: Fault.Place, _ offset: Int
    ) {
        if kind == .node || kind == .space {
            guard offset == 0 ? unplaced.insert(Name(what())).inserted : nodes.insert(offset).inserted else { return }
        }
        count += 1
        counts[kind, default: 0] += 1
        if first.count < limit { first.append(Fault(kind, what(), place, offset: offset)) }
    }

    /// Number of faults of these kinds.
    package func count(of kinds: [Fault.Kind]) -> Int { kinds.reduce(0) { $0 + (counts[$1] ?? 0) } }

    /// One line per kept fault, and one for the rest; nil if there are no faults.
    package var report: String? {
        guard count > 0 else { return nil }
        var lines = first.map(\.message)
        if count > first.count { lines.append("and \(count - first.count) more") }
        return lines.joined(separator: "\n")
    }
}
