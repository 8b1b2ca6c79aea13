import Expectations
import Fixtures
import Foundation
import InMemoryTracing
import Networks
import Outbox
import Posts
import Testing
import Tracing

@testable import Fleet
@testable import Mirroring

/// What a tracer is told of a mirror's work.
@Suite(.mirrors, .timeLimit(.minutes(30))) struct SpanTests {
    private typealias Span = FinishedInMemorySpan

    /// What nobody but the network, the mirror and its people may read.
    private static let words = ["friend", "Gooseberry", "thank you", "cake", "address-"]

    /// A mirror that knows a friend, and has begun to listen.
    private func paper(_ variables: [String: String] = [:]) async throws -> PaperMirror {
        let paper = try await PaperMirror(bot: .mastodon, variables: variables)
        let person = AccountID(network: .mastodon, value: "friend")
        try await paper.archive(
            (0..<9).map { pastReply("r\($0)", to: person, "thank you for the cake \($0)") })
        return paper
    }

    /// Does some work, and returns what a tracer is told of it.
    private func traced(_ work: () async throws -> Void) async throws -> [Span] {
        let tracer = InMemoryTracer()
        try await withTracer(tracer) { try await work() }
        #expect(tracer.activeSpans.isEmpty)
        return tracer.finishedSpans
    }

    private func attributes(_ span: Span) -> [String: String] {
        var all: [String: String] = [:]
        span.attributes.forEach { name, value in
            if case .string(let text) = value { all[name] = text } else { all[name] = "no text" }
        }
        return all
    }

    private func expectSilence(_ spans: [Span], location: SourceLocation = #_sourceLocation) {
        for span in spans {
            var text = ""
            dump(span, to: &text)
            for word in Self.words {
                #expect(!text.contains(word), "\(word) in \(text)", sourceLocation: location)
            }
            #expect(
                span.errors.isEmpty && span.events.isEmpty && span.links.isEmpty,
                sourceLocation: location)
        }
    }

    @Test func aMentionIsReadDecidedAndAnsweredInOneTrace() async throws {
        let paper = try await paper()
        let parts = try await paper.parts()
        let mentions = try #require(parts.feeds.mentions)
        _ = try await Passes(parts: parts).mentions(mentions)
        paper.bot.add(
            [paperPost("m", on: .mastodon, "Gooseberry?", at: PaperMirror.now + 1)], to: .mentions)
        try await paper.wait(5)
        let spans = try await traced { _ = try await Passes(parts: parts).mentions(mentions) }
        #expect(paper.bot.with { $0.published.count } == 1)
        let names = spans.map(\.operationName)
        #expect(names == ["decide", "observe", "deliver"])
        guard names.count == 3 else { return }
        let decide = spans[0]
        let observe = spans[1]
        let deliver = spans[2]
        #expect(Set(spans.map(\.traceID)).count == 1)
        #expect(observe.parentSpanID == nil)
        #expect(decide.parentSpanID == observe.spanID)
        #expect(deliver.parentSpanID == decide.spanID)
        let common = ["mirror_bot.mirror": "test", "server.address": "paper.example"]
        expect(
            attributes(observe), equals: common.merging(["mirror_bot.kind": "bot-mentions"]) { $1 })
        expect(attributes(decide), equals: common.merging(["mirror_bot.kind": "reply"]) { $1 })
        expect(
            attributes(deliver),
            equals: common.merging(["mirror_bot.kind": "reply", "mirror_bot.outcome": "done"]) {
                $1
            })
        #expect(spans.allSatisfy { $0.status == nil })
        expectSilence(spans)
    }

    /// A slot was planned in another hour, perhaps by another process: its sending is a trace of
    /// its own.
    @Test func aPlanIsDecidedOnceAndItsSlotIsSentForItself() async throws {
        let paper = try await paper()
        let author = AccountID(network: .mastodon, value: "human")
        try await paper.archive(
            (1...240).map { (number: Int) -> Post in
                // Each of the next hours of the day is one in which the human posts.
                let hours = number % 4 + 1 - 24 * (number / 4 + 1)
                return Post(
                    id: PostID(network: .mastodon, value: "p\(number)"), author: author,
                    text: "Gooseberry cake \(number)",
                    createdAt: PaperMirror.now + Double(hours) * 3_600)
            })
        let parts = try await paper.parts()
        let passes = Passes(parts: parts)
        let planning = try await traced {
            for _ in 0..<3 { try await passes.makePlan() }
        }
        #expect(planning.map(\.operationName) == ["decide"])
        #expect(planning.first.map(attributes)?["mirror_bot.kind"] == "post")
        let next = try #require(
            try await paper.actions(.post).first {
                $0.state == .planned && $0.due > paper.clock.now
            })
        try await paper.wait(next.due.timeIntervalSince(paper.clock.now) + 1)
        let sending = try await traced { try await parts.courier.deliverDue([.post]) }
        #expect(sending.map(\.operationName) == ["deliver"])
        let deliver = try #require(sending.first)
        #expect(deliver.parentSpanID == nil)
        #expect(attributes(deliver)["mirror_bot.outcome"] == "done")
        expectSilence(planning + sending)
    }

    /// Answers of servers hold what people wrote.
    @Test func anErrorIsToldByItsKindAlone() async throws {
        let paper = try await paper()
        let parts = try await paper.parts()
        let mentions = try #require(parts.feeds.mentions)
        paper.bot.with { state in
            state.failure = { operation, _ in
                operation == .readMentions
                    ? NetworkError(
                        code: .unavailable, network: .mastodon, host: "paper.example",
                        operation: operation,
                        detail: "the friend's Gooseberry cake", outcome: .notSent) : nil
            }
        }
        let spans = try await traced {
            await #expect(throws: NetworkError.self) { try await mentions.readNew { _, _ in [] } }
        }
        #expect(spans.map(\.operationName) == ["observe"])
        let observe = try #require(spans.first)
        #expect(attributes(observe)["error.type"] == NetworkError.Code.unavailable.rawValue)
        #expect(observe.status?.code == .error && observe.status?.message == nil)
        expectSilence(spans)
    }

    /// What is no error of ours tells its type, and nothing of what it holds.
    @Test func anUnknownErrorIsToldByItsType() async throws {
        struct Strange: Error { let words = "Gooseberry" }
        let spans = try await traced {
            await #expect(throws: Strange.self) {
                try await WorkStage.decide.traced(
                    mirror: "m", kind: "reply", host: "h", outcome: { (_: Int) in nil }
                ) { throw Strange() }
            }
        }
        #expect(spans.first.map(attributes)?["error.type"] == "Strange")
        expectSilence(spans)
    }
}
