/// A programming error in a call that cannot throw: `results.count` on a thread other than the Realm's,
/// `object["nmae"]`, `results[99]`, any read of a deleted or closed value. No correct answer exists, and a wrong one
/// that seems correct (0, null) would enter the program's data.
///
/// Promise
/// 1. Calls that throw throw the error and never come here. The C API never comes here.
/// 2. Every call that cannot throw comes here before it returns anything. Unless a handler decides otherwise, the
///    program stops with a text that names the call and the error, in debug and release builds alike.
/// 3. If a handler answers `.goOn`, the call returns its substitute: a count of 0, null, an object that is not valid.
///    The call touches no data that it must not touch: continuing is memory safe.
///
/// Reading a damaged file, or a file that lost pages, without `throws` also comes here. Programs that open files from
/// others should read with the calls that throw (`get`, `load`, `object(at:)`, `element(at:)`, `elements()`), or
/// install a handler.
///
///     Misuse.handler = { misuse in
///         report(misuse.description)
///         return .goOn
///     }
public struct Misuse: Sendable, CustomStringConvertible {
    /// The error that the throwing call would throw: 2006 on a wrong thread, 2014, 2010 and 2009 for closed or deleted
    /// values, 3009 for a name that is no property, 3017 for an index out of range.
    public let error: RealmError

    /// The name of the call, such as `Results.count`.
    public let call: String

    /// One line with the call and the error.
    public var description: String { "\(call) has no answer: \(error)" }

    /// The decision of a handler.
    public enum Answer: Sendable {
        /// The program stops, and writes the reason to standard error.
        case stop
        /// The call returns its substitute.
        case goOn
    }

    /// The type of the handler.
    public typealias Handler = @Sendable (Misuse) -> Answer

    private static let installed = Lock<Handler?>(initial: nil)

    /// Called for each misuse, on the thread of the call. nil, the initial value: the program stops. The handler may
    /// ignore the misuse, log it or end the program in its own way. It must not use the Realm concerned.
    ///
    /// Thread rule: any.
    public static var handler: Handler? {
        get { installed.with { $0 } }
        set { installed.with { $0 = newValue } }
    }

    /// Asks the handler, and returns the substitute or stops the program.
    @inline(never) package static func answer<R>(_ error: RealmError, _ call: () -> String, _ substitute: () -> R) -> R
    {
        let misuse = Misuse(error: error, call: call())
        // Not called under the lock: the handler may install another handler.
        switch handler?(misuse) ?? .stop {
        case .goOn: return substitute()
        case .stop: fatalError(misuse.description)
        }
    }

    /// Runs the body of a call that cannot throw; an error becomes a misuse.
    @inline(__always) package static func avoided<R>(
        _ call: @autoclosure () -> String, else substitute: @autoclosure () -> R, _ body: () throws(RealmError) -> R
    ) -> R {
        do throws(RealmError) { return try body() } catch { return answer(error, call, substitute) }
    }

    /// As `avoided`, for calls that check whether a value still exists: closed and deleted values give false, which is
    /// a correct answer.
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
