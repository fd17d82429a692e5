/// The two copies of the key block, and the change of the secret that opens it. Layout: docs/security.md.
extension SealedForm {
    func writeKeyBlock(_ block: KeyBlock, _ copy: Int) throws(RealmError) {
        let isNew = try file.size() < (copy + 1) * Self.blockSize
        CMemory.zero(buffer, Self.blockSize)
        block.bytes.withUnsafeBytes { CMemory.copy(buffer, $0.start, $0.count) }
        try file.write(buffer, count: isNew ? Self.blockSize : KeyBlock.size, at: copy * Self.blockSize)
    }

    /// Updates `keyBlock` from the file: it stays unless both copies in the file are another key block of the same
    /// file.
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

    /// Writes the key block in force to both copies, durably. One copy already contains it: that copy is written again
    /// first, in case a failed flush kept it from the disk. So at least one copy on the disk has the key block at every
    /// moment.
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
                // While the copies differ, either secret opens the file.
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
