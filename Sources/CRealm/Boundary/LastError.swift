import CRealmHeaders
import CoreEngine

/// The error slot of a thread, which holds its last failure. A successful call does not change it.
final class ErrorSlot {
    let code: Int32

    /// nil if there was no memory for the message.
    let message: UnsafeMutablePointer<CChar>?
    let path: UnsafeMutablePointer<CChar>?
    let userCode: UnsafeMutableRawPointer?

    init(code: Int32, message: String, path: String?, userCode: UnsafeMutableRawPointer?) {
        self.code = code
        self.message = CMemory.copy(message)
        self.path = path.flatMap { CMemory.copy($0) }
        self.userCode = userCode
    }

    deinit {
        CMemory.release(message)
        CMemory.release(path)
    }

    var text: String { message.map { String(cString: $0) } ?? "" }

    func fill(_ out: UnsafeMutablePointer<realm_error_t>) {
        out.pointee.error = realm_errno_e(rawValue: UInt32(bitPattern: code))
        out.pointee.categories = categories(of: code)
        out.pointee.message = message.map { UnsafePointer($0) } ?? constant("")
        out.pointee.user_code_error = userCode
        out.pointee.path = path.map { UnsafePointer($0) }
    }
}

/// Returns the category bits of an error number, as the C API groups them.
func categories(of code: Int32) -> UInt32 {
    let runtime: UInt32 = 0x4, logic: UInt32 = 0x2, invalid: UInt32 = 0x8, file: UInt32 = 0x10, system: UInt32 = 0x20
    switch code {
    case 1007, 1008, 1017...1024, 2012, 9001...9003, 9005: return runtime | file
    case 1999: return runtime | system
    case 1009, 2021, 3000...3023: return logic | invalid
    case 1000...1998, 9004, 9007, 1_000_000: return runtime
    case 2000...2999, 9006: return logic
    case 4201, 4203: return 0x142
    default: return 0
    }
}

/// The state that the library keeps for each thread.
enum ThreadSlots {
    private static let error = ThreadSlot { slot in
        if let slot { Unmanaged<ErrorSlot>.fromOpaque(slot).release() }
    }

    static let objectPool = ThreadSlot { words in
        if let words { ObjectPool.destroy(words) }
    }

    /// The pointer that a callback registered just before it failed. It belongs to the program.
    static let userCode = ThreadSlot()

    static var current: ErrorSlot? { error.pointer.map { Unmanaged<ErrorSlot>.fromOpaque($0).takeUnretainedValue() } }

    static func set(_ slot: ErrorSlot?) {
        let earlier = error.pointer
        let new = slot.map { Unmanaged.passRetained($0) }
        guard error.set(new?.toOpaque()) else {
            new?.release()
            return
        }
        if let earlier { Unmanaged<ErrorSlot>.fromOpaque(earlier).release() }
    }

    static func takeUserCode() -> UnsafeMutableRawPointer? {
        let place = userCode.pointer
        userCode.set(nil)
        return place
    }
}

@inline(never) func setLastError(_ error: RealmError) {
    var path: String?
    if categories(of: error.code.rawValue) & 0x10 != 0 { path = error.path ?? "" }
    let user = error.code == .callback ? ThreadSlots.takeUserCode() : nil
    ThreadSlots.set(ErrorSlot(code: error.code.rawValue, message: error.message, path: path, userCode: user))
}

/// Sets the last error and returns nil or false.
@inline(never) func fail<T>(_ error: RealmError) -> T? {
    setLastError(error)
    return nil
}

@inline(never) func failed(_ error: RealmError) -> Bool {
    setLastError(error)
    return false
}

/// The entry point of functions without a handle, like `inside` and `from` for functions with one.
@inline(__always) func attempt(_ body: () throws(RealmError) -> Void) -> Bool {
    do throws(RealmError) {
        try body()
        return true
    } catch { return failed(error) }
}

@inline(__always) func attemptPointer(_ body: () throws(RealmError) -> OpaquePointer?) -> OpaquePointer? {
    do throws(RealmError) { return try body() } catch { return fail(error) }
}

final class AsyncErrorHandle: Handle {
    let slot: ErrorSlot

    init(_ slot: ErrorSlot) {
        self.slot = slot
        super.init(.asyncError)
    }

    override func isEqual(to other: Handle) -> Bool {
        guard let peer = other as? AsyncErrorHandle else { return false }
        return peer.slot.code == slot.code && Name(peer.slot.text) == Name(slot.text)
    }

    override func cloned() -> Handle? { AsyncErrorHandle(slot) }
}

@_cdecl("realm_get_last_error")
public func realm_get_last_error(_ out: UnsafeMutablePointer<realm_error_t>?) -> Bool {
    guard let slot = ThreadSlots.current else { return false }
    if let out { slot.fill(out) }
    return true
}

@_cdecl("realm_clear_last_error")
public func realm_clear_last_error() -> Bool {
    let had = ThreadSlots.current != nil
    if had { ThreadSlots.set(nil) }
    return had
}

@_cdecl("crealm_last_error_take")
public func crealm_last_error_take(
    _ code: UnsafeMutablePointer<realm_errno_e>?, _ message: UnsafeMutablePointer<CChar>?, _ capacity: Int,
    _ size: UnsafeMutablePointer<Int>?, _ userCode: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> Bool {
    guard let slot = ThreadSlots.current else { return false }
    code?.pointee = realm_errno_e(rawValue: UInt32(bitPattern: slot.code))
    userCode?.pointee = slot.userCode
    let length = slot.message.map { CMemory.length($0) } ?? 0
    size?.pointee = length
    if let message, capacity > 0 {
        // A cut text ends before a character that does not fit as a whole.
        var copied = min(length, capacity - 1)
        if let text = slot.message {
            while copied < length, copied > 0, text[copied] & ~0x3F == CChar(bitPattern: 0x80) { copied -= 1 }
            message.update(from: text, count: copied)
        }
        message[copied] = 0
    }
    ThreadSlots.set(nil)
    return true
}

@_cdecl("realm_get_last_error_as_async_error")
public func realm_get_last_error_as_async_error() -> OpaquePointer? {
    guard let slots = ThreadSlots.current else { return nil }
    return AsyncErrorHandle(
        ErrorSlot(
            code: slots.code, message: slots.text, path: slots.path.map { String(cString: $0) },
            userCode: slots.userCode)
    ).out()
}

@_cdecl("realm_get_async_error")
public func realm_get_async_error(_ error: OpaquePointer?, _ out: UnsafeMutablePointer<realm_error_t>?) -> Bool {
    guard error != nil else { return false }
    return anywhere(.asyncError, error, false) { (error) throws(RealmError) in
        if let out { error.slot.fill(out) }
        return true
    }
}

@_cdecl("realm_register_user_code_callback_error")
public func realm_register_user_code_callback_error(_ userCode: UnsafeMutableRawPointer?) {
    ThreadSlots.userCode.set(userCode)
}
