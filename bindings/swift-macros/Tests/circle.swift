// Snapshots that follow links in a circle end the program with a sentence. Scripts/check_macros.py runs this.
import Foundation
import RealmMacros

@Model class Friend: Object {
    var friends: List<Friend>
}

@Snapshot(of: Friend.self) struct FriendRow {
    let friends: [FriendRow]
}

// Told first; and the program is over without the report of a crash.
RealmMisuse.handler = { message in
    print(message)
    exit(0)
}

let me = Friend(), you = Friend()
me.friends.append(you)
print(FriendRow(from: me).friends.count)
you.friends.append(me)
_ = FriendRow(from: me)
