import CRealmHeaders
import CoreEngine

/// The key paths of a callback.
final class KeyPathsHandle: Handle {
    let paths: [KeyPath]

    init(_ paths: [KeyPath]) {
        self.paths = paths
        super.init(.keyPaths)
    }
}

extension HandleType where H == KeyPathsHandle { static var keyPaths: Self { Self(kind: .keyPaths) } }

/// The registration of a callback with a notifier. The callback is removed when the token is released, on any thread.
final class NotificationToken: Handle {
    private(set) weak var notifier: Notifier?
    let id: Int

    init(_ notifier: Notifier, _ id: Int) {
        self.notifier = notifier
        self.id = id
        super.init(.notificationToken)
    }

    deinit { notifier?.remove(id) }
}

extension HandleType where H == NotificationToken {
    static var notificationToken: Self { Self(kind: .notificationToken) }
}

/// The argument of a callback. It is valid until the callback returns; a clone is valid until its release.
class ChangesHandle: Handle {
    /// The changes happened after the first of these versions, up to and including the last.
    final let versions: ClosedRange<UInt64>

    fileprivate init(_ kind: Kind, _ versions: ClosedRange<UInt64>) {
        self.versions = versions
        super.init(kind)
    }

    final func tellVersions(_ before: UnsafeMutablePointer<UInt64>?, _ after: UnsafeMutablePointer<UInt64>?) -> Bool {
        before?.pointee = versions.lowerBound
        after?.pointee = versions.upperBound
        return true
    }

    /// Passes a pointer without a reference to `body`. The caller keeps the handle alive meanwhile.
    final func lend(_ body: (OpaquePointer) -> Void) {
        body(OpaquePointer(Unmanaged.passUnretained(self).toOpaque()))
        withExtendedLifetime(self) {}
    }
}

final class ObjectChangesHandle: ChangesHandle {
    let changes: ObjectChanges

    init(_ changes: ObjectChanges, _ versions: ClosedRange<UInt64>) {
        self.changes = changes
        super.init(.objectChanges, versions)
    }

    override func cloned() -> Handle? { ObjectChangesHandle(changes, versions) }
}

extension HandleType where H == ObjectChangesHandle { static var objectChanges: Self { Self(kind: .objectChanges) } }

final class CollectionChangesHandle: ChangesHandle {
    let changes: CollectionChanges

    init(_ changes: CollectionChanges, _ versions: ClosedRange<UInt64>) {
        self.changes = changes
        super.init(.collectionChanges, versions)
    }

    override func cloned() -> Handle? { CollectionChangesHandle(changes, versions) }
}

extension HandleType where H == CollectionChangesHandle {
    static var collectionChanges: Self { Self(kind: .collectionChanges) }
}

/// The changes of a dictionary. The keys are copied into memory of the handle, and the values point to it.
final class DictionaryChangesHandle: ChangesHandle {
    let deletions: [realm_value_t], insertions: [realm_value_t], modifications: [realm_value_t]
    let isCleared: Bool, isDeleted: Bool
    private let changes: DictionaryChanges
    private let texts: UnsafeMutableRawPointer

    init(_ changes: DictionaryChanges, _ versions: ClosedRange<UInt64>) {
        self.changes = changes
        let kinds = [changes.deletions, changes.insertions, changes.modifications]
        let size = kinds.joined().reduce(0) { $0 + $1.count + 1 }
        let texts = UnsafeMutableRawPointer.allocate(byteCount: max(size, 1), alignment: 1)
        var at = 0
        let values = kinds.map { keys in
            keys.map { key in
                let text = texts + at
                key.withUnsafeBytes {
                    if let from = $0.baseAddress { text.copyMemory(from: from, byteCount: $0.count) }
                }
                text.storeBytes(of: 0, toByteOffset: key.count, as: UInt8.self)
                at += key.count + 1
                var value = realm_value_t()
                store(.string(Bytes(start: text, count: key.count)), &value)
                return value
            }
        }
        self.texts = texts
        (deletions, insertions, modifications) = (values[0], values[1], values[2])
        (isCleared, isDeleted) = (changes.isCleared, changes.isDeleted)
        super.init(.dictionaryChanges, versions)
    }

    deinit { texts.deallocate() }

    override func cloned() -> Handle? { DictionaryChangesHandle(changes, versions) }
}

extension HandleType where H == DictionaryChangesHandle {
    static var dictionaryChanges: Self { Self(kind: .dictionaryChanges) }
}
