import Expectations
import Formats
import Foundation
import Posts
import TestSupport
import Testing

@testable import Import

/// Whole repositories of Bluesky, as people download them.
@Suite(.timeLimit(.minutes(30))) struct BlueskyRepositoryTests {
    private typealias Value = RepositoryWriter.Value

    private static let me = RepositoryWriter().did
    private static let someBlock = RepositoryWriter.name(of: [])
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func read(
        _ bytes: [UInt8], for purpose: ImportPurpose = .scheduler,
        limits: ImportLimits = ImportLimits()
    ) throws -> Reading {
        try Reading(try directory.write(Data(bytes), to: "repo.car"), for: purpose, limits: limits)
    }

    private static func posts(_ count: Int) -> [(key: String, value: RepositoryWriter.Value)] {
        (0..<count).map { (RepositoryWriter.key($0), RepositoryWriter.post("text \($0)")) }
    }

    private static func likes(_ count: Int) -> [(key: String, value: RepositoryWriter.Value)] {
        (0..<count).map {
            (RepositoryWriter.key($0, in: "app.bsky.feed.like"), .map([("subject", .null)]))
        }
    }

    /// 0 posts are nothing to read.
    @Test(arguments: [1, 4, 5, 23, 300], [3, 4, 40]) func readsEveryPostInOrder(
        count: Int, fanOut: Int
    ) throws {
        var writer = RepositoryWriter()
        writer.fanOut = fanOut
        let reading = try read(writer.repository(Self.posts(count) + Self.likes(7)))
        #expect(reading.texts == (0..<count).map { "text \($0)" })
        #expect(reading.summary.problemCount == 0)
        #expect(reading.summary.unrelated == 7)
        #expect(reading.summary.format == "Bluesky repository")
        #expect(reading.summary.owner == AccountID(network: .bluesky, value: Self.me))
    }

    @Test func aPostIsThatOfTheRecordsAsJSON() throws {
        var writer = RepositoryWriter()
        let text = "猫 \"e.org\" \\ \u{1} @m"
        let facet = Value.map([
            ("index", .map([("byteEnd", .int(11)), ("byteStart", .int(5))])),
            (
                "features",
                .array([
                    .map([
                        ("uri", .text("https://e.org/full")),
                        ("$type", .text("app.bsky.richtext.facet#link")),
                    ])
                ])
            ),
        ])
        let record = RepositoryWriter.post(
            text,
            [
                ("facets", .array([facet])), ("tags", .null), ("number", .int(-70_000)),
                ("share", .double(0.5)),
                (
                    "embed",
                    .map([
                        ("$type", .text("app.bsky.embed.images")), ("ref", .link(Self.someBlock)),
                    ])
                ),
                (
                    "reply",
                    .map([
                        ("parent", .map([("uri", .text("at://did:plc:mei/app.bsky.feed.post/3z"))]))
                    ])
                ),
                ("raw", .bytes([0xFF])), ("yes", .bool(true)),
            ])
        let post = try #require(
            try read(writer.repository([(RepositoryWriter.key(1), record)])).posts.first)
        #expect(post.id.value == "at://\(Self.me)/\(RepositoryWriter.key(1))")
        #expect(post.author.value == Self.me)
        #expect(post.language == "ja")
        #expect(post.createdAt == Date(rfc3339: "2023-02-18T12:33:11.250Z"))
        #expect(post.replyTo?.author?.value == "did:plc:mei")
        #expect(post.text.contains("https://e.org/full"))
        #expect(post.text.hasPrefix("猫 "))
    }

    @Test func likesAreOnlyAddresses() throws {
        var writer = RepositoryWriter()
        let reading = try read(writer.repository(Self.posts(3) + Self.likes(5)), for: .classifier)
        #expect(reading.items.isEmpty)
        #expect(reading.summary.likesWithoutPost == 5)
        expect(reading.summary.hints.first) {
            $0?.hasPrefix("5 likes hold only an address") == true
        }
    }

    @Test func whatWasDeletedIsLeftOut() throws {
        var writer = RepositoryWriter()
        writer.strays = [RepositoryWriter.post("deleted")]
        try expect(read(writer.repository(Self.posts(2))).texts, equals: ["text 0", "text 1"])
    }

    @Test func blocksMayStandInAnyOrderAndTwice() throws {
        var writer = RepositoryWriter()
        _ = writer.repository(Self.posts(20))
        let root = try #require(writer.blocks.last).name
        let blocks = Array(writer.blocks.reversed()) + writer.blocks
        try expect(read(RepositoryWriter.car(root: root, blocks)).texts.count, equals: 20)
    }

    /// Everything above is still read, and the problem says where.
    @Test func aBlockOfOtherContentsIsNotTaken() throws {
        var writer = RepositoryWriter()
        let whole = writer.repository(Self.posts(3))
        var bytes = whole
        let place = try #require(whole.firstRange(of: Array("text 1".utf8))).lowerBound
        bytes[place] ^= 1
        let reading = try read(bytes)
        #expect(reading.texts == ["text 0", "text 2"])
        #expect(reading.summary.problems.map(\.reason) == ["its block is not what its name says"])
        guard case .element(1, let byte)? = reading.summary.problems.first?.position else {
            return #expect(Bool(false), "\(reading.summary.problems)")
        }
        #expect((1..<place).contains(byte))
    }

    @Test func aFileThatEndsEarlyGivesWhatItHolds() throws {
        var writer = RepositoryWriter()
        _ = writer.repository(Self.posts(40))
        let root = try #require(writer.blocks.last).name
        let bytes = RepositoryWriter.car(root: root, writer.blocks.reversed())
        let reading = try read(Array(bytes.dropLast(1_000)))
        #expect((1..<40).contains(reading.texts.count))
        #expect(reading.summary.problems.first?.reason == "it ends early")
        // The commit stands at the end of this one.
        let error = try importError {
            _ = try read(Array(writer.repository(Self.posts(40)).dropLast(3)))
        }
        #expect(error.code == .damaged)
        #expect(error.reason.hasSuffix("its block is missing; download the repository again"))
    }

    @Test func saysWhatIsWrongWithAWholeFile() throws {
        var writer = RepositoryWriter()
        let posts = Self.posts(2)
        let bytes = writer.repository(posts)
        let root = try #require(writer.blocks.last).name
        try expect(
            importError {
                _ = try read(RepositoryWriter.car(root: root, writer.blocks, version: 2))
            }.reason,
            equals:
                "its header as a CAR file cannot be read: it is not of version 1; download it again"
        )
        writer.version = 4
        try expect(
            importError { _ = try read(writer.repository(posts)) }.code, equals: .unsupported)
        writer.version = 2
        try expect(read(writer.repository(posts)).texts.count, equals: 2)
        writer.did = "nobody"
        try expect(importError { _ = try read(writer.repository(posts)) }.code, equals: .damaged)
        try expect(
            importError { _ = try read(RepositoryWriter.car(root: root, [])) }.code,
            equals: .damaged)
        var empty = RepositoryWriter()
        try expect(importError { _ = try read(empty.repository([])) }.code, equals: .nothingToRead)
        #expect(
            try importError { _ = try read(empty.repository(Self.likes(2))) }.reason.contains(
                "holds no posts"))
        var limits = ImportLimits()
        limits.totalBytes = bytes.count - 1
        try expect(importError { _ = try read(bytes, limits: limits) }.code, equals: .bomb)
    }

    /// A tree that points to itself cannot be made with hashes; one that points to one block again
    /// and again can.
    @Test func aTreeThatNeverEndsEnds() throws {
        var writer = RepositoryWriter()
        let record = writer.add(RepositoryWriter.post(String(repeating: "x", count: 100_000)))
        let leaf = writer.add(
            RepositoryWriter.node(left: nil, [(Array(RepositoryWriter.key(0).utf8), record, nil)]))
        func file(
            _ entries: [(key: [UInt8], record: RepositoryWriter.CID, below: RepositoryWriter.CID?)]
        ) -> [UInt8] {
            let tree = writer.add(RepositoryWriter.node(left: leaf, entries))
            let commit = writer.add(
                .map([("did", .text(Self.me)), ("version", .int(3)), ("data", .link(tree))]))
            return RepositoryWriter.car(root: commit, writer.blocks)
        }
        let twice = try read(
            file((1..<20).map { (Array(RepositoryWriter.key($0).utf8), record, leaf) }))
        #expect(twice.texts.count == 20)
        #expect(twice.summary.problemCount == 19)
        expect(twice.summary.problems.first?.reason) { $0?.hasSuffix("is there twice") == true }
        let bomb = file((1..<5_000).map { (Array(RepositoryWriter.key($0).utf8), record, nil) })
        try expect(importError { _ = try read(bomb) }.code, equals: .bomb)
    }

    /// Whatever bytes there are: no crash, no hang, and never anything but an error or posts of the
    /// owner.
    @Test(arguments: [UInt64(1), 2, 3, 4]) func damageNeverDoesHarm(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var writer = RepositoryWriter()
        let whole = writer.repository(Self.posts(12) + Self.likes(3))
        for round in 0..<400 {
            var bytes = whole
            switch round % 4 {
            case 0: bytes.removeLast(Int.random(in: 1..<bytes.count, using: &generator))
            case 1:
                let start = Int.random(in: 0..<bytes.count, using: &generator)
                bytes.removeSubrange(
                    start..<min(bytes.count, start + Int.random(in: 1...64, using: &generator)))
            default:
                for _ in 0...Int.random(in: 0...4, using: &generator) {
                    // The beginning is where lengths and links are.
                    let end = round % 8 < 4 ? min(200, bytes.count) : bytes.count
                    bytes[Int.random(in: 0..<end, using: &generator)] = .random(
                        in: 0...255, using: &generator)
                }
            }
            do {
                let reading = try read(bytes)
                expect(reading.posts) { $0.allSatisfy { $0.text.hasPrefix("text ") } }
            } catch is ImportError {
                continue
            }
        }
    }

    /// The same of single values, whose hashes would be wrong.
    @Test(arguments: [UInt64(5), 6]) func damagedValuesNeverDoHarm(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let whole = RepositoryWriter.encoded(
            RepositoryWriter.post(
                "x",
                [
                    (
                        "a",
                        .array([
                            .int(5), .map([("b", .link(Self.someBlock))]), .double(1.5),
                            .bytes([1]),
                        ])
                    )
                ]))
        for _ in 0..<20_000 {
            var bytes = whole
            for _ in 0...Int.random(in: 0...2, using: &generator) {
                bytes[Int.random(in: 0..<bytes.count, using: &generator)] = .random(
                    in: 0...255, using: &generator)
            }
            guard let value = try? DAGCBOR(bytes, nesting: 16) else { continue }
            #expect((try? JSON(value.json))?.isNull != nil, "\(bytes)")
        }
    }

    @Test(arguments: [
        [0x9F, 0xFF], [0xBF, 0xFF], [0x5F, 0xFF], [0xC0, 0x60], [0xF7], [0xF9, 0x3C, 0x00],
        [0xFA, 0, 0, 0, 0],
        [0xFB, 0x7F, 0xF8, 0, 0, 0, 0, 0, 0], [0xFB, 0x7F, 0xF0, 0, 0, 0, 0, 0, 0],
        [0x9B, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF],
        [0x5B, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF],
        [0x1B, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], [0xA1, 0x01, 0x01],
        [0xA2, 0x61, 0x61, 0x01, 0x61, 0x61, 0x02],
        [0x62, 0xC3, 0x28], [0xD8, 0x2A, 0x41, 0x00], [0xD8, 0x2A, 0x42, 0x01, 0x01], [0x01, 0x01],
        [],
        [UInt8](repeating: 0x81, count: 100),
    ])
    func whatTheFormDoesNotAllowIsRefused(bytes: [UInt8]) {
        #expect(throws: ItemFault.self) { try DAGCBOR(bytes, nesting: 64) }
    }
}
