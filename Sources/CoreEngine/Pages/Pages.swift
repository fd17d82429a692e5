/// # Pages
///
/// The forms of encrypted files: Realm's and CRealm's own, the header of a file, and the decrypted pages in memory, at
/// the addresses where a plain file is mapped. Layouts and threat model: docs/security.md.
///
/// Promise
/// 1. A page is authenticated before a byte of it is read. A page that does not belong where it stands, or is older
///    than its parent says, is an error.
/// 2. A page that a reader touched since it moved to its snapshot stays in memory until the reader moves again.
/// 3. Pages that a reachable snapshot needs are never written.
/// 4. Nothing here knows nodes: positions are bytes of decrypted data.
///
/// May use: Crypto, Platform, Basics.
enum Pages {}
