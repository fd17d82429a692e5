internal import CoreEngine
import Foundation

/// An ordered collection in a property: `@Persisted var dogs: List<Dog>`.
///
/// An unmanaged list holds its elements itself, and becomes managed together with its object. Changing a managed list
/// outside of a write transaction is misuse.
public final class List<Element: RealmCollectionValue> {
    /// The elements of an unmanaged list.
    private var values: [Element] = []

    /// The collection of a managed list; nil otherwise.
    var managed: ManagedCollection?

    /// The recorder of a stand-in; nil otherwise.
    var recorder: _Recording?

    /// Creates an empty unmanaged list.
    public init() {}

    init(_ managed: ManagedCollection) { self.managed = managed }

    init(recording: _Recording) { recorder = recording }

    // MARK: Reading

    /// The current number of elements.
    public var count: Int { managed?.count ?? values.count }

    /// Accesses the element at an index. An invalid index is misuse.
    public subscript(position: Int) -> Element {
        get {
            if let recorder { return Element._rlmStandIn(recorder) }
            guard let managed else {
                verify(position, values.count)
                return values[position]
            }
            return Element.element(managed.stored(at: position))
        }
        set {
            guard let managed else {
                verify(position, values.count)
                values[position] = newValue
                return
            }
            managed.store(newValue, .element(managed.path, position))
        }
    }

    /// Accesses the elements of a range. The number of assigned elements may differ from the length of the range.
    public subscript(bounds: Range<Int>) -> Slice<List<Element>> {
        get {
            guard bounds.lowerBound >= 0, bounds.upperBound <= count else {
                outOfBounds(bounds.lowerBound < 0 ? bounds.lowerBound : bounds.upperBound, count)
            }
            return Slice(base: self, bounds: bounds)
        }
        set {
            // A change of an element in the slice has already changed this list.
            if newValue.base === self, newValue.startIndex == bounds.lowerBound, newValue.endIndex == bounds.upperBound
            {
                return
            }
            replaceSubrange(bounds, with: Array(newValue))
        }
    }

    private func verify(_ index: Int, _ limit: Int) {
        guard index >= 0, index < limit else { outOfBounds(index, limit) }
    }

    /// Returns the index of the first equal element; nil if no element is equal.
    public func index(of element: Element) -> Int? {
        guard let managed else { return values.firstIndex(of: element) }
        return element._rlmValue().flatMap { managed.index(of: $0.value) }
    }

    // MARK: Changing

    /// Appends an element.
    public func append(_ object: Element) { insert(object, at: count) }

    /// Appends several elements.
    public func append<S: Sequence>(objectsIn objects: S) where S.Iterator.Element == Element {
        for object in Array(objects) { append(object) }
    }

    /// Inserts an element before the element at an index. If the index is `count`, the element is appended.
    public func insert(_ object: Element, at index: Int) {
        guard let managed else {
            verify(index, values.count + 1)
            return values.insert(object, at: index)
        }
        managed.store(object, .insertion(managed.path, index))
    }

    /// Inserts several elements before the element at an index.
    public func insert<C: Swift.Collection>(contentsOf newElements: C, at i: Int) where C.Iterator.Element == Element {
        for (offset, element) in Array(newElements).enumerated() { insert(element, at: i + offset) }
    }

    /// Removes an element. An embedded object is deleted; any other object stays in the Realm.
    public func remove(at index: Int) {
        guard let managed else {
            verify(index, values.count)
            values.remove(at: index)
            return
        }
        managed.verify(index)
        managed.change { (realm, path) throws(EngineError) in try realm.erase(at: index, in: path) }
    }

    /// Removes the elements at several indices.
    public func remove(atOffsets offsets: Foundation.IndexSet) {
        for i in offsets.reversed() { remove(at: i) }
    }

    /// Removes the first elements.
    public func removeFirst(_ number: Int = 1) {
        verify(number, count + 1)
        for i in (0..<number).reversed() { remove(at: i) }
    }

    /// Removes the last elements.
    public func removeLast(_ number: Int = 1) {
        verify(number, count + 1)
        for _ in 0..<number { remove(at: count - 1) }
    }

    /// Removes the elements of a range.
    public func removeSubrange<R: RangeExpression>(_ bounds: R) where R.Bound == Int {
        for i in bounds.relative(to: self).reversed() { remove(at: i) }
    }

    /// Removes all elements. Embedded objects are deleted; other objects stay in the Realm.
    public func removeAll() {
        guard let managed else { return values.removeAll() }
        managed.change { (realm, path) throws(EngineError) in try realm.clear(path, .list) }
    }

    /// Replaces an element.
    public func replace(index: Int, object: Element) { self[index] = object }

    /// Replaces the elements of a range.
    public func replaceSubrange<C: Swift.Collection, R: RangeExpression>(_ subrange: R, with newElements: C)
    where C.Iterator.Element == Element, R.Bound == Int {
        let range = subrange.relative(to: self), elements = independent(Array(newElements))
        removeSubrange(range)
        insert(contentsOf: elements, at: range.lowerBound)
    }

