internal import CoreEngine
import Foundation

/// Letting go of unmanaged objects that refer to one another: of a long chain each object would let go of the next one
/// inside its own end, until the stack is full. So what an object refers to is handed out of it first, and let go of by
/// whoever lets go of the chain's first object.
enum LettingGo {
    /// What waits to be let go of on a thread.
    private final class Waiting {
        var values: [Any] = []
        var isBusy = false
    }

    private static let key: pthread_key_t? = {
        var key = pthread_key_t()
        let made = pthread_key_create(&key) { waiting in
            guard let waiting: UnsafeMutableRawPointer = waiting else { return }
            Unmanaged<Waiting>.fromOpaque(waiting).release()
        }
        return made == 0 ? key : nil
    }()

    private static var ofThread: Waiting? {
        guard let key else { return nil }
        if let known = pthread_getspecific(key) { return Unmanaged<Waiting>.fromOpaque(known).takeUnretainedValue() }
        let made = Unmanaged.passRetained(Waiting())
        guard pthread_setspecific(key, made.toOpaque()) == 0 else {
            made.release()
            return nil
        }
        return made.takeUnretainedValue()
    }

    /// Called at the end of an unmanaged object, whose fields are still there.
    static func links(of object: ObjectBase) {
        guard let info = ClassInfo.ifKnown(type(of: object)), !info.links.isEmpty else { return }
        let base = UnsafeMutableRawPointer(Unmanaged.passUnretained(object).toOpaque())
        var taken: [Any] = []
        for link in info.links {
            guard let value = link.access.any(object, link), unwrapped(value) is ObjectBase else { continue }
            link.access.bind(base + link.offset, -1)
            taken.append(value)
        }
        guard !taken.isEmpty, let waiting = ofThread else { return }
        waiting.values += taken
        taken = []
        guard !waiting.isBusy else { return }
        waiting.isBusy = true
        while waiting.values.popLast() != nil {}
        waiting.isBusy = false
    }
}
