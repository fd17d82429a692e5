internal import CoreEngine

/// What `Object` and `EmbeddedObject` have in common: an instance is unmanaged, with values of its own; managed, a row
/// of a Realm; or a stand-in that notes which properties a key path reads.
open class ObjectBase {
    static var managed: UInt8 { 1 }
    @usableFromInline static var unmanaged: UInt8 { 0 }
    static var recording: UInt8 { 2 }

    /// Which of the three. What accessors of properties test first: they are inlined into the program, and read this
    /// and nothing else.
    @exclusivity(unchecked)
    @usableFromInline final var _rlmState: UInt8 = 0

    /// Of the Realm, which stays open for as long as its objects live; nil unless managed. Counted by hand, as is the
    /// next but two: what is nil costs nothing then when an object is made and let go of, which is half of what a loop
    /// over objects does.
    @exclusivity(unchecked)
    private final var keeper: Unmanaged<RealmKeeper>?
    final var core: RealmCore? { keeper?._withUnsafeGuaranteedRef { $0.core } }

    /// The engine's part of it.
    @exclusivity(unchecked)
    private final var engine: Unmanaged<EngineRealm>?

    /// The class in that Realm, which keeps it.
    @exclusivity(unchecked)
    private final var ofClass: Unmanaged<ManagedClass>?
    final var managed: ManagedClass? { ofClass?.takeUnretainedValue() }

    /// Key of the row.
    @exclusivity(unchecked)
    private final var row: Int64 = -1

    /// Of managed objects the write transaction that made the row, where that was open; of stand-ins the recorder.
    @exclusivity(unchecked)
    private final var companion: Unmanaged<AnyObject>?
    final var named: BornKey { BornKey(ObjKey(row), companion?.takeUnretainedValue() as? Birth) }

    /// The key for the engine; null once the object's making was undone.
    @inline(__always) private final var key: ObjKey { companion == nil ? ObjKey(row) : named.key }

    final var recorder: _Recording? {
        get { companion?.takeUnretainedValue() as? _Recording }
        set { accompany(newValue) }
    }

    /// The class of an object without a model, which its Realm keeps.
    final unowned(unsafe) var dynamicClass: ClassInfo?

    public required init() {}

    deinit {
        keeper?.release()
        companion?.release()
        if _rlmState == Self.unmanaged { LettingGo.links(of: self) }
    }

    private final func accompany(_ other: AnyObject?) {
        let old = companion
        companion = other.map { .passRetained($0) }
        old?.release()
    }

    /// Instances of this class in a Realm.
    final var info: ClassInfo { dynamicClass ?? ClassInfo.of(type(of: self)) }
    var isManaged: Bool { _rlmState == Self.managed }

    // MARK: For models

    /// The name of the class in files: that of the Swift class, without its module and the types around it.
    open class func className() -> String { ClassInfo.name(of: self) }

    /// Whether the class is part of Realms whose configuration lists no classes.
    open class func shouldIncludeInDefaultSchema() -> Bool { true }

    /// Names in the file of properties whose names differ there.
    open class func propertiesMapping() -> [String: String] { [:] }

    /// As `@Persisted(primaryKey: true)`, for models that say it here.
    open class func primaryKey() -> String? { nil }

    /// As `@Persisted(indexed: true)`, for models that say it here.
    open class func indexedProperties() -> [String] { [] }

    /// Properties that are not stored. Only those with `@Persisted` are.
    open class func ignoredProperties() -> [String] { [] }

    /// The class with its properties, as the program has it; nil for the base classes.
    public final class func sharedSchema() -> ObjectSchema? {
        self == ObjectBase.self || self == Object.self || self == EmbeddedObject.self || self == DynamicObject.self
            ? nil : ClassInfo.of(self).schema
    }

    // MARK: Where it lives

    /// The Realm that manages the object, or did until it was deleted; nil for an unmanaged one.
    public final var realm: Realm? { managed.map { Realm($0.core) } }

    /// Whether the object was deleted, or its Realm closed. An unmanaged object never is.
    public final var isInvalidated: Bool {
        guard let managed else { return false }
        return managed.core.realm.isClosed || !managed.core.realm.isValid(managed.table, named.key)
    }

    /// The class with its properties.
    public final var objectSchema: ObjectSchema { managed?.schema ?? info.schema }

    /// Whether the object shows one version for good, for all threads.
    public final var isFrozen: Bool { managed?.core.realm.isFrozen ?? false }

    /// Whether both are the same object of the same file.
    public final func isSameObject(as other: ObjectBase?) -> Bool {
        guard let other else { return false }
        guard let mine = managed, let theirs = other.managed else { return self === other }
        return mine.core.isSame(as: theirs.core) && mine.table == theirs.table && named == other.named
    }

    // MARK: By name

    /// A property by its name. Collections come as `List`, `MutableSet` and `Map`; dates, numbers and texts as Swift's
    /// types.
    public final subscript(key: String) -> Any? {
        get { value(forKey: key) }
        set { setValue(newValue, forKey: key) }
    }

