// swift-tools-version: 6.2
import PackageDescription

// One engine module, one C skin. `include/` holds the hand-written C headers; the C skin imports them for their
// structs. SSE 4.2 where the target (not this machine) is an x86-64 processor: all of them since 2009. Comparisons of
// 64-bit elements and greatest values have instructions there.
let processor: [SwiftSetting] = [
    .unsafeFlags(["-Xcc", "-Xarch_x86_64", "-Xcc", "-march=x86-64-v2"], .when(configuration: .release))
]
let engineSettings: [SwiftSetting] =
    processor + [
        .swiftLanguageMode(.v6),
        // Exclusivity of class fields is proved by confinement (one thread per transaction); the dynamic checks cost a
        // call each.
        .unsafeFlags(["-enforce-exclusivity=unchecked"], .when(configuration: .release)),
        // Nothing of the regular expressions that come with the standard library is linked in unnoticed.
        .unsafeFlags(["-Xfrontend", "-disable-implicit-string-processing-module-import"]),
        // Generic types are made by calls of their accessors: made from their names, they took more than a third of the
        // instructions of a first opening.
        .unsafeFlags(["-Xfrontend", "-disable-concrete-type-metadata-mangled-name-accessors"]),
    ]

let package = Package(
    name: "CRealm",
    // What the atomics of the standard library (Synchronization) ask for.
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .library(name: "CoreEngine", targets: ["CoreEngine", "CoreEngineAsync"]),
        .library(name: "RealmSwift", targets: ["RealmSwift"]),
        // Apart, so that programs without a hub carry nothing of FoundationNetworking.
        .library(name: "RealmSync", targets: ["RealmSync"]),
        // Apart, so that programs without Foundation carry nothing of it.
        .library(name: "CoreEngineFoundation", targets: ["CoreEngineFoundation"]),
        .library(name: "CRealm", type: .dynamic, targets: ["CRealm"]),
    ],
    targets: [
        .systemLibrary(
            name: "CSodium", pkgConfig: "libsodium", providers: [.apt(["libsodium-dev"]), .brew(["libsodium"])]),
        .systemLibrary(
            name: "COpenSSL", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"]), .brew(["openssl"])]),
        .systemLibrary(name: "CHints"),
        .target(name: "CGuards"),
        .systemLibrary(name: "CRealmHeaders", path: "include"),
        .target(
            name: "CoreEngine", dependencies: ["CSodium", "COpenSSL", "CHints", "CGuards", "CRealmHeaders"],
            swiftSettings: engineSettings),
        .target(
            name: "CRealm", dependencies: ["CoreEngine", "CRealmHeaders"],
            // Functions that look alike stay functions of their own: the merged ones would call the body behind each
            // door by its address.
            swiftSettings: engineSettings + [
                .unsafeFlags(["-Xllvm", "-swiftmergefunc-threshold=0"], .when(configuration: .release))
            ],
            linkerSettings: [
                // The library carries the Swift runtime, exports the C API only, and is found by its SONAME. It stays
                // when it is closed: threads and the system refer to functions of it.
                .unsafeFlags(
                    [
                        "-static-stdlib", "-Xlinker", "--version-script=Scripts/exports.map", "-Xlinker",
                        "-soname=libCRealm.so.0",
                        "-Xlinker", "-z", "-Xlinker", "nodelete", "-Xlinker", "--gc-sections",
                    ],
                    .when(platforms: [.linux]))
            ]),
        .target(
            name: "CoreEngineAsync", dependencies: ["CoreEngine", "CHints"],
            swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]),
        .target(
            name: "CoreEngineFoundation", dependencies: ["CoreEngine"],
            swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]),
        // Realm's own Swift API over the engine. The one module that may import Foundation, because that API speaks of
        // Date, Data and URL.
        .target(
            name: "RealmSwift", dependencies: ["CoreEngine", "CoreEngineAsync", "CoreEngineFoundation"],
            swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]),
        // The way of RealmSwift to a hub behind an HTTPS gateway.
        .target(
            name: "RealmSync", dependencies: ["RealmSwift"],
            swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]),
        .testTarget(
            name: "CoreEngineTests", dependencies: ["CoreEngine", "CSodium", "COpenSSL", "CRealmHeaders"],
            swiftSettings: [.swiftLanguageMode(.v6)]),
        // What programs write against it compiles without a warning.
        .testTarget(
            name: "CoreEngineAsyncTests", dependencies: ["CoreEngineAsync", "CoreEngineFoundation"],
            swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]),
        // The chapters of Realm's documentation as programs; the tests run them.
        .executableTarget(
            name: "realm-swift-chapters", dependencies: ["RealmSwift"], path: "examples/RealmSwift",
            swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]),
        // A program in the terminal, which the tests drive.
        .executableTarget(
            name: "realm-swift-notes", dependencies: ["RealmSwift"], path: "examples/swift/notes",
            swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]),
        // A file that many devices share, which Tests/Sync drives.
        .executableTarget(
            name: "realm-swift-sync", dependencies: ["RealmSwift", "RealmSync"], path: "examples/swift/sync",
            swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]),
        .testTarget(
            name: "RealmSwiftTests",
            dependencies: [
                "RealmSwift", "RealmSync", "realm-swift-chapters", "realm-swift-notes", "realm-swift-sync",
            ],
            swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]),
    ]
)
