internal import CoreEngine
import Foundation

/// Results in sections. A section contains the elements with the same key. The sections have the order in which their
/// keys first occur.
///
///     let people = realm.objects(Person.self).sectioned(by: \.initial)
///     for section in people { print(section.key, section.map(\.name)) }
///
/// The sections are live: they are computed again after the Realm has advanced or was written. A block that returns
/// keys runs where the Realm is confined, once for each element.
public final class SectionedResults<Key: _Persistable & Hashable, SectionElement: RealmCollectionValue> {
    fileprivate let results: Results<SectionElement>
    fileprivate let key: (SectionElement) -> Key

    /// The properties by which the results are sorted.
    private let order: [String]
    private var layout: SectionLayout<Key>?
    private var layoutAt = UInt64.max

    init(_ results: Results<SectionElement>, _ key: @escaping (SectionElement) -> Key, _ order: [String]) {
        self.results = results
        self.key = key
        self.order = order
    }

    /// The Realm that manages the results.
    public var realm: Realm? { results.realm }

    /// A Boolean value that indicates whether the results' owner was deleted or the Realm was closed.
    public var isInvalidated: Bool { results.isInvalidated }

    /// A Boolean value that indicates whether the results are frozen. Frozen results show one version and may be used
    /// on any thread.
    public var isFrozen: Bool { results.isFrozen }

    /// The keys of the sections, in their order.
    public var allKeys: [Key] { current().keys }

    fileprivate func current() -> SectionLayout<Key> {
        let rows = results.rows
        // The thread is checked even if a cached layout will be returned.
        _ = rows.core.isThere { () in true }
        let state = rows.core.realm.stateCount
        if let layout, layoutAt == state { return layout }
        let found = SectionLayout(results.map(key))
        if !isFrozen { (layout, layoutAt) = (found, state) }
        return found
    }

    /// Returns the section with a key; nil if it does not exist.
    public func section(of key: Key) -> ResultsSection<Key, SectionElement>? {
        current().keys.firstIndex(of: key).map { self[$0] }
    }

    /// Accesses the element at an index path, which consists of the section and the index in it.
    public subscript(indexPath: IndexPath) -> SectionElement { self[indexPath[0]][indexPath[1]] }

    fileprivate func places(_ section: Key) -> [Int] {
        let layout = current()
        return layout.keys.firstIndex(of: section).map { layout.places[$0] } ?? []
    }

    fileprivate func element(_ place: Int) -> SectionElement { results[place] }
}

extension SectionedResults: RandomAccessCollection {
    public var startIndex: Int { 0 }
    public var endIndex: Int { current().keys.count }

    /// Accesses the section at an index. An invalid index is misuse.
    public subscript(position: Int) -> ResultsSection<Key, SectionElement> {
        let keys = current().keys
        guard keys.indices.contains(position) else { outOfBounds(position, keys.count) }
        return ResultsSection(key: keys[position], of: self)
    }
}

/// A section of results. It is live: if no element has its key any more, the section is empty.
public struct ResultsSection<Key: _Persistable & Hashable, T: RealmCollectionValue>: RandomAccessCollection,
    Identifiable
{
    /// The common key of the elements.
    public let key: Key
    fileprivate let all: SectionedResults<Key, T>

    fileprivate init(key: Key, of all: SectionedResults<Key, T>) { (self.key, self.all) = (key, all) }
    public var id: Key { key }
    public var startIndex: Int { 0 }
    public var endIndex: Int { all.places(key).count }

    /// Accesses the element at an index. An invalid index is misuse.
    public subscript(position: Int) -> T {
        let places = all.places(key)
        guard places.indices.contains(position) else { outOfBounds(position, places.count) }
        return all.element(places[position])
    }
}

/// The assignment of rows to sections.
struct SectionLayout<Key: Hashable> {
    private(set) var keys: [Key] = []

    /// The rows of each section.
    private(set) var places: [[Int]] = []

    /// The section of each row, and the row's index in the section.
    private(set) var paths: [IndexPath] = []
    private let rowKeys: [Key]

    init(_ rowKeys: [Key]) {
        self.rowKeys = rowKeys
        var sections: [Key: Int] = [:]
        for (row, key) in rowKeys.enumerated() {
            let section = sections[key] ?? keys.count
            if section == keys.count {
                sections[key] = section
                keys.append(key)
                places.append([])
            }
            paths.append(IndexPath(indexes: [section, places[section].count]))
            places[section].append(row)
        }
    }

