internal import CoreEngine
import Foundation

/// A value that belongs to a Realm and is confined to the same thread.
public protocol ThreadConfined {
    /// The Realm that manages the value; nil for an unmanaged one.
    var realm: Realm? { get }

    /// A Boolean value that indicates whether the value was deleted or its Realm was closed.
    var isInvalidated: Bool { get }

    /// A Boolean value that indicates whether the value is frozen. A frozen value shows one version and may be used on
    /// any thread.
    var isFrozen: Bool { get }

    /// Returns a frozen copy of the current state, for use on any thread. Inside a write transaction it is the state
    /// before the transaction.
    func freeze() -> Self

    /// Returns the live version of a frozen value, in a Realm for the current thread; nil if the value does not exist
    /// any more.
    func thaw() -> Self?

    /// Returns the same value in another Realm of the file; nil if it does not exist in that Realm.
    func _rlmMove(to realm: Realm) -> Self?

    /// Returns the content of a thread-safe reference; nil for an unmanaged value.
    func _rlmCarried() -> _Carried?
}

extension ObjectBase: ThreadConfined {}

/// An ordered collection of a Realm: results, lists, sets and linking objects.
///
/// The collections are live. A `for` loop iterates over the elements that existed when it started, so its body may
/// insert and delete elements. Access by index reads the current element, and an invalid index is misuse. `filter` with
/// a closure, `map` and similar functions are lazy and run in the program, object by object. `filter` with a format
/// string and `where` run in the engine.
public protocol RealmCollection: RandomAccessCollection, LazyCollectionProtocol, CustomStringConvertible,
    ThreadConfined, Equatable
where Element: RealmCollectionValue, Index == Int, Iterator == RLMIterator<Element> {
    /// Returns the rows. An unmanaged collection is misuse.
    func _rlmRows() -> _Rows

    /// Returns the index of the first equal element; nil if no element is equal.
    func index(of element: Element) -> Int?
}

extension RealmCollection {
    public var startIndex: Int { 0 }
    public var endIndex: Int { count }

    public func index(after i: Int) -> Int { i + 1 }

    public func index(before i: Int) -> Int { i - 1 }

    /// Returns the elements at several indices.
    public func objects(at indexes: Foundation.IndexSet) -> [Element] {
        guard (indexes.last ?? -1) < count else { misuse("Indexes for collection are out of bounds.") }
        return indexes.map { self[$0] }
    }

    /// The first element; nil if the collection is empty.
    public var first: Element? { isEmpty ? nil : self[0] }

    /// The last element; nil if the collection is empty.
    public var last: Element? { isEmpty ? nil : self[count - 1] }

    // MARK: Filtering and sorting

    /// Returns the elements that match a condition, such as `"age > %@ AND name BEGINSWITH %@"`.
    public func filter(_ predicateFormat: String, _ args: Any...) -> Results<Element> {
        filtered(FormatString(predicateFormat, args))
    }

    func filtered(_ condition: some RowCondition) -> Results<Element> {
        let rows = _rlmRows()
        return Results(rows.derived { () throws(EngineError) in try condition.filtered(rows) })
    }

    /// Returns the index of the first element that matches a condition; nil if no element matches.
    public func index(matching predicateFormat: String, _ args: Any...) -> Int? {
        firstIndex(FormatString(predicateFormat, args))
    }

    func firstIndex(_ condition: some RowCondition) -> Int? {
        guard realm != nil else { return firstUnmanagedIndex(condition) }
        return filtered(condition).first.flatMap { index(of: $0) }
    }

