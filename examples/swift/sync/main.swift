// A shopping list that several devices share through a hub.
//
//     realm-swift-sync FILE ADDRESS        ADDRESS: that of a gateway such as PostgREST, before /rpc
//
// The program reads commands, one a line, while a session exchanges changes in the background:
//
//     add NAME AMOUNT    one more of an article, or a new one       drop NAME    removes an article
//     done NAME          somebody has bought it                     list         shows the list
//     sync               waits for an exchange                      open         shows only what is to be bought
import Foundation
import RealmSwift
import RealmSync

class Article: Object {
    @Persisted(primaryKey: true) var name: String
    @Persisted var amount: Int
    @Persisted var isDone: Bool
}

struct Fault: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// Writes a line at once, also into a pipe.
func say(_ text: String, to handle: FileHandle = .standardOutput) { handle.write(Data("\(text)\n".utf8)) }

@MainActor func run(_ file: String, _ address: String) async throws {
    guard let url = URL(string: address) else { throw Fault("no address: \(address)") }
    let configuration = Realm.Configuration(
        fileURL: URL(fileURLWithPath: file), objectTypes: [Article.self])
    let realm = try await Realm.open(configuration: configuration)
    if try !realm.sync.isEnabled { try realm.sync.enable() }
    let token = ProcessInfo.processInfo.environment["HUB_TOKEN"]
    let session = try realm.sync.session(over: try HTTPSyncTransport(url) { token }, interval: .seconds(5)) { event in
        say("\(event.kind) \(event.className) \(event.key) \(event.detail)", to: .standardError)
    }
    while let line = readLine() {
        do {
            try await obey(line.split(separator: " ").map(String.init), realm, session)
            say("ok")
        } catch { say("error: \(error)") }
    }
    await session.asyncStop()
}

@MainActor func obey(_ words: [String], _ realm: Realm, _ session: SyncSession) async throws {
    realm.refresh()
    func article() throws -> Article {
        guard words.count > 1, let found = realm.object(ofType: Article.self, forPrimaryKey: words[1]) else {
            throw Fault("no such article")
        }
        return found
    }
    switch words.first {
    case "add" where words.count == 3:
        guard let amount = Int(words[2]) else { throw Fault("no amount") }
        try realm.write {
            if let known = try? article() {
                known.amount += amount
            } else {
                realm.add(Article(value: [words[1], amount, false] as [Any]))
            }
        }
    case "done": try realm.write { try article().isDone = true }
    case "drop": try realm.write { realm.delete(try article()) }
    case "list":
        for one in realm.objects(Article.self).sorted(byKeyPath: "name") {
            say("\(one.name) \(one.amount) \(one.isDone ? "done" : "open")")
        }
    case "sync": try await session.exchange()
    case "open": try realm.sync.setSubset(of: Article.self) { !$0.isDone }
    default: throw Fault("commands: add NAME AMOUNT, done NAME, drop NAME, list, sync, open")
    }
}

let arguments = CommandLine.arguments
guard arguments.count == 3 else {
    say("usage: realm-swift-sync FILE ADDRESS")
    exit(2)
}
do { try await run(arguments[1], arguments[2]) } catch {
    say("error: \(error)")
    exit(1)
}
