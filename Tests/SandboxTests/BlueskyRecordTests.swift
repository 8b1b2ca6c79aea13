import Expectations
import Foundation
import Testing

@testable import Sandbox

@Suite struct BlueskyRecordTests {
    private static let repo = "com.atproto.repo"

    @Test func putsARecordOnceHoweverOftenItIsSent() async throws {
        try await BlueskyClient.run { (bot) async throws in
            let first = try await bot.put(bot.record("hello"))
            #expect(first.status == 200)
            let commit = try #require(first.object["commit"] as? [String: Any])
            expect((commit["cid"] as? String)) { $0?.hasPrefix("bafyrei") == true }
            #expect(RecordSyntax.isTimestampKey(commit["rev"] as? String ?? ""))
            #expect(first.object.uri == "at://\(bot.did)/app.bsky.feed.post/3ke6kg3wk2222")
            let same = try await bot.put(bot.record("hello"))
            #expect(same.status == 200)
            #expect(same.object["commit"] == nil)
            #expect(same.object.cid == first.object.cid)
            let other = try await bot.put(bot.record("hello!"))
            #expect(other.status == 400)
            #expect(other.error == "InvalidSwap")
            let ledger = await bot.fixture.sandbox.ledger
            #expect(ledger.deliveries.map(\.text) == ["hello"])
            #expect(ledger.deliveries.map(\.idempotencyKey) == ["3ke6kg3wk2222"])
            #expect(ledger.summary.duplicateSends == 0)
            // To ask again is what one does who got no answer.
            #expect(ledger.summary.errors == 0)
        }
    }