    /// Returns the change of the sections after a change of rows. A modified row that changed its place counts as
    /// deleted and inserted.
    func change<C>(
        to new: SectionLayout, _ collection: C, deletions: [Int], insertions: [Int], modifications: [Int]
    ) -> SectionedResultsChange<C> {
        let (gone, came, changed) = moves(to: new, deletions, insertions, modifications)
        let before = Set(keys), after = Set(new.keys)
        return .update(
            collection, deletions: gone.filter { after.contains(rowKeys[$0]) }.map { paths[$0] },
            insertions: came.map { new.paths[$0] },
            modifications: changed.map { paths[$0] },
            sectionsToInsert: Foundation.IndexSet(new.keys.indices.filter { !before.contains(new.keys[$0]) }),
            sectionsToDelete: Foundation.IndexSet(keys.indices.filter { !after.contains(keys[$0]) }))
    }

    /// Returns the change of one section, given its indices before and after; nil if the section did not change.
    func change<C>(
        to new: SectionLayout, _ collection: C, deletions: [Int], insertions: [Int], modifications: [Int],
        section: (before: Int?, after: Int?)
    ) -> SectionedResultsChange<C>? {
        let (gone, came, changed) = moves(to: new, deletions, insertions, modifications)
        let deletedPaths = gone.map { paths[$0] }.filter { $0[0] == section.before },
            insertedPaths = came.map { new.paths[$0] }.filter { $0[0] == section.after }
        let modifiedPaths = changed.map { paths[$0] }.filter { $0[0] == section.before }
        guard
            !deletedPaths.isEmpty || !insertedPaths.isEmpty || !modifiedPaths.isEmpty
                || (section.before == nil) != (section.after == nil)
        else {
            return nil
        }
        return .update(
            collection, deletions: section.after == nil ? [] : deletedPaths, insertions: insertedPaths,
            modifications: modifiedPaths,
            sectionsToInsert: section.before == nil ? Foundation.IndexSet(section.after.map { [$0] } ?? []) : [],
            sectionsToDelete: section.after == nil ? Foundation.IndexSet(section.before.map { [$0] } ?? []) : [])
    }

    /// Returns the deleted, inserted and modified rows. A modified row that changed its section or its index in the
    /// section counts as deleted and inserted.
    private func moves(
        to new: SectionLayout, _ deletions: [Int], _ insertions: [Int], _ modifications: [Int]
    ) -> (gone: [Int], came: [Int], changed: [Int]) {
        var gone = Set(deletions), came = Set(insertions), changed: [Int] = []
        let modified = Set(modifications)
        for (old, now) in zip(remaining(deletions, rowKeys.count), remaining(insertions, new.rowKeys.count))
        where modified.contains(old) {
            if rowKeys[old] == new.rowKeys[now], paths[old][1] == new.paths[now][1] {
                changed.append(old)
            } else {
                gone.insert(old)
                came.insert(now)
            }
        }
        return (gone.sorted(), came.sorted(), changed)
    }

    /// Returns the rows that are not in `others`.
    private func remaining(_ others: [Int], _ count: Int) -> [Int] {
        let others = Set(others)
        return (0..<count).filter { !others.contains($0) }
    }
}

/// A change of sections. The elements of a deleted section are not reported individually. `deletions`, `modifications`
/// and `sectionsToDelete` are indices before the change; the others are indices after it.
@frozen public enum SectionedResultsChange<Collection> {
    case initial(Collection)
    case update(
        Collection, deletions: [IndexPath], insertions: [IndexPath], modifications: [IndexPath],
        sectionsToInsert: Foundation.IndexSet,
        sectionsToDelete: Foundation.IndexSet)
}

/// The older name of `SectionedResultsChange`.
public typealias RealmSectionedResultsChange = SectionedResultsChange

extension SectionedResults: Equatable, ThreadConfined {
    /// Returns whether both are the same instance. Equal elements are not sufficient.
    public static func == (a: SectionedResults, b: SectionedResults) -> Bool { a === b }

    public func _rlmMove(to realm: Realm) -> SectionedResults? {
        results._rlmMove(to: realm).map { SectionedResults($0, key, order) }
    }

    public func _rlmCarried() -> _Carried? {
        let key = key, order = order
        return results._rlmCarried()?.map(Results<SectionElement>.self) { SectionedResults($0, key, order) }
    }

