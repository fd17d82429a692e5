import CRealmHeaders
import CoreEngine

/// Key paths for a callback.
final class KeyPathsHandle: Handle {
    let paths: [KeyPath]

    init(_ paths: [KeyPath]) {
        self.paths = paths
        super.init(.keyPaths)
    }
}

extension Door where H == KeyPathsHandle { static var keyPaths: Self { Self(kind: .keyPaths) } }

/// A callback of a notifier; it is taken away when the token goes, on whatever thread.
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

extension Door where H == NotificationToken { static var notificationToken: Self { Self(kind: .notificationToken) } }

/// What a callback is given: good until it returns, or as long as a clone.
class ChangesHandle: Handle {
    /// What changed did so after the first of these and up to the last.
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

    /// A pointer without a reference: the caller keeps the handle for as long as it is used.
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

extension Door where H == ObjectChangesHandle { static var objectChanges: Self { Self(kind: .objectChanges) } }

final class CollectionChangesHandle: ChangesHandle {
    let changes: CollectionChanges

    init(_ changes: CollectionChanges, _ versions: ClosedRange<UInt64>) {
        self.changes = changes
        super.init(.collectionChanges, versions)
    }

    override func cloned() -> Handle? { CollectionChangesHandle(changes, versions) }
}

extension Door where H == CollectionChangesHandle {
    static var collectionChanges: Self { Self(kind: .collectionChanges) }
}

/// The keys are copied into memory of its own, which the values point to.
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

extension Door where H == DictionaryChangesHandle {
    static var dictionaryChanges: Self { Self(kind: .dictionaryChanges) }
}
