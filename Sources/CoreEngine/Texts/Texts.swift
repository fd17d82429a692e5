/// # Texts
///
/// Values as JSON from which the same values can be read back: Mixed values with marks for types that JSON lacks
/// (`MixedText`), and values in the form in which they travel to a hub and back (`WireText`). Layers above read them.
///
/// Promise
/// 1. A text that is written is valid JSON, whatever bytes a file holds.
/// 2. Writing ends, also for a damaged file whose collections or embedded objects contain themselves.
///
/// Forms: docs/columns.md, docs/format/sync.md §6.
///
/// May use: Tables, Elements, Basics.
enum Texts {}
