import CRealmHeaders
import CoreEngine

/// File information and verification without opening the file, and the location of values in it.

@_cdecl("crealm_file_info")
public func crealm_file_info(
    _ config: OpaquePointer?, _ out: UnsafeMutablePointer<UnsafeMutablePointer<crealm_file_info_t>?>?
) -> Bool {
    out?.pointee = nil
    return anywhere(.config, config, false) { (config) throws(RealmError) in
        guard let out else { throw nullArgument() }
        let settings = config.value
        let facts = try FileFacts.read(path: try settings.checkedPath(), try settings.encryption())
        out.pointee = try OwnBlock.make { info(facts, &$0) }
        return true
    }
}

@_cdecl("crealm_check")
public func crealm_check(
    _ config: OpaquePointer?, _ max: Int, _ out: UnsafeMutablePointer<UnsafeMutablePointer<crealm_check_t>?>?
) -> Bool {
    out?.pointee = nil
    return anywhere(.config, config, false) { (config) throws(RealmError) in
        guard let out else { throw nullArgument() }
        let settings = config.value
        let found = try FileCheck(
            path: try settings.checkedPath(), try settings.encryption(), isSnapshot: settings.isSnapshot,
            limit: max < 0 ? .max : max,
            settings.makeInterruption())
        out.pointee = try OwnBlock.make { check(found, &$0) }
        return true
    }
}

private func check(_ found: FileCheck, _ block: inout OwnBlock) -> crealm_check_t {
    let facts = block.array([found.facts]) { info($1, &$0) }
    let versions = block.array(found.versions) { _, listed in
        crealm_checked_version_t(
            state: crealm_version_state_e(rawValue: listed.state.rawValue), slot: Int32(listed.slot ?? -1),
            is_newest: listed.isNewest,
            version: listed.number,
            num_faults: listed.faultCount)
    }
    let faults = block.array(found.faults) { block, f in
        crealm_file_fault_t(fault: fault(f.fault, &block), slot: Int32(f.slot ?? -1))
    }
    return crealm_check_t(
        result: crealm_check_result_e(rawValue: found.result.rawValue), info: facts.map { UnsafePointer($0) },
        num_versions: found.versions.count,
        versions: versions.map { UnsafePointer($0) }, num_faults: found.faults.count,
        faults: faults.map { UnsafePointer($0) },
        total_faults: found.total, report: block.text(found.report), json: block.text(found.json))
}

private func fault(_ fault: Fault, _ block: inout OwnBlock) -> crealm_fault_t {
    crealm_fault_t(
        kind: crealm_fault_kind_e(rawValue: UInt32(fault.kind.rawValue)), offset: UInt64(fault.offset),
        class_name: block.text(fault.table?.text),
        property: block.text(fault.property?.text), object: fault.object?.raw ?? -1, message: block.text(fault.message))
}

private func info(_ facts: FileFacts, _ block: inout OwnBlock) -> crealm_file_info_t {
    var info = crealm_file_info_t()
    info.path = block.text(facts.path)
    info.kind = crealm_file_kind_e(rawValue: facts.kind.rawValue)
    info.encryption = crealm_file_encryption_e(rawValue: facts.form.rawValue)
    info.cipher = facts.cipher.map { $0.rawValue } ?? -1
    info.wants_passphrase = facts.wantsPassphrase
    info.use = crealm_file_use_e(rawValue: facts.use.rawValue)
    info.file_size = UInt64(facts.fileSize)
    info.data_size = UInt64(facts.dataSize)
    info.is_streaming = facts.isStreaming
    info.selected_slot = Int32(facts.selectedSlot ?? -1)
    info.slots = (slot(facts.slots[0], &block), slot(facts.slots[1], &block))
    info.newest = slot(facts.newest, &block)
    info.writer = block.text(facts.writer)
    info.problem = block.text(facts.problem)
    return info
}

private func slot(_ facts: FileFacts.Slot, _ block: inout OwnBlock) -> crealm_slot_info_t {
    crealm_slot_info_t(
        state: crealm_slot_state_e(rawValue: facts.state.rawValue), format: UInt32(facts.format), top_ref: facts.topRef,
        version: facts.version,
        logical_size: UInt64(facts.logicalSize), history_type: UInt32(truncatingIfNeeded: facts.historyType),
        history_schema_version: UInt32(truncatingIfNeeded: facts.historySchemaVersion),
        problem: block.text(facts.problem))
}

@_cdecl("crealm_value_location")
public func crealm_value_location(
    _ object: OpaquePointer?, _ property: Int64, _ index: Int,
    _ out: UnsafeMutablePointer<UnsafeMutablePointer<crealm_value_location_t>?>?
) -> Bool {
    out?.pointee = nil
    return inside(.object, object) { (handle, realm) throws(RealmError) in
        guard let out else { throw nullArgument() }
        let found = try realm.location(handle.table, handle.key, ColKey(property), index: index == -1 ? nil : index)
        out.pointee = try OwnBlock.make { location(found, &$0) }
    }
}

private func location(_ found: ValueLocation, _ block: inout OwnBlock) -> crealm_value_location_t {
    let nodes = block.array(found.steps) { _, step in
        crealm_location_node_t(
            role: crealm_node_role_e(rawValue: step.role.rawValue), element: Int64(step.element),
            offset: UInt64(step.offset),
            size: UInt64(step.size))
    }
    let parts = block.array(found.parts) { _, part in
        crealm_location_part_t(
            kind: crealm_part_kind_e(rawValue: part.kind.rawValue), first_bit: UInt32(part.firstBit),
            node: UInt64(part.node),
            offset: UInt64(part.offset), bits: UInt64(part.bits), page: Int64(part.page),
            file_offset: UInt64(part.fileOffset))
    }
    return crealm_value_location_t(
        num_nodes: found.steps.count, nodes: nodes.map { UnsafePointer($0) }, num_parts: found.parts.count,
        parts: parts.map { UnsafePointer($0) }, page_size: UInt64(found.pageSize))
}

@_cdecl("crealm_get_commit_work")
public func crealm_get_commit_work(_ realm: OpaquePointer?, _ out: UnsafeMutablePointer<crealm_commit_work_t>?) -> Bool
{
    inside(.realm, realm) { (_, realm) throws(RealmError) in
        guard let out else { throw nullArgument() }
        let work = realm.lastCommitWork
        out.pointee = crealm_commit_work_t(
            version: work.version, objects: UInt64(work.objects), history: UInt64(work.history),
            free_lists: UInt64(work.freeLists), free_pieces: UInt64(work.freePieces),
            free_bytes: UInt64(work.freeBytes), file_size: UInt64(work.fileSize))
    }
}
