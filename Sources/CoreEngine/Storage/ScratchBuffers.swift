/// Temporary copies of a user's bytes, in memory that core dumps do not contain.
struct ScratchBuffers {
    /// The purpose of a copy: each role has a separate buffer, so a copy stays valid until the same role needs the next
    /// one.
    enum Role: Int { case value, key, moved }

    private var buffers: [HiddenMemory?] = [nil, nil, nil]

    /// - Returns: a copy, valid until the next one of its role.
    mutating func copy(_ bytes: Bytes, _ role: Role) throws(RealmError) -> Bytes {
        let i = role.rawValue
        if buffers[i]?.count ?? 0 < bytes.count { buffers[i] = try HiddenMemory(bytes.count) }
        guard let to = buffers[i], let from = bytes.baseAddress else { return bytes }
        CMemory.copy(to.base, from, bytes.count)
        return Bytes(start: to.base, count: bytes.count)
    }
}
