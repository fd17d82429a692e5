// Reads the people of a database and prints a table: swift run people FILE.realm
import CoreEngine

let path = CommandLine.arguments.dropFirst().first ?? "people.realm"
let realm = try Realm(RealmConfiguration(path: path))

// Whatever classes the file has.
for c in realm.schema.classes {
    let rows = try realm.objects(c.name).map { person in
        try c.properties.map { p in
            try p.type == .object ? person.object(p.name)?["name"].description ?? "-" : person.get(p.name).description
        }
    }
    let headings = c.properties.map(\.name.text)
    let widths = headings.indices.map { i in ([headings] + rows).map { $0[i].count }.max() ?? 0 }
    func line(_ cells: [String]) -> String {
        zip(cells, widths).map { cell, width in cell + String(repeating: " ", count: width - cell.count) }.joined(
            separator: "  ")
    }
    print("Swift:  \(rows.count) objects of class \(c.name)")
    print("        " + line(headings))
    print("        " + line(widths.map { String(repeating: "-", count: $0) }))
    for row in rows { print("        " + line(row)) }
}

// A query: those above a limit, the oldest first.
if realm.schema["Person"]?.property(named: "age") != nil {
    let older = try realm.objects("Person").where("age >= $0", 40).sorted(by: "age", ascending: false)
    let average = try older.average(of: "age")
    print(
        "Swift:  from 40 on: " + older.map { "\($0["name"]) (\($0["age"]))" }.joined(separator: ", ")
            + "; average \(average)")
}
