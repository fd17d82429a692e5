import CRealmHeaders
import CoreEngine

/// Synchronisation with a hub: the program sends the requests and passes the replies.

/// A copy of a text for `realm_free`.
private func copied(_ text: String) throws(RealmError) -> UnsafeMutablePointer<CChar> {
    guard let copy = CMemory.copy(text) else { throw RealmError(.outOfMemory, "No memory for a text") }
    return copy
}

@_cdecl("crealm_sync_enable")
public func crealm_sync_enable(_ realm: OpaquePointer?, _ options: UnsafePointer<CChar>?) -> Bool {
    inside(.realm, realm) { (_, realm) throws(RealmError) in
        guard let options else { return try realm.enableSync([]) }
        try realm.enableSync(json: UnsafeRawBufferPointer(start: options, count: CMemory.length(options)))
    }
}

@_cdecl("crealm_sync_disable")
public func crealm_sync_disable(_ realm: OpaquePointer?) -> Bool {
    inside(.realm, realm) { (_, realm) throws(RealmError) in try realm.disableSync() }
}

@_cdecl("crealm_sync_set_subset")
public func crealm_sync_set_subset(
    _ realm: OpaquePointer?, _ className: UnsafePointer<CChar>?, _ condition: UnsafePointer<CChar>?
) -> Bool {
    inside(.realm, realm) { (_, realm) throws(RealmError) in
        guard let className else { throw nullArgument() }
        let text = condition.map { String(cString: $0) } ?? ""
        try realm.setSyncSubset(Name(String(cString: className)), text)
    }
}

@_cdecl("crealm_sync_status")
public func crealm_sync_status(_ realm: OpaquePointer?) -> UnsafeMutablePointer<CChar>? {
    from(.realm, realm) { (_, realm) throws(RealmError) in try copied(try realm.syncStatusJSON()) }
}

@_cdecl("crealm_sync_next_request")
public func crealm_sync_next_request(
    _ realm: OpaquePointer?, _ out: UnsafeMutablePointer<UnsafeMutablePointer<crealm_sync_request_t>?>?
) -> Bool {
    out?.pointee = nil
    return inside(.realm, realm) { (_, realm) throws(RealmError) in
        guard let out else { throw nullArgument() }
        guard let request = try realm.nextSyncRequest() else { return }
        let body = String(decoding: request.body, as: UTF8.self)
        out.pointee = try OwnBlock.make { (block: inout OwnBlock) in
            crealm_sync_request_t(
                function: block.text(request.function), body: block.text(body), size: request.body.count)
        }
    }
}

@_cdecl("crealm_sync_apply_reply")
public func crealm_sync_apply_reply(
    _ realm: OpaquePointer?, _ reply: UnsafePointer<CChar>?, _ size: Int,
    _ events: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> Bool {
    events?.pointee = nil
    return inside(.realm, realm) { (_, realm) throws(RealmError) in
        guard let reply else { throw nullArgument() }
        guard size >= 0, size <= 1 << 40 else { throw RealmError(.invalidArgument, "An impossible size of a reply") }
        let told = try realm.applySyncReply(UnsafeRawBufferPointer(start: reply, count: size))
        events?.pointee = try copied(SyncEvent.json(told))
    }
}

@_cdecl("crealm_sync_reset")
public func crealm_sync_reset(_ realm: OpaquePointer?) -> Bool {
    inside(.realm, realm) { (_, realm) throws(RealmError) in realm.resetSync() }
}

@_cdecl("crealm_sync_compare")
public func crealm_sync_compare(_ realm: OpaquePointer?) -> Bool {
    inside(.realm, realm) { (_, realm) throws(RealmError) in try realm.compareWithHub() }
}

@_cdecl("crealm_sync_forget_refused")
public func crealm_sync_forget_refused(_ realm: OpaquePointer?) -> Bool {
    inside(.realm, realm) { (_, realm) throws(RealmError) in try realm.forgetRefused() }
}
