/// The two copies of the key block, and the change of the secret that opens it. Layout: docs/security.md.
extension SealedForm {
    func writeKeyBlock(_ block: KeyBlock, _ copy: Int) throws(RealmError) {
        let isNew = try file.size() < (copy + 1) * Self.blockSize
        Platform.zero(buffer, Self.blockSize)
        block.bytes.withUnsafeBytes { Platform.copy(buffer, $0.baseAddress!, $0.count) }
        try file.write(buffer, count: isNew ? Self.blockSize : KeyBlock.size, at: copy * Self.blockSize)
    }

    /// Takes the key block that is in the file now for the one in force: its own, unless both copies are another one of
    /// this file.
    /// - Returns: both copies.
    @discardableResult
    func readKeyBlocks() throws(RealmError) -> (first: KeyBlock, second: KeyBlock) {
        let (first, second) = try Self.keyBlocks(of: file)
        guard keyBlock != first, keyBlock != second else { return (first, second) }
        guard first == second, first.fileIdentity == keyBlock.fileIdentity else {
            throw damaged("its key block was replaced")
        }
        keyBlock = first
        return (first, second)
    }

    /// Puts the key block in force in the place of both copies, durably. It stands in one of them: that copy is written
    /// first, again, in case a flush that failed kept it from the disk. So it is on the disk in one place or the other
    /// at every moment, never behind a copy that is newer.
    private func spreadKeyBlock() throws(RealmError) {
        let isFirst = try readKeyBlocks().first == keyBlock
        for copy in isFirst ? [0, 1] : [1, 0] {
            try writeKeyBlock(keyBlock, copy)
            try file.synchronizeData()
        }
    }

    func settleSecret() throws(RealmError) {
        let (first, second) = try readKeyBlocks()
        if first != second { try spreadKeyBlock() }
    }

    func changeSecret(_ encryption: Encryption) throws(RealmError) -> Bool {
        // The copies may differ, and the second may be the only one that the present secret opens.
        try spreadKeyBlock()
        let new = try keyBlock.rewrapped(dataKey, encryption)
        do throws(RealmError) {
            try writeKeyBlock(new, 1)
            try file.synchronizeData()
            try writeKeyBlock(new, 0)
            try file.synchronizeData()
        } catch {
            do throws(RealmError) {
                // While the copies differ, the secrets of both open the file.
                try writeKeyBlock(keyBlock, 0)
                try file.synchronizeData()
                try writeKeyBlock(keyBlock, 1)
                try file.synchronizeData()
            } catch let second {
                throw RealmError(
                    .commitOutcomeUnknown,
                    "The key could not be changed (\(error.message)), nor the old one put back (\(second.message)): "
                        + "keep both, either may open the file",
                    path: file.path)
            }
            throw error
        }
        keyBlock = new
        return true
    }
}
