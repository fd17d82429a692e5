internal import CoreEngine
import Foundation

/// What belongs to a Realm, and is used where that is.
public protocol ThreadConfined {
    /// nil for what no Realm manages.
    var realm: Realm? { get }

    /// Whether it was deleted, or its Realm closed.
    var isInvalidated: Bool { get }

    /// Whether it shows one version for good, for all threads.
    var isFrozen: Bool { get }

    /// As it is now, for any thread; inside a write transaction as it was before.
    func freeze() -> Self

    /// The live one of a frozen one, in a Realm that lives where this is called; nil when it is gone.
    func thaw() -> Self?

    /// The same in another Realm of the file; nil when it is not there.
    func _rlmMove(to realm: Realm) -> Self?

    /// For the way to another thread; nil for what no Realm manages.
    func _rlmCarried() -> _Carried?
}

extension ObjectBase: ThreadConfined {}

/// Results, lists, sets and linking objects: rows of a Realm in an order.
///
/// They are live. A `for` loop goes over the elements that there were when it began, so that it may delete and add;
/// access by index is to what is there now, and misuse where nothing is. `filter` with a closure, `map` and their like
/// are lazy, and run in the program, object by object; `filter` with a text and `where` run in the engine.
public protocol RealmCollection: RandomAccessCollection, LazyCollectionProtocol, CustomStringConvertible,
    ThreadConfined, Equatable
where Element: RealmCollectionValue, Index == Int, Iterator == RLMIterator<Element> {
    /// The rows; misuse for a collection that no Realm manages.
    func _rlmRows() -> _Rows

    /// Index of the first equal element.
    func index(of element: Element) -> Int?
}

extension RealmCollection {
    public var startIndex: Int { 0 }
    public var endIndex: Int { count }

    public func index(after i: Int) -> Int { i + 1 }

    public func index(before i: Int) -> Int { i - 1 }

    /// The elements at some places.
    public func objects(at indexes: Foundation.IndexSet) -> [Element] {
        guard (indexes.last ?? -1) < count else { misuse("Indexes for collection are out of bounds.") }
        return indexes.map { self[$0] }
    }

    /// The first element; nil when there is none.
    public var first: Element? { isEmpty ? nil : self[0] }

    /// The last element; nil when there is none.
    public var last: Element? { isEmpty ? nil : self[count - 1] }

    // MARK: Filtering and sorting

    /// The elements that meet a condition: `"age > %@ AND name BEGINSWITH %@"`.
    public func filter(_ predicateFormat: String, _ args: Any...) -> Results<Element> {
        filtered(FormatString(predicateFormat, args))
    }

    func filtered(_ query: FormatString) -> Results<Element> {
        let rows = _rlmRows()
        return Results(rows.derived { () throws(EngineError) in try query.filtered(rows) })
    }

    /// Index of the first element that meets a condition.
    public func index(matching predicateFormat: String, _ args: Any...) -> Int? {
        firstIndex(FormatString(predicateFormat, args))
    }

    func firstIndex(_ query: FormatString) -> Int? {
        guard realm != nil else { return firstUnmanagedIndex(query) }
        return filtered(query).first.flatMap { index(of: $0) }
    }

