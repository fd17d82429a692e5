internal import CoreEngine
import Foundation

/// Called in a migration with the version that the file had.
public typealias MigrationBlock = @Sendable (_ migration: Migration, _ oldSchemaVersion: UInt64) -> Void

extension Realm {
    /// How to open a Realm.
    public struct Configuration: Sendable {
        private static let shared = Lock(initial: Configuration())

        /// What `Realm()` opens.
        public static var defaultConfiguration: Configuration {
            get { shared.with { $0 } }
            set { shared.with { $0 = newValue } }
        }

        /// The file. Where nothing is set: `default.realm` in the folder of the program's data,
        /// `$XDG_DATA_HOME/<program>` or `~/.local/share/<program>`.
        public var fileURL: URL? {
            didSet { if fileURL != nil { inMemoryIdentifier = nil } }
        }

        /// Names a Realm that lives in memory, for as long as it is open somewhere in the process.
        public var inMemoryIdentifier: String? {
            didSet { if inMemoryIdentifier != nil { fileURL = nil } }
        }

        /// 64 bytes; nil for a plain file.
        public var encryptionKey: Data?

        /// Opens a file that nobody writes, and that may lie where nothing can be written.
        public var readOnly = false
        public var schemaVersion: UInt64 = 0
        public var migrationBlock: MigrationBlock?

        /// Starts with an empty file where a migration would be needed.
        public var deleteRealmIfMigrationNeeded = false

        /// Called when the file is first opened in this process, with its size and how much of that is used; true
        /// compacts it.
        public var shouldCompactOnLaunch: (@Sendable (_ totalBytes: Int, _ usedBytes: Int) -> Bool)?

        /// The classes of the Realm; nil: all classes of the program that opt in.
        public var objectTypes: [ObjectBase.Type]? {
            get { types }
            set { types = newValue }
        }

        private nonisolated(unsafe) var types: [ObjectBase.Type]?

        /// Writing fails when more versions than that are in use.
        public var maximumNumberOfActiveVersions: UInt?

        /// A file to copy where there is none yet.
        public var seedFilePath: URL?

        public init(
            fileURL: URL? = nil, inMemoryIdentifier: String? = nil, encryptionKey: Data? = nil, readOnly: Bool = false,
            schemaVersion: UInt64 = 0,
            migrationBlock: MigrationBlock? = nil, deleteRealmIfMigrationNeeded: Bool = false,
            shouldCompactOnLaunch: (@Sendable (Int, Int) -> Bool)? = nil, objectTypes: [ObjectBase.Type]? = nil,
            seedFilePath: URL? = nil
        ) {
            self.fileURL = inMemoryIdentifier == nil ? fileURL ?? Self.defaultFile : nil
            self.inMemoryIdentifier = inMemoryIdentifier
            self.encryptionKey = encryptionKey
            self.readOnly = readOnly
            self.schemaVersion = schemaVersion
            self.migrationBlock = migrationBlock
            self.deleteRealmIfMigrationNeeded = deleteRealmIfMigrationNeeded
            self.shouldCompactOnLaunch = shouldCompactOnLaunch
            types = objectTypes
            self.seedFilePath = seedFilePath
        }

        private static let defaultFile: URL = {
            let environment = ProcessInfo.processInfo.environment
            let home = environment["XDG_DATA_HOME"].flatMap {
                $0.isEmpty ? nil : URL(fileURLWithPath: $0, isDirectory: true)
            }
            let data =
                home
                ?? FileManager.default.homeDirectoryForCurrentUser.appendingPathComponent(
                    ".local/share", isDirectory: true)
            return data.appendingPathComponent(ProcessInfo.processInfo.processName, isDirectory: true)
                .appendingPathComponent("default.realm")
        }()
    }
}

extension Realm.Configuration: CustomStringConvertible {
    public var description: String {
        """
        Realm.Configuration {
        \tfileURL = \(fileURL?.description ?? "nil");
        \tinMemoryIdentifier = \(inMemoryIdentifier ?? "nil");
        \tencryptionKey = \(encryptionKey == nil ? "nil" : "set");
        \treadOnly = \(readOnly);
        \tschemaVersion = \(schemaVersion);
        \tdeleteRealmIfMigrationNeeded = \(deleteRealmIfMigrationNeeded);
        }
        """
    }
}

