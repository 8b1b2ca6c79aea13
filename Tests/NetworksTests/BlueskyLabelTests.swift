import Foundation
import Posts
import TestSupport
import Testing

@testable import Bluesky
@testable import Networks

@Suite struct BlueskyLabelTests {
    private static let put = "com.atproto.repo.putRecord"

    /// A server with a profile; nil for none.
    private func loopback(_ profile: String?, put: Answer = .json("{}")) throws -> BlueskyLoopback {
        try BlueskyLoopback { request in
            if request.method(Self.put) { return put }
            guard request.method("com.atproto.repo.getRecord") else { return nil }
            let uri = "at://\(BlueskyLoopback.did)/app.bsky.actor.profile/self"
            return profile.map { .json(#"{"uri":"\#(uri)","cid":"bafyold","value":\#($0)}"#) }
                ?? .xrpc("RecordNotFound", "Could not locate record")
        }
    }

    private func body(_ record: String, swap: String) -> String {
        #"{"collection":"app.bsky.actor.profile","record":\#(record),"repo":"did:plc:botbotbotbotbotbotbotbot","rkey":"self","swapRecord":\#(swap)}"#
    }

    @Test func keepsEverythingElse() async throws {
        let profile =
            #"{"$type":"app.bsky.actor.profile","avatar":{"$type":"blob","mimeType":"image/png","ref":{"$link":"bafyx"},"size":9007199254740993},"description":"a / \"b\"","displayName":null,"future":[1,true,{"a":[]}],"labels":{"$type":"com.atproto.label.defs#selfLabels","values":[{"val":"!no-unauthenticated"}]},"pinnedPost":{"cid":"c","uri":"u"}}"#
        let loopback = try loopback(profile)
        try await loopback.network.labelAsBot()
        let expected = profile.replacingOccurrences(
            of: #"[{"val":"!no-unauthenticated"}]"#,
            with: #"[{"val":"!no-unauthenticated"},{"val":"bot"}]"#)
        #expect(loopback.requests.last?.bodyText == body(expected, swap: #""bafyold""#))
    }

    @Test(arguments: ["{}", #"{"labels":null}"#])
    func addsTheFirstLabel(profile: String) async throws {
        let loopback = try loopback(profile)
        try await loopback.network.labelAsBot()
        let label =
            #"{"labels":{"$type":"com.atproto.label.defs#selfLabels","values":[{"val":"bot"}]}}"#
        #expect(loopback.requests.last?.bodyText == body(label, swap: #""bafyold""#))
    }

    @Test func makesAProfileWhereThereIsNone() async throws {
        let loopback = try loopback(nil)
        try await loopback.network.labelAsBot()
        let profile =
            #"{"$type":"app.bsky.actor.profile","labels":{"$type":"com.atproto.label.defs#selfLabels","values":[{"val":"bot"}]}}"#
        #expect(loopback.requests.last?.bodyText == body(profile, swap: "null"))
    }

    @Test func labelsOnce() async throws {
        let loopback = try loopback(
            #"{"labels":{"$type":"com.atproto.label.defs#selfLabels","values":[{"val":"bot","future":1}]}}"#
        )
        try await loopback.network.labelAsBot()
        #expect(loopback.count(Self.put) == 0)
    }

    @Test(arguments: [
        "7", "[]", #"{"labels":7}"#, #"{"labels":{"$type":"com.example.labels","values":[]}}"#,
        #"{"labels":{"$type":"com.atproto.label.defs#selfLabels","values":{}}}"#, "null",
        #"{"size":1e999}"#,
    ])
    func whatItDoesNotUnderstandItDoesNotReplace(profile: String) async throws {
        let loopback = try loopback(profile)
        let error = try await #require(throws: NetworkError.self) {
            try await loopback.network.labelAsBot()
        }
        #expect(error.code == .rejected)
        #expect(loopback.count(Self.put) == 0)
    }

    @Test func readsAgainWhenSomebodyWasFaster() async throws {
        let loopback = try loopback("{}", put: .xrpc("InvalidSwap", "Record was at bafynewer"))
        let error = try await #require(throws: NetworkError.self) {
            try await loopback.network.labelAsBot()
        }
        #expect(error.code == .conflict)
        #expect(!error.isPermanent)
        #expect(loopback.count(Self.put) == 2)
        #expect(loopback.count("com.atproto.repo.getRecord") == 2)
    }

    /// A profile that cannot be read must not be taken for none.
    @Test(arguments: [
        Answer(status: 404, body: "<html>"), .xrpc("InvalidRequest", "Could not find repo"),
        .json("{}"),
        .json(#"{"uri":"at://did:plc:eve/app.bsky.actor.profile/self","cid":"c","value":{}}"#),
    ])
    func aProfileThatCannotBeReadIsLeftAlone(answer: Answer) async throws {
        let loopback = try BlueskyLoopback {
            $0.method("com.atproto.repo.getRecord") ? answer : nil
        }
        await #expect(throws: NetworkError.self) { try await loopback.network.labelAsBot() }
        #expect(loopback.count(Self.put) == 0)
    }
}