    /// The engine evaluates conditions, and it does so for rows: copies of what no Realm manages become rows of a Realm
    /// in memory, for this call.
    private func firstUnmanagedIndex(_ query: FormatString) -> Int? {
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
                Set(try core.realm.inside(.results) { () throws(EngineError) in try query.filtered(rows).keys() })
            }
            var copies: [ObjKey] = []
            for (place, element) in enumerated() {
                guard let object = unwrapped(element) else { continue }
                copies.append(try core.create(managed, object, Addition(.all, isCopying: true)).named.key)
                // Objects with one primary key follow each other in one row.
                if managed.info.primaryKey != nil, let last = copies.last, try matching().contains(last) {
                    return place
                }
            }
            guard managed.info.primaryKey == nil else { return nil }
            let found = try matching()
            return copies.firstIndex { found.contains($0) }
        }
    }

    /// Sorted by a property: `"name"`, or one behind links, `"best.name"`. Stable: of equal elements the order stays.
    public func sorted(byKeyPath keyPath: String, ascending: Bool = true) -> Results<Element> {
        sorted(by: [SortDescriptor(keyPath: keyPath, ascending: ascending)])
    }

    /// Sorted by the first of some properties, where that is equal by the second, and so on.
    public func sorted<S: Sequence>(by sortDescriptors: S) -> Results<Element>
    where S.Iterator.Element == SortDescriptor {
        let rows = _rlmRows(), all = Array(sortDescriptors)
        guard !all.isEmpty else { return Results(rows) }
        if rows.elements == nil {
            // The sort is stable: the first order is made last.
            return Results(
                all.reversed().reduce(rows) { rows, d in rows.ordered(.sort(ascending: d.ascending), d.keyPath) })
        }
        // A text of its own for each: later orders come before earlier ones.
        return Results(
            rows.derived { () throws(EngineError) in
                try rows.found.sorted(
                    all.map { "\(rows.stored($0.keyPath)) \($0.ascending ? "ASC" : "DESC")" }.joined(separator: ", "))
            })
    }

    /// The first of those that are equal in all the given properties.
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

    /// The values of a property, one for each element, of a set each value once; `self` for the elements themselves.
    public func value(forKey key: String) -> [Any?] {
        values { element in
            if key == "self" { return element }
            guard let object = unwrapped(element) as? ObjectBase else { misuse("Values have no property '\(key)'") }
            return object.value(forKey: key)
        }
    }

    /// As `value(forKey:)` behind links; `@count`, `@min.age`, `@max.age`, `@sum.age` and `@avg.age` for one value of
    /// all; `@unionOfObjects.age` for the values that are there, `@distinctUnionOfObjects.age` for each of them once,
    /// `@unionOfArrays.dogs` and `@distinctUnionOfArrays.dogs` for what the collections of all elements hold.
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

    /// What cannot be compared is another value each time.
    private func eachOnce(_ values: [Any]) -> [Any] {
        var seen = Set<AnyHashable>()
        return values.filter { value in (value as? AnyHashable).map { seen.insert($0).inserted } ?? true }
    }

    private func values(_ value: (Element) -> Any?) -> [Any?] {
        let all = map(value) as [Any?]
        guard self is any EachValueOnce else { return all }
        var seen = Set<AnyHashable?>()
        // What cannot be compared is another value each time.
        return all.filter { v in
            v.map { ($0 as? AnyHashable).map { seen.insert($0).inserted } ?? true } ?? seen.insert(nil).inserted
        }
    }

    /// Sets a property of all elements; inside a write transaction.
    public func setValue(_ value: Any?, forKey key: String) {
        for element in self { (unwrapped(element) as? ObjectBase)?.setValue(value, forKey: key) }
    }

    /// Sets a property behind links, `best.name`, of all elements.
    public func setValue(_ value: Any?, forKeyPath keyPath: String) {
        for element in self { (unwrapped(element) as? ObjectBase)?.setValue(value, forKeyPath: keyPath) }
    }

    /// Whether both are the same collection, not only equal ones: lists and sets of one property, results of one call.
    public static func == (a: Self, b: Self) -> Bool {
        guard let x = a as? any SameByIdentity, let y = b as? any SameByIdentity else { return a.elementsEqual(b) }
        return x.isSame(as: y)
    }
}

/// Sets: what is computed of their elements is a set, too.
protocol EachValueOnce {}

/// Collections that are equal when they are the same collection.
protocol SameByIdentity { func isSame(as other: any SameByIdentity) -> Bool }

extension RealmCollection {
    public var description: String { text(depth: 0) }

    /// The description, inside that of an object.
    public func text(depth: Int) -> String {
        if isInvalidated { return "[invalid \(Self.self)]" }
        let blanks = String(repeating: "\t", count: depth + 1)
        let shown = prefix(100).enumerated().map { "\(blanks)[\($0)] \(describe(unwrapped($1), depth + 1))" }
        let rest = count > 100 ? ["\(blanks)... \(count - 100) objects skipped."] : []
        return "\(Self.self) (\n" + (shown + rest).joined(separator: ",\n") + "\n"
            + String(repeating: "\t", count: depth) + ")"
    }
}

extension RealmCollection where Element: ObjectBase {
    /// The first of those that are equal in all the given properties.
    public func distinct<S: Sequence>(by keyPaths: S) -> Results<Element>
    where S.Iterator.Element == PartialKeyPath<Element> {
        distinct(by: keyPaths.map { nameOfStored($0) })
    }
}

extension _Rows {
    /// A key path by the names of the file; misuse where it leads nowhere.
    func stored(_ keyPath: String) -> String {
        guard let elements else { return keyPath }
        return elements.core.storedPath(keyPath, elements.info)
    }
    /// Misuse for a key path that leads to an object or to many values: neither is equal to another one.
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
    /// Values in order; they have no properties that could say which.
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
    /// A key path of a class by the names of the file.
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