    /// The value of a property; misuse where there is none of that name.
    public final func value(forKey key: String) -> Any? {
        let found = property(key)
        return found.access.any(self, found).flatMap(unwrapped)
    }

    /// The value behind links: `best.name`.
    public final func value(forKeyPath keyPath: String) -> Any? {
        var at: Any? = self
        for name in keyPath.split(separator: ".") {
            guard let object = at as? ObjectBase else { return nil }
            at = object.value(forKey: String(name))
        }
        return at
    }

    public final func setValue(_ value: Any?, forKey key: String) {
        let found = property(key)
        if isManaged, found.isPrimary, let managed, managed.core.realm.isWriting, !managed.core.isMigrating {
            misuse("Primary key can't be changed after an object is inserted.")
        }
        guard found.access.setAny(self, found, value as Any) else { misuse(found.mismatch(value, info.name)) }
    }

    /// Sets a property behind links: `best.name`.
    public final func setValue(_ value: Any?, forKeyPath keyPath: String) {
        let names = keyPath.split(separator: ".").map(String.init)
        guard let last = names.last else { return }
        let owner =
            names.count == 1 ? self : self.value(forKeyPath: names.dropLast().joined(separator: ".")) as? ObjectBase
        owner?.setValue(value, forKey: last)
    }

    public final func setValuesForKeys(_ keyedValues: [String: Any]) {
        for (key, value) in keyedValues { setValue(value, forKey: key) }
    }

    private func property(_ name: String) -> PropertyInfo {
        guard let property = info.property(name) else {
            misuse("Invalid property name '\(name)' for class '\(info.name)'.")
        }
        return property
    }

    open var description: String { text(depth: 0) }
}

extension ObjectBase: Hashable, CustomStringConvertible {
    /// Managed objects with a primary key, and frozen ones, are equal when they are the same row; others when they are
    /// the same instance.
    public static func == (a: ObjectBase, b: ObjectBase) -> Bool {
        if a === b { return true }
        guard a.isIdentifiedByRow, b.isIdentifiedByRow else { return false }
        return a.isSameObject(as: b)
    }

    public func hash(into hasher: inout Hasher) {
        if isIdentifiedByRow { hashRow(into: &hasher) } else { hasher.combine(ObjectIdentifier(self)) }
    }

    /// The same for all instances of a row; of an unmanaged object, for the instance.
    final func hashRow(into hasher: inout Hasher) {
        guard let managed else { return hasher.combine(ObjectIdentifier(self)) }
        hasher.combine(managed.table)
        hasher.combine(named)
    }

    private var isIdentifiedByRow: Bool {
        guard let managed else { return false }
        return managed.info.primaryKey != nil || managed.core.realm.isFrozen
    }

    /// As Realm prints objects: one property a line, links and collections indented.
    final func text(depth: Int) -> String {
        if isInvalidated { return "[invalid object]" }
        if depth > 5 { return "<Maximum depth exceeded>" }
        let blanks = String(repeating: "\t", count: depth + 1)
        var lines = ["\(info.name) {"]
        for property in info.properties where !property.shape.isComputed {
            lines.append(
                "\(blanks)\(property.name) = \(describe(property.access.any(self, property).flatMap(unwrapped), depth + 1));"
            )
        }
        lines.append(String(repeating: "\t", count: depth) + "}")
        return lines.joined(separator: "\n")
    }
}

/// One value in the description of an object.
func describe(_ value: Any?, _ depth: Int) -> String {
    switch value {
    case nil: "(null)"
    case let object as ObjectBase: object.text(depth: depth)
    case let collection as any AnyCollectionText: collection.text(depth: depth)
    case let value?: "\(value)"
    }
}

/// Collections that print themselves inside the description of an object.
protocol AnyCollectionText { func text(depth: Int) -> String }

extension _PropertyShape { var isComputed: Bool { type == .linkingObjects } }

// MARK: Reading and writing what is stored

/// What accessors of properties call when the object is managed. Every one is one call of the engine, through its door.
extension ObjectBase {
    final func propertyText(_ index: Int16) -> String { "\(info.name).\(info.properties[Int(index)].name)" }

    final func column(_ index: Int16) -> ColKey { managed?.columns[Int(index)] ?? .null }

    /// A value without bytes.
    @inline(__always) private final func mixed(_ index: Int16) -> Mixed {
        reading { (realm, table, columns) throws(EngineError) in try realm.read(table, key, columns[Int(index)]) }
    }

    @usableFromInline final func integer(_ index: Int16) -> Int64 {
        let value = reading { (realm, table, columns) throws(EngineError) in
            try realm.readInteger(table, key, columns[Int(index)])
        }
        guard let value else { holdsNo("integer", index) }
        return value
    }

    @usableFromInline final func double(_ index: Int16) -> Double {
        let value = reading { (realm, table, columns) throws(EngineError) in
            try realm.readDouble(table, key, columns[Int(index)])
        }
        guard let value else { holdsNo("Double", index) }
        return value
    }

