/// Checks of data structures, kept next to the operations on them. Tests check the whole structure after each
/// operation. Debug builds assert that an operation on a sound structure leaves it sound, as far as the nodes concerned
/// show.
///
/// A structure that was damaged before (by its file) may be damaged afterwards: that is an error for the caller, not a
/// failed assertion.
enum Invariants {
    /// A constant, so that release builds contain no checks.
    @inline(__always) static var areAsserted: Bool {
        #if DEBUG
            true
        #else
            false
        #endif
    }

    /// Whether `check` finds no damage. Errors of other kinds do not count as damage.
    static func hold(_ check: () throws(RealmError) -> Void) -> Bool {
        do throws(RealmError) { try check() } catch { return !error.isDamage }
        return true
    }
}
