// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "people",
    dependencies: [.package(name: "CRealm", path: "../..")],
    targets: [.executableTarget(name: "people", dependencies: [.product(name: "CoreEngine", package: "CRealm")])]
)
