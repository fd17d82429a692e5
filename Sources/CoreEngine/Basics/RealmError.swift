/// What went wrong, with the number that the C API reports for it.
///
/// The engine throws this one type everywhere (typed throws, no boxing). "Not found" is an optional, not an error.
public struct RealmError: Error, Sendable, CustomStringConvertible {
    /// Numbers of the C API (`realm_errno_e`).
    public enum Code: Int32, Sendable {
        case runtime = 1000, range = 1001, brokenInvariant = 1002, outOfMemory = 1003, outOfDiskSpace = 1004
        case addressSpaceExhausted = 1005, maximumFileSizeExceeded = 1006, incompatibleSession = 1007
        case incompatibleLockFile = 1008, invalidQuery = 1009, invalidQueryString = 3008, invalidSortDescriptor = 3013, invalidQueryArg = 3015,
            badVersion = 1010, unsupportedFileFormat = 1011
        case objectAlreadyExists = 1013, notClonable = 1014
        case fileOperationFailed = 1017, permissionDenied = 1018, fileNotFound = 1019, fileAlreadyExists = 1020
        case invalidDatabase = 1021, decryptionFailed = 1022, incompatibleHistories = 1023, formatUpgradeRequired = 1024
        case schemaVersionMismatch = 1025
        case systemError = 1999
        case logic = 2000, notSupported = 2001, crossTableLinkTarget = 2003, wrongTransactionState = 2005, wrongThread = 2006, illegalOperation = 2007
        case keyAlreadyUsed = 2004, staleAccessor = 2009, invalidatedObject = 2010, readOnly = 2011, deleteOpenedRealm = 2012
        case mismatchedConfig = 2013, closedRealm = 2014, invalidTableRef = 2015, schemaValidationFailed = 2016
        case schemaMismatch = 2017, invalidSchemaVersion = 2018, invalidSchemaChange = 2019, migrationFailed = 2020
        case topLevelObject = 2021
        case invalidArgument = 3000, typeMismatch = 3001, notNullable = 3002, readOnlyProperty = 3003
        case missingPrimaryKey = 3005, unexpectedPrimaryKey = 3006, modifyPrimaryKey = 3007
        case invalidProperty = 3009, invalidName = 3010, invalidDictionaryKey = 3011, invalidDictionaryValue = 3012
        case malformedJSON = 4201
        case invalidEncryptionKey = 3014, noSuchObject = 3016, indexOutOfBounds = 3017, limitExceeded = 3018
        case objectTypeMismatch = 3019, noSuchTable = 3020, illegalCombination = 3022
        case callback = 1_000_000, unknown = 2_000_000
        /// `CREALM_ERR_COMMIT_OUTCOME_UNKNOWN`
        case commitOutcomeUnknown = 9001
        /// `CREALM_ERR_FILE_KEEPS_CHANGING`
        case fileKeepsChanging = 9002
        /// `CREALM_ERR_TIMED_OUT`
        case timedOut = 9003
        /// `CREALM_ERR_INTERRUPTED`
        case interrupted = 9004
    }

    public let code: Code
    public let message: String
    /// The file concerned, for errors of file access.
    public var path: String?
    /// The byte of the file that contradicts the format; 0 when it is unknown, and for other errors.
    private(set) var offset = 0

    public init(_ code: Code, _ message: String, path: String? = nil) {
        self.code = code
        self.message = message
        self.path = path
    }

    public var description: String { "error \(code.rawValue): \(message)" }

    /// A byte of the file contradicts the format.
    @inline(never) static func corrupt(_ what: StaticString, at ref: Int = 0) -> RealmError {
        var error = RealmError(.invalidDatabase, ref == 0 ? "Corrupt Realm file: \(what)" : "Corrupt Realm file: \(what) (at byte \(ref))")
        error.offset = ref
        return error
    }

    /// Whether it says of the file's content that it is wrong. Any other error says nothing of it: the content may be good, and could not be seen.
    var isDamage: Bool { code == .invalidDatabase || code == .decryptionFailed }
    /// What `body` finds in a file; nil where the content is damaged.
    static func unlessDamaged<R>(_ body: () throws(RealmError) -> R?) throws(RealmError) -> R? {
        do throws(RealmError) { return try body() } catch {
            guard error.isDamage else { throw error }
            return nil
        }
    }

    func with(path: String) -> RealmError {
        var copy = self
        if copy.path == nil { copy.path = path }
        return copy
    }
}
