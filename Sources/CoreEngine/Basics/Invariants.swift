/// Structures are checked beside the operations on them. Tests check all of a structure after each operation; debug
/// builds assert that an operation on a sound structure leaves it sound, as far as a look at the nodes concerned can
/// tell.
///
/// What was damaged before (by the file it came from) may be so afterwards: that is an error for the caller, and
/// nothing to assert.
enum Invariants {
    /// Constant, so that release builds hold nothing of the checks.
    @inline(__always) static var areAsserted: Bool {
        #if DEBUG
            true
        #else
            false
        #endif
    }

    /// Whether `check` finds no damage. An error of another kind says nothing of the structure.
    static func hold(_ check: () throws(RealmError) -> Void) -> Bool {
        do throws(RealmError) { try check() } catch { return !error.isDamage }
        return true
    }
}
