/// A copy of properties of an object: it belongs to no Realm and no thread, and does not change. `@Snapshot` writes
/// what is asked for here.
public protocol ObjectSnapshot: Sendable {
    associatedtype Model: ObjectBase

    /// - Parameter object: where the caller may use it.
    init(from object: Model)
}

extension RealmCollection where Element: ObjectBase {
    /// A copy of each object as it is now, in their order.
    public func snapshots<S: ObjectSnapshot>(of type: S.Type) -> [S] where S.Model == Element { map { S(from: $0) } }
}

/// How many snapshots lie around the one that is made. Where objects link in a circle and their snapshots follow, there
/// is no end.
enum SnapshotDepth {
    @TaskLocal static var depth = 0
    static let limit = 100

    static func nested<R>(_ make: () -> R) -> R {
        guard depth < limit else {
            let message = "More than \(limit) snapshots inside of each other: do their objects link in a circle?"
            RealmMisuse.handler?(message)
            fatalError("RealmMacros: \(message)")
        }
        return $depth.withValue(depth + 1) { make() }
    }
}

// What a property becomes in a snapshot: which of these, its type in the struct decides.

/// Not for programs: what `@Snapshot` calls.
@inlinable public func _snapshot<Value: Sendable>(_ value: Value) -> Value { value }

/// Not for programs: a link.
public func _snapshot<S: ObjectSnapshot>(_ object: S.Model?) -> S? {
    object.map { object in SnapshotDepth.nested { S(from: object) } }
}

/// Not for programs: a list, a set or backlinks of objects.
public func _snapshot<S: ObjectSnapshot, C: RealmCollection>(_ objects: C) -> [S] where C.Element == S.Model {
    SnapshotDepth.nested { objects.map { S(from: $0) } }
}

/// Not for programs: a list of values.
public func _snapshot<C: RealmCollection>(_ values: C) -> [C.Element] where C.Element: Sendable { Array(values) }

/// Not for programs: a set of values.
public func _snapshot<C: RealmCollection>(_ values: C) -> Set<C.Element> where C.Element: Hashable & Sendable {
    Set(values)
}

/// Not for programs: a map of values.
public func _snapshot<Value: Sendable>(_ map: Map<String, Value>) -> [String: Value] {
    var copy: [String: Value] = [:]
    for entry in map.asKeyValueSequence() { copy[entry.key] = entry.value }
    return copy
}
