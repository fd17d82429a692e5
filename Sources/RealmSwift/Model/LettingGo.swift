internal import CoreEngine
import Foundation

/// Releases unmanaged objects that refer to one another. In a long chain each object would release the next one in its
/// own deinitializer, until the stack overflows. So the links are first moved out of an object. The deinitializer of
/// the first object in the chain then releases all objects in a loop.
enum LettingGo {
    /// Objects that wait for their release on a thread.
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

    /// Moves the links out of an unmanaged object. Called in its deinitializer, while its fields still exist.
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