    @usableFromInline final func bool(_ index: Int16) -> Bool {
        guard case .bool(let value) = mixed(index) else { holdsNo("Bool", index) }
        return value
    }

    @inline(never) private func holdsNo(_ type: String, _ index: Int16) -> Never {
        misuse("'\(propertyText(index))' holds no \(type)")
    }

    /// Lends the engine's Realm and the keys of the class, without counting references.
    @inline(__always) private func reading<R>(
        _ body: (EngineRealm, TableKey, UnsafePointer<ColKey>) throws(EngineError) -> R
    ) -> R {
        guard let realm = engine, let managed = ofClass else { misuse("The object is not managed") }
        return realm._withUnsafeGuaranteedRef { realm in
            managed._withUnsafeGuaranteedRef { managed in
                do throws(EngineError) { return try body(realm, managed.table, managed.columns) } catch {
                    misuse(error)
                }
            }
        }
    }

    @usableFromInline final func string(_ index: Int16) -> String {
        let text = reading { (realm, table, columns) throws(EngineError) in
            try realm.readText(table, key, columns[Int(index)])
        }
        guard let text else { holdsNo("text", index) }
        return text
    }

    final func stored(_ index: Int16) -> _StoredValue {
        guard let managed else { misuse("The object is not managed") }
        let value = must { () throws(EngineError) in
            try managed.core.realm.readOwned(managed.table, named.key, managed.columns[Int(index)])
        }
        switch value {
        case .list, .dictionary:
            return _StoredValue(
                value, managed.core, CollectionPath(table: managed.table, owner: named, column: column(index)))
        default: return _StoredValue(value, managed.core)
        }
    }

    final func place(_ index: Int16) -> _Place {
        guard let managed else { misuse("The object is not managed") }
        if managed.primaryKey == index { verifyKeyMayChange() }
        return _Place(managed.core, .property(managed.table, named, column(index)))
    }

    /// Stores a value whose bytes are good during the call.
    final func set(_ index: Int16, _ value: Mixed) {
        if ofClass?._withUnsafeGuaranteedRef({ $0.primaryKey == index }) ?? false { verifyKeyMayChange() }
        reading { (realm, table, columns) throws(EngineError) in
            do throws(EngineError) { try realm.write(table, key, columns[Int(index)], value) } catch {
                guard let core else { throw error }
                try realm.write(table, key, columns[Int(index)], try core.fail(error, storing: value))
            }
        }
    }

    private func verifyKeyMayChange() {
        guard let core, core.realm.isWriting, !core.isMigrating else { return }
        misuse("Primary key can't be changed after an object is inserted.")
    }

    final func recording(_ index: Int16) -> _Recording {
        guard let recorder else { misuse("The object is no stand-in") }
        return recorder.reading(info.properties[Int(index)].name, info)
    }

    /// Makes an instance that had values of its own show a row.
    final func bind(_ managed: ManagedClass, _ named: BornKey) {
        let base = UnsafeMutableRawPointer(Unmanaged.passUnretained(self).toOpaque())
        for property in managed.info.properties { property.access.bind(base + property.offset, property.index) }
        let keeper = RealmKeeper(managed.core)
        withExtendedLifetime(keeper) { show(managed, named, .passUnretained(keeper)) }
    }

    /// Makes a new instance show a row. Its wrappers get their numbers and nothing else, without a look at their types:
    /// that would be the most costly part of making an object.
    ///
    /// - Parameter keeper: lent: the reference of the object is the only one that is counted.
    @inline(__always) final func show(_ managed: ManagedClass, _ named: BornKey, _ keeper: Unmanaged<RealmKeeper>) {
        if managed.info.isDynamic {
            dynamicClass = managed.info
        } else {
            let base = UnsafeMutableRawPointer(Unmanaged.passUnretained(self).toOpaque())
            managed.info.number(base)
        }
        let before = self.keeper
        self.keeper = keeper.retain()
        before?.release()
        engine = managed.engine
        ofClass = .passUnretained(managed)
        row = named.made.raw
        if let birth = named.birth { accompany(birth) }
        _rlmState = Self.managed
        if managed.info.isPlain { for property in managed.info.properties { property.access.attach(self, property) } }
    }

    /// Makes an instance that nobody else has show another row of its class.
    ///
    /// - Returns: false where one must be made: in a write transaction, where objects know the transaction that made
    ///   their rows.
    @inline(__always) final func showInstead(_ key: ObjKey) -> Bool {
        guard companion == nil, let engine, !engine._withUnsafeGuaranteedRef({ $0.isWriting }) else { return false }
        row = key.raw
        return true
    }

    /// An object without properties that shows the same row.
    final func shadow() -> ObjectBase {
        let other = ObjectBase()
        (other.keeper, other.engine, other.ofClass, other.row) = (keeper?.retain(), engine, ofClass, row)
        other.accompany(companion?.takeUnretainedValue())
        other.dynamicClass = managed?.info
        other._rlmState = Self.managed
        return other
    }
}
