internal import CoreEngine
import Foundation

/// Files of Realms: what is there, copies, the version of a schema.
extension Realm {
    /// Whether the file of a configuration is there.
    public static func fileExists(for config: Configuration) -> Bool {
        (try? config.path).map { FileManager.default.fileExists(atPath: $0) } ?? false
    }

    /// Deletes the file of a configuration with what belongs to it.
    ///
    /// - Returns: whether there was one.
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

    /// Opens a Realm for its migration alone.
    public static func performMigration(for configuration: Configuration = .defaultConfiguration) throws {
        _ = try Realm(configuration: configuration)
    }

    /// Writes a copy without free space to a new file.
    ///
    /// - Parameter encryptionKey: 64 bytes that the copy is encrypted with; nil for a plain one.
    public func writeCopy(toFile fileURL: URL, encryptionKey: Data? = nil) throws {
        try writeCopy(
            configuration: Configuration(
                fileURL: fileURL, encryptionKey: encryptionKey, objectTypes: configuration.objectTypes))
    }

    /// Writes a copy to the file of a configuration, with its key.
    public func writeCopy(configuration: Configuration) throws {
        let target = try configuration.engine()
        do throws(EngineError) { try engine.writeCopy(to: target.path, encryption: try target.encryption()) } catch {
            throw Realm.Error.thrown(error)
        }
    }

    /// Opens (and migrates) a Realm in the background, then calls back on a queue with the Realm of that queue.
    @discardableResult
    public static func asyncOpen(
        configuration: Configuration = .defaultConfiguration, callbackQueue: DispatchQueue = .main,
        callback: @escaping @Sendable (Result<Realm, Swift.Error>) -> Void
    ) -> AsyncOpenTask {
        let task = AsyncOpenTask(), queue = DispatchQueue(label: "io.realm.open")
        queue.async {
            // Kept until the other is open, so that the file is migrated once, and no longer.
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

    /// An open on its way.
    public final class AsyncOpenTask: @unchecked Sendable {  // Behind a lock.
        private let lock = NSLock()
        private var hasEnded = false

        /// The callback is not called any more.
        public func cancel() { lock.withLock { hasEnded = true } }
        var isCancelled: Bool { lock.withLock { hasEnded } }
    }
}

/// A Realm that was opened in the background, or why it was not. Nobody is told anything there: nothing holds it when
/// it is closed.
///
/// Sendable: nothing changes but what the engine guards.
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

/// The version of the schema in a file, read without a migration.
public func schemaVersionAtURL(_ fileURL: URL, encryptionKey: Data? = nil) throws -> UInt64 {
    guard FileManager.default.fileExists(atPath: fileURL.path) else {
        throw Realm.Error(.fileNotFound, "There is no Realm at '\(fileURL.path)'", fileURL)
    }
    var configuration = RealmConfiguration(path: fileURL.path)
    do {
        if let encryptionKey { try encryptionKey.withUnsafeBytes { try configuration.setEncryptionKey($0) } }
        return try EngineRealm.persistedSchemaVersion(configuration)
    } catch let error as EngineError { throw Realm.Error(error) }
}
