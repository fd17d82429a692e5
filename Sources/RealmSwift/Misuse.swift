internal import CoreEngine

/// What is no error of the data but of the program: a managed property written outside of a write transaction, an
/// object used on another thread than its Realm's, an index out of range. Realm throws an Objective-C exception there,
/// which ends a Swift program; here `misuse` ends it, with the same sentence.
///
/// A property cannot throw, and a plausible wrong value would be worse than the end. Where a function throws anyway,
/// misuse is thrown as `Realm.Error` instead.
public enum RealmMisuse {
    /// Told of the message before the program ends, on the thread that misused something: to log it, or, in tests, to
    /// never return.
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

/// Of Realms, only those are closed that were invalidated, and those of migrations that ended.
@inline(never) func misuse(_ error: EngineError) -> Never {
    misuse(error.code == .closedRealm ? "Object has been deleted or invalidated." : error.message)
}

/// Runs what can only fail by misuse, or because the file is damaged: nobody can be told but by ending the program.
@inline(__always) func must<R>(_ body: () throws(EngineError) -> R) -> R {
    do throws(EngineError) { return try body() } catch { misuse(error) }
}

/// An index that no element of a collection has.
@inline(never) func outOfBounds(_ index: Int, _ count: Int) -> Never {
    misuse(
        (index < 0 ? "Cannot pass a negative value: " : "")
            + "Index \(index) is out of bounds (must be less than \(count)).")
}
