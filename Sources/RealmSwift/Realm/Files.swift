internal import CoreEngine
import Foundation

/// Files of Realms: existence, deletion, copies, and the schema version.
extension Realm {
    /// Returns whether the file of a configuration exists.
    public static func fileExists(for config: Configuration) -> Bool {
        (try? config.path).map { FileManager.default.fileExists(atPath: $0) } ?? false
    }

    /// Deletes the file of a configuration with its auxiliary files.
    ///
    /// - Returns: true if the file existed.
    /// - Throws: `Realm.Error.alreadyOpen` while the Realm is open anywhere.
    @discardableResult
    public static func deleteFiles(for config: Configuration) throws -> Bool {
        do throws(EngineError) { return try Database.deleteFiles(path: try pathOf(config)) } catch {
            throw Realm.Error(error)
        }
    }

    private static func pathOf(_ config: Configuration) throws(EngineError) -> String {
        do { return try config.path } catch { throw EngineError(.invalidArgument, "\(error)") }
    }

    /// Performs the migration of a Realm. The Realm is opened only for this.
    public static func performMigration(for configuration: Configuration = .defaultConfiguration) throws {
        _ = try Realm(configuration: configuration)
    }

    /// Writes a copy without free space to a new file.
    ///
    /// - Parameter encryptionKey: The key of 64 bytes for the copy; nil for a copy without encryption.
    public func writeCopy(toFile fileURL: URL, encryptionKey: Data? = nil) throws {
        try writeCopy(
            configuration: Configuration(
                fileURL: fileURL, encryptionKey: encryptionKey, objectTypes: configuration.objectTypes))
    }

    /// Writes a copy to the file of a configuration, with the encryption key of the configuration.
    public func writeCopy(configuration: Configuration) throws {
        let target = try configuration.engine()
        do throws(EngineError) { try engine.writeCopy(to: target.path, encryption: try target.encryption()) } catch {
            throw Realm.Error.thrown(error)
        }
    }

    /// Opens a Realm in the background, with a migration if needed. Then calls back on a queue, with a Realm that is
    /// confined to that queue.
    @discardableResult
    public static func asyncOpen(
        configuration: Configuration = .defaultConfiguration, callbackQueue: DispatchQueue = .main,
        callback: @escaping @Sendable (Result<Realm, Swift.Error>) -> Void
    ) -> AsyncOpenTask {
        let task = AsyncOpenTask(), queue = DispatchQueue(label: "io.realm.open")
        queue.async {
            // The first Realm is kept until the second is open, so that the file is migrated only once.
            let first = FirstOpen(configuration, queue)
            callbackQueue.async {
                let opened = first.opened.flatMap { _ in
                    Result { try Realm(configuration: configuration, queue: callbackQueue) }
                }
                first.close()
                guard !task.isCancelled else { return }
                callback(opened)
            }
        }
        return task
    }

    /// A Realm that is being opened in the background.
    public final class AsyncOpenTask: @unchecked Sendable {  // Guarded by a lock.
        private let lock = NSLock()
        private var hasEnded = false

        /// Cancels the operation. The callback is not called any more.
        public func cancel() { lock.withLock { hasEnded = true } }
        var isCancelled: Bool { lock.withLock { hasEnded } }
    }
}

/// A Realm that was opened in the background, or the error. It delivers no notifications, so nothing keeps it alive
/// after it is closed.
///
/// Sendable: the only mutable state is guarded by the engine.
private final class FirstOpen: @unchecked Sendable {
    let opened: Result<EngineRealm, Swift.Error>

    init(_ configuration: Realm.Configuration, _ queue: DispatchQueue) {
        opened = Result {
            var engine = try configuration.engine()
            do throws(EngineError) {
                engine.scheduler = try Confinement.scheduler(queue)
                engine.notifiesAutomatically = false
                return try EngineRealm(engine)
            } catch { throw Realm.Error(error) }
        }
    }

    func close() { if case .success(let realm) = opened { realm.close() } }
}

/// Returns the schema version of a file, without a migration.
public func schemaVersionAtURL(_ fileURL: URL, encryptionKey: Data? = nil) throws -> UInt64 {
    guard FileManager.default.fileExists(atPath: fileURL.path) else {
        throw Realm.Error(.invalidDatabase, "Realm at path '\(fileURL.path)' has not been initialized.", fileURL)
    }
    var configuration = RealmConfiguration(path: fileURL.path)
    do {
        if let encryptionKey { try encryptionKey.withUnsafeBytes { try configuration.setEncryptionKey($0) } }
        return try EngineRealm.persistedSchemaVersion(configuration)
    } catch let error as EngineError { throw Realm.Error(error) }
}