    /// Searches an unmanaged collection. The engine evaluates conditions only for rows, so this call copies the objects
    /// to a temporary Realm in memory.
    private func firstUnmanagedIndex(_ condition: some RowCondition) -> Int? {
        guard let type = Element._rlmShape.target, !(type is EmbeddedObject.Type) else {
            misuse(
                "Only collections of objects, not of values or embedded objects, can be searched with a condition while no Realm manages them"
            )
        }
        let configuration = Realm.Configuration(
            inMemoryIdentifier: "index-\(UUID().uuidString)", objectTypes: type.reachable)
        defer { _ = try? Realm.deleteFiles(for: configuration) }
        return must { () throws(EngineError) -> Int? in
            let core: RealmCore
            do { core = try RealmCore.open(configuration, ThreadScheduler.current) } catch {
                throw EngineError(.runtime, "\(error)")
            }
            defer { core.realm.close() }
            try core.realm.beginWrite()
            let managed = core.managed(type), rows = Results<Object>(core, managed).rows
            func matching() throws(EngineError) -> Set<ObjKey> {
                Set(try core.realm.inside(.results) { () throws(EngineError) in try condition.filtered(rows).keys() })
            }
            var copies: [ObjKey] = []
            for (place, element) in enumerated() {
                guard let object = unwrapped(element) else { continue }
                copies.append(try core.create(managed, object, Addition(.all, isCopying: true)).named.key)
                // Objects with the same primary key are stored in the same row, so each one is tested before the next
                // is stored.
                if managed.info.primaryKey != nil, let last = copies.last, try matching().contains(last) {
                    return place
                }
            }
            guard managed.info.primaryKey == nil else { return nil }
            let found = try matching()
            return copies.firstIndex { found.contains($0) }
        }
    }

    /// Returns the elements, sorted by a property: `"name"`, or `"best.name"` for a property behind a link. The sort is
    /// stable.
    public func sorted(byKeyPath keyPath: String, ascending: Bool = true) -> Results<Element> {
        sorted(by: [SortDescriptor(keyPath: keyPath, ascending: ascending)])
    }

    /// Returns the elements, sorted by several properties. A later property decides where the earlier ones are equal.
    public func sorted<S: Sequence>(by sortDescriptors: S) -> Results<Element>
    where S.Iterator.Element == SortDescriptor {
        let rows = _rlmRows(), all = Array(sortDescriptors)
        guard !all.isEmpty else { return Results(rows) }
        if rows.elements == nil {
            guard all.allSatisfy({ $0.locale == nil }) else {
                misuse("A collection of values has no order of a language: sort objects by a property")
            }
            // The sort is stable, so the descriptors are applied in reverse.
            return Results(
                all.reversed().reduce(rows) { rows, d in rows.ordered(.sort(ascending: d.ascending), d.keyPath) })
        }
        // All descriptors form one order, because a separate later sort would take precedence over an earlier one.
        return Results(
            rows.derived { () throws(EngineError) in
                try rows.found.sorted(
                    all.map { "\(rows.stored($0.keyPath))\($0.collation) \($0.ascending ? "ASC" : "DESC")" }
                        .joined(separator: ", "))
            })
    }

    /// Returns the first of the elements that are equal in all given properties.
    public func distinct<S: Sequence>(by keyPaths: S) -> Results<Element> where S.Iterator.Element == String {
        let rows = _rlmRows(), keyPaths = Array(keyPaths)
        for keyPath in keyPaths { rows.verifyIsValue(keyPath) }
        if rows.elements == nil {
            return Results(keyPaths.reduce(rows) { rows, name in rows.ordered(.distinct, name) })
        }
        return Results(
            rows.derived { () throws(EngineError) in
                try rows.found.distinct(keyPaths.map { rows.stored($0) }.joined(separator: ", "))
            })
    }

    // MARK: By name

    /// Returns the values of a property, one for each element; for a set, without duplicates. `self` returns the
    /// elements themselves, and the values inside of `AnyRealmValue`.
    public func value(forKey key: String) -> [Any?] {
        values { element in
            if key == "self" { return (element as? AnyRealmValue).map(\.any) ?? element }
            guard let object = unwrapped(element) as? ObjectBase else { misuse("Values have no property '\(key)'") }
            return object.value(forKey: key)
        }
    }