    @Test func tellsAnAbsentSwapFromNullAndFromAnIdentifier() async throws {
        try await BlueskyClient.run { (bot) async throws in
            let first = try await bot.put(bot.record("one"))
            let wrong = try await bot.put(
                bot.record("two"), swap: try #require(ContentID(of: "x").text as String?))
            #expect(wrong.error == "InvalidSwap")
            let right = try await bot.put(bot.record("two"), swap: first.object.cid)
            #expect(right.status == 200)
            let overwritten = try await bot.put(bot.record("three"), swap: nil)
            #expect(overwritten.status == 200)
            let nothing = try await bot.put(
                bot.record("four"), key: "3ke6kg3wk2223", swap: first.object.cid)
            #expect(nothing.error == "InvalidSwap")
            let read = try await bot.fixture.ask(
                "\(Self.repo).getRecord",
                "repo=\(bot.did)&collection=app.bsky.feed.post&rkey=3ke6kg3wk2222")
            let value = read.object["value"] as? [String: Any]
            #expect(value?["text"] as? String == "three")
            #expect(read.object.cid == overwritten.object.cid)
        }
    }

    @Test func readsBackJustWhatWasWritten() async throws {
        try await BlueskyClient.run { (bot) async throws in
            let more: [String: Any] = ["langs": ["ja", "en-GB"], "tags": ["cats"]]
            let written = try await bot.put(bot.record("✨ hello", more))
            let place =
                "repo=mirror.sandbox.example&collection=app.bsky.feed.post&rkey=3ke6kg3wk2222"
            let read = try await bot.fixture.ask("\(Self.repo).getRecord", place)
            #expect(read.object.cid == written.object.cid)
            let value = try #require(read.object["value"] as? NSDictionary)
            #expect(value == bot.record("✨ hello", more) as NSDictionary)
            try await expect(
                bot.fixture.ask("\(Self.repo).getRecord", place + "&cid=\(written.object.cid)")
                    .status, equals: 200)
            let other = try await bot.fixture.ask(
                "\(Self.repo).getRecord", place + "&cid=\(ContentID(of: "x").text)")
            #expect(other.status == 400)
            #expect(other.error == "RecordNotFound")
        }
    }

    @Test func createsWithAKeyOfItsOwnOrTheClients() async throws {
        try await BlueskyClient.run { (bot) async throws in
            let body: [String: Any] = [
                "repo": bot.did, "collection": BlueskyClient.posts, "record": bot.record("a"),
            ]
            let first = try await bot.post("\(Self.repo).createRecord", body)
            let second = try await bot.post("\(Self.repo).createRecord", body)
            let keys = [first, second].compactMap {
                $0.object.uri.split(separator: "/").last.map(String.init)
            }
            #expect(keys.count == 2)
            #expect(keys[0] < keys[1])
            expect(keys) { $0.allSatisfy { RecordSyntax.isTimestampKey($0) } }
            await expect(bot.fixture.sandbox.ledger.summary.duplicateSends, equals: 1)
            var named = body
            named["rkey"] = keys[0]
            let used = try await bot.post("\(Self.repo).createRecord", named)
            #expect(used.status == 500)
            #expect(used.error == "InternalServerError")
            bot.fixture.sandbox.faults.bluesky.refusesUsedKeyAs400 = true
            let told = try await bot.post("\(Self.repo).createRecord", named)
            #expect(told.status == 400)
            #expect(told.message == "Record already exists")
        }
    }

    @Test func deletesOnceAndForgivesTheSecondTime() async throws {
        try await BlueskyClient.run { (bot) async throws in
            let post = try await bot.publish("gone soon")
            let body = [
                "repo": bot.did, "collection": BlueskyClient.posts, "rkey": "3ke6kg3wk2222",
            ]
            let deleted = try await bot.post("\(Self.repo).deleteRecord", body)
            #expect(deleted.status == 200)
            #expect(deleted.object["commit"] != nil)
            let again = try await bot.post("\(Self.repo).deleteRecord", body)
            #expect(again.status == 200)
            #expect(again.object["commit"] == nil)
            let read = try await bot.fixture.ask(
                "app.bsky.feed.getPosts", "uris=\(try #require(post["uri"]))")
            #expect(read.status == 200)
            #expect(read.items("posts").isEmpty)
            // The key is free again.
            try await expect(bot.put(bot.record("something else")).status, equals: 200)
        }
    }

    /// A post and its gates in one commit; of two writes with one key neither is done.
    @Test func writesSeveralRecordsAtOnce() async throws {
        try await BlueskyClient.run { (bot) async throws in
            let key = "3ke6kg3wk2222"
            let uri = "at://\(bot.did)/\(BlueskyClient.posts)/\(key)"
            func write(_ collection: String, _ value: [String: Any]) -> [String: Any] {
                [
                    "$type": "com.atproto.repo.applyWrites#create", "collection": collection,
                    "rkey": key,
                    "value": value,
                ]
            }
            let threadgate = "app.bsky.feed.threadgate"
            let gate: [String: Any] = [
                "$type": threadgate, "post": uri, "createdAt": "2026-11-20T21:00:00.000Z",
                "allow": [["$type": "\(threadgate)#mentionRule"]],
            ]
            let body: [String: Any] = [
                "repo": bot.did,
                "writes": [
                    write(BlueskyClient.posts, bot.record("gated")), write(threadgate, gate),
                ],
            ]
            let answer = try await bot.post("\(Self.repo).applyWrites", body)
            #expect(answer.status == 200)
            #expect(
                answer.items("results").map { $0["uri"] as? String } == [
                    uri, "at://\(bot.did)/\(threadgate)/\(key)",
                ])
            let delivery = try #require(await bot.fixture.sandbox.ledger.deliveries.last)
            #expect(delivery.repliers == ["mention"])
            let read = try await bot.fixture.ask("app.bsky.feed.getPosts", "uris=\(uri)")
            let shown = try #require(read.items("posts").first?["threadgate"] as? [String: Any])
            #expect((shown["record"] as? [String: Any])?["post"] as? String == uri)
            let again = try await bot.post("\(Self.repo).applyWrites", body)
            #expect(again.error == "InternalServerError")
            // Of writes of which one fails none is done: the same keys are free for the next try.
            let lost = ["uri": uri, "cid": ContentID(of: "gone").text]
            let free = "3ke6kg3wk2223"
            func freeWrite(_ collection: String, _ value: [String: Any]) -> [String: Any] {
                write(collection, value).merging(["rkey": free]) { $1 }
            }
            let freeGate = gate.merging(["post": "at://\(bot.did)/\(BlueskyClient.posts)/\(free)"])
            { $1 }
            let reply = bot.record("answer", ["reply": ["root": lost, "parent": lost]])
            for (record, status) in [(reply, 400), (bot.record("gated again"), 200)] {
                let writes = [
                    freeWrite(BlueskyClient.posts, record), freeWrite(threadgate, freeGate),
                ]
                try await expect(
                    bot.post("\(Self.repo).applyWrites", ["repo": bot.did, "writes": writes])
                        .status, equals: status)
            }
            var broken = gate
            broken["allow"] = [["$type": "\(threadgate)#everybodyRule"]]
            let refused = try await bot.post(
                "\(Self.repo).applyWrites",
                ["repo": bot.did, "writes": [write(threadgate, broken)]])
            #expect(refused.status == 400)
        }
    }

