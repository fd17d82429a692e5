internal import CoreEngine
import Foundation

/// Results in sections: the elements that have a key in common, in the order in which the keys come first.
///
///     let people = realm.objects(Person.self).sectioned(by: \.initial)
///     for section in people { print(section.key, section.map(\.name)) }
///
/// Live: which sections there are is found out anew when the Realm has moved or was written. A block that gives keys runs where the Realm lives,
/// once for
/// each element.
public final class SectionedResults<Key: Hashable, Element: RealmCollectionValue> {
    private let results: Results<Element>
    private let key: (Element) -> Key
    private var layout: SectionLayout<Key>?
    private var layoutAt = UInt64.max

    init(_ results: Results<Element>, _ key: @escaping (Element) -> Key) {
        self.results = results
        self.key = key
    }
    /// The Realm that manages it; nil for an unmanaged one.
    public var realm: Realm? { results.realm }
    /// Whether its owner was deleted, or the Realm closed.
    public var isInvalidated: Bool { results.isInvalidated }
    /// Whether it shows one version for good, for all threads.
    public var isFrozen: Bool { results.isFrozen }
    /// The keys of the sections, in their order.
    public var allKeys: [Key] { current().keys }

    private func current() -> SectionLayout<Key> {
        let state = results.rows.core.realm.stateCount
        if let layout, layoutAt == state { return layout }
        let found = SectionLayout(results.map(key))
        if !isFrozen { (layout, layoutAt) = (found, state) }
        return found
    }
    /// The section of a key, nil when there is none.
    public func section(of key: Key) -> ResultsSection<Key, Element>? {
        current().keys.firstIndex(of: key).map { self[$0] }
    }
    /// The element at a place: a section, and an index in it.
    public subscript(indexPath: IndexPath) -> Element { self[indexPath[0]][indexPath[1]] }
    fileprivate func places(_ section: Key) -> [Int] {
        let layout = current()
        return layout.keys.firstIndex(of: section).map { layout.places[$0] } ?? []
    }
    fileprivate func element(_ place: Int) -> Element { results[place] }
}
extension SectionedResults: RandomAccessCollection {
    public var startIndex: Int { 0 }
    public var endIndex: Int { current().keys.count }
    /// The element at an index; misuse where there is none.
    public subscript(position: Int) -> ResultsSection<Key, Element> {
        let keys = current().keys
        guard keys.indices.contains(position) else { misuse("Index \(position) is out of bounds (must be less than \(keys.count)).") }
        return ResultsSection(key: keys[position], of: self)
    }
}
/// One section. Live: a section that no element is in any more is empty.
public struct ResultsSection<Key: Hashable, Element: RealmCollectionValue>: RandomAccessCollection, Identifiable {
    /// What the elements have in common.
    public let key: Key
    private let all: SectionedResults<Key, Element>
    fileprivate init(key: Key, of all: SectionedResults<Key, Element>) { (self.key, self.all) = (key, all) }
    public var id: Key { key }
    public var startIndex: Int { 0 }
    public var endIndex: Int { all.places(key).count }
    /// The element at an index; misuse where there is none.
    public subscript(position: Int) -> Element {
        let places = all.places(key)
        guard places.indices.contains(position) else { misuse("Index \(position) is out of bounds (must be less than \(places.count)).") }
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
    /// What became of the sections when rows changed: a row whose key is another one went and came.
    func change<C>(
        to new: SectionLayout, _ collection: C, deletions: [Int], insertions: [Int], modifications: [Int]
    ) -> SectionedResultsChange<C> {
        var gone = Set(deletions), came = Set(insertions), changed: [IndexPath] = []
        for (old, now) in zip(remaining(deletions, rowKeys.count), remaining(insertions, new.rowKeys.count)) where modifications.contains(old) {
            if rowKeys[old] == new.rowKeys[now] {
                changed.append(paths[old])
            } else {
                gone.insert(old)
                came.insert(now)
            }
        }
        let before = Set(keys), after = Set(new.keys)
        return .update(
            collection, deletions: gone.sorted().map { paths[$0] }, insertions: came.sorted().map { new.paths[$0] }, modifications: changed,
            sectionsToInsert: Foundation.IndexSet(new.keys.indices.filter { !before.contains(new.keys[$0]) }),
            sectionsToDelete: Foundation.IndexSet(keys.indices.filter { !after.contains(keys[$0]) }))
    }
    /// Rows that are no others.
    private func remaining(_ others: [Int], _ count: Int) -> [Int] {
        let others = Set(others)
        return (0..<count).filter { !others.contains($0) }
    }
}
/// What changed in sections: `deletions`, `modifications` and `sectionsToDelete` are places before the change, the others after it.
@frozen public enum SectionedResultsChange<Collection> {
    case initial(Collection)
    case update(
        Collection, deletions: [IndexPath], insertions: [IndexPath], modifications: [IndexPath], sectionsToInsert: Foundation.IndexSet,
        sectionsToDelete: Foundation.IndexSet)
    case error(any Error)
}
extension SectionedResults {
    /// Calls `block` once with the sections as they are, then whenever elements come, go, change their section or are modified.
    public func observe(
        keyPaths: [String]? = nil, _ block: @escaping (SectionedResultsChange<SectionedResults>) -> Void
    ) -> NotificationToken {
        var before = current()
        return results.observe(keyPaths: keyPaths) { [self] change in
            switch change {
            case .initial:
                before = current()
                block(.initial(self))
            case .update(_, let deletions, let insertions, let modifications):
                let after = current()
                block(before.change(to: after, self, deletions: deletions, insertions: insertions, modifications: modifications))
                before = after
            case .error(let error): block(.error(error))
            }
        }
    }
    /// The sections of this moment, for any thread.
    public func freeze() -> SectionedResults { SectionedResults(results.freeze(), key) }
    /// The live sections of frozen ones.
    public func thaw() -> SectionedResults? { results.thaw().map { SectionedResults($0, key) } }
}

extension RealmCollection where Element: ObjectBase {
    /// Sorted by a property, a section for each of its values.
    public func sectioned<Key: Hashable & _HasOrder>(
        by keyPath: Swift.KeyPath<Element, Key>, ascending: Bool = true
    ) -> SectionedResults<Key, Element> {
        SectionedResults(sorted(by: keyPath, ascending: ascending)) { $0[keyPath: keyPath] }
    }
    /// Sorted, a section for each value of a property, which may be computed.
    public func sectioned<Key: Hashable>(
        by keyPath: Swift.KeyPath<Element, Key>, sortDescriptors: [SortDescriptor]
    ) -> SectionedResults<Key, Element> {
        SectionedResults(sorted(by: sortDescriptors)) { $0[keyPath: keyPath] }
    }
}
extension RealmCollection {
    /// Sorted, a section for each key that a block gives.
    public func sectioned<Key: Hashable>(
        by block: @escaping (Element) -> Key, sortDescriptors: [SortDescriptor] = []
    ) -> SectionedResults<Key, Element> {
        SectionedResults(sorted(by: sortDescriptors), block)
    }
    public func sectioned<Key: Hashable>(sortDescriptors: [SortDescriptor] = [], _ keyBlock: @escaping (Element) -> Key) -> SectionedResults<
        Key, Element
    > {
        SectionedResults(sorted(by: sortDescriptors), keyBlock)
    }
}
