@_spi(Reflection) import Swift

/// Returns the stored properties of a class with their offsets. Those of superclasses come first.
///
/// This is the only code that uses the standard library's reflection interface (SPI). It lists the same fields, in the
/// same order, as `Mirror`.
func fields(of type: AnyClass) -> [(name: String, offset: Int, type: Any.Type)] {
    var found: [(name: String, offset: Int, type: Any.Type)] = []
    // The value of `.classType`, which is a mutable global variable in the standard library.
    let options = _EachFieldOptions(rawValue: 1)
    _ = _forEachField(of: type, options: options) { name, offset, type, _ in
        found.append((String(cString: name), offset, type))
        return true
    }
    return found
}
