extension Realm {
    /// Where the elements of a blob begin.
    /// - Throws: 2007 for a collection that is not a list of binaries or texts.
    package func blobPieces(_ elements: ElementList, _ path: CollectionPath) throws(RealmError) -> BlobPieces {
        _ = try isBlobOfText(path)
        return try BlobPieces(elements)
    }

    private func isBlobOfText(_ path: CollectionPath) throws(RealmError) -> Bool {
        if try shape(path) == .list {
            switch try elementType(path) {
            case .string: return true
            case .binary: return false
            default: break
            }
        }
        throw RealmError(.illegalOperation, "Only lists of binaries and lists of texts are blobs")
    }

    // MARK: Reading

    /// Copies bytes of a blob.
    ///
    /// - Returns: how many bytes were copied: fewer than wanted at the end of the blob.
    package func readBlob(
        _ elements: ElementList, _ pieces: BlobPieces, at offset: Int, into target: UnsafeMutableRawBufferPointer
    ) throws(RealmError) -> Int {
        guard offset >= 0, offset < pieces.size else { return 0 }
        let wanted = min(target.count, pieces.size - offset)
        var done = 0, index = wanted > 0 ? pieces.index(of: offset) : 0
        while done < wanted {
            let piece = pieces.range(index), first = offset + done - piece.lowerBound
            let length = min(piece.count - first, wanted - done)
            if length > 0 {
                let bytes = try Self.bytes(elements, index)
                guard bytes.count == piece.count, let from = bytes.baseAddress else {
                    throw RealmError(.invalidDatabase, "An element of a blob changed its length")
                }
                (target.baseAddress.unsafelyUnwrapped + done).copyMemory(from: from + first, byteCount: length)
                done += length
            }
            index += 1
        }
        return done
    }

    private static func bytes(_ elements: ElementList, _ index: Int) throws(RealmError) -> Bytes {
        switch try elements.get(index) {
        case .string(let bytes), .binary(let bytes): return bytes
        default: return Bytes(start: nil, count: 0)
        }
    }

    // MARK: Writing

    /// Writes bytes into a blob and behind its end. A gap between the end and `offset` is filled with zeros.
    ///
    /// - Throws: 2005 outside a write transaction; 3018 for a blob beyond 4 GiB; 2007 for a text that is not written at
    ///   its end, 3000 for bytes that are not UTF-8.
    package func writeBlob(_ path: CollectionPath, _ pieces: inout BlobPieces, at offset: Int, _ bytes: Bytes)
        throws(RealmError)
    {
        let isText = try isBlobOfText(path)
        try checkWritable(path)
        guard offset >= 0, offset <= BlobPieces.maxSize, bytes.count <= BlobPieces.maxSize - offset else {
            throw RealmError(.limitExceeded, "A blob has at most \(BlobPieces.maxSize) bytes")
        }
        guard bytes.count > 0 else { return }
        if isText {
            guard offset == pieces.size else {
                throw RealmError(.illegalOperation, "A list of texts is written at its end only")
            }
            guard isUTF8(bytes) else { throw RealmError(.invalidArgument, "The text is not UTF-8") }
        }
        var changed = pieces
        try allOrNothing { () throws(RealmError) in
            if offset > changed.size { try extend(path, &changed, by: offset - changed.size) }
            let inside = min(bytes.count, changed.size - offset)
            if inside > 0 { try overwrite(path, changed, at: offset, bytes.part(0..<inside)) }
            try append(path, &changed, bytes.part(inside..<bytes.count), isText: isText)
        }
        pieces = changed
    }

    /// Cuts a blob, or fills it with zeros up to a new end.
    ///
    /// - Throws: 2005 outside a write transaction; 3018 for a blob beyond 4 GiB; 2007 for a text that becomes longer, and
    ///   for one that is cut inside a character.
    package func resizeBlob(_ path: CollectionPath, _ pieces: inout BlobPieces, to size: Int) throws(RealmError) {
        let isText = try isBlobOfText(path)
        try checkWritable(path)
        guard size >= 0, size <= BlobPieces.maxSize else {
            throw RealmError(.limitExceeded, "A blob has at most \(BlobPieces.maxSize) bytes")
        }
        guard size <= pieces.size || !isText else {
            throw RealmError(.illegalOperation, "A list of texts is not filled with zeros")
        }
        guard size != pieces.size else { return }
        var changed = pieces
        try allOrNothing { () throws(RealmError) in
            if size > changed.size { return try extend(path, &changed, by: size - changed.size) }
            if size == 0 {
                if changed.count > 0 { try clear(path, .list) }
                while changed.count > 0 { changed.removeLast() }
                return
            }
            while changed.count > 0, changed.range(changed.count - 1).lowerBound >= size {
                try erase(at: changed.count - 1, in: path)
                changed.removeLast()
            }
            let last = changed.range(changed.count - 1)
            guard last.upperBound > size else { return }
            let kept = size - last.lowerBound
            try replace(path, changed.count - 1, isText: isText) { (old, new) throws(RealmError) in
                guard !isText || old[kept] & 0xC0 != 0x80 else {
                    throw RealmError(.illegalOperation, "A text is not cut inside a character")
                }
                new.append(contentsOf: old.part(0..<kept))
            }
            changed.removeLast()
            changed.append(kept)
        }
        pieces = changed
    }

