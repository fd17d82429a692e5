/// # Blobs
///
/// A list of binaries, or of texts, as one long value: its bytes are the bytes of the elements, one after the other. A
/// property of one binary or text holds at most 16 MB; a blob holds 4 GiB, and is read and written in pieces.
///
/// Promise
/// 1. A blob is an ordinary list. Every library and every tool reads it, copies it, checks it, and deletes it with its
///    object. Writing makes elements of `BlobPieces.pieceSize` bytes; elements of other lengths, which other programs
///    made, are read and changed as well. Null counts as no byte.
/// 2. A call works with one piece at a time: it needs no memory that grows with the blob, but for eight bytes a piece.
/// 3. A call that fails has changed nothing.
/// 4. Texts stay texts: each element is UTF-8. So a text is written at its end only, and is cut between characters.
///
/// May use: Objects, ObjectStore, Scan, Tables, Elements, Basics.
enum Blobs {}
