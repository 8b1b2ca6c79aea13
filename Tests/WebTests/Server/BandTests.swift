import Expectations
import Foundation
import Mirroring
import Synchronization
import Testing

@testable import Web

/// The band of a demo, which stands on its pages and on no others.
@Suite(.timeLimit(.minutes(30))) struct BandTests {
    private static let words = "A demo. Nothing leaves this machine."
    private static let paths =
        [
            "", "/waiting", "/actions", "/hours", "/favorites", "/texts", "/people", "/health",
            "/settings",
        ].map {
            "/m/mika" + $0
        } + ["/m/mika/confirm/pause", "/m/mika/nothing"]

    @Test func everyPageOfADemoHasIt() async throws {
        let moment = Mutex(DemoMoment.living(day: 2, of: 3, seconds: 20))
        try await WebStand.with(demo: { moment.withLock { $0 } }) { stand in
            for path in Self.paths {
                let page = try await stand.client.send(path).body
                #expect(
                    page.contains("<b>\(Self.words)</b> Day 2 of 3, a day in 20 s.</p>"), "\(path)")
                // Only where everybody begins.
                #expect(page.contains("ends the demo") == (path == "/m/mika"), "\(path)")
            }
            moment.withLock { $0 = .over(days: 3) }
            try await expect(stand.client.send("/m/mika/hours").body) {
                $0.contains("It is the evening of day 3, the last;")
            }
            moment.withLock { $0 = .over(days: 1) }
            try await expect(stand.client.send("/m/mika/hours").body) {
                $0.contains("It is the evening of its day;")
            }
        }
        try await WebStand.with(["ann", "bo"], demo: { .over(days: 3) }) { stand in
            try await expect(stand.client.send("/").body) { $0.contains(Self.words) }
        }
    }

    @Test func noOtherPageHasIt() async throws {
        try await WebStand.with { stand in
            for path in Self.paths {
                let page = try await stand.client.send(path).body
                #expect(page.contains("mirror-bot"), "\(path)")
                #expect(!page.contains("demo"), "\(path)")
                #expect(!page.contains("id=\"band\""), "\(path)")
            }
        }
    }

    /// Where the time itself is news, the stream tells of it although nothing is done.
    @Test(arguments: [true, false]) func theStreamTellsOfTimeThatPassesFast(_ isFast: Bool)
        async throws
    {
        try await WebStand.with { stand in
            let hub = EventHub(
                stand.installation.storage, clock: stand.clock, interval: .milliseconds(1)
            ) { isFast }
            let (id, stream) = await hub.open("mika")
            while await hub.queryCount < 5 { await Task.yield() }
            await hub.close(id)
            var told: [String] = []
            for await event in stream.events { told.append(event) }
            #expect(told.isEmpty == !isFast)
            let beginning = "event: changed\ndata: actions ahead band "
            expect(told) { $0.allSatisfy { $0.hasPrefix(beginning) } }
        }
    }
}