    /// Returns the values at a key path through links, like `value(forKey:)`, or the result of an operator. `@count`,
    /// `@min.age`, `@max.age`, `@sum.age` and `@avg.age` return one value for all elements. `@unionOfObjects.age`
    /// returns all values that are not nil, and `@distinctUnionOfObjects.age` removes duplicates. `@unionOfArrays.dogs`
    /// and `@distinctUnionOfArrays.dogs` return the elements of the collections of all elements.
    public func value(forKeyPath keyPath: String) -> Any? {
        guard keyPath.hasPrefix("@") else {
            return values { element in (unwrapped(element) as? ObjectBase).flatMap { $0.value(forKeyPath: keyPath) } }
        }
        let parts = keyPath.dropFirst().split(separator: ".", maxSplits: 1).map(String.init)
        if parts.first == "count" { return count }
        let kinds: [Name: AggregateKind] = ["min": .min, "max": .max, "sum": .sum, "avg": .average]
        guard parts.count == 2 else { misuse("Unsupported key path '\(keyPath)'") }
        if let kind = kinds[Name(parts[0])] {
            guard realm != nil else {
                return AggregateOfValues(parts[1], of: self).result(kind).flatMap { AnyRealmValue.aggregate($0)?.any }
            }
            let rows = _rlmRows()
            return rows.aggregate(kind, rows.column(parts[1])).flatMap { (v: AnyRealmValue) in v.any }
        }
        return union(parts[0], parts[1], keyPath)
    }

    private func union(_ kind: String, _ path: String, _ keyPath: String) -> [Any] {
        let found =
            map { element in path == "self" ? element : (unwrapped(element) as? ObjectBase)?.value(forKeyPath: path) }
            as [Any?]
        let all = found.compactMap { $0.flatMap(unwrapped) }
        switch kind {
        case "unionOfObjects": return all
        case "distinctUnionOfObjects": return eachOnce(all)
        case "unionOfArrays", "unionOfSets": return elements(all, keyPath)
        case "distinctUnionOfArrays", "distinctUnionOfSets": return eachOnce(elements(all, keyPath))
        default: misuse("Unsupported key path '\(keyPath)'")
        }
    }

    private func elements(_ collections: [Any], _ keyPath: String) -> [Any] {
        collections.flatMap { collection -> [Any] in
            guard let elements = sequence(in: collection) else { misuse("'\(keyPath)' leads to no collections") }
            return elements.compactMap(unwrapped)
        }
    }

    /// Removes duplicates. Values that cannot be compared count as different.
    private func eachOnce(_ values: [Any]) -> [Any] {
        var seen = Set<AnyHashable>()
        return values.filter { value in (value as? AnyHashable).map { seen.insert($0).inserted } ?? true }
    }

    private func values(_ value: (Element) -> Any?) -> [Any?] {
        let all = map(value) as [Any?]
        guard self is any EachValueOnce else { return all }
        var seen = Set<AnyHashable?>()
        // Values that cannot be compared count as different.
        return all.filter { value in
            value.map { ($0 as? AnyHashable).map { seen.insert($0).inserted } ?? true } ?? seen.insert(nil).inserted
        }
    }

    /// Sets a property of all elements. Must be called inside a write transaction.
    public func setValue(_ value: Any?, forKey key: String) {
        for element in self { (unwrapped(element) as? ObjectBase)?.setValue(value, forKey: key) }
    }

    /// Sets the value at a key path through links, such as `best.name`, for all elements.
    public func setValue(_ value: Any?, forKeyPath keyPath: String) {
        for element in self { (unwrapped(element) as? ObjectBase)?.setValue(value, forKeyPath: keyPath) }
    }

    /// Returns whether both are the same collection: lists or sets of the same property, or results of the same call.
    /// Equal elements are not sufficient.
    public static func == (a: Self, b: Self) -> Bool {
        guard let x = a as? any SameByIdentity, let y = b as? any SameByIdentity else { return a.elementsEqual(b) }
        return x.isSame(as: y)
    }
}

