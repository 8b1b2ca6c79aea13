// swift-tools-version: 6.2
import PackageDescription

/// Only for our own checks: a newer compiler with a new warning must not break anybody's build.
let strictness: [SwiftSetting] =
    Context.environment["MIRROR_BOT_STRICT"] == nil ? [] : [.treatAllWarnings(as: .error)]

/// Set by `make docs` to a folder: the compiler tells DocC there what our own targets declare.
///
/// What DocC's plugin asks knows nothing of a package's inside, and leaves out most of what is `package`.
let symbols = Context.environment["MIRROR_BOT_SYMBOLS"].map { folder in
    [
        "-emit-symbol-graph", "-emit-symbol-graph-dir", folder,
        "-symbol-graph-minimum-access-level", "package",
    ]
}

/// Set by `make fuzz`, which compiles everything for libFuzzer: our own targets fast, and Tests/Fuzz as its program.
let isFuzzing = Context.environment["MIRROR_BOT_FUZZ"] != nil

/// Whether the crash harness, its tests, the fuzzer's tests and the benchmarks belong to the package.
///
/// Set by `make check`, `make bench` and whatever else starts one of them. The program and `make test` need none of it.
let hasHarnesses = Context.environment["MIRROR_BOT_HARNESSES"] != nil

/// Whether the program is built without the commands `demo`, `evaluate`, `rehearse` and `score`, which no worker needs.
///
/// Set by `bin/pre_compile` where a platform limits the time of a build: a third of the code serves those commands alone.
let isWorkerOnly = Context.environment["MIRROR_BOT_WORKER_ONLY"] != nil

/// What every target is compiled with: the Swift 6 language mode (from the
/// tools version) and the upcoming features that make imports and existentials
/// explicit.
let settings: [SwiftSetting] =
    [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InternalImportsByDefault"),
    ] + strictness

/// Where the tests spend most of their time.
///
/// Optimized, these save more of the tests' time than their build takes longer; the others would take longer to
/// optimize than they run.
let busiest: Set = [
    "Blocking", "Conduct", "Favorites", "Postgres", "Posts", "Schedule", "Storage", "Transport",
]

/// The targets that a release does not optimize: commands, pages, reports, settings and the demo's network.
///
/// They wait for a person, the database or a network. To optimize them takes longer than to compile all other targets of
/// ours; see docs/measures.md.
let coldest: Set = ["Control", "MirrorBot", "Sandbox", "Settings", "Web"]

/// The compiler's settings of one of our targets: optimized if it is fuzzed, or one of the busiest and `make test` asks
/// for it; not optimized in a release if it is one of the coldest.
func settings(of name: String) -> [SwiftSetting] {
    let isTested = Context.environment["MIRROR_BOT_OPTIMIZED"] != nil && busiest.contains(name)
    let settings = settings + (symbols.map { [.unsafeFlags($0)] } ?? [])
    if isFuzzing || isTested { return settings + [.unsafeFlags(["-O"])] }
    return settings
        + (coldest.contains(name) ? [.unsafeFlags(["-Onone"], .when(configuration: .release))] : [])
}

let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")
let lifecycle: Target.Dependency = .product(
    name: "ServiceLifecycle", package: "swift-service-lifecycle")
let tracing: Target.Dependency = .product(name: "Tracing", package: "swift-distributed-tracing")

/// A C library as Debian and Ubuntu package it.
///
/// `pkgConfig` is given only where the library's own file adds no flag that
/// SwiftPM refuses; the others are found on the default search path.
func library(_ name: String, pkgConfig: String? = nil, apt: String) -> Target {
    .systemLibrary(name: name, pkgConfig: pkgConfig, providers: [.apt([apt])])
}

func target(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: settings(of: name))
}

/// What the target of each network is made of.
let networkParts: [Target.Dependency] = [
    "Cryptography", "Formats", "Localization", "NetworkNames", "Networks", "Posts", "Transport",
]

func tests(_ name: String, _ dependencies: [Target.Dependency], exclude: [String] = []) -> Target {
    .testTarget(
        name: name, dependencies: ["Expectations", "NetworkNames"] + dependencies, exclude: exclude,
        swiftSettings: settings)
}

