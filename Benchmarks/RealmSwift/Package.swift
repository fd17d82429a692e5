// swift-tools-version: 6.2
import PackageDescription

// Measures the cost of typed access in a separate package: accessors are inlined into the program, so they must be
// measured from outside the library's package.
let package = Package(
    name: "TypedAccess",
    dependencies: [.package(name: "CRealm", path: "../..")],
    targets: [
        .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .executableTarget(
            name: "TypedAccess", dependencies: [.product(name: "RealmSwift", package: "CRealm"), "CSQLite"],
            swiftSettings: [.swiftLanguageMode(.v6)]),
    ]
)
