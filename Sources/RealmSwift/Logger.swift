internal import CoreEngine
import Foundation

/// How much a log tells; each level tells what those behind it in this list tell, too.
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

/// Gets what Realms of the process have to tell of what they do.
///
///     Logger.shared = Logger(level: .debug) { level, message in print("\(level): \(message)") }
///
/// Thread rule: any; the function is called on any thread, also on several at once.
public final class Logger: Sendable {
    private let function: @Sendable (LogLevel, String) -> Void
    private let kept: Lock<LogLevel>

    /// - Parameter logFunction: gets each message of the level and those above it.
    public init(level: LogLevel = .info, logFunction: @escaping @Sendable (LogLevel, String) -> Void) {
        function = logFunction
        kept = Lock(initial: level)
    }

    /// What is logged; of the shared logger, at once.
    public var level: LogLevel {
        get { kept.with { $0 } }
        set {
            kept.with { $0 = newValue }
            if Self.shared === self { _ = Log.setLevel(newValue.engine, for: .realm) }
        }
    }

    /// Gives a message to the function, where the level asks for it.
    public func log(level: LogLevel, message: String) {
        if level != .off, level.rawValue <= self.level.rawValue { function(level, message) }
    }

    private static let current = Lock<Logger>(
        initial: Logger(level: .info) { level, message in
            FileHandle.standardError.write(Data("Realm \(level): \(message)\n".utf8))
        })

    /// The one that is told. At the beginning it writes to standard error what is of level `info` or above.
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