extension Realm.Configuration: Equatable {
    /// Functions are not compared.
    public static func == (a: Self, b: Self) -> Bool {
        a.fileURL == b.fileURL && a.inMemoryIdentifier == b.inMemoryIdentifier && a.encryptionKey == b.encryptionKey
            && a.readOnly == b.readOnly
            && a.schemaVersion == b.schemaVersion && a.deleteRealmIfMigrationNeeded == b.deleteRealmIfMigrationNeeded
            && a.objectTypes?.map { ObjectIdentifier($0) } == b.objectTypes?.map { ObjectIdentifier($0) }
            && a.maximumNumberOfActiveVersions == b.maximumNumberOfActiveVersions && a.seedFilePath == b.seedFilePath
    }
}

extension Realm.Configuration {
    /// The path of the file.
    ///
    /// - Throws: where there is neither a file nor a name.
    var path: String {
        get throws {
            if let inMemoryIdentifier {
                let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
                    "realm-memory-\(ProcessInfo.processInfo.processIdentifier)")
                try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
                return folder.appendingPathComponent(inMemoryIdentifier).path
            }
            guard let fileURL, fileURL.isFileURL else { throw Realm.Error(.fail, "The configuration names no file") }
            return fileURL.standardizedFileURL.path
        }
    }

    /// The classes, with those that their properties lead to.
    var classes: [ClassInfo] {
        let given = objectTypes ?? Self.allClasses.filter { $0.shouldIncludeInDefaultSchema() }
        var found: [ClassInfo] = [], seen: Set<ObjectIdentifier> = [], open = given
        while let type = open.popLast() {
            guard seen.insert(ObjectIdentifier(type)).inserted else { continue }
            let info = ClassInfo.of(type)
            found.append(info)
            if objectTypes == nil { open += info.properties.compactMap(\.shape.target) }
        }
        return found
    }

    /// Every model of the program; a model without properties is a base class.
    private static var allClasses: [ObjectBase.Type] {
        let found = subclasses(of: ObjectBase.self).compactMap { $0 as? ObjectBase.Type }
        return found.filter {
            $0 != Object.self && $0 != EmbeddedObject.self && $0 != DynamicObject.self
                && !ClassInfo.of($0).properties.isEmpty
        }
    }

    /// For the engine.
    func engine() throws -> RealmConfiguration {
        let path = try path
        guard !(readOnly && deleteRealmIfMigrationNeeded) else {
            throw Realm.Error(.fail, "Cannot set `deleteRealmIfMigrationNeeded` when `readOnly` is set.")
        }
        let classes = classes
        if let fault = classes.lazy.compactMap(\.fault).first { throw Realm.Error(.fail, fault) }
        if inMemoryIdentifier == nil { try prepareFile(path) }
        var engine = RealmConfiguration(
            path: path, schema: EngineSchema(classes.map(\.engineSchema)), schemaVersion: schemaVersion,
            mode: readOnly ? .immutable : (deleteRealmIfMigrationNeeded ? .softResetFile : .automatic))
        engine.isInMemory = inMemoryIdentifier != nil
        if let encryptionKey {
            do { try encryptionKey.withUnsafeBytes { try engine.setEncryptionKey($0) } } catch let error as EngineError
            {
                throw Realm.Error(error)
            }
        }
        engine.maxActiveVersions = maximumNumberOfActiveVersions.map { UInt64($0) } ?? .max
        if let shouldCompactOnLaunch {
            engine.shouldCompact = { shouldCompactOnLaunch(Int(clamping: $0), Int(clamping: $1)) }
        }
        if let migrationBlock, !readOnly {
            let configuration = self
            engine.migrate = { old, new in
                let migration = Migration(old, new, configuration)
                migrationBlock(migration, old.schemaVersion)
                try migration.finish()
            }
        }
        return engine
    }

    /// The folder, and what to begin with.
    private func prepareFile(_ path: String) throws {
        guard !readOnly, !FileManager.default.fileExists(atPath: path) else { return }
        let url = URL(fileURLWithPath: path)
        if fileURL == Self().fileURL {
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        }
        if let seedFilePath { try FileManager.default.copyItem(at: seedFilePath, to: url) }
    }
}