    /// Overwrites bytes inside a blob of binaries.
    private func overwrite(_ path: CollectionPath, _ pieces: BlobPieces, at offset: Int, _ bytes: Bytes)
        throws(RealmError)
    {
        var done = 0, index = pieces.index(of: offset)
        while done < bytes.count {
            let piece = pieces.range(index), first = offset + done - piece.lowerBound
            let length = min(piece.count - first, bytes.count - done)
            let part = bytes.part(done..<done + length)
            if length == piece.count, length > 0 {
                try set(.binary(part), at: index, in: path)
            } else if length > 0 {
                try replace(path, index, isText: false) { (old, new) in
                    new.append(contentsOf: old.part(0..<first))
                    new.append(contentsOf: part)
                    new.append(contentsOf: old.part(first + length..<old.count))
                }
            }
            done += length
            index += 1
        }
    }

    /// Replaces an element by one that is made of it.
    private func replace(
        _ path: CollectionPath, _ index: Int, isText: Bool,
        _ make: (Bytes, inout [UInt8]) throws(RealmError) -> Void
    ) throws(RealmError) {
        guard case .list(let elements)? = try collection(path) else { throw invalidated() }
        var new: [UInt8] = []
        let old = try Self.bytes(elements, index)
        try new.makeRoom(for: max(old.count, BlobPieces.pieceSize))
        try make(old, &new)
        try new.withBytes { (bytes) throws(RealmError) in
            try set(isText ? .string(bytes) : .binary(bytes), at: index, in: path)
        }
    }

    /// Appends bytes: fills the last element, then makes new ones.
    private func append(_ path: CollectionPath, _ pieces: inout BlobPieces, _ bytes: Bytes, isText: Bool)
        throws(RealmError)
    {
        var done = 0
        if pieces.count > 0, case let last = pieces.range(pieces.count - 1).count, last < BlobPieces.pieceSize {
            let length = Self.pieceLength(bytes, from: 0, room: BlobPieces.pieceSize - last, isText: isText)
            if length > 0 {
                try replace(path, pieces.count - 1, isText: isText) { (old, new) in
                    new.append(contentsOf: old)
                    new.append(contentsOf: bytes.part(0..<length))
                }
                pieces.removeLast()
                pieces.append(last + length)
                done = length
            }
        }
        while done < bytes.count {
            let length = Self.pieceLength(bytes, from: done, room: BlobPieces.pieceSize, isText: isText)
            let part = bytes.part(done..<done + length)
            try insert(isText ? .string(part) : .binary(part), at: pieces.count, in: path)
            pieces.append(length)
            done += length
        }
    }

    /// How many bytes from `start` fit into an element; a text ends before a character that does not fit as a whole.
    private static func pieceLength(_ bytes: Bytes, from start: Int, room: Int, isText: Bool) -> Int {
        var length = min(bytes.count - start, room)
        while isText, length > 0, start + length < bytes.count, bytes[start + length] & 0xC0 == 0x80 { length -= 1 }
        return length
    }

    private func extend(_ path: CollectionPath, _ pieces: inout BlobPieces, by count: Int) throws(RealmError) {
        let zeros = [UInt8](repeating: 0, count: min(count, BlobPieces.pieceSize))
        var left = count
        while left > 0 {
            let last = pieces.count > 0 ? pieces.range(pieces.count - 1).count : BlobPieces.pieceSize
            let length = min(left, last < BlobPieces.pieceSize ? BlobPieces.pieceSize - last : BlobPieces.pieceSize)
            try zeros.withBytes { (bytes) throws(RealmError) in
                try append(path, &pieces, bytes.part(0..<length), isText: false)
            }
            left -= length
        }
    }
}

extension Bytes {
    fileprivate func part(_ range: Range<Int>) -> Bytes { Bytes(rebasing: self[range]) }
}