/// Every parser of outside data with what must hold for it: the program that libFuzzer runs, or a test of some seconds.
let fuzzing: Target = {
    let parsers: [Target.Dependency] = [
        "Blocking", "Bluesky", "CArchive", "CCurl", "Conduct", "Control", "Evaluation", "Favorites",
        "Fleet",
        "Formats", "Import",
        "Mastodon", "MeCab", "Mirroring", "NetworkNames", "Networks", "Postgres", "Posts", "Redis",
        "Settings",
        "Transport", "X",
        .product(name: "Configuration", package: "swift-configuration"),
        .product(name: "SystemPackage", package: "swift-system"),
    ]
    return isFuzzing
        ? .executableTarget(
            name: "Fuzz", dependencies: parsers, path: "Tests/Fuzz", exclude: ["Suite", "fuzz.sh"],
            swiftSettings: settings(of: "Fuzz"))
        : .testTarget(
            name: "FuzzTests", dependencies: parsers + ["Expectations"], path: "Tests/Fuzz",
            exclude: ["LibFuzzer", "fuzz.sh"],
            swiftSettings: settings)
}()

/// The targets of ``hasHarnesses``; under `make fuzz` the fuzzer alone.
let harnesses: [Target] = {
    if isFuzzing { return [fuzzing] }
    guard hasHarnesses else { return [] }
    return [
        // The crash harness: runs the real binary against the sandbox and kills it.
        .executableTarget(
            name: "Torture",
            dependencies: [
                "Archive", "Conduct", "Control", "Favorites", "Fleet", "Mirroring", "NetworkNames",
                "Networks",
                "Outbox", "Posts",
                "Redis", "Sandbox", "Settings", "Storage", "TestSupport", logging,
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Configuration", package: "swift-configuration"),
            ],
            path: "Tests/Torture",
            exclude: ["Mutants"],
            swiftSettings: settings
        ),
        // What the benchmarks of a fleet compare the worker's requests with.
        .executableTarget(
            name: "CurlLoop", path: "Benchmarks/Sources/CurlLoop",
            linkerSettings: [.linkedLibrary("curl")]
        ),
        // The same work in C, as somebody would write it who has only the libraries: no Swift on its way.
        .target(
            name: "CBaseline",
            path: "Benchmarks/Sources/CBaseline",
            cSettings: [.unsafeFlags(["-O3", "-Wall", "-Wextra"])],
            linkerSettings: [
                .linkedLibrary("hiredis"), .linkedLibrary("mecab"), .linkedLibrary("pq"),
            ]
        ),
        .executableTarget(
            name: "Benchmarks",
            dependencies: [
                "Archive", "Blocking", "CBaseline", "Favorites", "MeCab", "Mirroring",
                "NetworkNames", "Outbox",
                "Postgres", "Posts",
                "Redis", "Sandbox", "Schedule", "Settings", "Storage", "TestSupport", "Transport",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            path: "Benchmarks/Sources/Benchmarks",
            swiftSettings: settings
        ),
        tests(
            "TortureTests",
            [
                "Control", "Fleet", "Mirroring", "Networks", "Outbox", "Posts", "Sandbox",
                "Storage", "TestSupport",
                "Torture",
            ]),
        fuzzing,
    ]
}()

let package = Package(
    name: "mirror-bot",
    platforms: [.macOS(.v15)],
    products: [.executable(name: "mirror-bot", targets: ["MirrorBot"])],
    dependencies: [
        .package(
            url: "https://github.com/apple/swift-argument-parser", .upToNextMinor(from: "1.8.2")),
        .package(url: "https://github.com/apple/swift-collections", .upToNextMinor(from: "1.6.0")),
        .package(
            url: "https://github.com/apple/swift-configuration", .upToNextMinor(from: "1.4.0"),
            traits: ["Logging"]),
        .package(
            url: "https://github.com/apple/swift-distributed-tracing", .upToNextMinor(from: "1.7.3")
        ),
        .package(url: "https://github.com/apple/swift-http-types", .upToNextMinor(from: "1.8.0")),
        .package(url: "https://github.com/apple/swift-log", .upToNextMinor(from: "1.16.2")),
        .package(url: "https://github.com/apple/swift-nio", .upToNextMinor(from: "2.101.2")),
        .package(url: "https://github.com/apple/swift-system", .upToNextMinor(from: "1.8.1")),
        .package(
            url: "https://github.com/hummingbird-project/hummingbird",
            .upToNextMinor(from: "2.28.1"), traits: []),
        .package(
            url: "https://github.com/hummingbird-project/swift-mustache",
            .upToNextMinor(from: "2.1.1")),
        .package(
            url: "https://github.com/swift-server/swift-service-lifecycle",
            .upToNextMinor(from: "2.13.0")),
    ],
    targets: [
        // C libraries: a module map and the shims that Swift needs.
        library("CCrypto", pkgConfig: "libcrypto", apt: "libssl-dev"),
        library("CCurl", pkgConfig: "libcurl", apt: "libcurl4-openssl-dev"),
        library("CPostgres", pkgConfig: "libpq", apt: "libpq-dev"),
        library("CHiredis", apt: "libhiredis-dev"),
        library("CMeCab", apt: "libmecab-dev"),
        library("CArchive", pkgConfig: "libarchive", apt: "libarchive-dev"),
        library("CSQLite", pkgConfig: "sqlite3", apt: "libsqlite3-dev"),

        // Each C library's one Swift owner.
        target("Blocking"),
        target("Cryptography", ["CCrypto"]),
        target("Transport", ["Blocking", "CCurl"]),
        target("Postgres", ["Blocking", "CPostgres"]),
        target("Redis", ["Blocking", "CHiredis", "Cryptography", "Transport"]),
        target("MeCab", ["CMeCab"]),

        // The files that are part of the program, so that a binary moved to another folder has them. They are C's: as
        // Swift arrays, SwiftPM's way, they take longer to compile than the modules that use them.
        .target(name: "CEmbedded"),
        target("Embedded", ["CEmbedded"]),
        // The translations of the sentences that a person reads on a page, in a terminal or in a notice.
        .target(
            name: "Localization", dependencies: ["Embedded"], exclude: ["Resources"],
            swiftSettings: settings(of: "Localization")),

        target("Storage", ["Blocking", "CSQLite", "Embedded", "Postgres"]),

        // The domain: none of these imports another.
        .target(
            name: "Posts", dependencies: ["Cryptography", "Embedded", "Localization"],
            exclude: ["Resources"],
            swiftSettings: settings(of: "Posts")),
        target("Archive", ["Localization", "Posts", "Storage"]),
        // What each network is called, for code that is written for one: no other target depends on it, so that the
        // compiler refuses to compare names there.
        target("NetworkNames", ["Posts"]),
        // One reader for each format in which a network's posts come; for Import and the networks.
        target("Formats", ["NetworkNames", "Posts"]),
        target(
            "Import",
            ["CArchive", "Cryptography", "Formats", "Localization", "NetworkNames", "Posts"]),
        target("Schedule", ["Posts"]),
        target("Favorites", ["Blocking", "Localization", "MeCab", "Posts", "Redis", "Storage"]),
        .target(
            name: "Conduct", dependencies: ["Embedded", "Localization", "Posts"],
            exclude: ["Resources"],
            swiftSettings: settings(of: "Conduct")),
        target("Outbox", ["Localization", "Posts", "Storage"]),
        target(
            "Networks",
            [
                "Cryptography", "Formats", "Localization", "Posts", "Transport", lifecycle, logging,
            ]),

        // One target for each network. Only Settings knows them, and makes each a descriptor: whoever else names a type
        // of theirs does not compile.
        target("Bluesky", networkParts),
        target("Mastodon", networkParts),
        target("X", networkParts),

        // What processes and mirrors are told: settings, networks as values, accounts, credentials.
        target(
            "Settings",
            [
                "Bluesky", "Conduct", "Cryptography", "Favorites", "Localization", "Mastodon",
                "MeCab",
                "NetworkNames", "Networks",
                "Outbox", "Posts",
                "Redis", "Schedule",
                "Storage", "Transport", "X", logging,
                .product(name: "Configuration", package: "swift-configuration"),
                .product(name: "SystemPackage", package: "swift-system"),
            ]
        ),
        // One mirror, then what only a running process needs, and what only measuring needs.
        target(
            "Mirroring",
            [
                "Archive", "Blocking", "Conduct", "Cryptography", "Favorites", "Import",
                "Localization", "MeCab",
                "Networks", "Outbox",
                "Posts", "Redis", "Schedule", "Settings", "Storage", "Transport", lifecycle,
                logging, tracing,
            ]
        ),
        // What a person can do to a mirror, and what it tells them.
        target(
            "Control",
            [
                "Archive", "Conduct", "Cryptography", "Favorites", "Import", "Localization",
                "MeCab",
                "Mirroring", "Networks", "Outbox", "Posts",
                "Redis", "Schedule", "Settings", "Storage", "Transport", lifecycle, logging,
                .product(name: "SystemPackage", package: "swift-system"),
            ]),
        target(
            "Fleet",
            [
                "Archive", "Blocking", "Conduct", "Control", "Favorites", "Localization", "MeCab",
                "Mirroring",
                "Networks", "Outbox",
                "Posts", "Redis", "Settings", "Storage", lifecycle, logging, tracing,
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "HeapModule", package: "swift-collections"),
            ]),
        target(
            "Evaluation",
            [
                "Archive", "Blocking", "Conduct", "Favorites", "Import", "MeCab", "Mirroring",
                "Outbox", "Posts",
                "Schedule", "Settings", "Storage",
            ]),
        // What a browser shows: pages and drawings of the reports.
        .target(
            name: "Web",
            dependencies: [
                "Archive", "Blocking", "CArchive", "Control", "Cryptography", "Embedded",
                "Favorites", "Localization", "Mirroring", "Networks",
                "Outbox", "Posts", "Schedule", "Settings", "Storage", lifecycle, logging,
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Mustache", package: "swift-mustache"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
            ],
            exclude: ["Resources"],
            swiftSettings: settings(of: "Web")
        ),
        .target(
            name: "Sandbox",
            dependencies: [
                "Cryptography", "Embedded", "NetworkNames", "Posts", logging,
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            exclude: ["Resources"],
            swiftSettings: settings(of: "Sandbox")
        ),
        .executableTarget(
            name: "MirrorBot",
            dependencies: [
                "Archive", "Blocking", "Commit", "Control", "Favorites", "Fleet", "Import",
                "Localization", "MeCab",
                "Mirroring",
                "Networks", "Outbox", "Posts", "Redis", "Schedule", "Settings", "Storage", "Web",
                lifecycle, logging,
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Configuration", package: "swift-configuration"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ] + (isWorkerOnly ? [] : ["Evaluation", "Sandbox"]),
            exclude: isWorkerOnly ? ["Demo", "Measures"] : [],
            swiftSettings: settings(of: "MirrorBot")
                + (isWorkerOnly ? [.define("WORKER_ONLY")] : [])
        ),

        // The commit that is built: generated with each build, and compiled apart so that a commit compiles nothing else.
        .plugin(
            name: "NameCommit", capability: .buildTool(), path: "Sources/Commit/Plugin",
            exclude: ["commit.sh"]),
        .target(
            name: "Commit", exclude: ["Plugin"], swiftSettings: settings(of: "Commit"),
            plugins: ["NameCommit"]),

        // Real servers and loopback sockets for the tests.
        .target(
            name: "TestSupport",
            dependencies: ["Blocking", "Cryptography", "Outbox", "Posts", "Storage"],
            path: "Tests/TestSupport",
            exclude: ["EarlierSteps"],
            swiftSettings: settings
        ),
        // Mirrors for the tests of several targets: in a sandbox, on paper, and with nothing but a database.
        .target(
            name: "Fixtures",
            dependencies: [
                "Archive", "Control", "Favorites", "Fleet", "Mirroring", "NetworkNames", "Networks",
                "Outbox",
                "Posts", "Sandbox", "Settings", "Storage", "TestSupport", "X", logging,
                .product(name: "Configuration", package: "swift-configuration"),
            ],
            path: "Tests/Fixtures",
            swiftSettings: settings
        ),
        // How tests say what they expect.
        .target(
            name: "Expectations", dependencies: ["NetworkNames"], path: "Tests/Expectations",
            swiftSettings: settings),
        tests("BlockingTests", ["Blocking"]),
        tests("CryptographyTests", ["Cryptography"]),
        tests("EmbeddedTests", ["Embedded"]),
        tests("LocalizationTests", ["Embedded", "Localization"]),
        tests("TransportTests", ["Blocking", "TestSupport", "Transport"]),
        tests("RedisTests", ["Redis", "TestSupport", "Transport"]),
        tests("MeCabTests", ["MeCab"]),
        tests("StorageTests", ["Blocking", "CSQLite", "Postgres", "Storage", "TestSupport"]),
        tests("PostsTests", ["Posts", "TestSupport"]),
        tests("ArchiveTests", ["Archive", "Posts", "Storage", "TestSupport"]),
        tests("ImportTests", ["Cryptography", "Formats", "Import", "Posts", "TestSupport"]),
        tests("ScheduleTests", ["Evaluation", "Posts", "Schedule"]),
        tests(
            "FavoritesTests",
            ["Evaluation", "Favorites", "MeCab", "Posts", "Redis", "Storage", "TestSupport"]),
        tests("ConductTests", ["Conduct", "Posts", "TestSupport"], exclude: ["Resources"]),
        tests("OutboxTests", ["Outbox", "Posts", "Storage", "TestSupport"]),
        tests(
            "NetworksTests",
            [
                "Bluesky", "Formats", "Mastodon", "Networks", "Posts", "TestSupport", "Transport",
                "X", logging,
            ]),
        tests(
            "FormatsTests",
            ["Bluesky", "Formats", "Import", "Mastodon", "Networks", "Posts", "TestSupport", "X"]),
        tests("SandboxTests", ["Posts", "Sandbox"]),
        tests(
            "ConformanceTests",
            ["Bluesky", "Mastodon", "Networks", "Posts", "Sandbox", "Transport", "X"]),
        tests(
            "SettingsTests",
            [
                "Conduct", "Control", "Favorites", "Fixtures", "Fleet", "Mastodon", "Mirroring",
                "Networks",
                "Posts", "Schedule", "Settings", "Storage", "TestSupport", "Transport", "X",
                .product(name: "Configuration", package: "swift-configuration"),
            ]),
        tests(
            "MirroringTests",
            [
                "Archive", "Conduct", "Control", "Favorites", "Fixtures", "Fleet", "Localization",
                "Mastodon", "Mirroring", "Networks", "Outbox", "Posts", "Sandbox", "Schedule",
                "Settings", "Storage", "TestSupport", "X", logging, lifecycle,
                .product(name: "Configuration", package: "swift-configuration"),
            ]),
        tests(
            "ControlTests",
            [
                "Archive", "CCrypto", "Conduct", "Control", "Cryptography", "Favorites",
                "Fixtures", "Fleet", "Mirroring", "Networks", "Outbox", "Posts", "Redis", "Sandbox",
                "Schedule", "Settings", "Storage", "TestSupport", "Transport", "X", logging,
                lifecycle,
                .product(name: "Configuration", package: "swift-configuration"),
            ]),
        tests(
            "FleetTests",
            [
                "Archive", "Conduct", "Control", "Favorites", "Fixtures", "Fleet", "MeCab",
                "Mirroring", "Networks", "Outbox", "Posts", "Sandbox", "Schedule", "Settings",
                "Storage",
                "TestSupport", "Transport", logging, lifecycle, tracing,
                .product(name: "Configuration", package: "swift-configuration"),
                .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
            ]),
        tests(
            "EvaluationTests",
            [
                "Archive", "Conduct", "Control", "Evaluation", "Favorites", "Fixtures", "Fleet",
                "Import", "Mirroring", "Outbox", "Posts", "Schedule", "Settings", "TestSupport",
            ]),
        tests(
            "MirrorBotTests",
            [
                "Archive", "Control", "Evaluation", "Favorites", "Fleet", "Import",
                "Localization", "Mastodon", "MeCab",
                "MirrorBot", "Mirroring",
                "Networks", "Outbox", "Posts", "Redis", "Sandbox", "Schedule", "Settings",
                "Storage", "TestSupport",
                "Transport", "Web", "X", logging,
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Configuration", package: "swift-configuration"),
            ], exclude: ["Upgrade/database-0.1.0.sql"]),

        tests(
            "WebTests",
            [
                "Archive", "Control", "Embedded", "Favorites", "Localization", "MirrorBot",
                "Mirroring", "Networks", "Outbox", "Posts", "Sandbox", "Schedule",
                "Settings", "Storage", "TestSupport", "Web", lifecycle, logging,
                .product(name: "Configuration", package: "swift-configuration"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
            ]),
    ] + harnesses
)
