/// An array of refs and tagged integers in which each place has a meaning: the top of a table, the tables of a group.
struct Slots {
    private var node: Node

    /// Opens the array at `ref`.
    init(_ store: NodeStore, _ ref: Ref) throws(RealmError) { node = try store.refsNode(ref) }

    /// A new array; returns its ref.
    static func create(_ store: NodeStore, _ values: [RefOrTagged] = []) throws(RealmError) -> Ref {
        try store.makeRefs(values).ref
    }

    var ref: Ref { node.ref }
    var count: Int { node.count }

    /// Whether the node is marked as an inner node of a tree, which no such array is.
    var isInner: Bool { node.isInner }

    /// The ref in a place; an error for a number, and for a place that is not there.
    func child(_ i: Int) throws(RealmError) -> Ref { try node.child(i) }

    /// The element in a place.
    func slot(_ i: Int) throws(RealmError) -> RefOrTagged { try node.slot(i) }

    // MARK: Changing

    /// Moves the array to the slab, with room for `extra` more elements. Comes before `set`.
    mutating func makeWritable(_ store: NodeStore, extra: Int = 0) throws(RealmError) {
        node = try store.writableRefs(node, extra: extra)
    }

    func set(_ i: Int, _ value: RefOrTagged, _ store: NodeStore) { store.setSlot(node, i, value) }

    func set(_ i: Int, _ ref: Ref, _ store: NodeStore) { store.setSlot(node, i, ref) }

    mutating func append(_ value: RefOrTagged, _ store: NodeStore) throws(RealmError) {
        try store.insertSlot(&node, node.count, value)
    }

    /// Frees the array, not what it refers to.
    func free(_ store: NodeStore) { store.free(node) }
}

/// An array of integers that is no leaf of a tree.
struct Integers {
    private var node: Node

    /// Opens the array at `ref`.
    init(_ store: NodeStore, _ ref: Ref) throws(RealmError) { node = try store.integers(ref) }

    /// No elements, and no place.
    init(none: NodeStore) { node = Node(address: none.base, ref: .null, count: 0, width: 0, flags: 0) }

    /// A new array; returns its ref.
    static func create(_ store: NodeStore, _ values: [Int64] = []) throws(RealmError) -> Ref {
        try store.makeIntegers(values).ref
    }

    @inline(__always) var ref: Ref { node.ref }
    @inline(__always) var count: Int { node.count }

    /// `0 ≤ i < count`.
    @inline(__always) func get(_ i: Int) -> Int64 { node.get(i) }

    mutating func erase(_ i: Int, _ store: NodeStore) throws(RealmError) { try store.eraseIntegers(&node, i) }
}

/// An array of names: of tables, of columns.
struct Names {
    private var node: Node

    /// Opens the array at `ref`.
    init(_ store: NodeStore, _ ref: Ref) throws(RealmError) { node = try store.node(ref) }

    /// A new array.
    init(new store: NodeStore) throws(RealmError) {
        node = try store.allocate(NodeHeader(widthType: .multiply, width: 0, count: 0), capacity: 64)
    }

    var ref: Ref { node.ref }
    var count: Int { node.count }

    func get(_ i: Int, _ store: NodeStore) throws(RealmError) -> Name { try store.name(node, i) }

    /// Sets a name, or appends it if `i` is the count; nil writes a null slot.
    mutating func set(_ i: Int, _ name: Name?, _ store: NodeStore) throws(RealmError) {
        try store.setName(&node, i, name)
    }
}
