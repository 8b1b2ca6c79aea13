import Expectations
import Foundation
import Outbox
import Posts
import Settings
import Storage
import TestSupport
import Testing

@testable import Control
@testable import Mirroring
@testable import Web

/// One-time addresses as apps, browsers and programs that look at links call them.
@Suite(.timeLimit(.minutes(30))) struct OnceTests {
    private static let guarded = [
        "WEB_PASSWORD": WebStand.password, "SECRET_KEY": "planted-key-planted-key-planted-key",
        "WEB_ADDRESS": "https://mirror.example",
    ]
    /// As an app sends a POST: no origin, no cookie, no form.
    private static let ofApp = ["Origin": "", "Content-Type": "", "Host": "mirror.example"]

    private func suggest(in mirror: HumanMirror) async throws -> Action {
        let now = WebStand.now
        let wording = Action.Wording(
            source: PostID(network: .mastodon, value: "https://social.example/@mika/1"),
            text: "Bread & <butter>", visibility: .unlisted)
        let slot = Slot.Name(day: LocalTime(now, in: .gmt).day, number: 1)
        let intent = Intent(
            .post(slot, wording), state: .suggested, due: now + 7_200, expires: now + 10_800)
        return try await mirror.outbox(lease: nil).propose(intent, now: now).action
    }

    private func path(
        _ deed: OnceAddress.Deed, _ action: Action?, in mirror: HumanMirror
    ) async throws -> String {
        let addresses = try #require(
            try await OnceAddresses(of: mirror.name, in: mirror.installation))
        if let action { return addresses.path(deed, action, now: WebStand.now) }
        return addresses.path(pausing: try await mirror.table.record(), now: WebStand.now)
    }

    private func state(of action: Action, in mirror: HumanMirror) async throws -> ActionState? {
        let store = mirror.outbox(lease: nil)
        return try await store.actions(withIDs: [action.id])[action.id]?.state
    }

    @Test func lookingChangesNothingAndThePressDoes() async throws {
        try await WebStand.with(variables: Self.guarded) { stand in
            let mirror = try await stand.mirror()
            let action = try await suggest(in: mirror)
            let path = try await path(.approve, action, in: mirror)
            for method in ["GET", "HEAD", "OPTIONS", "GET"] {
                let answer = try await stand.client.send(path, method: method)
                expect(answer.status) { [200, 204].contains($0) }
                #expect(answer.all("Set-Cookie").isEmpty)
            }
            let page = try await stand.client.send(path)
            for text in [
                "Approve the post of 14:00?", "Bread &amp; &lt;butter&gt;",
                #"<form method="post""#, ">Approve</button>", #"href="/m/mika""#,
            ] {
                #expect(page.body.contains(text), "\(text)")
            }
            #expect(!page.body.contains("<script"))
            #expect(page["Cache-Control"] == "no-store")
            #expect(page["X-Robots-Tag"] == "noindex")
            try await expect(state(of: action, in: mirror), equals: .suggested)

            let done = try await stand.client.send(
                path, headers: Self.ofApp, method: "POST", body: "")
            #expect(done.status == 200)
            #expect(done["Access-Control-Allow-Origin"] == "*")
            #expect(done.all("Access-Control-Allow-Credentials").isEmpty)
            #expect(done.body.contains("Approved: the post of 14:00"))
            try await expect(state(of: action, in: mirror), equals: .planned)
            for method in ["GET", "POST"] {
                let again = try await stand.client.send(
                    path, headers: Self.ofApp, method: method,
                    body: method == "POST" ? "" : nil)
                #expect(again.status == 410)
                #expect(again.body.contains("This address was used"))
            }
            // The pages of the mirror are as closed as before.
            try await expect(stand.client.send("/m/mika").status, equals: 401)
            let code = try #require(path.split(separator: ".").last)
            #expect(!stand.log.all.contains(code))
        }
    }

    /// The page's own form, in a browser that knows nothing of a session.
    @Test func theButtonOfThePagePauses() async throws {
        try await WebStand.with(variables: Self.guarded) { stand in
            let mirror = try await stand.mirror()
            let path = try await path(.pause, nil, in: mirror)
            try await expect(stand.client.send(path).body) { $0.contains("Pause mika?") }
            let done = try await stand.client.send(path, form: [])
            #expect(done.status == 200)
            #expect(done.body.contains("Paused: mika"))
            try await expect(mirror.table.pause(at: WebStand.now)) { $0 != nil }
        }
    }

    @Test func nothingIsToldByAWrongAddress() async throws {
        try await WebStand.with(["mika", "rio"], variables: Self.guarded) { stand in
            let mirror = try await stand.mirror()
            let action = try await suggest(in: mirror)
            let path = try await path(.approve, action, in: mirror)
            let wrong = [
                path + "A", path.replacing("/mika/", with: "/rio/"),
                path.replacing("/mika/", with: "/nobody/"),
                path.replacing("/mika/", with: "/%2E%2E/"),
                path.replacing("approve", with: "skip"), "/once/mika/x", "/once/mika/",
                "/once/", "/once/mika", path + "/x",
            ]
            for path in wrong {
                for method in ["GET", "POST"] {
                    let answer = try await stand.client.send(
                        path, headers: Self.ofApp, method: method,
                        body: method == "POST" ? "" : nil)
                    #expect(answer.status == 404, "\(method) \(path)")
                    #expect(answer.body.contains("There is no such page"), "\(path)")
                }
            }
            try await expect(state(of: action, in: mirror), equals: .suggested)
        }
    }

    @Test func whatHasChangedOrEndedIsSaid() async throws {
        try await WebStand.with(variables: Self.guarded) { stand in
            let mirror = try await stand.mirror()
            let action = try await suggest(in: mirror)
            let skip = try await path(.skip, action, in: mirror)
            let pause = try await path(.pause, nil, in: mirror)
            _ = try await Desk(mirror, zone: .gmt).perform(ApproveSuggestion(id: action.id))
            let page = try await stand.client.send(skip)
            #expect(page.status == 409)
            #expect(!page.body.contains(">Skip</button>"))
            try await expect(stand.client.send(skip, form: []).status, equals: 409)
            try await expect(state(of: action, in: mirror), equals: .planned)
            try await stand.clock.sleep(until: WebStand.now + 86_400)
            let late = try await stand.client.send(pause, form: [])
            #expect(late.status == 410)
            #expect(late.body.contains("too old"))
        }
    }

    @Test func aReadOnlyPageActsOnNothing() async throws {
        try await WebStand.with(variables: Self.guarded, isReadOnly: true) { stand in
            let mirror = try await stand.mirror()
            let path = try await path(.pause, nil, in: mirror)
            try await expect(stand.client.send(path).body) { !$0.contains("<button") }
            try await expect(stand.client.send(path, form: []).status, equals: 403)
            try await expect(mirror.table.pause(at: WebStand.now)) { $0 == nil }
        }
    }

    /// The name of `WEB_ADDRESS` is one of the page's, and any other one is not.
    @Test func theAddressNamesTheHost() async throws {
        try await WebStand.with(variables: Self.guarded) { stand in
            let mirror = try await stand.mirror()
            let path = try await path(.pause, nil, in: mirror)
            for (host, status) in [("mirror.example", 200), ("evil.example", 421)] {
                try await expect(
                    stand.client.send(path, headers: ["Host": host]).status, equals: status)
            }
        }
    }
}
