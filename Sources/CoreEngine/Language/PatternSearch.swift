/// The places where a pattern is searched for in a value.
enum PatternSearch {
    /// The pattern is the whole value.
    case whole
    case start, end, anywhere
    /// The value has the form of the pattern, in which `?` is a character and `*` any number of them.
    case wildcards
}
