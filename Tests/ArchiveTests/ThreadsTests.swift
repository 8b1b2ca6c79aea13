import Archive
import Expectations
import Foundation
import Posts
import Storage
import TestSupport
import Testing

/// The human's own threads, as the archive finds them.
@Suite struct ThreadsTests {
    private func part(
        _ id: String, of parent: String, at minutes: Int, by author: AccountID = TestArchive.human
    )
        -> Post
    {
        var part = post(id, at: minutes)
        part.replyTo = ReplyTarget(author: author, post: postID(parent))
        return part
    }

    private func parts(_ test: TestArchive, of id: String = "1") async throws -> [String] {
        let head = try #require(try await test.archive.post(postID(id)))
        return try await test.archive.sequel(of: head).parts.map(\.id.value)
    }

    private func isChain(_ test: TestArchive) async throws -> Bool {
        let head = try #require(try await test.archive.post(postID("1")))
        return try await test.archive.sequel(of: head).isChain
    }

    @Test func answersToOneselfThatComeSoonAreAThread() async throws {
        let test = try await TestArchive()
        try await test.store([
            post("1"), part("2", of: "1", at: 5), part("3", of: "2", at: 35),
            part("4", of: "3", at: 66),
            post("5", at: 70), part("6", of: "5", at: 80, by: TestArchive.friend),
        ])
        // The fourth came more than half an hour after the third.
        try await expect(parts(test), equals: ["2", "3"])
        try await expect(parts(test, of: "5"), equals: [])
        #expect(try await isChain(test))
    }

    @Test func whatBranchesOrHasNoEndIsNoChain() async throws {
        let test = try await TestArchive()
        try await test.store([
            post("1"), part("2", of: "1", at: 5), part("3", of: "2", at: 6),
            part("4", of: "2", at: 7),
        ])
        try await expect(parts(test), equals: ["2", "3"])
        #expect(try await !isChain(test))
        let long = try await TestArchive()
        try await long.store([post("1")] + (2...40).map { part("\($0)", of: "\($0 - 1)", at: $0) })
        try await expect(parts(long).count, equals: 25)
        #expect(try await !isChain(long))
    }

    @Test func aPostInACircleEndsTheSearch() async throws {
        let test = try await TestArchive()
        try await test.store([
            post("1"), part("2", of: "3", at: 5), part("3", of: "2", at: 5),
            part("4", of: "4", at: 5),
        ])
        try await expect(parts(test), equals: [])
        try await test.store([part("5", of: "3", at: 6)])
    }

    /// However deep below it, and whenever it comes.
    @Test func aPostIsJudgedAnewWhenItTurnsOutToBeginAThread() async throws {
        let test = try await TestArchive()
        func judge() async throws -> [String: Int] {
            var seen: [String: Int] = [:]
            try await test.prepare("1") { post, sequel in
                seen[post.id.value] = sequel.parts.count
                return Archive.Preparation(textKey: post.text, unfit: nil, length: 1)
            }
            return seen
        }
        try await test.store([post("1"), post("9", at: 90)])
        try await expect(judge(), equals: ["1": 0, "9": 0])
        try await expect(judge(), equals: [:])
        try await test.store([part("2", of: "1", at: 5)])
        try await expect(judge(), equals: ["1": 1])
        try await test.store([part("3", of: "2", at: 6)])
        try await expect(judge(), equals: ["1": 2])
        try await test.store([part("8", of: "7", at: 6)])
        try await expect(judge(), equals: [:])
    }
}
