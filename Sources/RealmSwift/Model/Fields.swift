@_spi(Reflection) import Swift

/// The stored properties of a class with their offsets, superclasses first.
///
/// The one place that uses the standard library's reflection interface (SPI). It lists the same fields, in the same
/// order, as `Mirror` does.
func fields(of type: AnyClass) -> [(name: String, offset: Int, type: Any.Type)] {
    var found: [(name: String, offset: Int, type: Any.Type)] = []
    // `.classType`, which is a mutable global there.
    let options = _EachFieldOptions(rawValue: 1)
    _ = _forEachField(of: type, options: options) { name, offset, type, _ in
        found.append((String(cString: name), offset, type))
        return true
    }
    return found
}
