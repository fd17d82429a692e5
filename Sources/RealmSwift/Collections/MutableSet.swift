internal import CoreEngine

/// A set in a property, which contains each value once. A managed set is sorted by value; an unmanaged set keeps the
/// order of insertion.
public final class MutableSet<Element: RealmCollectionValue> {
    private var values: [Element] = []
    var managed: ManagedCollection?
    var recorder: _Recording?

    /// Creates an empty unmanaged set.
    public init() {}

    init(_ managed: ManagedCollection) { self.managed = managed }

    init(recording: _Recording) { recorder = recording }

    /// The current number of elements.
    public var count: Int { managed?.count ?? values.count }

    /// Accesses the element at an index. An invalid index is misuse.
    public subscript(position: Int) -> Element {
        if let recorder { return Element._rlmStandIn(recorder) }
        guard let managed else {
            guard values.indices.contains(position) else { outOfBounds(position, values.count) }
            return values[position]
        }
        return Element.element(managed.stored(at: position))
    }

    /// Returns whether the set contains a value.
    public func contains(_ object: Element) -> Bool { index(of: object) != nil }

    /// Returns the index of an equal element; nil if no element is equal.
    public func index(of element: Element) -> Int? {
        guard let managed else { return values.firstIndex(of: element) }
        return element._rlmValue().flatMap { managed.index(of: $0.value) }
    }

    /// Returns whether another set contains all values of this set.
    public func isSubset(of possibleSuperset: MutableSet<Element>) -> Bool {
        allSatisfy { possibleSuperset.contains($0) }
    }

    /// Returns whether another set contains any value of this set.
    public func intersects(_ otherSet: MutableSet<Element>) -> Bool { contains { otherSet.contains($0) } }

    // MARK: Changing

    /// Inserts a value if the set does not contain it.
    public func insert(_ object: Element) {
        guard let managed else {
            if !values.contains(object) { values.append(object) }
            return
        }
        managed.store(object, .member(managed.path))
    }

    /// Inserts the values of a sequence that the set does not contain.
    public func insert<S: Sequence>(objectsIn objects: S) where S.Iterator.Element == Element {
        for object in Array(objects) { insert(object) }
    }

    /// Removes a value if the set contains it.
    public func remove(_ object: Element) {
        guard let managed else { return values.removeAll { $0 == object } }
        guard let stored = object._rlmValue() else { return }
        managed.change { (realm, path) throws(EngineError) in
            try stored.value.withMixed { (m) throws(EngineError) in _ = try realm.eraseFromSet(m, path) }
        }
    }

    /// Removes all elements.
    public func removeAll() {
        guard let managed else { return values.removeAll() }
        managed.clear()
    }

    /// Removes the values that another set does not contain.
    public func formIntersection(_ other: MutableSet<Element>) {
        for element in Array(self) where !other.contains(element) { remove(element) }
    }

    /// Inserts the values of another set.
    public func formUnion(_ other: MutableSet<Element>) { insert(objectsIn: other) }

    /// Removes the values of another set.
    public func subtract(_ other: MutableSet<Element>) {
        for element in Array(other) { remove(element) }
    }
}

extension MutableSet: RealmCollection {
    public func _rlmRows() -> _Rows {
        guard let managed else {
            misuse("This method may only be called on MutableSet instances retrieved from an RLMRealm")
        }
        return managed.rows()
    }

    /// Returns an iterator over the current elements.
    public func makeIterator() -> RLMIterator<Element> { managed.map { RLMIterator($0.rows()) } ?? RLMIterator(values) }
}

extension MutableSet: SameByIdentity {
    func isSame(as other: any SameByIdentity) -> Bool {
        guard let other = other as? MutableSet<Element> else { return false }
        if self === other { return true }
        guard let a = managed, let b = other.managed else {
            return managed == nil && other.managed == nil && Set(values) == Set(other.values)
        }
        return a.isSame(as: b)
    }
}

extension MutableSet: AnyCollectionText {}

extension MutableSet: EachValueOnce {}

extension MutableSet: _PropertyCollection {
    public var _rlmPlace: _CollectionPlace? { managed.map { _CollectionPlace(managed: $0) } }
    public static var _rlmPropertyShape: _PropertyShape { Element._rlmShape.collection(.set) }

    public static func _rlmGet(_ object: ObjectBase, _ index: Int16) -> MutableSet<Element> {
        object.kept(index) ?? object.keep(index, MutableSet(object.collection(index, .set, Element._rlmShape)))
    }

    /// Replaces the elements with those of another set.
    public func _rlmAssign(_ other: MutableSet<Element>) {
        guard !isSame(as: other) else { return }
        let elements = Array(other)
        removeAll()
        insert(objectsIn: elements)
    }

    public static func _rlmRecord(_ object: ObjectBase, _ index: Int16) -> MutableSet<Element> {
        MutableSet(recording: object.recording(index))
    }

    public func _rlmStoreProperty(at place: _Place) throws {
        guard let target = place.collection(.set, Element._rlmShape) else { return }
        try target.replace(with: Array(self), place.addition) { element, place in try element._rlmStore(at: place) }
        if managed == nil, !place.addition.isCopying {
            managed = target
            values = []
        }
    }

    public static func _rlmStoreAnyProperty(_ any: Any, at place: _Place) throws -> Bool {
        guard let elements = sequence(in: any), let target = place.collection(.set, Element._rlmShape) else {
            return false
        }
        return try target.replace(withAny: elements, Element.self, place.addition)
    }

    public static func _rlmConvertProperty(_ any: Any) -> MutableSet<Element>? {
        guard let elements = sequence(in: any) else { return nil }
        let set = MutableSet()
        for given in elements {
            guard Element.isElement(given), let element = Element._rlmConvert(given) else { return nil }
            set.insert(element)
        }
        return set
    }
}

extension MutableSet: Decodable where Element: Decodable {
    /// Creates a set by decoding an array of elements.
    public convenience init(from decoder: any Decoder) throws {
        self.init()
        var container = try decoder.unkeyedContainer()
        while !container.isAtEnd { insert(try container.decode(Element.self)) }
    }
}

extension MutableSet: Encodable where Element: Encodable {
    /// Encodes the set as an array of elements.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        for element in self { try container.encode(element) }
    }
}
