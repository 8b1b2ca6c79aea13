import Expectations
import Foundation
import Posts
import Testing

@testable import Sandbox

/// What the programs besides Mastodon do with single posts, lists and refusals, one habit after the
/// other.
@Suite struct MastodonProgramTests {
    private static let statuses = "/api/v1/statuses"
    private static let notifications = "/api/v1/notifications?limit=80"
    private static let verify = "/api/v1/accounts/verify_credentials"
    private static let update = "/api/v1/accounts/update_credentials"

    private static func run(
        _ change: (inout MastodonHabits) -> Void, _ body: (SandboxFixture) async throws -> Void
    ) async throws {
        try await SandboxFixture.run { (fixture) async throws in
            var habits = MastodonHabits()
            change(&habits)
            fixture.sandbox.faults.mastodon = habits
            try await body(fixture)
        }
    }

    private static var ownPosts: String {
        "/api/v1/accounts/\(MastodonEntities.accountID(SandboxPopulation.bot))/statuses"
    }

    private static func friend(_ fixture: SandboxFixture) throws -> String {
        try #require(fixture.sandbox.world.configuration.friends.first)
    }

    /// A mention of the bot that was said now, as its id.
    private static func mention(_ fixture: SandboxFixture) async throws -> String {
        let said = await fixture.sandbox.say([SandboxUtterance(try friend(fixture), "good morning")]
        )
        let number = try #require(said.first.flatMap { Int64($0.id) })
        return fixture.sandbox.faults.mastodon.ids.text(of: number)
    }

    private static func publish(
        _ fixture: SandboxFixture, _ fields: [String: Any]
    ) async throws -> Reply {
        let body = String(
            decoding: try JSONSerialization.data(withJSONObject: fields), as: UTF8.self)
        return try await fixture.send("POST", statuses, json: body)
    }

    private static func status(_ fixture: SandboxFixture, _ id: String) async throws -> Reply {
        try await fixture.send("GET", "\(statuses)/\(id)")
    }

    private static func names(_ status: [String: Any]) -> [String] {
        (status["mentions"] as? [[String: Any]] ?? []).compactMap { $0["acct"] as? String }
    }

    private static func edit(
        _ fixture: SandboxFixture, _ id: String, _ fields: [String: Any]
    ) async throws -> Reply {
        let body = String(
            decoding: try JSONSerialization.data(withJSONObject: fields), as: UTF8.self)
        return try await fixture.send("PUT", "\(statuses)/\(id)", json: body)
    }

    // MARK: Lists

    @Test func aListMayHoldItsNewestEntriesOnly() async throws {
        try await Self.run({ $0.listsAtMost = [.ownPosts: 3, .notifications: 1, .favorites: 0] }) {
            fixture in
            var ids: [String] = []
            for number in 1...4 { ids.append(try await fixture.publish("no. \(number)")) }
            let direct = try await fixture.publish("hidden", visibility: "direct")
            try await expect(
                fixture.send("GET", Self.ownPosts).ids, equals: [direct, ids[3], ids[2]])
            // What is hidden takes a place, too.
            fixture.sandbox.faults.mastodon.listedVisibilities = [.public, .unlisted]
            try await expect(fixture.send("GET", Self.ownPosts).ids, equals: [ids[3], ids[2]])
            fixture.clock.advance(hours: 60)
            try await expect(fixture.send("GET", Self.notifications).ids.count, equals: 1)
            _ = try await fixture.send("POST", "\(Self.statuses)/\(ids[0])/favourite")
            try await expect(fixture.send("GET", "/api/v1/favourites").text, equals: "[]")
        }
    }

    @Test func aBoundMayHaveToStandInTheList() async throws {
        try await Self.run({ $0.needsBoundInList = [.ownPosts] }) { fixture in
            let first = try await fixture.publish("one")
            let second = try await fixture.publish("two")
            try await expect(
                fixture.send("GET", Self.ownPosts + "?max_id=\(second)").ids, equals: [first])
            _ = try await fixture.send("DELETE", "\(Self.statuses)/\(second)")
            try await expect(
                fixture.send("GET", Self.ownPosts + "?max_id=\(second)").ids, equals: [])
        }
    }

