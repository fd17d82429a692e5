#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    @preconcurrency import Musl
#elseif canImport(Android)
    @preconcurrency import Android
#elseif canImport(Darwin)
    import Darwin
#endif

/// A library of the operating system that is opened at its first use, so that nothing depends on it before.
///
/// Thread rule: any thread.
struct SystemLibrary: @unchecked Sendable {
    private let handle: UnsafeMutableRawPointer

    /// Added to each name of a function, such as `_72` for version 72 of ICU.
    private let suffix: String

    /// The International Components for Unicode; nil where the system has none. Apple's systems and Android have one
    /// version under a fixed name; on others the newest version is taken.
    static let icu: SystemLibrary? = {
        #if canImport(Darwin)
            let fixed = ["/usr/lib/libicucore.A.dylib"], versions: [Int] = []
        #elseif canImport(Android)
            let fixed = ["libicu.so"], versions: [Int] = []
        #else
            let fixed: [String] = [], versions = (50...120).reversed()
        #endif
        for name in fixed { if let found = SystemLibrary(name, suffix: "") { return found } }
        for version in versions {
            if let found = SystemLibrary("libicui18n.so.\(version)", suffix: "_\(version)") { return found }
        }
        return nil
    }()

    private init?(_ name: String, suffix: String) {
        guard let handle = dlopen(name, RTLD_LAZY | RTLD_LOCAL) else { return nil }
        self.handle = handle
        self.suffix = suffix
    }

    /// The address of a function; nil if the library has none of this name.
    func function(_ name: String) -> UnsafeMutableRawPointer? { dlsym(handle, name + suffix) }
}
