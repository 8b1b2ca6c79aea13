import Control
import Expectations
import Foundation
import Mirroring
import Networks
import Outbox
import Posts
import Settings
import Storage
import TestSupport
import Testing

@testable import Web

/// The first page of a mirror and its operations, from the form to the row, as without a script.
@Suite(.timeLimit(.minutes(30))) struct TodayTests {
    /// The path of the first form of the page that posts to an operation of a slot, with that
    /// form's fields.
    private func form(_ operation: String, in page: WebClient.Answer) throws -> (
        path: String, fields: [(String, String)]
    ) {
        var rest = page.body[...]
        var path = ""
        while !path.hasSuffix("/\(operation)") {
            let action = try #require(
                rest.range(of: "<form method=\"post\" action=\""), "\(operation)")
            rest = rest[action.upperBound...]
            path = String(rest.prefix { $0 != "\"" })
        }
        let end = rest.range(of: "</form>")?.lowerBound ?? rest.endIndex
        let fields = rest[..<end].matches(of: #/name="(csrf|seen)" value="([^"]*)"/#).map {
            (String($0.output.1), String($0.output.2))
        }
        #expect(fields.map(\.0) == ["csrf", "seen"])
        return (path, fields)
    }

    private func slot(_ path: String, _ stand: WebStand) async throws -> Action? {
        let id = String(path.split(separator: "/")[3])
        return try await stand.mirror().outbox(lease: nil).actions(withIDs: [id])[id]
    }

    @Test func theOnlyMirrorIsTheFirstPage() async throws {
        try await WebStand.with { stand in
            let answer = try await stand.client.send("/")
            #expect(answer.status == 303)
            #expect(answer["Location"] == "/m/mika")
            let page = try await stand.client.send("/m/mika")
            #expect(page.body.contains("<title>Today · mika · mirror-bot</title>"))
            #expect(page.body.contains("Thursday, 28 May"))
            #expect(page.body.contains("12:00:00</time>, clock of Europe/Berlin"))
            #expect(!page.body.contains("href=\"/\">Mirrors"))
            #expect(page.body.utf8.count < 40_000)
        }
    }

    @Test func postsThatCannotBePaidSaySo() async throws {
        let accounts = [
            "BOT_NETWORK": "x", "BOT_SERVER": "", "BOT_ACCESS_TOKEN": "a",
            "BOT_ACCESS_TOKEN_SECRET": "b",
            "BOT_CONSUMER_KEY": "c", "BOT_CONSUMER_SECRET": "d", "X_ACKNOWLEDGE_POLICY": "yes",
        ]
        try await WebStand.with(variables: accounts) { stand in
            let paid = try await stand.client.send("/m/mika").body
            #expect(paid.contains("Comes next, "))
            #expect(!paid.contains("no money"))
            let mirror = try await stand.mirror()
            // Of the five dollars of May; June has others.
            _ = try await mirror.spending.reserve(
                Money(microdollars: 4_990_000), for: .publish, at: WebStand.now)
            let poor = try await stand.client.send("/m/mika").body
            #expect(poor.contains("Planned, no money"))
            #expect(!poor.contains("Comes next, "))
            try await expect(stand.client.send("/m/mika?day=2026-05-31").body) {
                $0.contains("Planned, no money")
            }
            try await expect(stand.client.send("/m/mika?day=2026-06-02").body) {
                $0.contains("Planned, as far as one can tell") && !$0.contains("no money")
            }
        }
    }

    @Test func whatItShowsIsWhatTheReportSays() async throws {
        try await WebStand.with { stand in
            let mirror = try await stand.mirror()
            let zone = try #require(TimeZone(identifier: WebStand.zone))
            let day = LocalTime(WebStand.now, in: zone).day
            let report = try await DayReporter(mirror: mirror, zone: zone).report(
                on: day, now: WebStand.now)
            let slots = try #require(report.plan?.slots)
            #expect(!slots.isEmpty)
            let page = try await stand.client.send("/m/mika")
            for slot in slots {
                #expect(page.body.contains("id=\"slot-\(slot.id)\""))
                #expect(page.body.contains(">\(slot.time)</time>"))
            }
            let shares = report.humanHalfHours
            #expect(shares.count == 48)
            #expect(abs(shares.reduce(0, +) - 1) < 1e-9)
            let tomorrow = try await stand.client.send("/m/mika?day=2026-05-29")
            #expect(tomorrow.status == 200)
            #expect(tomorrow.body.contains("Friday, 29 May"))
            try await #expect(stand.client.send("/m/mika?day=2026-05-27").status == 200)
        }
    }

    /// The verdict of Today, the strip of the other pages, `status` and `explain next` name one
    /// post, whether its day has a plan or not, and also when tomorrow alone has one.
    @Test(arguments: [0.0, 6, 11.5]) func everyPageNamesTheSameNextPost(_ hour: Double) async throws
    {
        try await WebStand.with(variables: ["FAVORITE_MODE": "off"]) { stand in
            let mirror = try await stand.mirror()
            let zone = try #require(TimeZone(identifier: WebStand.zone))
            stand.clock.jump(by: hour * 3_600)
            let now = mirror.clock.now
            _ = try await LeaseTable(storage: mirror.storage, mirror: mirror.name)
                .take(owner: "worker", after: nil, now: now.milliseconds)
            func named(_ path: String, _ before: String) async throws -> String {
                let body = try await stand.client.send(path).body
                let found = try #require(body.range(of: before), "\(path): \(before)")
                let time = body[found.upperBound...].firstMatch(of: #/\d\d:\d\d/#)?.output
                return String(try #require(time))
            }
            let day = LocalTime(now, in: zone).day
            for planned in [nil, day.advanced(by: 1), day] {
                if let planned {
                    let report = try await DayReporter(mirror: mirror, zone: zone).report(
                        on: planned, now: now)
                    let slot = try #require(report.plan?.slots.last)
                    if slot.due > now {
                        _ = try await Desk(mirror, zone: zone).perform(PinSlot(slot: slot.id))
                    }
                }
                let status = try await StatusReporter(mirror: mirror).report(now: now)
                let next = LocalTime(try #require(status.nextSlot), in: zone).minute.description
                try await expect(named("/m/mika", "Next post at "), equals: next)
                try await expect(named("/m/mika/hours", ", next post "), equals: next)
                try await expect(named("/m/mika/settings", ", next post "), equals: next)
                let explained = try await mirror.action(named: "next", in: zone, now: now).action
                #expect(explained.due == status.nextSlot)
            }
        }
    }

    @Test func aSkippedSlotIsLeftOutAndComesBack() async throws {
        try await WebStand.with { stand in
            let page = try await stand.client.send("/m/mika")
            let (path, fields) = try form("skip", in: page)
            let answer = try await stand.client.send(path, form: fields)
            #expect(answer.status == 303)
            #expect(answer["Location"] == "/m/mika")
            #expect(try await slot(path, stand)?.state == .skipped)
            let after = try await stand.client.send("/m/mika")
            #expect(after.body.contains("is left out."))
            #expect(after.body.contains("<button>Send it after all</button>"))
            // It is said once.
            try await #expect(!stand.client.send("/m/mika").body.contains("is left out.</p>"))
            let back = try form("restore", in: after)
            try await #expect(stand.client.send(back.path, form: back.fields).status == 303)
            #expect(try await slot(path, stand)?.state == .planned)
        }
    }

    /// A button that is pressed twice does its work once, and the second press is no error.
    @Test func aSecondPressDoesNothing() async throws {
        try await WebStand.with { stand in
            let page = try await stand.client.send("/m/mika")
            let (path, fields) = try form("skip", in: page)
            try await #expect(stand.client.send(path, form: fields).status == 303)
            let row = try await slot(path, stand)
            try await #expect(stand.client.send(path, form: fields).status == 303)
            #expect(try await slot(path, stand) == row)
            try await #expect(stand.client.send("/m/mika").body.contains("is left out already"))
            let pause = try form("pause", in: page)
            let until = pause.fields + [("until", "3h")]
            try await #expect(stand.client.send(pause.path, form: until).status == 303)
            let begun = try await stand.mirror().table.pause(at: WebStand.now)
            #expect(begun?.until == WebStand.now + 3 * 3_600)
            try await #expect(stand.client.send(pause.path, form: until).status == 303)
            #expect(try await stand.mirror().table.pause(at: WebStand.now) == begun)
            try await #expect(stand.client.send("/m/mika").body.contains("It pauses already"))
        }
    }

    /// What somebody else changed since it was shown stays, and what was typed is not lost.
    @Test func whatHasChangedStays() async throws {
        try await WebStand.with { stand in
            let page = try await stand.client.send("/m/mika")
            let (path, fields) = try form("move", in: page)
            let id = String(path.split(separator: "/")[3])
            let mirror = try await stand.mirror()
            let zone = try #require(TimeZone(identifier: WebStand.zone))
            _ = try await Desk(mirror, zone: zone).perform(PinSlot(slot: id))
            let before = try await slot(path, stand)
            let answer = try await stand.client.send(path, form: fields + [("time", "23:17")])
            #expect(answer.status == 409)
            #expect(answer.body.contains("Not done"))
            #expect(answer.body.contains("value=\"23:17\""))
            #expect(try await slot(path, stand) == before)
            // The form of the answer has the digest of what it is now.
            let again = try form("move", in: answer)
            try await #expect(
                stand.client.send(again.path, form: again.fields + [("time", "23:17")]).status
                    == 303)
            #expect(try await slot(path, stand)?.isPinned == true)
            try await #expect(stand.client.send("/m/mika").body.contains("It comes at 23:17 now."))
        }
    }

    @Test(arguments: ["25:99", "", "soon", "08:00", "<script>"]) func aWrongTimeIsAskedForAgain(
        _ time: String
    )
        async throws
    {
        try await WebStand.with { stand in
            let page = try await stand.client.send("/m/mika")
            let (path, fields) = try form("move", in: page)
            let answer = try await stand.client.send(path, form: fields + [("time", time)])
            #expect(answer.status == 400)
            #expect(answer.body.contains("aria-invalid=\"true\" autofocus"))
            #expect(answer.body.contains("value=\"\(Markup.escaped(time))\""))
            #expect(!answer.body.contains("<script>"))
        }
    }

    @Test func aTextIsChosenOrKept() async throws {
        try await WebStand.with { stand in
            let page = try await stand.client.send("/m/mika")
            let (path, fields) = try form("pin", in: page)
            try await #expect(stand.client.send(path, form: fields + [("post", "")]).status == 400)
            try await #expect(
                stand.client.send(path, form: fields + [("post", "nothing")]).status == 400)
            let post = "https://social.example/@mika/7"
            try await #expect(
                stand.client.send(path, form: fields + [("post", post)]).status == 303)
            let pinned = try #require(try await slot(path, stand))
            #expect(pinned.isPinned)
            #expect(pinned.text == "Post number 7.")
            let next = try await stand.client.send(
                "/m/mika\(path.dropFirst("/m/mika".count).replacingOccurrences(of: "/pin", with: ""))"
            )
            let keep = try form("pin", in: next)
            try await #expect(
                stand.client.send(
                    keep.path, form: keep.fields + [("keep", "yes"), ("post", "ignored")]
                ).status == 303)
            #expect(try await slot(path, stand)?.text == "Post number 7.")
        }
    }

    @Test func aDayIsDrawnAnewOnceItWasShown() async throws {
        try await WebStand.with { stand in
            let question = try await stand.client.send("/m/mika/confirm/reroll?day=2026-05-28")
            #expect(question.status == 200)
            #expect(question.body.contains("Draw the rest of today anew?"))
            let (path, fields) = try form("reroll", in: question)
            let drawn = try await stand.client.send(path, form: fields)
            #expect(
                drawn.status == 303,
                "\(drawn.body.firstMatch(of: #/role="alert">.*/#)?.output ?? "")")
            let zone = try #require(TimeZone(identifier: WebStand.zone))
            let day = LocalTime(WebStand.now, in: zone).day
            let once = try await stand.mirror().outbox(lease: nil).slots(of: day)
            #expect(once.contains { $0.state == .skipped })
            // A second press has the digest of what is not there any more.
            let second = try await stand.client.send(path, form: fields)
            #expect(second.status == 409)
            #expect(try await stand.mirror().outbox(lease: nil).slots(of: day) == once)
        }
    }

    @Test func itPausesAndGoesOn() async throws {
        try await WebStand.with { stand in
            let question = try await stand.client.send("/m/mika/confirm/pause")
            let (path, fields) = try form("pause", in: question)
            let wrong = try await stand.client.send(
                path, form: fields + [("until", "whenever"), ("reason", "a <b>funeral</b>")])
            #expect(wrong.status == 400)
            #expect(wrong.body.contains("value=\"whenever\""))
            #expect(wrong.body.contains("a &lt;b&gt;funeral&lt;/b&gt;"))
            let right = fields + [("until", "2026-05-29 18:00"), ("reason", "a <b>funeral</b>")]
            try await #expect(stand.client.send(path, form: right).status == 303)
            let page = try await stand.client.send("/m/mika")
            #expect(page.body.contains("<b>Paused</b> until Friday, 29 May, 18:00"))
            #expect(page.body.contains("“a &lt;b&gt;funeral&lt;/b&gt;”"))
            let resume = try form("resume", in: page)
            try await #expect(stand.client.send(resume.path, form: resume.fields).status == 303)
            #expect(try await stand.mirror().table.pause(at: WebStand.now) == nil)
        }
    }

    // MARK: Hostile data

    private static let hostile =
        "</title><script>alert(1)</script>\"\u{338} onload=\"x\" \u{202E}gnp.exe {{name}} {{{content}}} 'quoted' "
        + String(repeating: "x", count: 300)

    @Test func hostileTextsStayTexts() async throws {
        try await WebStand.with(text: { "\($0) " + Self.hostile }) { stand in
            let mirror = try await stand.mirror()
            try await mirror.storage.execute(
                """
                UPDATE mirrors SET human_handle = \(Self.hostile), bot_handle = \(Self.hostile)
                WHERE mirror = \(mirror.name)
                """)
            for path in [
                "/m/mika", "/m/mika/confirm/reroll", "/?q=\(WebClient.encoded(Self.hostile))",
            ] {
                let answer = try await stand.client.send(path)
                #expect(answer.status == 200, "\(path)")
                #expect(!answer.body.contains("<script>alert"))
                #expect(answer.body.contains("&lt;script&gt;alert"))
                #expect(!answer.body.unicodeScalars.contains("\u{202E}"))
                #expect(answer.body.firstMatch(of: #/\son[a-z]+="/#) == nil)
                #expect(answer.body.contains("{{name}}"))
            }
            #expect(!stand.log.all.contains("alert(1)"))
        }
    }
}
