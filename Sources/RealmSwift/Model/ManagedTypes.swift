internal import CoreEngine

/// Determines the class of the program of each object, if several classes of the program share one class of the file.
/// Each of these classes has an instance of its own, which knows the class and its subclasses.
///
/// Thread rule: that of the Realm. Sendable: the fields are immutable.
final class ManagedTypes: @unchecked Sendable {
    /// The owner of the class that has this object.
    private unowned(unsafe) let core: RealmCore
    private let table: TableKey
    private let membership: Membership

    /// The key of the type property.
    let column: ColKey

    /// The types of the subclasses that the program has in this Realm, then the type of the class itself. `classes` are
    /// these subclasses, in the same order; the Realm keeps them alive.
    private let texts: [[UInt8]]
    private let classes: [Unmanaged<ManagedClass>]

    /// Whether the program has subclasses of this class, so that objects are of several classes.
    var hasSubclasses: Bool { !classes.isEmpty }

    /// The types of all classes of the program that share the class of the file.
    private let known: Set<Name>

    /// - Parameters:
    ///   - below: The subclasses of this class.
    ///   - all: All classes that share the class of the file.
    init(
        _ core: RealmCore, _ found: EngineObjectSchema, _ membership: Membership, below: [ManagedClass],
        all: [ClassInfo]
    ) {
        self.core = core
        self.membership = membership
        table = found.key
        column = found.properties.first { $0.name == membership.column }?.key ?? .null
        texts = below.map { Array($0.info.name.utf8) } + [Array(membership.typeName.utf8)]
        classes = below.map { .passUnretained($0) }
        known = Set(all.compactMap { $0.membership?.typeName })
    }

    // MARK: Of one object

    /// Lends the type of an object; nil if the object does not exist.
    @inline(__always) private func reading<R>(_ key: ObjKey, _ body: (UnsafeRawBufferPointer) -> R) -> R? {
        guard case .string(let bytes)? = try? core.realm.read(table, key, column) else { return nil }
        return body(bytes)
    }

    private func place(_ bytes: UnsafeRawBufferPointer) -> Int? { texts.firstIndex { bytes.elementsEqual($0) } }

    /// Returns the subclass that an object is of; nil for an object of this class, or of a class that is not a
    /// subclass. An object of a type that the program does not know is of the nearest superclass that it knows.
    func subclass(of key: ObjKey) -> ManagedClass? {
        let found = reading(key) { bytes -> Int? in
            place(bytes) ?? nearest(Name(String(decoding: bytes, as: UTF8.self)))
        }
        guard let place = found ?? nil, place < classes.count else { return nil }
        return classes[place].takeUnretainedValue()
    }

    /// Whether an object is of this class or of a subclass.
    func holds(_ key: ObjKey) -> Bool {
        if membership.above == nil { return true }
        return reading(key) { bytes in
            place(bytes) != nil || nearest(Name(String(decoding: bytes, as: UTF8.self))) != nil
        } ?? false
    }

    /// The index in `texts` of the nearest known superclass of a type that the program does not know; nil for a known
    /// type, and if that superclass is not in `texts`.
    private func nearest(_ type: Name) -> Int? {
        if known.contains(type) { return nil }
        let parents = core.parents(of: table)
        var at = type
        // The file has no circles, but it may be damaged.
        for _ in 0...parents.count {
            guard let next = parents[at] else { return nil }
            if known.contains(next) { return texts.firstIndex { next.utf8.elementsEqual($0) } }
            at = next
        }
        return nil
    }

    /// The type of an object as text for messages.
    func text(of key: ObjKey) -> String { reading(key) { String(decoding: $0, as: UTF8.self) } ?? "" }

    /// Stores the type of a new object.
    func store(in key: ObjKey) throws(EngineError) {
        try Array(membership.typeName.utf8).withBytes { (bytes) throws(EngineError) in
            try core.realm.write(table, key, column, .string(bytes))
        }
    }

    // MARK: Of many objects

    /// Returns the rows of `found` whose objects are of this class or of a subclass, also of a subclass that the
    /// program does not know. `found` are rows of the class of the file. Called inside the engine's entry point.
    func narrowed(_ found: ResultSet) throws(EngineError) -> ResultSet {
        if membership.above == nil { return found }
        let others = core.parents(of: table).keys.filter { nearest($0) != nil }.sorted()
        let all =
            texts.map { EngineValue.string(String(decoding: $0, as: UTF8.self)) }
            + others.map { EngineValue.string($0.text) }
        return all.count == 1
            ? try found.filtered("\(membership.column) == $0", values: all)
            : try found.filtered("\(membership.column) IN $0", values: [.list(all)])
    }

    /// A type as a constant of the query language.
    static func quoted(_ type: Name) -> String { type.utf8.contains(0x27) ? "\"\(type)\"" : "'\(type)'" }
}
