/// A thread of the library's own. It is not there in a forked child.
enum Thread {
    private final class Work {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
    /// Runs `body` on a new thread, which keeps nothing of it when it ends.
    static func start(_ body: @escaping @Sendable () -> Void) throws(RealmError) {
        let work = Unmanaged.passRetained(Work(body))
        let code = system.start_thread({ Unmanaged<Work>.fromOpaque($0).takeRetainedValue().body() }, work.toOpaque())
        guard code == 0 else {
            work.release()
            throw Platform.error(code, "Failed to start a thread", path: nil)
        }
    }
}
