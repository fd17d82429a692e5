import Testing

@testable import CoreEngine

/// Tables of more columns than are searched by name one after the other: random changes beside a list of names and
/// types. Names that are too long for the file are among them, and links, whose backlink columns are behind the others.
@Test(arguments: UInt64(1)...6) func columnsAreFoundByNameAndKeyAfterEachChange(seed: UInt64) throws {
    var random = Seeded(seed)
    let folder = try TemporaryFolder()
    let path = folder.file()
    var model: [Name: (key: ColKey, type: ColumnType)] = [:]
    let names = (0..<160).map { i in Name(i % 7 == 0 ? String(repeating: "n", count: 70) + "\(i)" : "name\(i)") }

    func check(_ table: Table) throws {
        for name in names {
            let found = table.column(named: name)
            #expect(found?.key == model[name]?.key)
            guard let found else { continue }
            #expect(table.column(found.key)?.name == name && table.isColumn(found.key))
            let facts = try #require(table.facts(found.key))
            #expect(facts.type == model[name]?.type)
            if facts.type == .link {
                let opposite = try #require(table.facts(facts.oppositeColumn))
                #expect(opposite.type == .backlink && opposite.oppositeColumn == found.key)
            }
        }
        #expect(Array(table.publicColumns).count == model.count)
    }

    let transaction = try Transaction(
        try Database.open(path: path, access: .readWrite(create: true), durability: .unsafe))
    for round in 0..<8 {
        _ = try transaction.beginWrite()
        let group = transaction.group
        let table = try group.table(named: "class_T") ?? group.addTable("class_T")
        for _ in 0..<40 {
            let name = names.randomElement(using: &random)!
            switch Int.random(in: 0..<10, using: &random) {
            case 0...5 where model[name] == nil:
                let isLink = Int.random(in: 0..<5, using: &random) == 0, type: ColumnType = isLink ? .link : .int
                let key = try table.addColumn(name, type, isLink ? .nullable : [], target: isLink ? table : nil)
                model[name] = (key, type)
            case 6...7:
                guard let old = model[name] else { continue }
                try table.removeColumn(old.key)
                model[name] = nil
            case 8:
                let new = names.randomElement(using: &random)!
                guard let old = model[name] else { continue }
                guard model[new] == nil else {
                    #expect(throws: RealmError.self) { try table.renameColumn(old.key, to: new) }
                    continue
                }
                try table.renameColumn(old.key, to: new)
                (model[name], model[new]) = (nil, old)
            default:
                guard model[name] != nil else { continue }
                #expect(throws: RealmError.self) { try table.addColumn(name, .int, []) }
            }
        }
        try check(table)
        for (name, found) in model where found.type == .int && round % 2 == 0 {
            let object = try table.createObject().key
            #expect(try table.set(object, try #require(table.facts(found.key)), .int(Int64(name.utf8.count))))
        }
        try transaction.commit()
        try check(try #require(try transaction.group.table(named: "class_T")))
    }
    transaction.close()
    try checkFile(path)

    let reader = try Transaction(try Database.open(path: path, access: .readWrite(create: false)))
    try reader.beginRead()
    try check(try #require(try reader.group.table(named: "class_T")))
    reader.close()
}