/// Sets. The values that are computed from their elements also contain no duplicates.
protocol EachValueOnce {}

/// Collections whose equality means identity.
protocol SameByIdentity { func isSame(as other: any SameByIdentity) -> Bool }

extension RealmCollection {
    public var description: String { text(depth: 0) }

    /// Returns the description for use inside the description of an object.
    public func text(depth: Int) -> String {
        if isInvalidated { return "[invalid \(Self.self)]" }
        let blanks = String(repeating: "\t", count: depth + 1)
        let shown = prefix(100).enumerated().map { "\(blanks)[\($0)] \(describe(unwrapped($1), depth + 1))" }
        let rest = count > 100 ? ["\(blanks)... \(count - 100) objects skipped."] : []
        // The address of the collection; of results, that of their rows.
        let shower: AnyObject? =
            type(of: self as Any) is AnyObject.Type ? self as AnyObject : realm == nil ? nil : _rlmRows().found
        return collectionText("\(Self.self)", shower, shown + rest, depth)
    }
}

extension RealmCollection where Element: ObjectBase {
    /// Returns the first of the elements that are equal in all given properties.
    public func distinct<S: Sequence>(by keyPaths: S) -> Results<Element>
    where S.Iterator.Element == PartialKeyPath<Element> {
        distinct(by: keyPaths.map { nameOfStored($0) })
    }
}

extension _Rows {
    /// Returns a key path with the names of the file. An invalid key path is misuse.
    func stored(_ keyPath: String) -> String {
        guard let elements else { return keyPath }
        return elements.core.storedPath(keyPath, elements.info)
    }
    /// Verifies that a key path leads to a single value. A key path to an object or a collection is misuse, because
    /// these cannot be tested for equality.
    func verifyIsValue(_ keyPath: String) {
        guard let elements else { return }
        var at: ClassInfo? = elements.info
        for (depth, name) in keyPath.split(separator: ".").enumerated() {
            guard let property = at?.property(String(name)) else { return }
            let isLast = depth == keyPath.split(separator: ".").count - 1
            guard property.shape.collection == .none, !isLast || property.shape.type != .object else {
                misuse(
                    "Cannot make distinct by '\(keyPath)': it leads to \(property.shape.collection == .none ? "an object" : "a collection")"
                )
            }
            at = property.shape.target == DynamicObject.self ? nil : property.shape.target.map { ClassInfo.of($0) }
        }
    }
    /// Returns the values in an order. Values have no properties to sort by.
    func ordered(_ ordering: ValueOrdering, _ keyPath: String) -> _Rows {
        guard keyPath == "self" else {
            misuse("Can only be sorted or made distinct by 'self': the collection holds values, not objects")
        }
        return derived { () throws(EngineError) in try found.ordered(ordering) }
    }
    func column(_ property: String) -> ColKey {
        guard let elements else {
            if property == "self" { return .null }
            misuse("Values have no property '\(property)'")
        }
        guard let found = elements.info.property(property) else {
            misuse("Invalid property name '\(property)' for class '\(elements.info.name)'.")
        }
        return elements.columns[Int(found.index)]
    }
    func aggregate<T: _HasPersistedType>(_ kind: AggregateKind, _ column: ColKey) -> T? {
        let value = inside { () throws(EngineError) in try found.aggregate(kind, column).value.owned }
        return T.aggregate(value)
    }
}

extension RealmCore {
    /// Returns a key path of a class with the names of the file.
    func storedPath(_ keyPath: String, _ start: ClassInfo) -> String {
        var at: ClassInfo? = start
        return keyPath.split(separator: ".", omittingEmptySubsequences: false).map { name in
            guard let info = at, let property = info.property(String(name)) else {
                at = nil
                return String(name)
            }
            at = property.shape.target.map { ClassInfo.of($0) }
            return property.column
        }.joined(separator: ".")
    }
}
