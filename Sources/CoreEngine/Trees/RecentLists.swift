/// Where the lists of objects stand that a table's indexes had last to do with: an object with one of these values is
/// added to its list without looking for the list, and without reading what value the list is of. For rows that are
/// made in a row and share values.
///
/// Only short values are known, and only of columns where a list is of one value. What is known is forgotten as soon as
/// an entry is taken out of an index, or an index begins elsewhere.
///
/// Thread rule: that of its table.
final class RecentLists {
    private struct Place {
        var key: (UInt64, UInt64)

        /// 0 in a place that was never used.
        var description: UInt64
        var list: Ref
    }

    private static let count = 4096

    /// So many lists are met before it pays to remember them.
    private static let patience = 64

    private var met = 0
    private var memory: HiddenMemory?
    private var places: UnsafeMutablePointer<Place>?

    /// Places that were filled before the last `forget` say another number.
    private var generation: UInt64 = 1

    func forget() { if places != nil { generation &+= 1 } }

    /// The column and what there is to know of the value; nil for values that are not remembered.
    @inline(__always) private func place(_ v: Mixed, _ column: Int) -> Place? {
        var key: (UInt64, UInt64) = (0, 0)
        let kind: UInt64
        switch v {
        case .string(let b):
            guard b.count <= 16 else { return nil }
            kind = 1 << 8 | UInt64(b.count)
            if let p = b.baseAddress {
                if b.count >= 8 {
                    key = (
                        p.loadUnaligned(as: UInt64.self), p.loadUnaligned(fromByteOffset: b.count &- 8, as: UInt64.self)
                    )
                } else {
                    for i in 0..<b.count { key.0 = key.0 << 8 | UInt64(p.load(fromByteOffset: i, as: UInt8.self)) }
                }
            }
        case .int(let i): (kind, key.0) = (2 << 8, UInt64(bitPattern: i))
        case .bool(let b): (kind, key.0) = (3 << 8, b ? 1 : 0)
        case .null: kind = 4 << 8
        default: return nil
        }
        return Place(key: key, description: generation << 32 | UInt64(column & 0xFFFF) << 16 | kind, list: .null)
    }

    @inline(__always) private func index(_ p: Place) -> Int {
        let mixed = (p.key.0 ^ p.key.1 &* 0x9E37_79B9_7F4A_7C15 ^ p.description) &* 0xD6E8_FEB8_6659_FD93
        return Int(mixed >> 52)
    }

    @inline(__always) private func known(_ v: Mixed, _ column: Int) -> Ref? {
        guard let places, let p = place(v, column) else { return nil }
        let found = places + index(p)
        guard found.pointee.description == p.description, found.pointee.key == p.key else { return nil }
        return found.pointee.list
    }

    /// The list of a value is here now.
    func note(_ v: Mixed, _ column: Int, list: Ref) {
        guard var p = place(v, column) else { return }
        if places == nil {
            met &+= 1
            guard met > Self.patience, let memory = try? HiddenMemory(Self.count * MemoryLayout<Place>.stride) else {
                return
            }
            self.memory = memory
            places = memory.base.bindMemory(to: Place.self, capacity: Self.count)
        }
        guard let places else { return }
        p.list = list
        places[index(p)] = p
    }

    /// Whether the list at `list` is known to be of this value and no other.
    func holds(_ v: Mixed, _ column: Int, list: Ref) -> Bool { known(v, column) == list }

    /// Adds an object to the list of its value where that is a matter of one integer behind the others; false, and
    /// nothing happens, when the index has to be asked.
    @inline(__always) func append(_ v: Mixed, _ column: Int, _ key: ObjKey, _ store: NodeStore) throws(RealmError)
        -> Bool
    {
        guard let list = known(v, column), list.offset >= store.slabStart else { return false }
        var n = try store.node(list)
        guard !n.hasRefs, n.widthType == 0, n.count > 0, n.count < Format.treeCapacity, n.get(n.count &- 1) < key.raw,
            Widths.fits(key.raw, n.width), ((n.count &+ 1) &* n.width &+ 7) >> 3 <= store.capacity(n)
        else { return false }
        store.isTouched = true
        n.put(n.count, key.raw)
        n.count &+= 1
        store.storeHeader(n)
        return true
    }
}
