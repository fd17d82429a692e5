/// # RealmSync
///
/// The way of RealmSwift to a hub behind an HTTPS gateway such as PostgREST. A module of its own, so that programs
/// without a hub carry nothing of FoundationNetworking.
///
/// Promise
/// 1. Tokens and objects leave the machine encrypted only, and go to the given address only.
/// 2. A call ends: with the reply, when no bytes come for the time that the program gives, or when the reply gets too
///    long.
///
/// May use: RealmSwift.
import RealmSwift