    /// Moves an element to the index `to`.
    public func move(from: Int, to: Int) {
        guard let managed else {
            verify(from, values.count)
            verify(to, values.count)
            return values.insert(values.remove(at: from), at: to)
        }
        managed.verify(from)
        managed.verify(to)
        managed.change { (realm, path) throws(EngineError) in try realm.move(from, to: to, in: path) }
    }

    /// Moves several elements before the element at an offset, as list views of user interfaces request it.
    public func move(fromOffsets offsets: Foundation.IndexSet, toOffset destination: Int) {
        var target = destination
        for (done, from) in offsets.filter({ $0 < destination }).reversed().enumerated() {
            _ = done
            move(from: from, to: target - 1)
            target -= 1
        }
        target = destination
        for from in offsets.filter({ $0 >= destination }) {
            move(from: from, to: target)
            target += 1
        }
    }

    /// Swaps two elements.
    public func swapAt(_ i: Int, _ j: Int) {
        guard let managed else {
            verify(i, values.count)
            verify(j, values.count)
            return values.swapAt(i, j)
        }
        managed.verify(i)
        managed.verify(j)
        let (low, high) = (Swift.min(i, j), Swift.max(i, j))
        guard low != high else { return }
        managed.change { (realm, path) throws(EngineError) in
            try realm.move(high, to: low, in: path)
            try realm.move(low + 1, to: high, in: path)
        }
    }

    /// Deletes the objects in the list.
    func deleteObjects() {
        guard let managed else { return values.removeAll() }
        managed.change { (realm, path) throws(EngineError) in try realm.removeAll(path, .list) }
    }
}

extension List: RealmCollection {
    public func _rlmRows() -> _Rows {
        guard let managed else { misuse("This method may only be called on List instances retrieved from an RLMRealm") }
        return managed.rows()
    }

    /// Returns an iterator over the current elements.
    public func makeIterator() -> RLMIterator<Element> { managed.map { RLMIterator($0.rows()) } ?? RLMIterator(values) }
}

extension List: MutableCollection {}

extension List: SameByIdentity {
    func isSame(as other: any SameByIdentity) -> Bool {
        guard let other = other as? List<Element> else { return false }
        if self === other { return true }
        guard let a = managed, let b = other.managed else {
            return managed == nil && other.managed == nil && values == other.values
        }
        return a.isSame(as: b)
    }
}

extension List: Hashable {
    public func hash(into hasher: inout Hasher) { hasher.combine(managed?.path.hashValue ?? 0) }
}

extension List: AnyCollectionText {}

// MARK: As a property

extension List: _PropertyCollection {
    public var _rlmPlace: _CollectionPlace? { managed.map { _CollectionPlace(managed: $0) } }
    public static var _rlmPropertyShape: _PropertyShape { Element._rlmShape.collection(.list) }

    public static func _rlmGet(_ object: ObjectBase, _ index: Int16) -> List<Element> {
        object.kept(index) ?? object.keep(index, List(object.collection(index, .list, Element._rlmShape)))
    }

    public static func _rlmRecord(_ object: ObjectBase, _ index: Int16) -> List<Element> {
        List(recording: object.recording(index))
    }

    /// Replaces the elements with those of another list.
    public func _rlmAssign(_ other: List<Element>) {
        guard other !== self, !isSame(as: other) else { return }
        let elements = independent(Array(other))
        removeAll()
        append(objectsIn: elements)
    }

    public func _rlmStoreProperty(at place: _Place) throws {
        guard let target = place.collection(.list, Element._rlmShape) else { return }
        try target.replace(with: Array(self), place.addition) { element, place in try element._rlmStore(at: place) }
        if managed == nil, !place.addition.isCopying {
            managed = target
            values = []
        }
    }

    public static func _rlmStoreAnyProperty(_ any: Any, at place: _Place) throws -> Bool {
        guard let elements = sequence(in: any), let target = place.collection(.list, Element._rlmShape) else {
            return false
        }
        return try target.replace(withAny: elements, Element.self, place.addition)
    }

    public static func _rlmConvertProperty(_ any: Any) -> List<Element>? {
        guard let elements = sequence(in: any) else { return nil }
        let list = List()
        for given in elements {
            guard Element.isElement(given), let element = Element._rlmConvert(given) else { return nil }
            list.append(element)
        }
        return list
    }
}

/// Returns the elements of a value that can be converted to a list or a set: any sequence, or nil, which becomes an
/// empty sequence. Returns nil for other values.
func sequence(in any: Any) -> [Any]? {
    guard let inside = unwrapped(any) else { return [] }
    guard !(inside is [String: Any]), !(inside is String) else { return nil }
    return (inside as? any Sequence)?.boxed
}

extension Sequence { fileprivate var boxed: [Any] { map { $0 as Any } } }

extension List: Decodable where Element: Decodable {
    /// Creates a list by decoding an array of elements.
    public convenience init(from decoder: any Decoder) throws {
        self.init()
        var container = try decoder.unkeyedContainer()
        while !container.isAtEnd { append(try container.decode(Element.self)) }
    }
}

extension List: Encodable where Element: Encodable {
    /// Encodes the list as an array of elements.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        for element in self { try container.encode(element) }
    }
}
