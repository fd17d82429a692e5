/// An error: its number in the C API, its message, and the file concerned.
///
/// The engine throws this one type everywhere (typed throws). "Not found" is an optional, not an error.
public struct RealmError: Error, Sendable, CustomStringConvertible {
    /// Numbers of the C API (`realm_errno_e`).
    public enum Code: Int32, Sendable {
        /// Failures of the program, the machine or the disk; queries and files that cannot be understood.
        case runtime = 1000, range = 1001, brokenInvariant = 1002, outOfMemory = 1003, outOfDiskSpace = 1004
        /// Limits of the machine and of the file; an open file that another program uses in an incompatible way (1007).
        case addressSpaceExhausted = 1005, maximumFileSizeExceeded = 1006, incompatibleSession = 1007
        /// Lock files (1008); invalid queries, and queries with wrong names, types or arguments; old versions and
        /// unknown formats.
        case incompatibleLockFile = 1008, invalidQuery = 1009, invalidQueryString = 3008, invalidSortDescriptor = 3013,
            invalidQueryArg = 3015,
            badVersion = 1010, unsupportedFileFormat = 1011
        /// 1013: the primary key already exists.
        case objectAlreadyExists = 1013, notClonable = 1014
        /// 1017–1020 for errors of file access.
        case fileOperationFailed = 1017, permissionDenied = 1018, fileNotFound = 1019, fileAlreadyExists = 1020
        /// Damaged files, wrong keys, incompatible histories, and formats that must be upgraded first.
        case invalidDatabase = 1021, decryptionFailed = 1022, incompatibleHistories = 1023, formatUpgradeRequired = 1024
        /// A schema that does not match the file, in a mode that must not change it.
        case schemaVersionMismatch = 1025
        /// Other errors of the operating system.
        case systemError = 1999
        /// Calls at the wrong time or place: outside of a write transaction (2005), on a wrong thread (2006), for a
        /// wrong kind of object (2007).
        case logic = 2000, notSupported = 2001, crossTableLinkTarget = 2003, wrongTransactionState = 2005, wrongThread =
            2006, illegalOperation = 2007
        /// Something no longer exists: results (2009), objects and collections (2010); files that are in use (2012).
        case keyAlreadyUsed = 2004, staleAccessor = 2009, invalidatedObject = 2010, readOnly = 2011, deleteOpenedRealm =
            2012
        /// Configurations that do not match (2013), a closed Realm (2014), invalid schemas (2016).
        case mismatchedConfig = 2013, closedRealm = 2014, invalidTableRef = 2015, schemaValidationFailed = 2016
        /// Schema changes that the mode does not allow, and failed migrations (2020).
        case schemaMismatch = 2017, invalidSchemaVersion = 2018, invalidSchemaChange = 2019, migrationFailed = 2020
        /// An object that has no parent.
        case topLevelObject = 2021
        /// Invalid arguments (3000), values of a wrong type (3001), null (3002), computed properties (3003).
        case invalidArgument = 3000, typeMismatch = 3001, notNullable = 3002, readOnlyProperty = 3003
        /// Primary keys that are missing, not expected, or must not be changed.
        case missingPrimaryKey = 3005, unexpectedPrimaryKey = 3006, modifyPrimaryKey = 3007
        /// Invalid names: of properties (3009), classes, keys of dictionaries (3011).
        case invalidProperty = 3009, invalidName = 3010, invalidDictionaryKey = 3011, invalidDictionaryValue = 3012
        /// A text that is not valid JSON.
        case malformedJSON = 4201
        /// Keys of a wrong length; links to deleted objects (3016); indices out of range (3017); limits of the format
        /// (3018).
        case invalidEncryptionKey = 3014, noSuchObject = 3016, indexOutOfBounds = 3017, limitExceeded = 3018
        /// Objects of another class (3019), unknown classes (3020), incompatible settings (3022).
        case objectTypeMismatch = 3019, noSuchTable = 3020, illegalCombination = 3022
        /// An error of the program's own function; an unknown error.
        case callback = 1_000_000, unknown = 2_000_000
        /// `CREALM_ERR_COMMIT_OUTCOME_UNKNOWN`
        case commitOutcomeUnknown = 9001
        /// `CREALM_ERR_FILE_KEEPS_CHANGING`
        case fileKeepsChanging = 9002
        /// `CREALM_ERR_TIMED_OUT`
        case timedOut = 9003
        /// `CREALM_ERR_INTERRUPTED`
        case interrupted = 9004
        /// `CREALM_ERR_VERSION_GONE`
        case versionGone = 9005
        /// `CREALM_ERR_RULE_BROKEN`
        case ruleBroken = 9006
        /// `CREALM_ERR_SYNC`
        case syncFailed = 9007
    }

    /// The error number.
    public var code: Code { content.code }

    /// The error message.
    public var message: String { content.message }

    /// The file concerned, for errors of file access.
    public var path: String? { content.path }

    /// The byte of the file that contradicts the format; 0 when it is unknown, and for other errors.
    var offset: Int { content.offset }

    /// An error is one word and is returned in a register: nearly every function may throw, and all of them contain the
    /// code for that.
    private let content: Content

    private final class Content: Sendable {
        let code: Code
        let message: String
        let path: String?
        let offset: Int

        init(_ code: Code, _ message: String, path: String?, offset: Int) {
            self.code = code
            self.message = message
            self.path = path
            self.offset = offset
        }
    }

    /// Creates an error, for example in a function of a configuration.
    @inline(never) public init(_ code: Code, _ message: String, path: String? = nil) {
        self.init(code, message, path: path, offset: 0)
    }

    private init(_ code: Code, _ message: String, path: String?, offset: Int) {
        content = Content(code, message, path: path, offset: offset)
    }

    public var description: String { "error \(code.rawValue): \(message)" }

    /// The error for a byte of the file that contradicts the format.
    @inline(never) static func corrupt(_ what: StaticString, at ref: Int = 0) -> RealmError {
        let text = ref == 0 ? "Corrupt Realm file: \(what)" : "Corrupt Realm file: \(what) (at byte \(ref))"
        return RealmError(.invalidDatabase, text, path: nil, offset: ref)
    }

    /// Whether the error means that the content of the file is wrong. After any other error the content may be valid,
    /// but it could not be read.
    var isDamage: Bool { code == .invalidDatabase || code == .decryptionFailed }

    /// The result of `body`; nil when the content of the file is damaged.
    static func unlessDamaged<R>(_ body: () throws(RealmError) -> R?) throws(RealmError) -> R? {
        do throws(RealmError) { return try body() } catch {
            guard error.isDamage else { throw error }
            return nil
        }
    }

    func with(path: String) -> RealmError {
        self.path == nil ? RealmError(code, message, path: path, offset: offset) : self
    }
}
