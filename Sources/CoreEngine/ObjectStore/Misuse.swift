/// A mistake in a place that cannot throw: `results.count` on another thread than the Realm's, `object["nmae"]`,
/// `results[99]`, any reading of what was deleted or closed. There is no right answer then, and a wrong one that looks
/// right (0, null) would go on into the program's data.
///
/// Promise
/// 1. Calls that throw throw the error, and never come here. Nor does anything of the C API.
/// 2. Calls that cannot throw come here, each of them, before anything is returned. Unless a handler says otherwise the
///    program stops, with a text that names the call and the error, in debug and release builds alike.
/// 3. A handler that answers `.goOn` gets what the call names as its substitute: a count of 0, null, an object that is
///    not valid. Nothing is touched that may not be: going on is memory safe.
///
/// A file that is damaged, or pages of it that are lost, are met here, too, by whoever reads without `throws`. Programs
/// that open files of others read with the calls that throw (`get`, `load`, `object(at:)`, `element(at:)`,
/// `elements()`), or install a handler.
///
///     Misuse.handler = { misuse in
///         report(misuse.description)
///         return .goOn
///     }
public struct Misuse: Sendable, CustomStringConvertible {
    /// What the call that throws would have thrown: 2006 on a wrong thread, 2014, 2010 and 2009 for what was closed or
    /// deleted, 3009 for a name that is no property, 3017 for an index out of range.
    public let error: RealmError

    /// The call: `Results.count`.
    public let call: String

    /// One line that says both.
    public var description: String { "\(call) has no answer: \(error)" }

    /// What happens after a mistake.
    public enum Answer: Sendable {
        /// The program stops, and says why on the standard error.
        case stop
        /// The call returns its substitute.
        case goOn
    }

    /// Who is asked.
    public typealias Handler = @Sendable (Misuse) -> Answer

    private static let installed = Lock<Handler?>(initial: nil)

    /// Asked for each mistake, on the thread that made it; nil, as at first: the program stops. It may throw the
    /// mistake away, write it down or end the program in its own way, and must not use the Realm concerned.
    ///
    /// Thread rule: any.
    public static var handler: Handler? {
        get { installed.with { $0 } }
        set { installed.with { $0 = newValue } }
    }

    /// What a call that cannot throw returns for an error.
    @inline(never) package static func answer<R>(_ error: RealmError, _ call: () -> String, _ substitute: () -> R) -> R
    {
        let misuse = Misuse(error: error, call: call())
        // Not called under the lock: it may install another.
        switch handler?(misuse) ?? .stop {
        case .goOn: return substitute()
        case .stop: fatalError(misuse.description)
        }
    }

    /// Runs the body of a call that cannot throw.
    @inline(__always) package static func avoided<R>(
        _ call: @autoclosure () -> String, else substitute: @autoclosure () -> R, _ body: () throws(RealmError) -> R
    ) -> R {
        do throws(RealmError) { return try body() } catch { return answer(error, call, substitute) }
    }

    /// The same for questions whether something is still there, of which "it was closed" and "it was deleted" are
    /// answers.
    @inline(__always) package static func isThere(
        _ call: @autoclosure () -> String, _ body: () throws(RealmError) -> Bool
    ) -> Bool {
        do throws(RealmError) { return try body() } catch {
            switch error.code {
            case .closedRealm, .invalidatedObject, .staleAccessor: return false
            default: return answer(error, call) { false }
            }
        }
    }
}
