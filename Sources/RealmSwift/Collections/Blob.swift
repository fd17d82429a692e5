internal import CoreEngine
import Foundation

/// A list of `Data` or of texts as one long value: its bytes are the bytes of the elements, one after the other.
///
/// A property of `Data` or `String` holds at most 16 MB. A blob holds 4 GiB, and is read and written in pieces of any
/// size, without the whole value in memory:
///
///     class Document: Object {
///         @Persisted var content: List<Data>
///     }
///
///     try realm.write { try document.content.blob.append(part) }
///     try document.content.blob.forEachPart { part in hash.update(data: part) }
///
/// The list stays an ordinary list. Writing makes elements of 64 KB. A write transaction keeps what it wrote in memory
/// until its end, so a program that writes much ends the transaction now and then.
///
/// Thread rule: that of the Realm.
public struct Blob {
    private let managed: ManagedCollection?

    init(_ managed: ManagedCollection?) { self.managed = managed }

    private func inside<R>(
        _ body: (EngineRealm, ManagedCollection, inout BlobPieces) throws(EngineError) -> R
    ) throws -> R {
        guard let managed else {
            throw Realm.Error(
                EngineError(.illegalOperation, "The list is not in a Realm: only lists of a Realm are blobs"))
        }
        do throws(EngineError) {
            return try managed.core.realm.inside(.collection) { () throws(EngineError) in
                try managed.withBlob { (pieces) throws(EngineError) in try body(managed.core.realm, managed, &pieces) }
            }
        } catch { throw Realm.Error(error) }
    }

    /// The number of bytes.
    public var count: Int {
        get throws { try inside { (_, _, pieces) in pieces.size } }
    }

    /// Returns bytes of the blob: fewer than `count` at its end, none behind it.
    public func read(at offset: Int, count: Int) throws -> Data {
        guard offset >= 0, count > 0 else { return Data() }
        let size = try self.count
        guard offset < size else { return Data() }
        var data = Data(count: min(count, size - offset))
        let done = try data.withUnsafeMutableBytes { try read(at: offset, into: $0) }
        if done < data.count { data.removeLast(data.count - done) }
        return data
    }

    /// Copies bytes of the blob into a buffer.
    ///
    /// - Returns: how many bytes were copied: fewer than the buffer has at the end of the blob.
    public func read(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        try inside { (realm, managed, pieces) throws(EngineError) in
            try realm.readBlob(try managed.list(), pieces, at: offset, into: buffer)
        }
    }

    /// Calls `body` with the bytes, in parts of `count`; the last part may be shorter.
    public func forEachPart(ofCount count: Int = 1 << 20, _ body: (Data) throws -> Void) throws {
        var offset = 0
        while case let part = try read(at: offset, count: max(count, 1)), !part.isEmpty {
            try body(part)
            offset += part.count
        }
    }

    /// Writes bytes into the blob and behind its end. A gap between its end and `offset` is filled with zeros. A list of
    /// texts is written at its end only.
    public func write(_ data: some DataProtocol, at offset: Int) throws {
        try inside { (realm, managed, pieces) throws(EngineError) in
            try Array(data).withBytes { (bytes) throws(EngineError) in
                try realm.writeBlob(managed.path, &pieces, at: offset, bytes)
            }
        }
    }

    /// Writes bytes behind the end of the blob.
    public func append(_ data: some DataProtocol) throws {
        try inside { (realm, managed, pieces) throws(EngineError) in
            try Array(data).withBytes { (bytes) throws(EngineError) in
                try realm.writeBlob(managed.path, &pieces, at: pieces.size, bytes)
            }
        }
    }

    /// Cuts the blob, or fills it with zeros up to a new end.
    public func truncate(to count: Int) throws {
        try inside { (realm, managed, pieces) throws(EngineError) in
            try realm.resizeBlob(managed.path, &pieces, to: count)
        }
    }
}

extension List where Element == Data {
    /// The bytes of all elements as one long value.
    public var blob: Blob { Blob(managed) }
}

extension List where Element == String {
    /// The texts of all elements as one long value in UTF-8.
    public var blob: Blob { Blob(managed) }
}