    @Test func eachListHasItsOwnLinks() async throws {
        try await Self.run({
            $0.links = .missing
            $0.linksOf = [.home: .untilEmptySince]
        }) { fixture in
            _ = try await fixture.publish("one")
            try await expect(fixture.send("GET", Self.ownPosts).headers["link"], equals: nil)
            let home = try await fixture.send("GET", "/api/v1/timelines/home")
            expect(home.link("next")) { $0?.contains("max_id=") == true }
            expect(home.link("prev")) { $0?.contains("since_id=") == true }
        }
    }

    @Test func aWorkerMakesNotificationsInRuns() async throws {
        try await Self.run({ $0.notificationsEvery = 60 }) { fixture in
            func count() async throws -> Int {
                try await fixture.send("GET", Self.notifications).ids.count
            }
            fixture.clock.advance(hours: 10.0 / 3_600)
            let before = try await count()
            _ = try await Self.mention(fixture)
            fixture.clock.advance(hours: 20.0 / 3_600)
            _ = try await Self.mention(fixture)
            try await expect(count(), equals: before)
            fixture.clock.advance(hours: 29.0 / 3_600)
            try await expect(count(), equals: before)
            fixture.clock.advance(hours: 1.0 / 3_600)
            try await expect(count(), equals: before + 2)
            let newest = try #require(try await fixture.send("GET", Self.notifications).list.first)
            #expect(newest["created_at"] as? String == "2026-11-19T15:01:00.000Z")
        }
    }

    @Test func favoritesMayBeInTheOrderOfTheirPosts() async throws {
        try await SandboxFixture.run { fixture in
            let old = try await fixture.publish("old")
            let new = try await fixture.publish("new")
            for id in [new, old] {
                _ = try await fixture.send("POST", "\(Self.statuses)/\(id)/favourite")
            }
            try await expect(fixture.send("GET", "/api/v1/favourites").ids, equals: [old, new])
            fixture.sandbox.faults.mastodon.ordersFavoritesByPost = true
            try await expect(fixture.send("GET", "/api/v1/favourites").ids, equals: [new, old])
            try await expect(
                fixture.send("GET", "/api/v1/favourites?max_id=\(new)").ids, equals: [old])
        }
    }

    @Test func aContextMayBeCut() async throws {
        try await Self.run({ $0.contextSize = .init(ancestors: 1, descendants: 2) }) { fixture in
            var chain = [try await fixture.publish("0")]
            for number in 1...3 {
                chain.append(try await fixture.publish("\(number)", replyTo: chain[number - 1]))
            }
            func ids(_ key: String, around id: String) async throws -> [String] {
                let context = try await fixture.send("GET", "\(Self.statuses)/\(id)/context")
                return (context.object[key] as? [[String: Any]] ?? []).compactMap {
                    $0["id"] as? String
                }
            }
            try await expect(ids("ancestors", around: chain[3]), equals: [chain[2]])
            try await expect(ids("descendants", around: chain[0]), equals: [chain[1], chain[2]])
        }
    }

    @Test func snacGivesTheNewestNotificationsAboveABound() async throws {
        try await SandboxFixture.run { fixture in
            fixture.sandbox.faults.mastodon = .snac
            for _ in 1...3 { _ = try await Self.mention(fixture) }
            let all = try await fixture.send("GET", Self.notifications)
            let mentions = all.list.filter { $0["type"] as? String == "mention" }.compactMap {
                $0["id"] as? String
            }
            expect(mentions.first) { $0.flatMap { Int($0) } != nil }
            try await expect(fixture.send("GET", "/api/v1/notifications").ids.count, equals: 1)
            let above = try await fixture.send(
                "GET", "/api/v1/notifications?limit=1&min_id=\(mentions[2])")
            #expect(above.ids == [mentions[0]])
        }
    }

    // MARK: Reading

    @Test func aProgramMayAnswerSomeQuestionsWithoutAToken() async throws {
        try await Self.run({ $0.needsTokenToRead = [.post, .context] }) { fixture in
            let id = try await fixture.publish("open", visibility: "public")
            func code(_ target: String) async throws -> Int {
                try await fixture.send("GET", target, as: .nobody).status
            }
            try await expect(code("\(Self.statuses)/\(id)"), equals: 401)
            try await expect(code("\(Self.statuses)/\(id)/context"), equals: 401)
            try await expect(code(Self.ownPosts), equals: 200)
            await expect(fixture.sandbox.ledger.summary.errors, equals: 0)
        }
    }

