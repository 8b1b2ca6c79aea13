import Archive
import Expectations
import Fixtures
import Foundation
import Outbox
import Posts
import Testing

@testable import Mirroring

/// Around midnight the original of 2014 took replies for standalone posts: a condition of its query
/// held for one of the two days only.
@Suite(.mirrors, .timeLimit(.minutes(30))) struct MidnightTextTests {
    private static let firstDay = LocalDay(ordinal: 20_514)

    @Test(arguments: Engine.allCases)
    func noReplyIsEverPostedOnItsOwn(_ engine: Engine) async throws {
        let mirror = try await BareMirror(engine).open()
        let human = AccountID(network: .mastodon, value: "haruka@sandbox.example")
        let friend = AccountID(network: .mastodon, value: "friend@sandbox.example")
        // Three posts and three replies in the hour around each midnight of two months.
        let posts = (0..<360).map { number in
            let isReply = number % 2 == 1
            let minute = (number * 53) % 60 - 30
            let instant = Double((Self.firstDay.ordinal - 1 - number / 6) * 1_440 + minute) * 60
            return Post(
                id: PostID(
                    network: .mastodon,
                    value: "https://sandbox.example/\(isReply ? "reply" : "post")/\(number)"),
                author: human, text: "Thought number \(number) about rivers at night",
                createdAt: Date(timeIntervalSince1970: instant),
                replyTo: isReply ? ReplyTarget(author: friend) : nil)
        }
        _ = try await mirror.table.notePast(.whole, now: Date(timeIntervalSince1970: 0))
        _ = try await mirror.archive.store(
            posts, timeZone: .gmt, limit: 1_000)
        let outbox = mirror.outbox(lease: nil)
        let maker = mirror.planMaker(zone: .gmt, store: outbox)
        var near = 0
        for number in 0..<30 {
            let day = Self.firstDay.advanced(by: number)
            let midnight = Date(timeIntervalSince1970: Double(day.ordinal) * 86_400)
            let planned = try #require(try await maker.preview(day, now: midnight, watching: false))
            for slot in planned.slots {
                let minute = LocalTime(slot.due, in: .gmt).minute.value
                if minute < 30 || minute >= 1_410 { near += 1 }
                try expect(#require(slot.payload.wording).source.value) { $0.contains("/post/") }
            }
        }
        #expect(near > 20)
    }
}
