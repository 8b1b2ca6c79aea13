// swift-tools-version: 6.2
import PackageDescription

/// Only for our own checks: a newer compiler with a new warning must not break anybody's build.
let strictness: [SwiftSetting] =
    Context.environment["MIRROR_BOT_STRICT"] == nil ? [] : [.treatAllWarnings(as: .error)]

/// SwiftPM's name for the package above: that of its folder, in lower case.
let parent: String = {
    let folders = Context.packageDirectory.split(separator: "/")
    return folders.dropLast().last.map { $0.lowercased() } ?? "mirror-bot"
}()

/// What the compiler calls the package above.
///
/// Everything in its modules is `package`. Code compiled under the same name may use it; SwiftPM makes the name from
/// the folder's by putting an underscore in the place of every character that an identifier cannot have there.
let packageName = parent.unicodeScalars.enumerated().map { index, scalar in
    let isValid = index == 0 ? scalar.properties.isXIDStart : scalar.properties.isXIDContinue
    return isValid ? String(scalar) : "_"
}.joined()

let settings: [SwiftSetting] =
    [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .unsafeFlags(["-package-name", packageName]),
    ] + strictness

let package = Package(
    name: "Benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(path: ".."),
        .package(url: "https://github.com/apple/swift-argument-parser", .upToNextMinor(from: "1.8.2")),
    ],
    targets: [
        // The same work in C, as somebody would write it who has only the libraries: no Swift on its way.
        .target(
            name: "CBaseline",
            cSettings: [.unsafeFlags(["-O3", "-Wall", "-Wextra"])],
            linkerSettings: [.linkedLibrary("hiredis"), .linkedLibrary("mecab"), .linkedLibrary("pq")]
        ),
        .executableTarget(
            name: "Benchmarks",
            dependencies: [
                "CBaseline",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "MirrorBotModules", package: parent),
                // Not linked: it is built beside the benchmarks, for those that run it.
                .product(name: "mirror-bot", package: parent),
            ],
            // SwiftPM would pass this package's own name.
            packageAccess: false,
            swiftSettings: settings
        ),
    ]
)
