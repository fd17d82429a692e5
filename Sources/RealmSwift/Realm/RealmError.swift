internal import CoreEngine
import Foundation

extension Realm {
    /// An error of opening or writing a Realm.
    public struct Error: Swift.Error, Sendable, Equatable {
        /// The error codes, with the raw values of Realm.
        public enum Code: Int, Sendable {
            case fail = 1, fileAccess = 2, filePermissionDenied = 3, fileExists = 4, fileNotFound = 5,
                fileFormatUpgradeRequired = 6
            case incompatibleLockFile = 8, addressSpaceExhausted = 9, schemaMismatch = 10, alreadyOpen = 12,
                invalidInput = 13, outOfDiskSpace = 14
            case incompatibleSession = 15, unsupportedFileFormatVersion = 16, multipleSyncAgents = 17,
                subscriptionFailed = 18
            case fileOperationFailed = 19, invalidDatabase = 20, incompatibleHistories = 21, noSubscriptionForWrite = 22
            /// A hub reported an error, or its reply is not valid. Not a code of Realm: the number is that of the C API.
            case syncFailed = 9007
        }

        public let code: Code
        public let message: String

        /// The file that the error concerns; nil if it concerns no file.
        public let fileURL: URL?

        /// The error number of the engine (`realm_errno_e` of the C API); 0 if the engine is not the source.
        public let engineCode: Int32

        /// Creates an error, for programs that throw errors themselves.
        ///
        /// - Parameter userInfo: The source of the description and of the path of a file.
        public init(_ code: Code, userInfo: [String: Any] = [:]) {
            let path = userInfo[NSFilePathErrorKey] as? String
            self.init(
                code, userInfo[NSLocalizedDescriptionKey] as? String ?? "\(code)", path.map { URL(fileURLWithPath: $0) }
            )
        }

        init(_ code: Code, _ message: String, _ fileURL: URL? = nil) {
            self.code = code
            self.message = message
            self.fileURL = fileURL
            engineCode = 0
        }

        init(_ error: EngineError) {
            code = Self.code(error.code)
            message = error.message
            fileURL = error.path.map { URL(fileURLWithPath: $0) }
            engineCode = error.code.rawValue
        }

        /// Converts an engine error for a function that throws. A call from a wrong thread is misuse and ends the
        /// program even in functions that throw, because `try?` would silently drop a write.
        static func thrown(_ error: EngineError) -> Error {
            if error.code == .wrongThread { misuse(error) }
            return Error(error)
        }

        private static func code(_ error: EngineError.Code) -> Code {
            switch error {
            case .outOfDiskSpace: .outOfDiskSpace
            case .addressSpaceExhausted: .addressSpaceExhausted
            case .incompatibleSession: .incompatibleSession
            case .incompatibleLockFile: .incompatibleLockFile
            case .unsupportedFileFormat: .unsupportedFileFormatVersion
            case .fileOperationFailed: .fileOperationFailed
            case .permissionDenied: .filePermissionDenied
            case .fileNotFound: .fileNotFound
            case .fileAlreadyExists: .fileExists
            case .invalidDatabase: .invalidDatabase
            case .decryptionFailed, .maximumFileSizeExceeded: .fileAccess
            case .incompatibleHistories: .incompatibleHistories
            case .formatUpgradeRequired: .fileFormatUpgradeRequired
            case .deleteOpenedRealm: .alreadyOpen
            case .schemaMismatch: .schemaMismatch
            case .syncFailed: .syncFailed
            default: .fail
            }
        }

        public static func == (a: Error, b: Error) -> Bool { a.code == b.code && a.fileURL == b.fileURL }
    }
}

extension Realm.Error {
    public static var fail: Code { .fail }
    public static var fileAccess: Code { .fileAccess }
    public static var filePermissionDenied: Code { .filePermissionDenied }
    public static var fileExists: Code { .fileExists }
    public static var fileNotFound: Code { .fileNotFound }
    public static var fileFormatUpgradeRequired: Code { .fileFormatUpgradeRequired }
    public static var incompatibleLockFile: Code { .incompatibleLockFile }
    public static var addressSpaceExhausted: Code { .addressSpaceExhausted }
    public static var schemaMismatch: Code { .schemaMismatch }
    public static var alreadyOpen: Code { .alreadyOpen }
    public static var invalidInput: Code { .invalidInput }
    public static var outOfDiskSpace: Code { .outOfDiskSpace }
    public static var incompatibleSession: Code { .incompatibleSession }
    public static var unsupportedFileFormatVersion: Code { .unsupportedFileFormatVersion }
    public static var fileOperationFailed: Code { .fileOperationFailed }
    public static var invalidDatabase: Code { .invalidDatabase }
    public static var incompatibleHistories: Code { .incompatibleHistories }
    public static var syncFailed: Code { .syncFailed }
}

/// Matches errors by their code: `catch Realm.Error.fileNotFound`.
public func ~= (code: Realm.Error.Code, error: any Swift.Error) -> Bool { (error as? Realm.Error)?.code == code }

extension Realm.Error: LocalizedError, CustomNSError, CustomStringConvertible {
    public static var errorDomain: String { "io.realm" }
    public var errorCode: Int { code.rawValue }

    public var errorUserInfo: [String: Any] {
        var info: [String: Any] = [
            NSLocalizedDescriptionKey: message, "Error Code": Int(engineCode), "Error Name": "\(code)",
        ]
        if let fileURL { info[NSFilePathErrorKey] = fileURL.path }
        return info
    }

    public var errorDescription: String? { message }
    public var localizedDescription: String { message }
    public var description: String { message }
}