    /// Calls `block` once with the initial sections, then whenever elements are inserted, deleted, modified or moved to
    /// another section.
    ///
    /// - Parameters:
    ///   - keyPaths: Properties whose changes count as a modification of an object, in addition to those that determine
    ///     its section.
    ///   - queue: A serial queue on which `block` runs; nil to run it where the Realm is confined.
    public func observe(
        keyPaths: [String]? = nil, on queue: DispatchQueue? = nil,
        _ block: @escaping (SectionedResultsChange<SectionedResults>) -> Void
    ) -> NotificationToken {
        if let queue { return onQueue(queue, self, results.rows.core) { $0.observe(keyPaths: keyPaths, block) } }
        return observed(keyPaths) { before, after, change in
            guard let (deletions, insertions, modifications) = change else { return block(.initial(self)) }
            block(
                before.change(
                    to: after, self, deletions: deletions, insertions: insertions, modifications: modifications))
        }
    }

    /// Calls `block` for each change of the results, with the sections before and after it. For the initial state the
    /// change is nil.
    fileprivate func observed(
        _ keyPaths: [String]?,
        _ block: @escaping (SectionLayout<Key>, SectionLayout<Key>, ([Int], [Int], [Int])?) -> Void
    ) -> NotificationToken {
        var before = current()
        let skip = { [self] in if !isInvalidated { before = current() } }
        return results.rows.observe(keyPaths.map { $0 + sectioningPaths }, results, skip: skip) { [self] change in
            let after = current()
            switch change {
            case .update(_, let deletions, let insertions, let modifications):
                block(before, after, (deletions, insertions, modifications))
            case .initial, .error: block(before, after, nil)
            }
            before = after
        }
    }

    /// The properties that determine the order of the objects, and so their sections. They are always observed.
    private var sectioningPaths: [String] { order }
}

extension ResultsSection: Equatable, ThreadConfined, CustomStringConvertible {
    public static func == (a: ResultsSection, b: ResultsSection) -> Bool { a.all === b.all && a.key == b.key }

    /// The Realm of the elements.
    public var realm: Realm? { all.realm }

    /// A Boolean value that indicates whether the results are invalidated.
    public var isInvalidated: Bool { all.isInvalidated }

    /// A Boolean value that indicates whether the section is frozen. A frozen section shows one version and may be used
    /// on any thread.
    public var isFrozen: Bool { all.isFrozen }
    public var description: String { "\(key): \(Array(self))" }

    public func _rlmMove(to realm: Realm) -> ResultsSection? {
        all._rlmMove(to: realm).map { ResultsSection(key: key, of: $0) }
    }

    public func _rlmCarried() -> _Carried? {
        let key = key
        return all._rlmCarried()?.map(SectionedResults<Key, T>.self) { ResultsSection(key: key, of: $0) }
    }

    /// Calls `block` when this section changes. See `SectionedResults.observe`. The first index of each index path is
    /// that of the section.
    public func observe(
        keyPaths: [String]? = nil, on queue: DispatchQueue? = nil,
        _ block: @escaping (SectionedResultsChange<ResultsSection>) -> Void
    ) -> NotificationToken {
        if let queue, let core = realm?.core {
            return onQueue(queue, self, core) { $0.observe(keyPaths: keyPaths, block) }
        }
        return all.observed(keyPaths) { before, after, change in
            guard let (deletions, insertions, modifications) = change else { return block(.initial(self)) }
            let told = before.change(
                to: after, self, deletions: deletions, insertions: insertions, modifications: modifications,
                section: (before.keys.firstIndex(of: key), after.keys.firstIndex(of: key)))
            if let told { block(told) }
        }
    }
}

extension SectionedResults where SectionElement: ObjectBase {
    /// Calls `block` when sections change, with key paths that the compiler checks. See `observe(keyPaths:on:)`.
    public func observe(
        keyPaths: [PartialKeyPath<SectionElement>], on queue: DispatchQueue? = nil,
        _ block: @escaping (SectionedResultsChange<SectionedResults>) -> Void
    ) -> NotificationToken {
        observe(keyPaths: keyPaths.map { name(of: $0) }, on: queue, block)
    }
}

extension ResultsSection where T: ObjectBase {
    /// Calls `block` when this section changes, with key paths that the compiler checks. See `observe(keyPaths:on:)`.
    public func observe(
        keyPaths: [PartialKeyPath<T>], on queue: DispatchQueue? = nil,
        _ block: @escaping (SectionedResultsChange<ResultsSection>) -> Void
    ) -> NotificationToken {
        observe(keyPaths: keyPaths.map { name(of: $0) }, on: queue, block)
    }
}

