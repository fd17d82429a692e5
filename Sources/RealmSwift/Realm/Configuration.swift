internal import CoreEngine
import Foundation

/// A block that is called in a migration, with the schema version of the file.
public typealias MigrationBlock = @Sendable (_ migration: Migration, _ oldSchemaVersion: UInt64) -> Void

extension Realm {
    /// The options for opening a Realm.
    public struct Configuration: Sendable {
        private static let shared = Lock(initial: Configuration())

        /// The configuration that `Realm()` uses.
        public static var defaultConfiguration: Configuration {
            get { shared.with { $0 } }
            set { shared.with { $0 = newValue } }
        }

        /// The file of the Realm. The default is `default.realm` in the program's data folder:
        /// `$XDG_DATA_HOME/<program>` or `~/.local/share/<program>`.
        public var fileURL: URL? {
            didSet { if fileURL != nil { inMemoryIdentifier = nil } }
        }

        /// The name of a Realm in memory. The Realm exists while it is open anywhere in the process.
        public var inMemoryIdentifier: String? {
            didSet { if inMemoryIdentifier != nil { fileURL = nil } }
        }

        /// The encryption key of 64 bytes; nil for a file without encryption.
        public var encryptionKey: Data?

        /// A Boolean value that indicates whether to open the file without writing to it. No process may write the
        /// file, and it may be on a read-only medium.
        public var readOnly = false
        public var schemaVersion: UInt64 = 0
        public var migrationBlock: MigrationBlock?

        /// A Boolean value that indicates whether to start with an empty file instead of a migration.
        public var deleteRealmIfMigrationNeeded = false

        /// A block that decides whether to compact the file. It is called when the process first opens the file, with
        /// the size of the file and the number of used bytes. If it returns true, the file is compacted.
        public var shouldCompactOnLaunch: (@Sendable (_ totalBytes: Int, _ usedBytes: Int) -> Bool)?

        /// The classes of the Realm; nil for all classes of the program that opt in.
        public var objectTypes: [ObjectBase.Type]? {
            get { types }
            set { types = newValue }
        }

        private nonisolated(unsafe) var types: [ObjectBase.Type]?

        /// The maximum number of versions in use. Write transactions fail beyond it.
        public var maximumNumberOfActiveVersions: UInt?

        /// A file to copy if the Realm file does not exist yet.
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
    /// Returns whether two configurations are equal. Blocks are not compared.
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
    /// - Throws: An error if neither a file nor an identifier is set.
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

    /// The classes of the Realm. Without a list, with all classes that their properties lead to. One of the classes
    /// that share a class of the file brings the others, and what their properties lead to.
    var classes: [ClassInfo] {
        let given = objectTypes ?? Self.allClasses.filter { $0.shouldIncludeInDefaultSchema() }
        var found: [ClassInfo] = [], seen: Set<ObjectIdentifier> = []
        var open = given.map { (type: $0, isListed: objectTypes != nil) }
        while let (type, isListed) = open.popLast() {
            guard seen.insert(ObjectIdentifier(type)).inserted else { continue }
            let info = ClassInfo.of(type)
            found.append(info)
            if !isListed { open += info.properties.compactMap(\.shape.target).map { ($0, false) } }
            guard let membership = info.membership else { continue }
            // Where the program's classes cannot be found, those that are listed count, and the ones above them.
            let others = membership.line.map(\.type) + (type == membership.base ? Self.members(below: type) : [])
            open += others.filter { other in !given.contains { $0 == other } }.map { ($0, false) }
        }
        return found
    }

    /// Returns the subclasses of a class with the rule `.subclasses(by:)`, without those that decline to be part of
    /// Realms, if the class does not.
    private static func members(below base: ObjectBase.Type) -> [ObjectBase.Type] {
        let found = subclasses(of: base).compactMap { $0 as? ObjectBase.Type }
        return base.shouldIncludeInDefaultSchema() ? found.filter { $0.shouldIncludeInDefaultSchema() } : found
    }

    /// The classes of the file and their rules, as the engine takes them.
    private static func declarations(_ classes: [ClassInfo]) throws -> (schema: EngineSchema, rules: [Name: ClassRules])
    {
        let families = Family.all(classes)
        do throws(Family.Fault) {
            var all = classes.filter { $0.membership == nil }.map(\.engineSchema)
            var rules = Dictionary(
                classes.filter { $0.membership == nil }.compactMap { info in
                    info.engineRules.map { (Name(info.name), $0) }
                },
                uniquingKeysWith: { first, _ in first })
            for family in families {
                let schema = try family.schema()
                all.append(schema)
                rules[schema.name] = try family.rules()
            }
            return (EngineSchema(all), rules)
        } catch { throw Realm.Error(.fail, error.text) }
    }

    /// Every model of the program. A model without properties is a base class and is left out.
    private static var allClasses: [ObjectBase.Type] {
        let found = subclasses(of: ObjectBase.self).compactMap { $0 as? ObjectBase.Type }
        return found.filter {
            $0 != Object.self && $0 != EmbeddedObject.self && $0 != DynamicObject.self
                && !ClassInfo.of($0).properties.isEmpty
        }
    }

    /// Returns the configuration for the engine.
    func engine() throws -> RealmConfiguration {
        let path = try path
        guard !(readOnly && deleteRealmIfMigrationNeeded) else {
            throw Realm.Error(.fail, "Cannot set `deleteRealmIfMigrationNeeded` when `readOnly` is set.")
        }
        let classes = classes
        if let fault = classes.lazy.compactMap(\.fault).first { throw Realm.Error(.fail, fault) }
        let (schema, rules) = try Self.declarations(classes)
        if inMemoryIdentifier == nil { try prepareFile(path) }
        var engine = RealmConfiguration(
            path: path, schema: schema, schemaVersion: schemaVersion,
            mode: readOnly ? .immutable : (deleteRealmIfMigrationNeeded ? .softResetFile : .automatic))
        engine.isInMemory = inMemoryIdentifier != nil
        if !rules.isEmpty { engine.rules = rules }
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

    /// Creates the folder and copies the seed file.
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
