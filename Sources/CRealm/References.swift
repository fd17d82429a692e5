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
public func realm_create_thread_safe_reference(_ pointer: UnsafeRawPointer?) -> OpaquePointer? {
    let opaque = pointer.map { OpaquePointer($0) }
    switch kind(of: pointer) {
    case .realm?:
        return anywhere(.realm, opaque, nil) { (realm) throws(RealmError) in
            ReferenceHandle(try realm.reference()).out()
        }
    case .object?:
        return handle(.object, opaque) { (handle, realm) throws(RealmError) in
            ReferenceHandle(try ThreadSafeReference(realm, handle.table, handle.named))
        }
    case .list?: return refer(.list, opaque, .list)
    case .set?: return refer(.set, opaque, .set)
    case .dictionary?: return refer(.dictionary, opaque, .dictionary)
    case .results?:
        return handle(.results, opaque) { (_, results) throws(RealmError) in
            ReferenceHandle(try ThreadSafeReference(results))
        }
    case nil: return fail(nullArgument())
    default: return fail(RealmError(.illegalOperation, "Handles of this kind cannot go to another thread"))
    }
}

private func refer(_ type: HandleType<CollectionHandle>, _ pointer: OpaquePointer?, _ shape: CollectionShape)
    -> OpaquePointer?
{
    handle(type, pointer) { (handle, realm) throws(RealmError) in
        _ = try handle.contents()
        return ReferenceHandle(try ThreadSafeReference(realm, handle.path, shape))
    }
}

@_cdecl("realm_from_thread_safe_reference")
public func realm_from_thread_safe_reference(_ reference: OpaquePointer?, _ scheduler: OpaquePointer?) -> OpaquePointer?
{
    anywhere(.reference, reference, nil) { (reference) throws(RealmError) in
        let target: any Scheduler =
            scheduler == nil
            ? ThreadScheduler.current
            : try borrow(.scheduler, scheduler) { (scheduler) throws(RealmError) in
                scheduler.scheduler
            }
        return RealmHandle(RealmBox(try reference.value.takeRealm(to: target))).out()
    }
}

@_cdecl("realm_object_from_thread_safe_reference")
public func realm_object_from_thread_safe_reference(_ realm: OpaquePointer?, _ reference: OpaquePointer?)
    -> OpaquePointer?
{
    resolve(.object, realm, reference) { (handle, realm, target) throws(RealmError) in
        guard case .object(let table, let named) = target else { throw ThreadSafeReference.mismatch() }
        return ObjectHandle.make(handle.box, table, named)
    }
}

private func resolveCollection(
    _ realm: OpaquePointer?, _ reference: OpaquePointer?, _ wanted: ThreadSafeReference.Kind, _ kind: Handle.Kind
) -> OpaquePointer? {
    resolve(wanted, realm, reference) { (handle, _, target) throws(RealmError) in
        guard case .collection(let path, _) = target else { throw ThreadSafeReference.mismatch() }
        return CollectionHandle(kind, handle.box, path).out()
    }
}

@_cdecl("realm_list_from_thread_safe_reference")
public func realm_list_from_thread_safe_reference(_ realm: OpaquePointer?, _ reference: OpaquePointer?)
    -> OpaquePointer?
{
    resolveCollection(realm, reference, .list, .list)
}

@_cdecl("realm_set_from_thread_safe_reference")
public func realm_set_from_thread_safe_reference(_ realm: OpaquePointer?, _ reference: OpaquePointer?) -> OpaquePointer?
{
    resolveCollection(realm, reference, .set, .set)
}

@_cdecl("realm_dictionary_from_thread_safe_reference")
public func realm_dictionary_from_thread_safe_reference(_ realm: OpaquePointer?, _ reference: OpaquePointer?)
    -> OpaquePointer?
{
    resolveCollection(realm, reference, .dictionary, .dictionary)
}

@_cdecl("realm_results_from_thread_safe_reference")
public func realm_results_from_thread_safe_reference(_ realm: OpaquePointer?, _ reference: OpaquePointer?)
    -> OpaquePointer?
{
    resolve(.results, realm, reference) { (handle, realm, target) throws(RealmError) in
        guard case .results(let recipe) = target else { throw ThreadSafeReference.mismatch() }
        return ResultsHandle(handle.box, try ResultSet(realm, recipe)).out()
    }
}

/// Resolves a reference in a Realm and runs `body` with its content.
private func resolve(
    _ wanted: ThreadSafeReference.Kind, _ realm: OpaquePointer?, _ reference: OpaquePointer?,
    _ body: (RealmHandle, Realm, ThreadSafeReference.Target) throws(RealmError) -> OpaquePointer
) -> OpaquePointer? {
    from(.realm, realm) { (handle, realm) throws(RealmError) in
        try borrow(.reference, reference) { (reference) throws(RealmError) in
            if reference.isInherited { throw Realm.inheritedError() }
            return try body(handle, realm, try reference.value.target(wanted, in: realm))
        }
    }
}
