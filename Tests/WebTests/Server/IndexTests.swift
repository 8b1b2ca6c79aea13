import Control
import Foundation
import Mirroring
import Testing

@testable import Web

/// The list of all mirrors, and the stream that tells of changes.
@Suite(.timeLimit(.minutes(5))) struct IndexTests {
    @Test func withoutAMirrorItSaysHowToBegin() async throws {
        try await WebStand.with([]) { stand in
            let answer = try await stand.client.send("/")
            #expect(answer.status == 200)
            #expect(answer.body.contains("There is no mirror here yet."))
        }
    }

    @Test func allAreListedTheWorstFirst() async throws {
        try await WebStand.with(["ann", "bo", "cleo"]) { stand in
            try await stand.mirror("bo").table.pause(until: nil, reason: nil, now: WebStand.now)
            let all = try await stand.client.send("/")
            #expect(all.status == 200)
            let names = all.body.matches(of: #/href="\/m\/([a-z]+)"/#).map { String($0.output.1) }
            #expect(Set(names) == ["ann", "bo", "cleo"])
            #expect(names.last == "bo")
            let paused = try await stand.client.send("/?state=paused")
            #expect(paused.body.contains("/m/bo\""))
            #expect(!paused.body.contains("/m/ann\""))
            let found = try await stand.client.send("/?q=cle")
            #expect(found.body.contains("/m/cleo\""))
            #expect(!found.body.contains("/m/ann\""))
            try await #expect(stand.client.send("/m/ann").body.contains("<a class=\"all\" href=\"/\">Mirrors</a>"))
            let none = try await stand.client.send("/?q=zzz")
            #expect(none.body.contains("None is found."))
        }
    }

    /// The pages show each mirror once, and the numbers of the tabs are those of the lists.
    @Test func itIsPagedByNames() async throws {
        let names = (0..<120).map { "m\($0)" }
        try await WebStand.with(["m0"]) { stand in
            let any = try await stand.installation.anyMirror()
            for name in names.dropFirst() { try await any.other(name).table.add(now: WebStand.now) }
            var (path, seen, pages): (String, [String], Int) = ("/", [], 0)
            while pages < 5 {
                let answer = try await stand.client.send(path)
                seen += answer.body.matches(of: #/href="\/m\/(m[0-9]+)"/#).map { String($0.output.1) }
                pages += 1
                #expect(answer.body.utf8.count < 40_000)
                guard let next = answer.body.firstMatch(of: #/rel="next" href="([^"]+)"/#)?.output.1 else { break }
                path = String(next).replacing("&amp;", with: "&")
            }
            #expect(pages == 3)
            #expect(seen.count == 120)
            #expect(Set(seen) == Set(names))
        }
    }

    // MARK: The stream

    @Test func aChangeIsTold() async throws {
        try await WebStand.with { stand in
            _ = try await stand.client.send("/m/mika")
            let port = stand.client.port
            let heard = Task.detached {
                let connection = try WebConnection(port: port)
                try connection.send(
                    Array("GET /m/mika/events HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n".utf8))
                guard connection.waits(for: "retry: 5000") else { return false }
                guard connection.waits(for: "event: changed\ndata: ") else { return false }
                return connection.waits(for: "coming-list")
            }
            let mirror = try await stand.mirror()
            // The stream begins at some time; a later change is told.
            let changing = Task {
                var number = 0
                while !Task.isCancelled {
                    number += 1
                    try await mirror.table.pause(until: WebStand.now + Double(number), reason: nil, now: WebStand.now)
                    try await Task.sleep(for: .milliseconds(200))
                }
            }
            try await #expect(heard.value)
            changing.cancel()
            _ = await changing.result
        }
    }

    /// Many streams ask the database as often as one.
    @Test func manyStreamsAskOnce() async throws {
        try await WebStand.with { stand in
            let hub = EventHub(stand.installation.storage, clock: stand.clock, interval: .seconds(600))
            for _ in 0..<200 { _ = await hub.open("mika") }
            while await hub.looks == 0 { await Task.yield() }
            #expect(await hub.looks == 1)
            #expect(await hub.count == 200)
        }
    }

    @Test func stampsDifferWhereSomethingDiffers() async throws {
        try await WebStand.with { stand in
            let mirror = try await stand.mirror()
            func stamps() async throws -> MirrorStamps {
                try await MirrorStamps(of: ["mika", "none"], in: mirror.storage, now: WebStand.now)
            }
            let first = try await stamps()
            try await #expect(stamps().changes(of: "mika", since: first).isEmpty)
            try await mirror.table.pause(until: nil, reason: nil, now: WebStand.now)
            let second = try await stamps()
            #expect(second.changes(of: "mika", since: first) == [.health])
            try await mirror.set(["MAX_PER_DAY": "3"], seen: nil, now: WebStand.now)
            let third = try await stamps()
            #expect(third.changes(of: "mika", since: second) == [.settings])
            #expect(third.changes(of: "none", since: second).isEmpty)
        }
    }
}
