import Archive
import Control
import Foundation
import Mirroring
import NetworkNames
import Outbox
import Posts
import Schedule
import Storage
import TestSupport
import Testing

@testable import Web

/// A state in which pages are looked at: settings, rows and the pages that differ in it.
struct PageState: Sendable, CustomTestStringConvertible {
    /// A page, and the status that it is answered with.
    struct Page: Encodable, Sendable {
        let path: String
        var status = 200

        func encode(to encoder: any Encoder) throws {
            var container = encoder.unkeyedContainer()
            try container.encode(path)
            try container.encode(status)
        }
    }

    let name: String
    var mirrors = ["mika"]
    /// Settings besides those of the stand.
    var variables: [String: String] = [:]
    var isReadOnly = false
    var password: String?
    /// Whether every variant is looked at, and pictures are kept of each.
    var isDeep = false
    /// Whether somebody hostile wrote what others can write.
    var isHostile = false
    /// Changes what the stand has made, and names the pages to look at.
    let pages: @Sendable (WebStand) async throws -> [Page]

    var testDescription: String { name }

    /// Starts a stand in this state.
    ///
    /// - Parameter others: Settings for which the state has no value.
    func start(besides others: [String: String] = [:]) async throws -> (
        stand: WebStand, pages: [Page]
    ) {
        let text: @Sendable (Int) -> String
        if isHostile {
            text = { MirrorLife.hostile([40, 400, 10_000][$0 % 3], $0) }
        } else {
            text = { Self.texts[$0 % Self.texts.count] + " (\($0))" }
        }
        let stand = try await WebStand.start(
            mirrors, variables: others.merging(variables) { $1 }, isReadOnly: isReadOnly, text: text
        )
        do {
            return (stand, try await pages(stand))
        } catch {
            await stand.stop()
            throw error
        }
    }

    private static let texts = [
        "The bread of the old bakery smells of rosemary on the whole street.",
        "Swam to the island and back. Cold.",
        "A heron stood in the shallow water and did not mind us at all.",
        "The train is late today because of snow.",
        "If you like plums: the tree behind the library may be picked by everybody, says the sign. Bring a ladder.",
        "新しいパン屋のライ麦パンがおいしい。",
    ]

    // MARK: Pages

    static let ninePages = PageSection.allCases.map { Page(path: "/m/mika\($0.path)") }

    /// Fills a mirror with people, a history, what waits and what was learned.
    ///
    /// - Returns: The copies that are proposed to be taken back.
    static func fill(_ stand: WebStand, isHostile: Bool = false) async throws -> [Action] {
        let life = MirrorLife(
            mirror: try await stand.mirror(),
            human: AccountID(network: .mastodon, value: "mika@social.example"),
            now: WebStand.now, isHostile: isHostile)
        try await life.begin()
        try await life.fillHistory()
        for number in 100..<103 { try await life.suggestFavorite(number) }
        try await life.learn()
        try await life.work()
        return try await life.proposeCopies(3)
    }