    @Test func everyAccountMayBeShownEverything() async throws {
        try await SandboxFixture.run { fixture in
            let id = try await fixture.publish("hidden", visibility: "direct")
            func code(_ identity: SandboxFixture.Identity) async throws -> Int {
                try await fixture.send("GET", "\(Self.statuses)/\(id)", as: identity).status
            }
            try await expect(code(.human), equals: 404)
            fixture.sandbox.faults.mastodon.showsHiddenPostsToAccounts = true
            try await expect(code(.human), equals: 200)
            try await expect(code(.nobody), equals: 404)
        }
    }

    @Test func aSearchMayNotKnowAddresses() async throws {
        try await SandboxFixture.run { fixture in
            let uri = try #require(
                try await Self.publish(fixture, ["status": "a"]).object["uri"] as? String)
            func found() async throws -> Int {
                let reply = try await fixture.send("GET", "/api/v2/search?type=statuses&q=\(uri)")
                return (reply.object["statuses"] as? [Any])?.count ?? -1
            }
            try await expect(found(), equals: 1)
            fixture.sandbox.faults.mastodon.searchesWordsOnly = true
            try await expect(found(), equals: 0)
        }
    }

    // MARK: Refusals

    @Test func aMissingTokenMayBeRefusedUnlikeABadOne() async throws {
        try await SandboxFixture.run { fixture in
            fixture.sandbox.faults.mastodon = .takahe
            let bad = try await fixture.send("GET", Self.notifications, as: .token("wrong"))
            #expect(bad.status == 400)
            let none = try await fixture.send("GET", Self.notifications, as: .nobody)
            #expect(none.status == 401)
            #expect(none.error == "identity_token_required")
            fixture.sandbox.faults.mastodon = .snac
            try await expect(
                fixture.send("GET", Self.verify, as: .token("wrong")).status, equals: 422)
            try await expect(
                fixture.send("GET", Self.notifications, as: .token("wrong")).status, equals: 401)
        }
    }

    /// snac writes no length where there is no body, and hangs up.
    @Test func anEmptyAnswerMayHaveNoLength() async throws {
        try await Self.run({
            $0.errorForm = .empty
            $0.omitsEmptyLength = true
        }) { fixture in
            let bytes = SandboxFixture.bytes(
                "GET", Self.notifications, port: fixture.sandbox.port,
                headers: ["User-Agent": "tests/1"], body: nil)
            let port = fixture.sandbox.port
            let got = try await SandboxFixture.onThread {
                let connection = try LoopbackConnection(port: port)
                try connection.send(bytes)
                return try connection.drain()
            }
            let text = String(decoding: got.bytes, as: UTF8.self).lowercased()
            #expect(text.hasPrefix("http/1.1 401 "))
            #expect(text.contains("\r\ncontent-type: text/html\r\n"))
            #expect(text.hasSuffix("\r\n\r\n"))
            for name in ["content-length", "transfer-encoding", "connection:"] {
                #expect(!text.contains(name))
            }
            #expect(got.ending == .closed)
        }
    }

    @Test func whatIsMissingMayBeForbidden() async throws {
        try await SandboxFixture.run { fixture in
            fixture.sandbox.faults.mastodon = .friendica
            let read = try await Self.status(fixture, "1")
            #expect(read.status == 404)
            #expect(read.text.hasPrefix("<!DOCTYPE html>"))
            let lost = try await Self.publish(fixture, ["status": "lost", "in_reply_to_id": "1"])
            #expect(lost.status == 404)
            for (method, path) in [("GET", "1/context"), ("POST", "1/favourite"), ("DELETE", "1")] {
                let reply = try await fixture.send(method, "\(Self.statuses)/\(path)")
                #expect(reply.status == 403, "\(path)")
                #expect(reply.error == "Record not found", "\(path)")
            }
        }
    }

    @Test func programsRefuseToDeleteForeignPosts() async throws {
        try await SandboxFixture.run { fixture in
            let id = try await Self.mention(fixture)
            let expected: [(Int, String)] = [
                (404, "Record not found"), (403, "Record not found"),
                (401, "Not the author of this status"),
            ]
            for (status, text) in expected {
                fixture.sandbox.faults.mastodon.foreignPostStatus = status
                let reply = try await fixture.send("DELETE", "\(Self.statuses)/\(id)")
                #expect(reply.status == status)
                #expect(reply.error == text)
            }
        }
    }

    @Test func scopesMayBeMissingWith401() async throws {
        try await Self.run({ $0.missingScopeStatus = 401 }) { fixture in
            let reply = try await fixture.send(
                "POST", Self.statuses, as: .human, json: #"{"status":"a"}"#)
            #expect(reply.status == 401)
        }
    }

    // MARK: Writing

    @Test func anEditTakesTheWarningAndMayLoseIt() async throws {
        try await SandboxFixture.run { fixture in
            let id = try #require(
                try await Self.publish(fixture, ["status": "a", "spoiler_text": "cw"]).object["id"]
                    as? String)
            let kept = try await Self.edit(fixture, id, ["status": "b"])
            #expect(kept.object["spoiler_text"] as? String == "cw")
            let changed = try await Self.edit(
                fixture, id, ["status": "b", "spoiler_text": "other"])
            #expect(changed.object["spoiler_text"] as? String == "other")
            #expect(changed.object["sensitive"] as? Bool == true)
            expect(changed.object["edited_at"]) { $0 is String }
            fixture.sandbox.faults.mastodon.editsNeedSensitive = true
            let lost = try await Self.edit(
                fixture, id, ["status": "b", "spoiler_text": "third", "sensitive": false])
            #expect(lost.object["spoiler_text"] as? String == "")
        }
    }

    /// Takahe and WordPress make public what is edited; Mastodon keeps its visibility.
    @Test(arguments: [MastodonHabits.mastodon, .snac, .takahe])
    func anEditMayMakeAPostPublic(habits: MastodonHabits) async throws {
        try await SandboxFixture.run { fixture in
            fixture.sandbox.faults.mastodon = habits
            let id = try await fixture.publish("hidden", visibility: "private")
            let edited = try await Self.edit(fixture, id, ["status": "still hidden?"])
            let isPublished = habits.publishesEdits
            #expect(edited.object["visibility"] as? String == (isPublished ? "public" : "private"))
            expect(edited.object["edited_at"]) { $0 is String }
            fixture.sandbox.faults.mastodon.needsTokenToRead = []
            let seen = try await fixture.send("GET", "\(Self.statuses)/\(id)", as: .nobody)
            #expect(seen.status == (isPublished ? 200 : 404))
        }
    }

    @Test func anEditMayHaveNoDateAndLoseItsFiles() async throws {
        try await Self.run({
            $0.hidesEdits = true
            $0.editsDropMedia = true
        }) { fixture in
            let id = try await fixture.publish("a")
            let edited = try await Self.edit(fixture, id, ["status": "b"])
            expect(edited.object["content"] as? String) { $0?.contains("b") == true }
            expect(edited.object["edited_at"]) { $0 is NSNull }
        }
    }

    @Test func aDeletionMayComeAfterItsAnswer() async throws {
        try await Self.run({ $0.deletionTakes = 0.035 }) { fixture in
            let id = try await fixture.publish("gone soon")
            try await expect(fixture.send("DELETE", "\(Self.statuses)/\(id)").status, equals: 200)
            try await expect(Self.status(fixture, id).status, equals: 200)
            try await expect(fixture.send("GET", Self.ownPosts).ids, equals: [id])
            try await expect(Self.status(fixture, id).status, equals: 404)
            await expect(fixture.sandbox.ledger.removals.count, equals: 1)
            let other = try await fixture.publish("gone in time")
            _ = try await fixture.send("DELETE", "\(Self.statuses)/\(other)")
            fixture.clock.advance(hours: 0.036 / 3_600)
            try await expect(Self.status(fixture, other).status, equals: 404)
        }
    }

    /// Friendica goes on showing a deleted post to everybody, WordPress to its author.
    @Test func aDeletedPostMayBeShownStill() async throws {
        try await SandboxFixture.run { fixture in
            fixture.sandbox.faults.mastodon = .friendica
            let id = try await fixture.publish("still here", visibility: "public")
            try await expect(fixture.send("DELETE", "\(Self.statuses)/\(id)").text, equals: "[]")
            let shown = try await fixture.send("GET", "\(Self.statuses)/\(id)", as: .nobody)
            #expect(shown.status == 200)
            expect(shown.object["content"] as? String) { $0?.contains("still here") == true }
            expect(shown.object["edited_at"]) { $0 is String }
            try await expect(fixture.send("GET", Self.ownPosts).ids, equals: [])
            let again = try await fixture.send("DELETE", "\(Self.statuses)/\(id)")
            #expect(again.status == 403)
            #expect(again.error == "Record not found")
            fixture.sandbox.faults.mastodon = .wordpress
            let trashed = try await fixture.publish("in the trash", visibility: "public")
            for _ in 1...2 {
                try await expect(
                    fixture.send("DELETE", "\(Self.statuses)/\(trashed)").status, equals: 200)
            }
            let own = try await Self.status(fixture, trashed)
            #expect(own.status == 200)
            expect(own.object["edited_at"]) { $0 is NSNull }
            try await expect(
                fixture.send("GET", "\(Self.statuses)/\(trashed)", as: .nobody).status, equals: 401)
            try await expect(
                fixture.send("GET", "\(Self.statuses)/\(trashed)", as: .human).status, equals: 404)
        }
    }

    @Test(
        arguments: [
            (.none, [true, true]), (.ofThreads, [true, false]), (.all, [false, false]),
        ] as [(MastodonHabits.SweptAnswers, [Bool])])
    func aDeletionMayTakeTheAnswersAlong(swept: MastodonHabits.SweptAnswers, isThere: [Bool])
        async throws
    {
        try await Self.run({ $0.sweepsAnswers = swept }) { fixture in
            let top = try await fixture.publish("top")
            let answer = try await fixture.publish("answer", replyTo: top)
            let below = try await fixture.publish("below", replyTo: answer)
            _ = try await fixture.send("DELETE", "\(Self.statuses)/\(answer)")
            try await expect(Self.status(fixture, below).status, equals: isThere[0] ? 200 : 404)
            let second = try await fixture.publish("second", replyTo: top)
            _ = try await fixture.send("DELETE", "\(Self.statuses)/\(top)")
            try await expect(Self.status(fixture, second).status, equals: isThere[1] ? 200 : 404)
        }
    }

    @Test func aDirectPostMayReadAsPrivate() async throws {
        try await Self.run({ $0.showsDirectAsPrivate = true }) { fixture in
            let friend = try Self.friend(fixture)
            let direct = try await Self.publish(
                fixture, ["status": "@\(friend) a word", "visibility": "direct"])
            #expect(direct.object["visibility"] as? String == "private")
            let id = try #require(direct.object["id"] as? String)
            // Followers are not in its circle, nor in that of a private answer to it.
            try await expect(
                fixture.send("GET", "\(Self.statuses)/\(id)", as: .human).status, equals: 404)
            let answer = try await fixture.publish("more", replyTo: id, visibility: "private")
            try await expect(
                fixture.send("GET", "\(Self.statuses)/\(answer)", as: .human).status, equals: 404)
        }
    }

    @Test func aDirectPostMayBeRefused() async throws {
        try await Self.run({ $0.refusesDirectPosts = true }) { fixture in
            let refused = try await Self.publish(
                fixture, ["status": "@aoi@sandbox.example a word", "visibility": "direct"])
            #expect(refused.status == 400)
            #expect(refused.error == "No mentions found")
            let local = try await Self.publish(
                fixture, ["status": "@aoi a word", "visibility": "direct"])
            #expect(local.status == 200)
            await expect(fixture.sandbox.ledger.summary.errors, equals: 0)
        }
    }

    @Test func warningsLanguagesAndFlagsMayBeLost() async throws {
        let fields: [String: Any] = [
            "status": "a", "spoiler_text": "cw", "sensitive": true, "language": "de",
        ]
        try await SandboxFixture.run { fixture in
            func made(
                _ change: (inout MastodonHabits) -> Void, _ fields: [String: Any]
            ) async throws -> [String: Any] {
                var habits = MastodonHabits()
                change(&habits)
                fixture.sandbox.faults.mastodon = habits
                return try await Self.publish(fixture, fields).object
            }
            let dropped = try await made({ $0.dropsDetails = true }, fields)
            #expect(dropped["spoiler_text"] as? String == "")
            #expect(dropped["sensitive"] as? Bool == false)
            expect(dropped["language"]) { $0 is NSNull }
            let ignored = try await made(
                { $0.ignoresSensitive = true }, ["status": "a", "sensitive": true])
            #expect(ignored["sensitive"] as? Bool == false)
            let warned = try await made({ $0.ignoresSensitive = true }, fields)
            #expect(warned["sensitive"] as? Bool == true)
            let titled = try await made(
                { $0.warningsAreTitles = true }, ["status": "a", "spoiler_text": "title"])
            #expect(titled["spoiler_text"] as? String == "title")
            #expect(titled["sensitive"] as? Bool == false)
            let missing = try await made({ $0.languages = .missing }, fields)
            expect(missing["language"]) { $0 is NSNull }
            let fixed = try await made({ $0.languages = .always("en") }, fields)
            #expect(fixed["language"] as? String == "en")
        }
    }

    @Test func aSlowPostIsSlowForPostsAlone() async throws {
        try await Self.run({ $0.postsTake = .milliseconds(20) }) { fixture in
            let clock = ContinuousClock()
            let taken = try await clock.measure { _ = try await fixture.publish("slow") }
            #expect(taken >= .milliseconds(20))
        }
    }

    // MARK: Entities

    @Test func aReplyMayNameTheAnsweredAuthorUnasked() async throws {
        try await Self.run({ $0.namesParentAuthor = true }) { fixture in
            let friend = try Self.friend(fixture)
            let parent = try await Self.mention(fixture)
            let id = try await fixture.publish("no name in here", replyTo: parent)
            try await expect(Self.names(Self.status(fixture, id).object).count, equals: 1)
            let named = try await fixture.publish("@\(friend) hello", replyTo: parent)
            try await expect(Self.names(Self.status(fixture, named).object).count, equals: 1)
            _ = try await Self.edit(fixture, id, ["status": "still none"])
            try await expect(Self.names(Self.status(fixture, id).object), equals: [])
        }
    }

    @Test func snacNumbersPeopleAndLeavesOutWhoAsks() async throws {
        try await SandboxFixture.run { fixture in
            fixture.sandbox.faults.mastodon = .snac
            let friend = try Self.friend(fixture)
            let parent = try await Self.mention(fixture)
            try await expect(Self.names(Self.status(fixture, parent).object), equals: [])
            let id = try await fixture.publish("@\(friend) hello", replyTo: parent)
            let status = try await Self.status(fixture, id).object
            let mentions = status["mentions"] as? [[String: Any]] ?? []
            #expect(mentions.compactMap { $0["id"] as? String } == ["0", "1"])
            #expect(Set(Self.names(status)).count == 1)
            // Ten digits of seconds and a hash; people have a hash alone.
            #expect(id.wholeMatch(of: /[0-9]{10}[0-9a-f]{32}/) != nil)
            let account = status["account"] as? [String: Any]
            expect(account?["id"] as? String) { $0?.wholeMatch(of: /[0-9a-f]{32}/) != nil }
            #expect(status["in_reply_to_id"] as? String == parent)
            let list = "/api/v1/accounts/\(account?["id"] as? String ?? "")/statuses"
            try await expect(fixture.send("GET", list).ids, equals: [id])
        }
    }

    @Test func postsMayNameNobody() async throws {
        try await Self.run({ $0.namesNobody = true }) { fixture in
            let friend = try Self.friend(fixture)
            let made = try await Self.publish(fixture, ["status": "@\(friend) #tag"])
            #expect(Self.names(made.object) == [])
            #expect((made.object["tags"] as? [Any])?.isEmpty == true)
        }
    }

    @Test func theSourceTextMayBePlainOrHTML() async throws {
        try await SandboxFixture.run { fixture in
            func text(_ kind: MastodonHabits.SourceText) async throws -> Any? {
                fixture.sandbox.faults.mastodon.sourceText = kind
                return try await Self.publish(fixture, ["status": "1 < 2"]).object["text"]
            }
            expect(try await text(.missing)) { $0 == nil }
            expect(try await text(.plain)) { $0 as? String == "1 < 2" }
            expect(try await text(.html)) { $0 as? String == "<p>1 &lt; 2</p>" }
        }
    }

    @Test func notificationsMayHaveOtherTimes() async throws {
        try await Self.run({
            $0.times = .zeros
            $0.notificationTimes = .seconds
        }) { fixture in
            _ = try await Self.mention(fixture)
            let notification = try #require(
                try await fixture.send("GET", Self.notifications).list.first)
            expect(notification["created_at"] as? String) { $0?.hasSuffix(":00Z") == true }
            let status = notification["status"] as? [String: Any]
            expect(status?["created_at"] as? String) { $0?.hasSuffix(":00.000Z") == true }
        }
    }

    @Test func policiesFollowTheVisibility() async throws {
        try await Self.run({ $0.tellsPolicies = true }) { fixture in
            func replies(_ visibility: String) async throws -> [String]? {
                let made = try await Self.publish(
                    fixture, ["status": visibility, "visibility": visibility])
                let policy = made.object["interaction_policy"] as? [String: Any]
                return (policy?["can_reply"] as? [String: Any])?["always"] as? [String]
            }
            try await expect(replies("public"), equals: ["public", "me"])
            try await expect(
                replies("private"), equals: ["author", "followers", "mentioned", "me"])
            try await expect(replies("direct"), equals: ["author", "mentioned", "me"])
        }
    }

    @Test func eachDialectRewritesInItsOwnWay() async throws {
        try await Self.run({ $0.rewritesTexts = true }) { fixture in
            func html(_ dialect: TextDialect, _ text: String) async throws -> String? {
                fixture.sandbox.faults.mastodon.dialect = dialect
                return try await Self.publish(fixture, ["status": text]).object["content"]
                    as? String
            }
            let text = "*so* :-) ~~no~~ <word>"
            try await expect(html(.snac, text), equals: "<p><i>so</i> 🙂 <s>no</s> &lt;word&gt;</p>")
            try await expect(html(.markdown, text), equals: "<p><i>so</i> :-) ~~no~~ </p>")
            let lines = try await html(.blocks, "a title\n\nand #words")
            #expect(
                lines
                    == "<strong>a title</strong>\n<!-- wp:paragraph -->\n<p>and #words</p>\n<!-- /wp:paragraph -->"
            )
        }
    }

    @Test func profilesMayKeepSomeOfIt() async throws {
        let form = "bot=true&note=new&fields_attributes[0][name]=a&fields_attributes[0][value]=b"
        try await SandboxFixture.run { fixture in
            func changed(_ change: (inout MastodonHabits) -> Void) async throws -> [String: Any] {
                var habits = MastodonHabits()
                change(&habits)
                fixture.sandbox.faults.mastodon = habits
                _ = try await fixture.send("PATCH", Self.update, form: "bot=false&note=old")
                fixture.sandbox.faults.mastodon = habits
                return try await fixture.send("PATCH", Self.update, form: form).object
            }
            let bare = try await changed { $0.dropsProfileFields = true }
            #expect((bare["fields"] as? [Any])?.isEmpty == true)
            expect(bare["note"] as? String) { $0?.contains("new") == true }
            let whole = try await changed { _ in }
            #expect((whole["fields"] as? [Any])?.count == 1)
            #expect(whole["bot"] as? Bool == true)
            let unmarked = try await changed { $0.dropsBotMarks = true }
            #expect(unmarked["bot"] as? Bool == true, "as it was before")
        }
    }

    @Test func applicationsMayHideTheirScopes() async throws {
        try await Self.run({ $0.hidesApplicationScopes = true }) { fixture in
            let form = "client_name=a&redirect_uris=urn:ietf:wg:oauth:2.0:oob&scopes=read"
            let made = try await fixture.send("POST", "/api/v1/apps", as: .nobody, form: form)
            #expect(made.status == 200)
            #expect(made.object["scopes"] == nil)
            let asked = try await fixture.send("GET", "/api/v1/apps/verify_credentials")
            #expect(asked.status == 200)
            #expect(asked.object["scopes"] == nil)
        }
    }
}