    @Test func writesOnlyToTheCallersRepository() async throws {
        try await BlueskyClient.run { (bot) async throws in
            let reply = try await bot.post(
                "\(Self.repo).putRecord",
                [
                    "repo": bot.fixture.humanDID, "collection": BlueskyClient.posts,
                    "rkey": "3ke6kg3wk2222",
                    "record": bot.record("not mine"),
                ])
            #expect(reply.status == 401)
            #expect(reply.error == "AuthenticationRequired")
            let guest = try await bot.fixture.call("\(Self.repo).putRecord", ["repo": bot.did])
            #expect(guest.error == "AuthMissing")
        }
    }

    @Test func keepsTheProfileWhenTheLabelIsAdded() async throws {
        try await BlueskyClient.run { (bot) async throws in
            let place = "repo=\(bot.did)&collection=\(BlueskyClient.profiles)&rkey=self"
            let before = try await bot.get("app.bsky.actor.getProfile", "actor=\(bot.did)")
            #expect(before.object.labels.isEmpty)
            let current = try await bot.fixture.ask("\(Self.repo).getRecord", place)
            var value = try #require(current.object["value"] as? [String: Any])
            #expect(value["displayName"] as? String == "Mirror")
            value["labels"] = [
                "$type": "com.atproto.label.defs#selfLabels", "values": [["val": "bot"]],
            ]
            let stale = try await bot.put(value, key: "self", in: BlueskyClient.profiles)
            #expect(stale.error == "InvalidSwap")
            let put = try await bot.put(
                value, key: "self", in: BlueskyClient.profiles, swap: current.object.cid)
            #expect(put.status == 200)
            let after = try await bot.fixture.ask(
                "app.bsky.actor.getProfile", "actor=mirror.sandbox.example")
            #expect(after.object.labels == ["bot"])
            #expect(after.object["displayName"] as? String == "Mirror")
            #expect(after.object["description"] as? String == "Automated mirror of @haruka.")
        }
    }

    @Test func givesRecordKeysAndIdentifiersTheirKnownForms() {
        let keys: [(UInt64, UInt64, String)] = [
            (0, 0, "2222222222222"), (1_700_000_000_000_000, 0, "3ke6kg3wk2222"),
            (1_700_000_000_000_000, 7, "3ke6kg3wk222b"),
            (1_700_000_000_000_000, 1_023, "3ke6kg3wk22zz"),
            (1_767_225_600_123_456, 42, "3mbd3546cm23e"),
            (1_688_137_381_887_007, 6, "3jzfcijpj2z2a"),
            (1_691_386_272_411_000, 7, "3k4duaz5vfs2b"),
        ]
        for (microseconds, clock, text) in keys {
            #expect(SandboxIdentity.recordKey(microseconds: microseconds, clock: clock) == text)
            #expect(RecordSyntax.isTimestampKey(text))
        }
        for text in ["", "3ke6kg3wk222", "kke6kg3wk2222", "3ke6kg3wk2221", "3KE6KG3WK2222"] {
            #expect(!RecordSyntax.isTimestampKey(text))
        }
        let empty = ContentID(of: .map([:])).text
        #expect(empty == "bafyreigbtj4x7ip5legnfznufuopl4sg4knzc2cof6duas4b3q2fy6swua")
        #expect(
            ContentID(of: ["hello": "world"]).text
                == "bafyreidykglsfhoixmivffc5uwhcgshx4j465xwqntbmu43nb2dzqwfvae")
        let mixed: RecordValue = [
            "b": [
                0, 23, 24, 255, 256, 65_535, 65_536, 4_294_967_296, -1, -25, .integer(.min), .null,
                .bool(true),
                .bool(false),
            ],
            "aa": .text(String(repeating: "é", count: 200)), "a": ["$link": .text(empty)],
        ]
        #expect(
            ContentID(of: mixed).text
                == "bafyreifolozza2upcqp5tv2z3gizpdnbn2sco7wddkx7aam4moeybcgaou")
        #expect(ContentID.bytes(of: empty)?.count == 36)
        #expect(ContentID.bytes(of: "bafyrei") == nil)
    }
}
