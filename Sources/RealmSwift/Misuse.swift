internal import CoreEngine

/// Errors of the program, as opposed to errors of the data: a write to a managed property outside of a write
/// transaction, the use of an object on a thread other than its Realm's thread, an index out of range. Realm throws an
/// Objective-C exception in these cases, which ends a Swift program. RealmSwift ends the program through `misuse`, with
/// the same message.
///
/// A property access cannot throw, and returning a plausible wrong value would be worse than ending the program.
/// Functions that throw report misuse as a `Realm.Error` instead, except for calls from a wrong thread.
public enum RealmMisuse {
    /// A function that is called with the message before the program ends, on the thread that caused the error. Use it
    /// to write a log, or, in tests, to never return.
    public static var handler: (@Sendable (String) -> Void)? {
        get { kept.with { $0 } }
        set { kept.with { $0 = newValue } }
    }

    private static let kept = Lock<(@Sendable (String) -> Void)?>(initial: nil)
}

@inline(never) func misuse(_ message: String) -> Never {
    RealmMisuse.handler?(message)
    fatalError("RealmSwift: \(message)")
}

/// Reports an engine error and ends the program. A closed Realm has been invalidated or belonged to a finished
/// migration, so `closedRealm` gets the message for invalidated objects.
@inline(never) func misuse(_ error: EngineError) -> Never {
    misuse(error.code == .closedRealm ? "Object has been deleted or invalidated." : error.message)
}

/// Runs a function that fails only through misuse or because the file is damaged. The caller cannot throw, so an error
/// ends the program.
@inline(__always) func must<R>(_ body: () throws(EngineError) -> R) -> R {
    do throws(EngineError) { return try body() } catch { misuse(error) }
}

/// Ends the program because `index` is outside of a collection with `count` elements.
@inline(never) func outOfBounds(_ index: Int, _ count: Int) -> Never {
    misuse(
        (index < 0 ? "Cannot pass a negative value: " : "")
            + "Index \(index) is out of bounds (must be less than \(count)).")
}
