/// # Schema
///
/// Classes and properties: what a program requests, what a file has, the difference between the two, and what each
/// schema mode allows.
///
/// Promise
/// 1. A schema is a plain value: comparing two of them reads no file.
/// 2. A schema that this layer accepts can be stored: names, types and links are checked.
///
/// May use: Tables, Basics.
enum SchemaLimits {
    /// The maximum length of class and property names, in bytes.
    static let maxClassName = LongNames.limit
    static let maxPropertyName = LongNames.limit

    /// The schema version of a file without one.
    static let notVersioned = UInt64.max
}
