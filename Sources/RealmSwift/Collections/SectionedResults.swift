internal import CoreEngine
import Foundation

/// Results in sections: the elements that have a key in common, in the order in which the keys come first.
///
///     let people = realm.objects(Person.self).sectioned(by: \.initial)
///     for section in people { print(section.key, section.map(\.name)) }
///
/// Live: which sections there are is found out anew when the Realm has moved or was written. A block that gives keys
/// runs where the Realm lives, once for each element.
public final class SectionedResults<Key: _Persistable & Hashable, SectionElement: RealmCollectionValue> {
    fileprivate let results: Results<SectionElement>
    fileprivate let key: (SectionElement) -> Key

    /// The properties that the results are sorted by.
    private let order: [String]
    private var layout: SectionLayout<Key>?
    private var layoutAt = UInt64.max

    init(_ results: Results<SectionElement>, _ key: @escaping (SectionElement) -> Key, _ order: [String]) {
        self.results = results
        self.key = key
        self.order = order
    }

    /// The Realm that manages it; nil for an unmanaged one.
    public var realm: Realm? { results.realm }

    /// Whether its owner was deleted, or the Realm closed.
    public var isInvalidated: Bool { results.isInvalidated }

    /// Whether it shows one version for good, for all threads.
    public var isFrozen: Bool { results.isFrozen }

    /// The keys of the sections, in their order.
    public var allKeys: [Key] { current().keys }

    fileprivate func current() -> SectionLayout<Key> {
        let rows = results.rows
        // What is kept is not shown elsewhere than where the Realm lives either.
        _ = rows.core.isThere { () in true }
        let state = rows.core.realm.stateCount
        if let layout, layoutAt == state { return layout }
        let found = SectionLayout(results.map(key))
        if !isFrozen { (layout, layoutAt) = (found, state) }
        return found
    }

    /// The section of a key, nil when there is none.
    public func section(of key: Key) -> ResultsSection<Key, SectionElement>? {
        current().keys.firstIndex(of: key).map { self[$0] }
    }

    /// The element at a place: a section, and an index in it.
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

    /// The element at an index; misuse where there is none.
    public subscript(position: Int) -> ResultsSection<Key, SectionElement> {
        let keys = current().keys
        guard keys.indices.contains(position) else { outOfBounds(position, keys.count) }
        return ResultsSection(key: keys[position], of: self)
    }
}

/// One section. Live: a section that no element is in any more is empty.
public struct ResultsSection<Key: _Persistable & Hashable, T: RealmCollectionValue>: RandomAccessCollection,
    Identifiable
{
    /// What the elements have in common.
    public let key: Key
    fileprivate let all: SectionedResults<Key, T>

    fileprivate init(key: Key, of all: SectionedResults<Key, T>) { (self.key, self.all) = (key, all) }
    public var id: Key { key }
    public var startIndex: Int { 0 }
    public var endIndex: Int { all.places(key).count }

    /// The element at an index; misuse where there is none.
    public subscript(position: Int) -> T {
        let places = all.places(key)
        guard places.indices.contains(position) else { outOfBounds(position, places.count) }
        return all.element(places[position])
    }
}

/// Which rows are in which section.
struct SectionLayout<Key: Hashable> {
    private(set) var keys: [Key] = []

    /// Rows of each section.
    private(set) var places: [[Int]] = []

    /// Section and place in it, of each row.
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

    /// What became of the sections when rows changed: a modified row in another place went and came.
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

    /// The same for one section, by its places before and after; nil when nothing of it changed.
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

    /// Rows that went, came and were modified: one that was modified and has another place in its section, or another
    /// section, went and came.
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

    /// Rows that are no others.
    private func remaining(_ others: [Int], _ count: Int) -> [Int] {
        let others = Set(others)
        return (0..<count).filter { !others.contains($0) }
    }
}

/// What changed in sections: of a section that went the elements are not told one by one. `deletions`, `modifications`
/// and `sectionsToDelete` are places before the change, the others after it.
@frozen public enum SectionedResultsChange<Collection> {
    case initial(Collection)
    case update(
        Collection, deletions: [IndexPath], insertions: [IndexPath], modifications: [IndexPath],
        sectionsToInsert: Foundation.IndexSet,
        sectionsToDelete: Foundation.IndexSet)
}

/// The older name.
public typealias RealmSectionedResultsChange = SectionedResultsChange

extension SectionedResults: Equatable, ThreadConfined {
    /// Whether both are the same sections, not only equal ones.
    public static func == (a: SectionedResults, b: SectionedResults) -> Bool { a === b }

    public func _rlmMove(to realm: Realm) -> SectionedResults? {
        results._rlmMove(to: realm).map { SectionedResults($0, key, order) }
    }

    public func _rlmCarried() -> _Carried? {
        let key = key, order = order
        return results._rlmCarried()?.map(Results<SectionElement>.self) { SectionedResults($0, key, order) }
    }

    /// Calls `block` once with the sections as they are, then whenever elements come, go, change their section or are
    /// modified.
    ///
    /// - Parameters:
    ///   - keyPaths: what counts as a modification of an object, besides what moves it to another section.
    ///   - queue: a serial queue to run on; nil: where the Realm lives.
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

    /// Told of each change of the results with the sections before and after it, and of the first state without one.
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

