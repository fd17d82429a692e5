internal import CoreEngine
import Foundation

/// The amount of detail in a log. Each level includes the messages of all levels before it in this list.
public enum LogLevel: UInt, Sendable, CaseIterable {
    case off = 0, fatal, error, warn, info, detail, debug, trace, all

    fileprivate var engine: CoreEngine.LogLevel {
        switch self {
        case .off: .off
        case .fatal: .fatal
        case .error: .error
        case .warn: .warning
        case .info: .info
        case .detail: .detail
        case .debug: .debug
        case .trace: .trace
        case .all: .all
        }
    }

    fileprivate init(_ level: CoreEngine.LogLevel) {
        self =
            switch level {
            case .off: .off
            case .fatal: .fatal
            case .error: .error
            case .warning: .warn
            case .info: .info
            case .detail: .detail
            case .debug: .debug
            case .trace: .trace
            case .all: .all
            }
    }
}

/// A receiver of the log messages of all Realms in the process.
///
///     Logger.shared = Logger(level: .debug) { level, message in print("\(level): \(message)") }
///
/// Thread rule: any. The log function is called on any thread, possibly on several threads at once.
public final class Logger: Sendable {
    private let function: @Sendable (LogLevel, String) -> Void
    private let kept: Lock<LogLevel>

    /// Creates a logger.
    ///
    /// - Parameters:
    ///   - level: The least severe level that is logged.
    ///   - logFunction: Called with each message of `level` or a more severe level.
    public init(level: LogLevel = .info, logFunction: @escaping @Sendable (LogLevel, String) -> Void) {
        function = logFunction
        kept = Lock(initial: level)
    }

    /// The least severe level that is logged. On the shared logger, a new value takes effect at once.
    public var level: LogLevel {
        get { kept.with { $0 } }
        set {
            kept.with { $0 = newValue }
            if Self.shared === self { _ = Log.setLevel(newValue.engine, for: .realm) }
        }
    }

    /// Passes a message to the log function if `level` is at least as severe as the level of the logger.
    public func log(level: LogLevel, message: String) {
        if level != .off, level.rawValue <= self.level.rawValue { function(level, message) }
    }

    private static let current = Lock<Logger>(
        initial: Logger(level: .info) { level, message in
            FileHandle.standardError.write(Data("Realm \(level): \(message)\n".utf8))
        })

    /// The logger that receives all messages. The default logger writes messages of level `info` and more severe ones
    /// to standard error.
    public static var shared: Logger {
        get { current.with { $0 } }
        set {
            let earlier = current.with { logger in
                defer { logger = newValue }
                return logger
            }
            withExtendedLifetime(earlier) {}
            _ = Log.setLevel(newValue.level.engine, for: .realm)
            Log.setSink { [weak newValue] _, level, message in newValue?.log(level: LogLevel(level), message: message) }
        }
    }
}
