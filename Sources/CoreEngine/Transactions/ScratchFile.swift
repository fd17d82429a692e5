/// The path of a database that exists only while a new file is made from it, beside that file.
///
/// Its name contains the process and a random number, so two calls never share it. When a process dies, the next scratch
/// file for the same new file removes what it left: no session holds the lock file then. A minute later, so does the
/// next scratch file for any other file of the same folder.
struct ScratchFile {
    let path: String

    /// - Parameter suffix: names the purpose: `.tmp_salvage_`.
    init(for new: String, _ suffix: String) {
        let start = FileSystem.temporary(new, suffix)
        FileSystem.removeAbandoned(start, lock: ".lock") { rest in
            rest.split(separator: "_", omittingEmptySubsequences: false)
                .allSatisfy { !$0.isEmpty && $0.utf8.allSatisfy { $0 >= 0x30 && $0 <= 0x39 } }
        }
        FileSystem.removeAbandoned(in: FileSystem.parent(of: new), suffix: suffix, lock: ".lock")
        path = start + "\(Platform.processId)_\(Crypto.randomWord() % 1_000_000_000)"
    }

    /// Removes the database, which nobody has open any more.
    func remove() { for suffix in ["", ".lock"] { _ = try? FileSystem.remove(path + suffix) } }
}
