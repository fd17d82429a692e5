/// Copies of a user's bytes, for as long as a call needs them, in memory that no core dump shows.
struct ScratchBuffers {
    /// Whose bytes a buffer holds: each role has its own, so that a copy stays good until the same role needs the next.
    enum Role: Int { case value, key, moved }

    private var buffers: [HiddenMemory?] = [nil, nil, nil]

    /// - Returns: a copy, good until the next one of its role.
    mutating func copy(_ bytes: Bytes, _ role: Role) throws(RealmError) -> Bytes {
        let i = role.rawValue
        if buffers[i]?.count ?? 0 < bytes.count { buffers[i] = try HiddenMemory(bytes.count) }
        guard let to = buffers[i], let from = bytes.baseAddress else { return bytes }
        Platform.copy(to.base, from, bytes.count)
        return Bytes(start: to.base, count: bytes.count)
    }
}
