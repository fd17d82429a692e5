// Notes in the terminal, over RealmSwift: models, a migration, and a list that lives while other processes write.
//
//     swift run realm-swift-notes notes.realm add Buy milk +shop !
//     swift run realm-swift-notes notes.realm watch          # in a second terminal: shows what the first one does
//     swift run realm-swift-notes notes.realm done milk
import Foundation
import RealmSwift

let usage =
    "notes FILE add WORDS… [+TAG…] [!] | done PART | clean | list [TAG] | watch [CHANGES] | first-version TITLE…"

func run(_ arguments: [String]) throws {
    guard arguments.count >= 2 else { throw Problem(usage) }
    let file = URL(fileURLWithPath: arguments[0]), rest = Array(arguments.dropFirst(2))
    if arguments[1] == "first-version" {
        // As the program wrote it once: to see a file of that time become one of today.
        let realm = try Realm(configuration: FirstVersion.configuration(file))
        try realm.write {
            for title in rest {
                realm.create(FirstVersion.Note.self, value: ["title": title, "isUrgent": title.hasSuffix("!")])
            }
        }
        return
    }
    let commands = Commands(realm: try Realm(configuration: .notes(file)))
    switch arguments[1] {
    case "add": try commands.add(rest)
    case "done": try commands.finish(rest.joined(separator: " "))
    case "clean": try commands.clean()
    case "list": commands.list(tag: rest.first)
    case "watch": LiveList(commands.notes, until: rest.first.flatMap { Int($0) }).run()
    default: throw Problem(usage)
    }
}
do { try run(Array(CommandLine.arguments.dropFirst())) } catch {
    FileHandle.standardError.write(Data("notes: \(error)\n".utf8))
    exit(1)
}
