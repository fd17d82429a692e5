import Foundation
import RealmSwift

class Playlist: Object {
    @Persisted(primaryKey: true) var name: String
    @Persisted var songs: List<Song>
    @Persisted var tags: MutableSet<String>
    @Persisted var plays: Map<String, Int>
}

class Song: Object {
    @Persisted var title: String
    @Persisted var seconds: Int
}

/// Lists keep an order, sets hold a value once, maps have texts for keys.
func collections(_ folder: URL) throws {
    let realm = try open(folder, Playlist.self, Song.self)
    let list = Playlist(value: ["name": "Morning"])
    try realm.write {
        realm.add(list)
        for (i, title) in ["One", "Two", "Three"].enumerated() {
            list.songs.append(Song(value: [title, (i + 1) * 60] as [Any]))
        }
        list.tags.insert(objectsIn: ["calm", "short", "calm"])
        list.plays["Ida"] = 3
    }
    expect(
        list.songs.map(\.title) == ["One", "Two", "Three"] && list.tags.count == 2 && list.plays["Ida"] == 3,
        "stored in order")
    try realm.write {
        list.songs.move(from: 2, to: 0)
        list.songs.remove(at: 1)
        list.tags.remove("calm")
        list.plays["Ida"] = 4
    }
    expect(
        list.songs.map(\.title) == ["Three", "Two"] && Array(list.tags) == ["short"] && list.plays["Ida"] == 4,
        "changed in place")
    let total: Int = list.songs.sum(ofProperty: "seconds")
    expect(total == 300 && list.songs.sorted(by: \.seconds).first?.title == "Two", "sums and sorted views")
    expect(
        realm.objects(Playlist.self).where { $0.songs.seconds.sum > 200 && $0.tags.contains("short") }.count == 1,
        "queries look into them")
}
