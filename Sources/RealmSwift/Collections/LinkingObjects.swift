internal import CoreEngine

/// The objects that link to this object through a property: `@Persisted(originProperty: "dogs") var owners:
/// LinkingObjects<Person>`. The collection is live. It is computed and not stored.
public struct LinkingObjects<Element: ObjectBase & RealmCollectionValue> {
    private let found: _Rows?
    var rows: _Rows? { found ?? plain?.rows }
    let originProperty: String
    private let noted: _Recording?
    fileprivate var recorder: _Recording? { noted ?? plain?.recorder }

    /// Set for a field of a model without `@Persisted`, whose object is attached later.
    private let plain: PlainLinks?

    /// Creates linking objects.
    ///
    /// - Parameter propertyName: The property of the other class.
    public init(fromType _: Element.Type, property propertyName: String) {
        (found, originProperty, noted, plain) = (nil, propertyName, nil, PlainLinks())
    }

    init(origin: String) { (found, originProperty, noted, plain) = (nil, origin, nil, nil) }

    init(_ rows: _Rows) { (found, originProperty, noted, plain) = (rows, "", nil, nil) }

    fileprivate init(recording: _Recording) { (found, originProperty, noted, plain) = (nil, "", recording, nil) }
}

extension LinkingObjects: RealmCollection {
    public func _rlmRows() -> _Rows {
        guard let rows else { misuse("Linking objects of an object that no Realm manages cannot be queried") }
        return rows
    }

    /// The Realm that manages the collection; nil for an unmanaged one.
    public var realm: Realm? { rows.map { Realm($0.core) } }

    /// A Boolean value that indicates whether the collection's owner was deleted or its Realm was closed.
    public var isInvalidated: Bool { rows.map { !$0.isValid } ?? false }

    /// A Boolean value that indicates whether the collection is frozen. A frozen collection shows one version and may
    /// be used on any thread.
    public var isFrozen: Bool { rows?.core.realm.isFrozen ?? false }

    /// The current number of elements.
    public var count: Int { rows.map { isInvalidated ? 0 : $0.count } ?? 0 }

    /// Accesses the element at an index. An invalid index is misuse.
    public subscript(position: Int) -> Element {
        if let recorder { return Element._rlmStandIn(recorder) }
        guard let rows else { misuse("Index \(position) is out of bounds (must be less than 0).") }
        return rows.element(position, Element.self)
    }

    /// Returns an iterator over the current elements.
    public func makeIterator() -> RLMIterator<Element> { rows.map { RLMIterator($0) } ?? RLMIterator([]) }

    /// Returns the index of the first equal element; nil if no element is equal.
    public func index(of element: Element) -> Int? { rows.flatMap { Results<Element>($0).index(of: element) } }
}

/// The content of linking objects in a model without `@Persisted`.
private final class PlainLinks {
    var rows: _Rows?
    var recorder: _Recording?
}

extension LinkingObjects: PlainProperty {
    func show(_ object: ObjectBase, _ index: Int16) { plain?.rows = Self._rlmGet(object, index).rows }

    func record(_ recorder: _Recording) { plain?.recorder = recorder }
    var plainRecorder: _Recording? { recorder }
    var plainValue: Any? { self }

    func storePlain(at place: _Place) throws {}

    func setPlain(_ any: Any) -> Bool { false }
}

extension LinkingObjects: SameByIdentity {
    func isSame(as other: any SameByIdentity) -> Bool {
        guard let other = other as? LinkingObjects else { return false }
        guard let a = rows, let b = other.rows else {
            return rows == nil && other.rows == nil && originProperty == other.originProperty
        }
        return a.found === b.found
    }
}

extension LinkingObjects: AnyCollectionText {}

extension LinkingObjects: LinkingOrigin {}

extension LinkingObjects: _LinkingObjects {
    public static var _rlmPropertyShape: _PropertyShape {
        _PropertyShape(.linkingObjects, target: Element.self).collection(.list)
    }

    public static func _rlmDefault() -> LinkingObjects<Element> { LinkingObjects(origin: "") }

    public static func _rlmDefault(origin: String) -> LinkingObjects<Element> { LinkingObjects(origin: origin) }

    public static func _rlmGet(_ object: ObjectBase, _ index: Int16) -> LinkingObjects<Element> {
        guard let managed = object.managed else { misuse("The object is not managed") }
        let (origin, column) = origin(managed, index)
        let found = must { () throws(EngineError) in
            try managed.core.realm.inside(.object) { () throws(EngineError) in
                try origin.narrowed(
                    try ResultSet(
                        managed.core.realm, .backlinks(of: managed.table, object.named.key, from: origin.table, column))
                )
            }
        }
        return LinkingObjects(_Rows(managed.core, found, origin))
    }

    private static func origin(_ managed: ManagedClass, _ index: Int16) -> (ManagedClass, ColKey) {
        if Element.self == DynamicObject.self {
            guard let found = managed.origin(of: index) else {
                misuse("The class behind '\(managed.info.name)' is not there")
            }
            return found
        }
        let origin = managed.core.managed(Element.self), name = managed.info.properties[Int(index)].origin
        guard let property = origin.info.property(name) else {
            misuse("'\(origin.info.name)' has no property '\(name)'")
        }
        return (origin, origin.columns[Int(property.index)])
    }

    public static func _rlmSet(_ object: ObjectBase, _ index: Int16, _ value: LinkingObjects<Element>) {
        misuse("'\(object.propertyText(index))' is computed: it cannot be set")
    }

    public static func _rlmRecord(_ object: ObjectBase, _ index: Int16) -> LinkingObjects<Element> {
        LinkingObjects(recording: object.recording(index))
    }

    public func _rlmStoreProperty(at place: _Place) throws {}

    public static func _rlmStoreAnyProperty(_ any: Any, at place: _Place) throws -> Bool { true }

    public static func _rlmConvertProperty(_ any: Any) -> LinkingObjects<Element>? { nil }
}
