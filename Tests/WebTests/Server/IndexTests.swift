import Archive
import Control
import Foundation
import Mirroring
import Outbox
import Testing

@testable import Web

/// The list of all mirrors, and the stream that tells of changes.
@Suite(.timeLimit(.minutes(30))) struct IndexTests {
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
            try await #expect(
                stand.client.send("/m/ann").body.contains("<a class=\"all\" href=\"/\">Mirrors</a>")
            )
            let none = try await stand.client.send("/?q=zzz")
            #expect(none.body.contains("None is found."))
        }
    }

    /// What is not set up does not do its work, here as for a watchdog.
    @Test func theTitleSaysWhatAWatchdogIsTold() async throws {
        try await WebStand.with(["ann"]) { stand in
            for name in ["new", "newer"] {
                try await stand.add(name)
            }
            let status = try await MirrorsStatus(of: stand.installation, now: WebStand.now)
            let idle = status.mirrors.count { [.failing, .unset].contains($0.state) }
            let answer = try await stand.client.send("/")
            #expect(idle >= 2)
            #expect(answer.body.contains("\(idle) of 3 need you."))
            #expect(!answer.body.contains("do their work"))
            #expect(status.check.text.hasPrefix("\(idle) of 3 mirrors do not work"))
        }
    }

    @Test(arguments: [false, true]) func aPageThatOnlyShowsPromisesNothing(_ isReadOnly: Bool)
        async throws
    {
        try await WebStand.with(isReadOnly: isReadOnly) { stand in
            let page = try await stand.client.send("/m/mika")
            #expect(page.body.contains("This page can change the plan all the same") != isReadOnly)
        }
    }

    /// The pages show each mirror once, and the numbers of the tabs are those of the lists.
    @Test func itIsPagedByNames() async throws {
        let names = (0..<120).map { "m\($0)" }
        try await WebStand.with(["m0"]) { stand in
            for name in names.dropFirst() { try await stand.add(name) }
            var path: String = "/"
            var seen: [String] = []
            var pages: Int = 0
            while pages < 5 {
                let answer = try await stand.client.send(path)
                seen += answer.body.matches(of: #/href="\/m\/(m[0-9]+)"/#).map {
                    String($0.output.1)
                }
                pages += 1
                #expect(answer.body.utf8.count < 40_000)
                guard let next = answer.body.firstMatch(of: #/rel="next" href="([^"]+)"/#)?.output.1
                else { break }
                path = String(next).replacing("&amp;", with: "&")
            }
            #expect(pages == 3)
            #expect(seen.count == 120)
            #expect(Set(seen) == Set(names))
        }
    }

    // MARK: The stream

    /// Opens the stream that a page names, and waits for texts in it, one after the other.
    private func hears(_ texts: [String], from page: WebClient.Answer, at port: Int) async throws
        -> Bool
    {
        let path = String(
            try #require(page.body.firstMatch(of: #/data-events="([^"]+)"/#)).output.1)
        let request = "GET \(path) HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n"
        return try await WebConnection(port: port).apart { connection in
            try connection.open()
            try connection.send(Array(request.utf8))
            return texts.allSatisfy { connection.waits(for: $0) }
        }
    }

    /// What changes between the page and its stream is told when the stream opens, and what changes
    /// later is told too.
    @Test func aChangeIsTold() async throws {
        try await WebStand.with { stand in
            let mirror = try await stand.mirror()
            let old = try await stand.client.send("/m/mika")
            try await mirror.table.pause(until: nil, reason: nil, now: WebStand.now)
            let port = stand.client.port
            try await #expect(
                hears(
                    ["retry: 5000", "event: changed\ndata: ", "coming-list", "\n\n"], from: old,
                    at: port))
            let page = try await stand.client.send("/m/mika")
            async let isHeard = hears(
                ["retry: 5000", "event: changed\ndata: "], from: page, at: port)
            // Whether the stream is open by now does not matter.
            _ = try await mirror.table.resume(now: WebStand.now)
            let heard = try await isHeard
            #expect(heard)
        }
    }

    /// A browser that opens the stream again names the last event, and hears only of what it does
    /// not know.
    @Test func aKnownChangeIsNotToldAgain() async throws {
        try await WebStand.with { stand in
            let hub = EventHub(
                stand.installation.storage, clock: stand.clock, interval: .milliseconds(1))
            let mirror = try await stand.mirror()
            func digest() async throws -> String {
                let stamps = try await MirrorStamps(
                    of: ["mika"], in: mirror.storage, now: WebStand.now)
                return try #require(stamps.digest(of: "mika"))
            }
            let before = try await digest()
            try await mirror.table.pause(until: nil, reason: nil, now: WebStand.now)
            let now = try await digest()
            #expect(before != now)
            let old = await hub.open("mika", since: before)
            let current = await hub.open("mika", since: now)
            var told = old.stream.events.makeAsyncIterator()
            let first = await told.next()
            #expect(first?.hasPrefix("id: \(now)\nevent: changed\n") == true)
            // The first event of the other is that of a later change.
            try await mirror.set(["MAX_PER_DAY": "3"], seen: nil, now: WebStand.now)
            let later = try await digest()
            var other = current.stream.events.makeAsyncIterator()
            let second = await other.next()
            #expect(second?.hasPrefix("id: \(later)\nevent: changed\n") == true)
            for id in [old.id, current.id] { await hub.close(id) }
        }
    }

    /// The script asks for the page as well, and does not take away what a person has to read.
    @Test func aSentenceIsKeptForAPerson() async throws {
        try await WebStand.with { stand in
            let page = try await stand.client.send("/m/mika")
            let form = [("csrf", try #require(page.field("csrf"))), ("until", "3h")]
            try await #expect(stand.client.send("/m/mika/pause", form: form).status == 303)
            let script = try await stand.client.send("/m/mika", headers: ["Sec-Fetch-Mode": "cors"])
            #expect(!script.body.contains("class=\"flash\""))
            let person = try await stand.client.send(
                "/m/mika", headers: ["Sec-Fetch-Mode": "navigate"])
            #expect(person.body.contains("class=\"flash\""))
        }
    }

    /// Many streams ask the database as often as one.
    @Test func manyStreamsAskOnce() async throws {
        try await WebStand.with { stand in
            let hub = EventHub(
                stand.installation.storage, clock: stand.clock, interval: .seconds(600))
            for _ in 0..<200 { _ = await hub.open("mika") }
            while await hub.queryCount == 0 { await Task.yield() }
            #expect(await hub.queryCount == 1)
            #expect(await hub.count == 200)
        }
    }

    /// Each change makes another stamp, and nothing else does.
    @Test func stampsDifferWhereSomethingDiffers() async throws {
        try await WebStand.with { stand in
            let mirror = try await stand.mirror()
            let now = WebStand.now
            func digest() async throws -> String? {
                let stamps = try await MirrorStamps(
                    of: ["mika", "none"], in: mirror.storage, now: now)
                #expect(stamps.digest(of: "none") == nil)
                return stamps.digest(of: "mika")
            }
            let store = mirror.outbox(lease: nil)
            let life = MirrorLife(mirror: mirror, human: MirrorLife.pal, now: now, isHostile: false)
            let done = try await #require(life.proposeCopies(1).first)
            var seen: [String?] = [try await digest()]
            try await #expect(digest() == seen[0])
            let changes: [@Sendable () async throws -> Void] = [
                { try await mirror.table.pause(until: nil, reason: nil, now: now) },
                { try await mirror.set(["MAX_PER_DAY": "3"], seen: nil, now: now) },
                { _ = try await mirror.archive.mute("word", "rain", seen: nil, now: now) },
                { _ = try await store.askUndos([done.id], now: now) },
                { try await store.undoFailed(done, "unavailable", next: now + 60, now: now) },
                { try await store.undone(done.id, now: now + 1) },
            ]
            for change in changes {
                try await change()
                seen.append(try await digest())
            }
            #expect(Set(seen).count == changes.count + 1)
        }
    }
}
