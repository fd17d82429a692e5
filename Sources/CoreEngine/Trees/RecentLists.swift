/// Remembers the object lists of index values that were used last. An object with such a value is appended to its list
/// without a search in the index, and without reading another object to compare values. This makes it faster to
/// create many objects that have the same values.
///
/// The class remembers only short values, of columns in which all objects of a list have the same value. Everything is
/// forgotten when an entry is removed from an index, or when the root of an index is replaced.
///
/// Thread rule: that of its table.
final class RecentLists {
    private struct Place {
        var key: (UInt64, UInt64)

        /// 0 in an unused entry.
        var description: UInt64
        var list: Ref
    }

    private static let count = 4096

    /// The number of lists after which the class begins to remember: for fewer, its memory would cost more than it
    /// saves.
    private static let patience = 64

    private var met = 0
    private var memory: HiddenMemory?
    private var places: UnsafeMutablePointer<Place>?

    /// A part of the `description` of each entry. `forget` begins a new generation, so that older entries do not match.
    private var generation: UInt64 = 1

    func forget() { if places != nil { generation &+= 1 } }

    /// The entry for a column and a value, still without a list; nil for values that are not remembered.
    @inline(__always) private func place(_ value: Mixed, _ column: Int) -> Place? {
        var key: (UInt64, UInt64) = (0, 0)
        let kind: UInt64
        switch value {
        case .string(let text):
            guard text.count <= 16 else { return nil }
            kind = 1 << 8 | UInt64(text.count)
            if let start = text.baseAddress {
                if text.count >= 8 {
                    key = (
                        start.loadUnaligned(as: UInt64.self),
                        start.loadUnaligned(fromByteOffset: text.count &- 8, as: UInt64.self)
                    )
                } else {
                    for i in 0..<text.count {
                        key.0 = key.0 << 8 | UInt64(start.load(fromByteOffset: i, as: UInt8.self))
                    }
                }
            }
        case .int(let integer): (kind, key.0) = (2 << 8, UInt64(bitPattern: integer))
        case .bool(let flag): (kind, key.0) = (3 << 8, flag ? 1 : 0)
        case .null: kind = 4 << 8
        default: return nil
        }
        return Place(key: key, description: generation << 32 | UInt64(column & 0xFFFF) << 16 | kind, list: .null)
    }

    @inline(__always) private func index(_ place: Place) -> Int {
        let mixed = (place.key.0 ^ place.key.1 &* 0x9E37_79B9_7F4A_7C15 ^ place.description) &* 0xD6E8_FEB8_6659_FD93
        return Int(mixed >> 52)
    }

    @inline(__always) private func known(_ value: Mixed, _ column: Int) -> Ref? {
        guard let places, let wanted = place(value, column) else { return nil }
        let found = places + index(wanted)
        guard found.pointee.description == wanted.description, found.pointee.key == wanted.key else { return nil }
        return found.pointee.list
    }

    /// Remembers the list of a value.
    func note(_ value: Mixed, _ column: Int, list: Ref) {
        guard var wanted = place(value, column) else { return }
        if places == nil {
            met &+= 1
            guard met > Self.patience, let memory = try? HiddenMemory(Self.count * MemoryLayout<Place>.stride) else {
                return
            }
            self.memory = memory
            places = memory.base.bindMemory(to: Place.self, capacity: Self.count)
        }
        guard let places else { return }
        wanted.list = list
        places[index(wanted)] = wanted
    }

    /// Whether `list` is known to be the list of this value alone.
    func holds(_ value: Mixed, _ column: Int, list: Ref) -> Bool { known(value, column) == list }

    /// Appends an object to the known list of its value, if that only adds one integer at the end. Returns false and
    /// changes nothing if the index must be searched.
    @inline(__always) func append(_ value: Mixed, _ column: Int, _ key: ObjKey, _ store: NodeStore) throws(RealmError)
        -> Bool
    {
        guard let list = known(value, column), store.isOwn(list) else { return false }
        var node = try store.node(list)
        guard !node.hasRefs, node.widthType == 0, node.count > 0, node.count < Format.treeCapacity,
            node.get(node.count &- 1) < key.raw,
            Widths.fits(key.raw, node.width), ((node.count &+ 1) &* node.width &+ 7) >> 3 <= store.capacity(node)
        else { return false }
        store.isTouched = true
        node.put(node.count, key.raw)
        node.count &+= 1
        store.storeHeader(node)
        return true
    }
}
