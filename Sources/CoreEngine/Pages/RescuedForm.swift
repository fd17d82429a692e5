/// The pages of a damaged file in CRealm's encrypted form, for reading only. Layout: docs/security.md.
///
/// Normally a page is valid when its stamp is the one in its table of stamps. If that table is unreadable, or a newer
/// root record may be lost, every page that authenticates is valid: it was written to this place of this file at some
/// time.
final class RescuedForm: PageForm {
    private let form: SealedForm
    var pageCipher: PageCipher { form.pageCipher }

    /// The newest root record that authenticates.
    private let root: SealedForm.Root?

    /// Whether it is certain that no newer root record is lost.
    let isSure: Bool
    private let count: Int

    /// Tables of stamps that are unreadable.
    private var lostTables: Set<Int> = []

    init(_ file: FileDescriptor, _ encryption: Encryption) throws(RealmError) {
        form = try SealedForm.openDamaged(file, encryption)
        (root, isSure) = form.damagedRoot()
        let blocks = try file.size() / SealedForm.blockSize
        // The number of pages that fit into the file, whatever its root record claims.
        var low = 0, high = SealedForm.pageLimit
        while low < high {
            let middle = (low + high + 1) / 2
            if form.end(of: middle) <= blocks { low = middle } else { high = middle - 1 }
        }
        count = low
    }

    let pageSize = SealedForm.payload
    var pageCount: Int { get throws(RealmError) { count } }

    func isHeld(_ size: Int, inFileOf present: Int) -> Bool { present >= form.end(of: count) * SealedForm.blockSize }

    func position(ofPage page: Int) -> Int { form.position(ofPage: page) }

    /// The page's stamp according to its table; nil when the table is unreadable.
    private func named(_ page: Int) throws(RealmError) -> UInt64? {
        let number = page / SealedForm.fanOut
        guard let root, isSure, !lostTables.contains(number) else { return nil }
        guard let table = try form.table(number, root) else {
            lostTables.insert(number)
            return nil
        }
        return table.values[page % SealedForm.fanOut]
    }

    func stamp(of page: Int) throws(RealmError) -> UInt64 {
        if let named = try named(page) { return named }
        guard try form.file.read(into: form.buffer, count: 8, at: form.pageBlock(page) * SealedForm.blockSize) == 8
        else { return 0 }
        return PageSeal.stamp(form.buffer)
    }

    func read(_ page: Int, into to: UnsafeMutableRawPointer) throws(RealmError) -> UInt64 {
        let wanted = try stamp(of: page)
        guard wanted != 0 else { throw form.damaged("page \(page) was never written") }
        if let problem = try form.read(page, wanted, into: to) { throw problem }
        return wanted
    }

    func readHeader(again: Bool) throws(RealmError) -> FileHeader {
        guard let root else { throw form.damaged("no root record authenticates") }
        return root.header
    }

    func reader(of file: FileDescriptor) throws(RealmError) -> any PageForm { self }

    func forget() {}

    func release() throws(RealmError) {}

    func isInFile() throws(RealmError) -> Bool { true }

    // MARK: Refused writes

    private func readOnly() -> RealmError { RealmError(.readOnly, "A damaged file is only read", path: form.file.path) }

    func write(_ first: Int, _ count: Int, from: UnsafeRawPointer, stamps: UnsafeMutablePointer<UInt64>)
        throws(RealmError)
    { throw readOnly() }

    var physicalPages: Int { get throws(RealmError) { try pageCount } }

    func cut(to pages: Int) throws(RealmError) {}

    func resize(to pages: Int, filled: Bool) throws(RealmError) { throw readOnly() }

    func prepare(_ header: FileHeader, logicalSize: Int, announcing: Bool) throws(RealmError) -> Bool {
        throw readOnly()
    }

    func commit() throws(RealmError) { throw readOnly() }

    func withdraw(_ header: FileHeader) throws(RealmError) { throw readOnly() }

    func sibling(in file: FileDescriptor) throws(RealmError) -> any PageForm { throw readOnly() }
}
