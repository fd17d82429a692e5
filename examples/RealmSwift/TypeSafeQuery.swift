import Foundation
import RealmSwift

/// Conditions that the compiler checks.
func typeSafeQuery(_ folder: URL) throws {
    let realm = try open(folder, Playlist.self, Song.self)
    try realm.write {
        realm.create(
            Playlist.self,
            value: ["name": "Morning", "songs": [["One", 60], ["Two", 300]], "tags": ["calm"], "plays": ["Ida": 3]])
        realm.create(
            Playlist.self, value: ["name": "evening", "songs": [["One", 400]], "plays": ["Ida": 9, "Al": 1]])
    }
    let lists = realm.objects(Playlist.self)
    expect(lists.where { $0.songs.seconds > 350 }.first?.name == "evening", "any element")
    expect(lists.where { $0.name.starts(with: "M") || $0.plays["Al"] == 1 }.count == 2, "logic")
    expect(
        lists.where { !$0.tags.contains("calm") }.first?.name == "evening"
            && lists.where { $0.plays.keys == "Al" }.count == 1, "collections")
    expect(
        lists.where { ($0.songs.title == "One" && $0.songs.seconds < 100).count > 0 }.first?.name == "Morning",
        "one element that meets both")
    expect(lists.where { $0.name.equals("EVENING", options: .caseInsensitive) }.count == 1, "options of texts")
    expect(lists.where { $0.songs.count.contains(2...3) && $0.name.in(["Morning"]) }.count == 1, "ranges and sets")
}