extension RealmCollection where Element: ObjectBase {
    /// Returns the elements sorted by a property, with a section for each of its values. For a computed property, the
    /// elements are sorted by the stored property that it reads.
    public func sectioned<Key: _Persistable & Hashable>(
        by keyPath: Swift.KeyPath<Element, Key>, ascending: Bool = true
    ) -> SectionedResults<Key, Element> {
        sectioned(sortDescriptors: [SortDescriptor(keyPath: name(of: keyPath), ascending: ascending)]) {
            $0[keyPath: keyPath]
        }
    }

    /// Returns the sorted elements, with a section for each value of a property. The first sort descriptor must sort by
    /// this property.
    public func sectioned<Key: _Persistable & Hashable>(
        by keyPath: Swift.KeyPath<Element, Key>, sortDescriptors: [SortDescriptor]
    ) -> SectionedResults<Key, Element> {
        verify(name(of: keyPath), sortDescriptors)
        return sectioned(sortDescriptors: sortDescriptors) { $0[keyPath: keyPath] }
    }

    /// Returns the sorted elements, with a section for each key that `block` returns.
    public func sectioned<Key: _Persistable & Hashable>(
        by block: @escaping (Element) -> Key, sortDescriptors: [SortDescriptor]
    ) -> SectionedResults<Key, Element> {
        sectioned(sortDescriptors: sortDescriptors, block)
    }
}

extension RealmCollection {
    fileprivate func verify(_ name: String, _ sortDescriptors: [SortDescriptor]) {
        guard let first = sortDescriptors.first else {
            misuse("Can not section Results with empty sortDescriptor parameter.")
        }
        guard first.keyPath == name else { misuse("The section key path must match the primary sort descriptor.") }
    }

    /// Returns the sorted elements, with a section for each key that `keyBlock` returns.
    public func sectioned<Key: _Persistable & Hashable>(
        sortDescriptors: [SortDescriptor], _ keyBlock: @escaping (Element) -> Key
    ) -> SectionedResults<Key, Element> {
        guard !sortDescriptors.isEmpty else { misuse("Can not section Results with empty sortDescriptor parameter.") }
        return SectionedResults(sorted(by: sortDescriptors), keyBlock, sortDescriptors.map(\.keyPath))
    }
}

extension RealmCollection where Element: _RealmStorable {
    /// Returns the sorted values, with a section for each key that `block` returns.
    public func sectioned<Key: _Persistable & Hashable>(
        by block: @escaping (Element) -> Key, ascending: Bool = true
    ) -> SectionedResults<Key, Element> {
        sectioned(sortDescriptors: [SortDescriptor(keyPath: "self", ascending: ascending)], block)
    }
}

extension RealmCollection {
    /// Returns the projections sorted by a property of the root object, with a section for each value of the projected
    /// property.
    public func sectioned<Key: _Persistable & Hashable, O: ObjectBase>(
        by keyPath: Swift.KeyPath<Element, Key>, ascending: Bool = true
    ) -> SectionedResults<Key, Element> where Element: Projection<O> {
        sectioned(sortDescriptors: [SortDescriptor(keyPath: name(ofProjected: keyPath), ascending: ascending)]) {
            $0[keyPath: keyPath]
        }
    }

    /// Returns the sorted projections, with a section for each value of a projected property. The first sort descriptor
    /// must sort by this property.
    public func sectioned<Key: _Persistable & Hashable, O: ObjectBase>(
        by keyPath: Swift.KeyPath<Element, Key>, sortDescriptors: [SortDescriptor]
    ) -> SectionedResults<Key, Element> where Element: Projection<O> {
        verify(name(ofProjected: keyPath), sortDescriptors)
        return sectioned(sortDescriptors: sortDescriptors) { $0[keyPath: keyPath] }
    }

    /// Returns the sorted projections, with a section for each key that `block` returns.
    public func sectioned<Key: _Persistable & Hashable, O: ObjectBase>(
        by block: @escaping (Element) -> Key, sortDescriptors: [SortDescriptor]
    ) -> SectionedResults<Key, Element> where Element: Projection<O> {
        sectioned(sortDescriptors: sortDescriptors, block)
    }
}
