/// What salvage found and lost, by class and property.
package struct SalvageReport {
    /// The losses of a property.
    struct Property {
        let name: Name

        /// Lost values: the property has its default, or null.
        var lost = 0

        /// Values from an older version of the file than their object.
        var older = 0

        /// Links whose objects are lost: they are null, or left out of their collection.
        var links = 0

        /// Minimum number of lost elements of collections.
        var elements = 0

        /// Texts that are not UTF-8; kept unchanged.
        var texts = 0

        init(_ name: Name) { self.name = name }
        var isWhole: Bool { lost == 0 && older == 0 && links == 0 && elements == 0 && texts == 0 }
    }

    struct Class {
        let name: Name

        /// Objects in the new file.
        var objects = 0

        /// Objects stored in an additional class, because they cannot be stored in their own.
        var apart = 0

        /// Objects read from an older version of the file, because the newest one is damaged there.
        var older = 0

        /// Objects found by a scan, without a way to them: their keys are new.
        var found = 0

        /// Number of objects known to be lost; nil if some are lost but their number is unknown.
        var lost: Int? = 0
        var properties: [Property] = []

        /// The names of the class and its properties are the original ones; otherwise some are damaged or generated.
        var hasNames = true

        var isWhole: Bool {
            lost == 0 && older == 0 && apart == 0 && found == 0 && hasNames && properties.allSatisfy(\.isWhole)
        }
    }

    struct Root {
        let origin: String
        let top: Int
        let version: UInt64

        /// nil if the root was used.
        let reason: String?
    }

    var format: UInt8 = 0
    var version: UInt64 = 0
    var roots: [Root] = []
    var classes: [Class] = []

    /// Whether the other tables lost nothing. The only other table is that of the schema version.
    var otherTablesAreWhole = true

    /// Classes of which at most the name is left.
    var lostClasses: [(name: Name?, reason: String)] = []

    /// Result of the check of the newest version found; nil if it could not be checked.
    var check: (faults: Int, contradictions: Int)?

    /// Pages of an encrypted file that fail authentication.
    var pages: [Int] = []
    var pageCount = 0

    /// Whether the new file has everything of the newest version, and that version has no faults.
    var isWhole: Bool {
        guard let first = roots.first, first.origin == DamagedFile.Root.Origin.newest.rawValue, first.reason == nil
        else { return false }
        return check?.faults == 0 && lostClasses.isEmpty && pageCount == 0 && classes.allSatisfy(\.isWhole)
            && otherTablesAreWhole
    }

    /// The report as JSON.
    package var json: String {
        var out = JSONText()
        out.object { members in
            members.field("whole") { $0.bool(isWhole) }
            members.field("format") { $0.number(Int64(format)) }
            members.field("version") { $0.number(Int64(bitPattern: version)) }
            members.field("roots") { $0.array(roots) { $0.write($1) } }
            members.field("faults") { $0.number(check.map { Int64($0.faults) }) }
            members.field("contradictions") { $0.number(check.map { Int64($0.contradictions) }) }
            members.field("damaged_pages") { $0.array(pages) { $0.number(Int64($1)) } }
            members.field("damaged_page_count") { $0.number(Int64(pageCount)) }
            members.field("lost_classes") { array in
                array.array(lostClasses) { out, lost in
                    out.object { object in
                        object.field("name") { $0.text(lost.name?.text) }
                        object.field("reason") { $0.text(lost.reason) }
                    }
                }
            }
            members.field("classes") { $0.array(classes) { $0.write($1) } }
        }
        return out.text
    }
}

extension JSONText {
    fileprivate mutating func write(_ root: SalvageReport.Root) {
        object { object in
            object.field("origin") { $0.text(root.origin) }
            object.field("top") { $0.number(Int64(root.top)) }
            object.field("version") { $0.number(Int64(bitPattern: root.version)) }
            object.field("reason") { $0.text(root.reason) }
        }
    }

    fileprivate mutating func write(_ entry: SalvageReport.Class) {
        object { object in
            object.field("name") { $0.text(entry.name.text) }
            object.field("objects") { $0.number(Int64(entry.objects)) }
            object.field("apart") { $0.number(Int64(entry.apart)) }
            object.field("older") { $0.number(Int64(entry.older)) }
            object.field("found") { $0.number(Int64(entry.found)) }
            object.field("lost") { $0.number(entry.lost.map { Int64($0) }) }
            object.field("names_known") { $0.bool(entry.hasNames) }
            object.field("properties") { $0.array(entry.properties) { $0.write($1) } }
        }
    }

    private mutating func write(_ property: SalvageReport.Property) {
        object { object in
            object.field("name") { $0.text(property.name.text) }
            object.field("lost") { $0.number(Int64(property.lost)) }
            object.field("older") { $0.number(Int64(property.older)) }
            object.field("lost_links") { $0.number(Int64(property.links)) }
            object.field("lost_elements") { $0.number(Int64(property.elements)) }
            object.field("not_utf8") { $0.number(Int64(property.texts)) }
        }
    }
}