    /// The sections as rows are ordered by decide where an object is: what that reads is observed in any case.
    private var sectioningPaths: [String] { order }
}

extension ResultsSection: Equatable, ThreadConfined, CustomStringConvertible {
    public static func == (a: ResultsSection, b: ResultsSection) -> Bool { a.all === b.all && a.key == b.key }

    /// The Realm of the elements.
    public var realm: Realm? { all.realm }

    /// Whether the results are gone, or no element is in the section any more.
    public var isInvalidated: Bool { all.isInvalidated }

    /// Whether it shows one version for good, for all threads.
    public var isFrozen: Bool { all.isFrozen }
    public var description: String { "\(key): \(Array(self))" }

    public func _rlmMove(to realm: Realm) -> ResultsSection? {
        all._rlmMove(to: realm).map { ResultsSection(key: key, of: $0) }
    }

    public func _rlmCarried() -> _Carried? {
        let key = key
        return all._rlmCarried()?.map(SectionedResults<Key, T>.self) { ResultsSection(key: key, of: $0) }
    }

    /// As `observe` of the sections, of this one alone: the first index of each path is that of the section.
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
    /// As `observe(keyPaths:on:)`, with key paths that the compiler checks.
    public func observe(
        keyPaths: [PartialKeyPath<SectionElement>], on queue: DispatchQueue? = nil,
        _ block: @escaping (SectionedResultsChange<SectionedResults>) -> Void
    ) -> NotificationToken {
        observe(keyPaths: keyPaths.map { name(of: $0) }, on: queue, block)
    }
}

extension ResultsSection where T: ObjectBase {
    /// As `observe(keyPaths:on:)`, with key paths that the compiler checks.
    public func observe(
        keyPaths: [PartialKeyPath<T>], on queue: DispatchQueue? = nil,
        _ block: @escaping (SectionedResultsChange<ResultsSection>) -> Void
    ) -> NotificationToken {
        observe(keyPaths: keyPaths.map { name(of: $0) }, on: queue, block)
    }
}

extension RealmCollection where Element: ObjectBase {
    /// Sorted by a property, a section for each of its values. A computed property is sorted by the stored one that it
    /// reads.
    public func sectioned<Key: _Persistable & Hashable>(
        by keyPath: Swift.KeyPath<Element, Key>, ascending: Bool = true
    ) -> SectionedResults<Key, Element> {
        sectioned(sortDescriptors: [SortDescriptor(keyPath: name(of: keyPath), ascending: ascending)]) {
            $0[keyPath: keyPath]
        }
    }

    /// Sorted, a section for each value of a property, by which the first descriptor sorts.
    public func sectioned<Key: _Persistable & Hashable>(
        by keyPath: Swift.KeyPath<Element, Key>, sortDescriptors: [SortDescriptor]
    ) -> SectionedResults<Key, Element> {
        verify(name(of: keyPath), sortDescriptors)
        return sectioned(sortDescriptors: sortDescriptors) { $0[keyPath: keyPath] }
    }

    /// Sorted, a section for each key that a block gives.
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

    /// Sorted, a section for each key that a block gives.
    public func sectioned<Key: _Persistable & Hashable>(
        sortDescriptors: [SortDescriptor], _ keyBlock: @escaping (Element) -> Key
    ) -> SectionedResults<Key, Element> {
        guard !sortDescriptors.isEmpty else { misuse("Can not section Results with empty sortDescriptor parameter.") }
        return SectionedResults(sorted(by: sortDescriptors), keyBlock, sortDescriptors.map(\.keyPath))
    }
}

extension RealmCollection where Element: _RealmStorable {
    /// The values in their order, a section for each key that a block gives.
    public func sectioned<Key: _Persistable & Hashable>(
        by block: @escaping (Element) -> Key, ascending: Bool = true
    ) -> SectionedResults<Key, Element> {
        sectioned(sortDescriptors: [SortDescriptor(keyPath: "self", ascending: ascending)], block)
    }
}

extension RealmCollection {
    /// Sorted by a property of the root object, a section for each value of the projected one.
    public func sectioned<Key: _Persistable & Hashable, O: ObjectBase>(
        by keyPath: Swift.KeyPath<Element, Key>, ascending: Bool = true
    ) -> SectionedResults<Key, Element> where Element: Projection<O> {
        sectioned(sortDescriptors: [SortDescriptor(keyPath: name(ofProjected: keyPath), ascending: ascending)]) {
            $0[keyPath: keyPath]
        }
    }

    /// Sorted, a section for each value of a projected property, by which the first descriptor sorts.
    public func sectioned<Key: _Persistable & Hashable, O: ObjectBase>(
        by keyPath: Swift.KeyPath<Element, Key>, sortDescriptors: [SortDescriptor]
    ) -> SectionedResults<Key, Element> where Element: Projection<O> {
        verify(name(ofProjected: keyPath), sortDescriptors)
        return sectioned(sortDescriptors: sortDescriptors) { $0[keyPath: keyPath] }
    }

    /// Sorted, a section for each key that a block gives.
    public func sectioned<Key: _Persistable & Hashable, O: ObjectBase>(
        by block: @escaping (Element) -> Key, sortDescriptors: [SortDescriptor]
    ) -> SectionedResults<Key, Element> where Element: Projection<O> {
        sectioned(sortDescriptors: sortDescriptors, block)
    }
}
