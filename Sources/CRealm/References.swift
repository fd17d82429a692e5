import CRealmHeaders
import CoreEngine

/// Thread-safe references, which carry handles to other threads.

final class ReferenceHandle: Handle {
    let value: ThreadSafeReference

    init(_ value: ThreadSafeReference) {
        self.value = value
        super.init(.reference)
    }
}

@_cdecl("realm_create_thread_safe_reference")
public func realm_create_thread_safe_reference(_ p: UnsafeRawPointer?) -> OpaquePointer? {
    let h = p.map { OpaquePointer($0) }
    switch kind(of: p) {
    case .realm?: return anywhere(.realm, h, nil) { (r) throws(RealmError) in ReferenceHandle(try r.reference()).out() }
    case .object?:
        return handle(.object, h) { (o, realm) throws(RealmError) in
            ReferenceHandle(try ThreadSafeReference(realm, o.table, o.named))
        }
    case .list?: return refer(.list, h, .list)
    case .set?: return refer(.set, h, .set)
    case .dictionary?: return refer(.dictionary, h, .dictionary)
    case .results?:
        return handle(.results, h) { (_, results) throws(RealmError) in
            ReferenceHandle(try ThreadSafeReference(results))
        }
    case nil: return fail(nullArgument())
    default: return fail(RealmError(.illegalOperation, "Handles of this kind cannot go to another thread"))
    }
}

private func refer(_ door: Door<CollectionHandle>, _ p: OpaquePointer?, _ shape: CollectionShape) -> OpaquePointer? {
    handle(door, p) { (h, realm) throws(RealmError) in
        _ = try h.contents()
        return ReferenceHandle(try ThreadSafeReference(realm, h.path, shape))
    }
}

@_cdecl("realm_from_thread_safe_reference")
public func realm_from_thread_safe_reference(_ reference: OpaquePointer?, _ scheduler: OpaquePointer?) -> OpaquePointer?
{
    anywhere(.reference, reference, nil) { (reference) throws(RealmError) in
        let target: any Scheduler =
            scheduler == nil
            ? ThreadScheduler.current
            : try borrow(.scheduler, scheduler) { (s) throws(RealmError) in
                s.scheduler
            }
        return RealmHandle(RealmBox(try reference.value.takeRealm(to: target))).out()
    }
}

@_cdecl("realm_object_from_thread_safe_reference")
public func realm_object_from_thread_safe_reference(_ r: OpaquePointer?, _ reference: OpaquePointer?) -> OpaquePointer?
{
    resolve(.object, r, reference) { (r, realm, target) throws(RealmError) in
        guard case .object(let table, let named) = target else { throw ThreadSafeReference.mismatch() }
        return ObjectHandle.make(r.box, table, named)
    }
}

private func resolveCollection(
    _ r: OpaquePointer?, _ reference: OpaquePointer?, _ wanted: ThreadSafeReference.Kind, _ kind: Handle.Kind
) -> OpaquePointer? {
    resolve(wanted, r, reference) { (r, _, target) throws(RealmError) in
        guard case .collection(let path, _) = target else { throw ThreadSafeReference.mismatch() }
        return CollectionHandle(kind, r.box, path).out()
    }
}

@_cdecl("realm_list_from_thread_safe_reference")
public func realm_list_from_thread_safe_reference(_ r: OpaquePointer?, _ reference: OpaquePointer?) -> OpaquePointer? {
    resolveCollection(r, reference, .list, .list)
}

@_cdecl("realm_set_from_thread_safe_reference")
public func realm_set_from_thread_safe_reference(_ r: OpaquePointer?, _ reference: OpaquePointer?) -> OpaquePointer? {
    resolveCollection(r, reference, .set, .set)
}

@_cdecl("realm_dictionary_from_thread_safe_reference")
public func realm_dictionary_from_thread_safe_reference(_ r: OpaquePointer?, _ reference: OpaquePointer?)
    -> OpaquePointer?
{
    resolveCollection(r, reference, .dictionary, .dictionary)
}

@_cdecl("realm_results_from_thread_safe_reference")
public func realm_results_from_thread_safe_reference(_ r: OpaquePointer?, _ reference: OpaquePointer?) -> OpaquePointer?
{
    resolve(.results, r, reference) { (r, realm, target) throws(RealmError) in
        guard case .results(let recipe) = target else { throw ThreadSafeReference.mismatch() }
        return ResultsHandle(r.box, try ResultSet(realm, recipe)).out()
    }
}

/// Resolves a reference in a Realm and runs `body` with its content.
private func resolve(
    _ wanted: ThreadSafeReference.Kind, _ r: OpaquePointer?, _ reference: OpaquePointer?,
    _ body: (RealmHandle, Realm, ThreadSafeReference.Target) throws(RealmError) -> OpaquePointer
) -> OpaquePointer? {
    from(.realm, r) { (r, realm) throws(RealmError) in
        try borrow(.reference, reference) { (reference) throws(RealmError) in
            if reference.isInherited { throw Realm.inheritedError() }
            return try body(r, realm, try reference.value.target(wanted, in: realm))
        }
    }
}
