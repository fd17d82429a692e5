import Synchronization

/// Levels of log messages. The numbers are those of the C API.
public enum LogLevel: Int, Sendable { case all = 0, trace, debug, detail, info, warning, error, fatal, off }

/// Categories, in the order of the C API. A level set for a category also applies to its children.
public enum LogCategory: String, Sendable, CaseIterable {
    /// In this order: all messages, messages of the program, files, notifications of changes.
    case realm = "Realm", app = "Realm.App", sdk = "Realm.SDK", storage = "Realm.Storage", notification =
        "Realm.Storage.Notification"
    /// Children of `storage`.
    case object = "Realm.Storage.Object", query = "Realm.Storage.Query", transaction = "Realm.Storage.Transaction"
    /// Categories of Realm's sync service, which this library does not have.
    case sync = "Realm.Sync", client = "Realm.Sync.Client", changeset = "Realm.Sync.Client.Changeset", network =
        "Realm.Sync.Client.Network"
    /// More categories of the sync service.
    case reset = "Realm.Sync.Client.Reset", session = "Realm.Sync.Client.Session", server = "Realm.Sync.Server"
}

/// The process-wide log. Thread rule: any thread.
public enum Log {
    /// Receives the messages. Called on any thread, also on several at once.
    public typealias Sink = @Sendable (LogCategory, LogLevel, String) -> Void

    private struct State {
        var sink: Sink?
        var levels = [LogLevel](repeating: .info, count: LogCategory.allCases.count)
    }

    private static let state = Lock(initial: State(), of: .log)

    /// Sets the receiver of messages; nil: standard error.
    public static func setSink(_ sink: Sink?) {
        // The old sink is released outside the lock, because its owner may call the log.
        let old = state.with { state -> Sink? in
            defer { state.sink = sink }
            return state.sink
        }
        _ = old
    }

    /// Sets the level of a category and all its children. Returns the previous level of the category.
    public static func setLevel(_ level: LogLevel, for category: LogCategory) -> LogLevel {
        state.with { state in
            var before = LogLevel.info
            for (i, other) in LogCategory.allCases.enumerated()
            where other == category || other.rawValue.hasPrefix(category.rawValue + ".") {
                if other == category { before = state.levels[i] }
                state.levels[i] = level
            }
            lowest.store(state.levels.map(\.rawValue).min() ?? LogLevel.off.rawValue, ordering: .relaxed)
            return before
        }
    }

    /// The level of a category. Any thread.
    public static func level(of category: LogCategory) -> LogLevel {
        state.with { state in LogCategory.allCases.firstIndex(of: category).map { state.levels[$0] } ?? .info }
    }

    static func isEnabled(_ category: LogCategory, _ level: LogLevel) -> Bool {
        level.rawValue >= lowest.load(ordering: .relaxed) && level.rawValue >= self.level(of: category).rawValue
    }

    /// The lowest level of any category: an unwanted message costs one load.
    private static let lowest = Atomic(LogLevel.info.rawValue)

    package static func write(_ category: LogCategory, _ level: LogLevel, _ message: @autoclosure () -> String) {
        guard level.rawValue >= lowest.load(ordering: .relaxed) else { return }
        let sink: Sink?? = state.with { state in
            guard let index = LogCategory.allCases.firstIndex(of: category),
                level.rawValue >= state.levels[index].rawValue,
                state.levels[index] != .off
            else {
                return nil
            }
            return .some(state.sink)
        }
        guard let sink else { return }
        if let sink {
            sink(category, level, message())
        } else {
            Platform.printError("[\(category.rawValue)] \(level): \(message())")
        }
    }
}
