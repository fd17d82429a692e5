// swift-tools-version: 6.2
import CompilerPluginSupport
import Foundation
import PackageDescription

/// The folder of the toolchain with the swift-syntax that its compiler is built with: nothing is downloaded, and
/// nothing compiled but the plug-in itself. nil: this toolchain has none, and the package has no product.
let host: String? = {
    let folders = (Context.environment["PATH"] ?? "").split(separator: ":")
    for folder in folders where FileManager.default.isExecutableFile(atPath: "\(folder)/swiftc") {
        let compiler = URL(fileURLWithPath: "\(folder)/swiftc").resolvingSymlinksInPath()
        let host = compiler.deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent(
            "lib/swift/host"
        ).path
        if FileManager.default.fileExists(atPath: host + "/SwiftCompilerPluginMessageHandling.swiftmodule") {
            return host
        }
    }
    return nil
}()

let strict: [SwiftSetting] = [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]
let libraries = [
    "SwiftSyntax", "SwiftSyntaxMacros", "SwiftSyntaxMacroExpansion", "SwiftDiagnostics", "SwiftParser",
    "SwiftCompilerPluginMessageHandling",
]

func targets(_ host: String) -> [Target] {
    let link: [LinkerSetting] = [
        .unsafeFlags(["-L", host] + libraries.map { "-l\($0)" } + ["-Xlinker", "-rpath", "-Xlinker", host])
    ]
    let import_: SwiftSetting = .unsafeFlags(["-I", host])
    return [
        .macro(name: "RealmMacroPlugin", swiftSettings: [.swiftLanguageMode(.v6), import_], linkerSettings: link),
        .target(
            name: "RealmMacros", dependencies: ["RealmMacroPlugin", .product(name: "RealmSwift", package: "CRealm")],
            swiftSettings: strict),
        .executableTarget(name: "snapshots-example", dependencies: ["RealmMacros"], swiftSettings: strict),
    ]
}

let package = Package(
    name: "RealmMacros",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: host == nil ? [] : [.library(name: "RealmMacros", targets: ["RealmMacros"])],
    dependencies: [.package(name: "CRealm", path: "../..")],
    targets: host.map(targets) ?? []
)
