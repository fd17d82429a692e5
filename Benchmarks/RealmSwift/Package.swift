// swift-tools-version: 6.2
import PackageDescription

// What typed access costs, in a program of its own: accessors are inlined into the program, so they are measured from
// outside the package.
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