    /// All nine pages of a mirror that works, with a life, and all that lies behind them.
    private static func whole(_ stand: WebStand, isHostile: Bool) async throws -> [Page] {
        let copies = try await fill(stand, isHostile: isHostile)
        let mirror = try await stand.mirror()
        try await mirror.people.set(
            .deny, for: MirrorLife.pal, handle: "pal@far.example", reason: "stop", at: WebStand.now)
        try await mirror.set(["MAX_PER_DAY": "7", "QUIET_HOURS": "23:00-07:00"], now: WebStand.now)
        let zone = TimeZone(identifier: WebStand.zone) ?? .gmt
        let desk = Desk(mirror, zone: zone)
        _ = try await desk.perform(
            ForgetText(.word(isHostile ? MirrorLife.hostile(150, 2) : "rain")))
        let page = try await stand.client.send("/m/mika")
        let slots = page.body.matches(of: #/id="slot-([0-9a-f]+)"/#).map { String($0.output.1) }
        guard slots.count > 3 else { throw TestSupportError("today has only the slots \(slots)") }
        // The first change stores the day's plan.
        _ = try await desk.perform(SkipSlot(slot: slots[1]))
        _ = try await desk.perform(PinSlot(slot: slots[2]))
        let early = WebStand.now.milliseconds - 7_200_000
        try await mirror.storage.execute(
            """
            UPDATE actions SET state = 'done', due_ms = \(early), sending_ms = \(early), remote_id = 'r',
                remote_address = 'https://bots.example/@mika/1'
            WHERE mirror = 'mika' AND id = \(slots[3])
            """)
        let slot = slots[0]
        let list = try await ActionList(of: mirror, .init(limit: 100)).actions
        let opened = ActionKind.allCases.compactMap { kind in list.first { $0.kind == kind }?.id }
        let person = WebFields.encoded(
            isHostile ? MirrorLife.hostilePerson(1).reference : MirrorLife.pal.reference)
        let post = WebFields.encoded("https://social.example/@mika/7")
        let further = [
            "/week", "/week/review", "?day=2026-05-29", "?day=2026-05-27", "/slots/\(slot)",
            "/actions?state=skipped",
            "/actions?q=zzz",
            "/texts?fitness=unfit", "/texts?q=bread", "/people?stance=deny", "/people/\(person)",
            "/settings?show=set",
            "/settings?show=all", "/settings/set?name=MAX_PER_DAY&value=3",
            "/settings/zone?zone=Asia/Tokyo&to=2020-01-01", "/muted?word=bread", "/confirm/pause",
            "/confirm/reroll?day=2026-05-28", "/confirm/post?post=\(post)",
            "/confirm/never?post=\(post)",
            "/confirm/forget?post=\(post)", "/confirm/undo?id=\(copies[0].id)&id=\(copies[1].id)",
            "/confirm/people-deny?account=\(person)", "/confirm/people-forget?account=\(person)",
            "/confirm/undo-everything",
        ]
        let wrong = [
            ("/settings/set?name=QUIET_HOURS&value=23:00-25:00", 400),
            ("/settings/zone?zone=Mars&to=2020-01-01", 400),
            ("/muted?day=Christmas", 400), ("/actions?kind=like", 400), ("/nothing", 404),
            ("/slots/zzz", 404),
        ]
        return ninePages + opened.map { Page(path: "/m/mika/actions/\($0)") }
            + further.map { Page(path: "/m/mika\($0)") }
            + wrong.map { Page(path: "/m/mika\($0.0)", status: $0.1) }
    }

    /// Lets a worker hold the mirror, and changes a row.
    private static func sections(_ stand: WebStand, _ change: SQL? = nil) async throws -> [Page] {
        let mirror = try await stand.mirror()
        _ = try await LeaseTable(storage: mirror.storage, mirror: mirror.name)
            .take(owner: "worker", after: nil, now: WebStand.now.milliseconds)
        if let change { try await mirror.storage.execute(change) }
        return ninePages
    }

    private static let x = [
        "BOT_NETWORK": "x", "BOT_SERVER": "", "BOT_ACCESS_TOKEN": "planted",
        "BOT_CONSUMER_KEY": "planted",
        "BOT_CONSUMER_SECRET": "planted", "BOT_ACCESS_TOKEN_SECRET": "planted",
    ]
    private static let bluesky = [
        "BOT_NETWORK": "bluesky", "BOT_SERVER": "", "BOT_ACCESS_TOKEN": "",
        "BOT_HANDLE": "mirror.example",
        "BOT_APP_PASSWORD": "planted", "BOT_API_BASE_URL": "http://127.0.0.1:9",
    ]
    private static let agreed = x.merging(["X_ACKNOWLEDGE_POLICY": "yes"]) { $1 }

    static let all: [PageState] = [
        PageState(name: "whole", isDeep: true) { try await whole($0, isHostile: false) },
        PageState(name: "hostile", isDeep: true, isHostile: true) {
            try await whole($0, isHostile: true)
        },
        PageState(name: "healthy") { try await sections($0) },
        PageState(name: "nothing", mirrors: []) { _ in [Page(path: "/")] },
        PageState(name: "first-run", mirrors: []) { stand in
            try await stand.add("mika")
            return ninePages
        },
        PageState(name: "paused") { stand in
            try await stand.mirror().table.pause(
                until: WebStand.now + 90_000, reason: "a funeral", now: WebStand.now - 7_200)
            return try await sections(stand)
        },
        PageState(name: "works-but") { stand in
            try await sections(
                stand,
                """
                INSERT INTO feeds (mirror, feed, error, error_code, error_ms) VALUES ('mika', \(FeedName.botHome),
                    'could not read it', 'transport', \(WebStand.now.milliseconds - 7_200_000))
                """)
        },
        PageState(name: "failing") { stand in
            let ms = WebStand.now.milliseconds
            return try await sections(
                stand,
                """
                INSERT INTO refusals (mirror, role, error, code, since_ms, noted_ms) VALUES ('mika', 'bot',
                    'bots.example refuses the login', 'unauthorized', \(ms - 7_200_000), \(ms))
                """)
        },
        PageState(name: "no-worker") { _ in ninePages },
        PageState(name: "x-money", variables: agreed) { stand in
            try await sections(
                stand,
                """
                INSERT INTO spending (mirror, period, purpose, microdollars) VALUES ('mika', '2026-05', 'publish',
                    5000000)
                """)
        },
        PageState(name: "x-rules", variables: x) { try await sections($0) },
        PageState(name: "x-by-hand", variables: agreed) { stand in
            let life = MirrorLife(
                mirror: try await stand.mirror(), human: PageStage.human, now: WebStand.now,
                isHostile: false)
            try await life.suggestFavorite(1)
            return try await sections(stand)
        },
        PageState(name: "bluesky", variables: bluesky) { try await sections($0) },
        PageState(name: "review", variables: ["REVIEW": "all"]) { stand in
            let life = MirrorLife(
                mirror: try await stand.mirror(), human: PageStage.human, now: WebStand.now,
                isHostile: false)
            try await life.begin()
            return try await sections(stand)
        },
        PageState(
            name: "archive-only",
            variables: [
                "HUMAN_SERVER": "", "HUMAN_ACCESS_TOKEN": "", "TRUST_ARCHIVE": "yes",
                "HUMAN_CONSENT": "agreed",
            ]
        ) {
            try await sections($0)
        },
        PageState(name: "silence") { stand in
            try await sections(
                stand,
                """
                INSERT INTO plans (mirror, local_day, time_zone, seed, slots, made_ms, model) VALUES ('mika',
                    '2026-05-28', \(WebStand.zone), 's', 0, \(WebStand.now.milliseconds), \(DayPlanner.modelVersion))
                """)
        },
        PageState(name: "no-zone", variables: ["TIME_ZONE": ""]) { stand in
            try await sections(stand, "UPDATE mirrors SET time_zone = NULL WHERE mirror = 'mika'")
        },
        PageState(name: "read-only", isReadOnly: true) { stand in
            // Rows are written below the page.
            _ = try await whole(stand, isHostile: false)
            return ninePages + [Page(path: "/m/mika/confirm/pause", status: 403)]
        },
        PageState(
            name: "locked", variables: ["WEB_PASSWORD": WebStand.password]
        ) { _ in [Page(path: "/login"), Page(path: "/m/mika", status: 401)] },
        PageState(
            name: "logged-in", variables: ["WEB_PASSWORD": WebStand.password],
            password: WebStand.password
        ) { try await sections($0) },
        PageState(name: "public", variables: ["PUBLIC_PAGE": "yes"]) { stand in
            try await stand.mirror().storage.execute(
                """
                UPDATE mirrors SET human_handle = 'mika@social.example', bot_handle = 'mika_mirror@bots.example'
                WHERE mirror = 'mika'
                """)
            return [Page(path: "/public/mika"), Page(path: "/public/nobody", status: 404)]
        },
        PageState(name: "many") { stand in
            let storage = stand.installation.storage
            for start in stride(from: 0, to: 10_000, by: 500) {
                let rows = (start..<start + 500).map { number -> SQL in
                    "(\("m\(number)"), 1, \(number % 9 == 0 ? 1 : nil as Int64?))"
                }
                let values = rows.dropFirst().reduce(into: rows[0]) { $0 += ", " + $1 }
                try await storage.execute(
                    "INSERT INTO mirrors (mirror, created_ms, paused_ms) VALUES \(values)")
            }
            return ["/", "/?q=m99", "/?q=zzz", "/?state=paused", "/?state=unset&after=m500"].map {
                Page(path: $0)
            }
        },
        PageState(name: "database-away") { stand in
            await stand.installation.storage.close()
            return [Page(path: "/m/mika", status: 503), Page(path: "/", status: 503)]
        },
    ]
}
