import Control
import Foundation
import HTTPTypes
import Posts
import Testing

@testable import Web

/// The forms that ask for the operation that reverts another one.
@Suite(.timeLimit(.minutes(5))) struct OperationFormTests {
    /// Operations, and the path and the fields of their forms.
    private static let forms: [(any PersonOperation, String)] = [
        (SkipSlot(slot: "4e17b0c2a913"), "/slots/4e17b0c2a913/skip"),
        (RestoreSlot(slot: "4e17b0c2a913"), "/slots/4e17b0c2a913/restore"),
        (MoveSlot(slot: "4e17b0c2a913", time: "20:15"), "/slots/4e17b0c2a913/move?time=20%3A15"),
        (NeverSend(post: "1"), "/texts/never?post=1"),
        (SendAgain(post: "1"), "/texts/allow?post=1"),
        (KeepText(post: "1"), "/texts/keep?post=1"),
        (UnkeepText(post: "1"), "/texts/unkeep?post=1"),
        (ForgetText(.post("1")), "/texts/forget?post=1"),
        (ForgetText(.word("bread")), "/muted?word=bread"),
        (RememberText(.post("1")), "/muted/remove?post=1"),
        (RememberText(.day("12-24")), "/muted/remove?day=12-24"),
        (RememberText(.days(from: "2019-03-01", to: nil)), "/muted/remove?from=2019-03-01"),
        (
            RememberText(.days(from: "2019-03-01", to: "2019-06-30")),
            "/muted/remove?from=2019-03-01&to=2019-06-30"
        ),
        (ResumeMirror(), "/resume"), (ResumeMirror(knowing: true), "/resume?knowing=yes"),
        (SetValues(["MAX_PER_DAY": "7"]), "/settings?name=MAX_PER_DAY&value=7"),
        (UnsetValues(["MAX_PER_DAY"]), "/settings?unset=MAX_PER_DAY"),
        (
            AddZone(zone: "Asia/Tokyo", from: "2019-03-01"),
            "/zones?zone=Asia%2FTokyo&from=2019-03-01"
        ),
        (RemoveZone(time: "2019-03-01"), "/zones/remove?day=2019-03-01"),
        (AllowPeople(account: "pal@far.example"), "/people?allow=pal%40far.example"),
        (
            LinkPeople(first: "x:1", second: "x:2", consented: true),
            "/people/link?first=x%3A1&second=x%3A2&consented=yes"
        ),
        (LinkPeople(first: "x:1", second: "x:2"), "/people/link?first=x%3A1&second=x%3A2"),
        (UnlinkPerson(account: "x:2"), "/people/unlink?account=x%3A2"),
        (ReopenSuggestion(id: "4e17b0c2a913"), "/waiting?reopen=4e17b0c2a913"),
    ]

    @Test func eachFormIsOneThatARouteReads() throws {
        let routes = MirrorPages.all.flatMap { $0.routes }.filter { $0.method == .post }
        for (operation, expected) in Self.forms {
            let form = try #require(OperationForm(operation))
            #expect(form.path + WebFields.query(form.fields.map { ($0.0, $0.1) }) == expected)
            let parts = form.path.split(separator: "/")
            let route = routes.first { route in
                let pattern = route.pattern.split(separator: "/")
                return pattern.count == parts.count
                    && zip(pattern, parts).allSatisfy { $0.hasPrefix(":") || $0 == $1 }
            }
            #expect(route != nil, "\(form.path)")
        }
    }

    /// Several values are set by no form, and what asks first is sent by no button.
    @Test func whatNoRouteReadsHasNoForm() {
        let operations: [any PersonOperation] = [
            SetValues(["MAX_PER_DAY": "7", "LINKS": "off"]),
            UnsetValues(["MAX_PER_DAY", "LINKS"]), PauseMirror(),
            DenyPeople(account: "pal@far.example"), CancelRetirement(),
            RerollDay(day: nil, seed: "again"),
        ]
        for operation in operations { #expect(OperationForm(operation) == nil, "\(operation)") }
    }

    /// Read back from JSON, a way back is still the same button, with the digest that it compares.
    @Test func aWayBackIsTheSameButtonAfterItWasWrittenDown() async throws {
        let stage = try await PageStage.open()
        let request = try await stage.request("")
        let seen = Seen(of: "a slot")
        let wayBack = WayBack(
            MoveSlot(slot: "4e17b0c2a913", time: "20:15"), seen: seen, "plan", "move",
            "2026-05-28#2", "20:15")
        let copy = try JSONDecoder().decode(
            WayBack.self, from: try JSONEncoder().encode(wayBack))
        #expect(copy == wayBack)
        #expect(copy.command == "mirror-bot plan move 2026-05-28#2 20:15")
        let button = try #require(request.button("Back to 20:15", copy))
        #expect(button.action == "/m/test/slots/4e17b0c2a913/move")
        #expect(button.fields.map { "\($0)=\($1)" } == ["time=20:15", "seen=\(seen)"])
        #expect(request.button("Back", nil) == nil)
        await stage.close()
    }
}
