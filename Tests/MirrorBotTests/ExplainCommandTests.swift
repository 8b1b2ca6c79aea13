import Control
import Expectations
import Foundation
import Mirroring
import Outbox
import Posts
import Storage
import TestSupport
import Testing

@testable import Conduct
@testable import MirrorBot

/// `mirror-bot explain`.
@Suite(.timeLimit(.minutes(30))) struct ExplainCommandTests {
    private static let day: TimeInterval = 86_400
    /// In whole seconds, as JSON has them.
    private let now = Date(timeIntervalSince1970: Date().timeIntervalSince1970.rounded(.down))

    private func explain(_ words: String..., on stage: Stage, _ environment: [String: String] = [:])
        async throws
        -> ExplainReport
    {
        try Stage.decode(
            ExplainReport.self,
            from: try await stage.run(
                words: ["explain", "--json"] + words, environment: environment))
    }

    /// What the program prints on 80 columns.
    private func text(_ words: String..., on stage: Stage, columns: Int = 80) async throws
        -> [String]
    {
        let ending = try await stage.run(
            words: ["explain"] + words, environment: ["COLUMNS": "\(columns)"])
        #expect(ending.status == 0, "\(ending.error)")
        return ending.output.split(separator: "\n", omittingEmptySubsequences: false).map(
            String.init)
    }

    // MARK: Replies

    @Test(arguments: StoreUnderTest.allCases) func aReplyNamesAllThatItCameFrom(
        store: StoreUnderTest
    ) async throws {
        let stage = try await store.stage(
            ["TIME_ZONE": "Asia/Tokyo"].merging(Life.botSettings) { $1 })
        let written = now - 100 * Self.day
        let reply = try await stage.withMirror { mirror in
            try await mirror.belong()
            try await mirror.remember(
                (1...3).map {
                    Life.post(
                        "r\($0)", "@ann@pal.example Thank you \($0)", at: written + Double($0),
                        to: Life.ann)
                }
                    + [
                        Life.post(
                            "r4", "@ann@pal.example Look", at: written, to: Life.ann, hasMedia: true
                        )
                    ])
            return try await mirror.note(
                .reply(
                    Action.Reply(
                        to: Life.target("7"), thread: "t",
                        wording: Action.Wording(
                            source: Life.post("r2", "", at: now).id,
                            text: "@ann@pal.example Thank you 2",
                            visibility: .unlisted))), .done, at: now - 600, sent: now - 540,
                published: "https://home.example/@mirror/9",
                why: Explanation("one of 3 old replies to this person", pool: 3))
        }
        let report = try await explain(String(reply.id.prefix(7)), on: stage)
        #expect(report.schema == "mirror-bot/explain/1")
        #expect(report.id == reply.id)
        #expect(report.kind == .reply)
        #expect(report.state == "done")
        #expect(
            report.person == ReportedPerson(account: "ann@pal.example", name: "@ann@pal.example"))
        #expect(report.target?.link == "https://pal.example/@ann/7")
        #expect(report.text == "@ann@pal.example Thank you 2")
        #expect(report.original?.written == written + 2)
        #expect(report.original?.link == "https://home.example/@me/r2")
        #expect(report.published == "https://home.example/@mirror/9")
        #expect(report.sent == now - 540)
        #expect(report.due == now - 600)
        #expect(report.why == "one of 3 old replies to this person")
        let media = Refusal.Reason.hasMedia
        #expect(
            report.rules == [
                ReportedReason(
                    media.rawValue,
                    text: "1 of 4 old replies to this person may not be sent: \(media.sentence)")
            ])

        let lines = try await text(reply.id, on: stage)
        #expect(lines[0] == "reply \(reply.id)  done")
        #expect(lines.contains("  to          @ann@pal.example"))
        #expect(lines.contains("  answers     https://pal.example/@ann/7"))
        #expect(lines.contains("  text        @ann@pal.example Thank you 2"))
        #expect(lines.contains("  published   https://home.example/@mirror/9"))
        expect(lines) {
            $0.contains {
                $0.hasPrefix("  original    written ") && $0.hasSuffix(", word for word")
            }
        }
        expect(lines) {
            $0.contains {
                $0.hasPrefix("  · has-media: 1 of 4 old replies to this person may not be sent:")
            }
        }
        for line in lines { #expect(line.count <= 80, "\(line)") }
    }

    @Test(arguments: StoreUnderTest.allCases) func aReplySaysWhichWordsMet(store: StoreUnderTest)
        async throws
    {
        let stage = try await store.stage(["TIME_ZONE": "UTC"])
        let reply = try await stage.withMirror { mirror in
            var why = Explanation(
                "of 42 old replies to this person, 13 are short; this one shares 'train'", pool: 42)
            why.oldReply = Explanation.OldReply(
                replies: 42, plain: 13, nearest: 2, likeness: 0.5, words: ["train", "遅れる"],
                isByAnswered: true)
            let wording = Action.Wording(
                source: Life.post("r2", "", at: now).id, text: "@ann@pal.example Late again",
                visibility: .unlisted)
            return try await mirror.note(
                .reply(Action.Reply(to: Life.target("7"), thread: "t", wording: wording)),
                .suggested, at: now, why: why
            )
        }
        let choice = try #require(try await explain(reply.id, on: stage).choice)
        #expect(choice.replies == 42)
        #expect(choice.plain == 13)
        #expect(choice.nearest == 2)
        #expect(choice.likeness == 0.5)
        #expect(choice.basis == .answered)
        #expect(choice.words == ["train", "遅れる"])
        let lines = try await text(reply.id, on: stage)
        expect(lines) {
            $0.contains {
                $0.hasPrefix("  why         of 42 old replies to this person, 13 are short")
            }
        }
        let suggestions = try await stage.run("suggestions")
        expect(suggestions.output) { $0.contains("this one shares 'train'") }
    }

    @Test(arguments: StoreUnderTest.allCases) func aSilenceSaysWhyInPlainWords(
        store: StoreUnderTest
    ) async throws {
        let stage = try await store.stage(["TIME_ZONE": "UTC"])
        let (capped, undecided) = try await stage.withMirror { mirror in
            (
                try await mirror.note(
                    .reply(Action.Reply(to: Life.target("8"), thread: "t")), .skipped, at: now,
                    reason: "person-cap",
                    why: Explanation("this person got 3 replies today already")),
                try await mirror.note(
                    .undecidable(mention: "x"), .skipped, at: now, reason: "undecidable")
            )
        }
        let report = try await explain(capped.id, on: stage)
        #expect(report.state == "skipped")
        #expect(report.text == nil)
        #expect(
            report.rules == [
                ReportedReason("person-cap", text: "this person got 3 replies today already")
            ])
        #expect(report.rules.first?.setting == "REPLIES_PER_PERSON")
        let lines = try await text(capped.id, on: stage)
        let rule = try #require(lines.firstIndex { $0.hasPrefix("  · ") })
        #expect(
            lines[rule]
                == "  · person-cap: this person got 3 replies today already; REPLIES_PER_PERSON")
        #expect(lines[rule + 1] == "    changes that")
        let other = try await explain(undecided.id, on: stage)
        #expect(other.person == nil)
        #expect(other.rules.map(\.text) == ["the post is of a form that cannot be kept"])
    }

    @Test func whatAPersonSaidIsARuleToo() async throws {
        let stage = try await StoreUnderTest.sqlite.stage(["TIME_ZONE": "UTC"])
        let action = try await stage.withMirror { mirror in
            try await mirror.note(.favorite(Life.target("9")), .done, at: now)
        }
        try await expect(stage.run("people", "deny", "ann@pal.example").status, equals: 0)
        try await expect(explain(action.id, on: stage).rules.map(\.code), equals: ["denied"])
        try await expect(stage.run("people", "allow", "ann@pal.example").status, equals: 0)
        try await expect(explain(action.id, on: stage).rules.map(\.code), equals: ["allowed"])
    }

    // MARK: Favorites

    @Test(arguments: StoreUnderTest.allCases)
    func aFavoriteIsJudgedThenAndNow(store: StoreUnderTest) async throws {
        let stage = try await store.stage([
            "TIME_ZONE": "UTC", "FAVORITE_RATE_THRESHOLD": "3", "FEATURES": "content",
        ])
        let favorites = try await stage.withMirror { mirror in
            try await mirror.learnBread()
            let why = Explanation(
                "the human favorites posts like this one", favoriteRate: 4.5, threshold: 2,
                features: [.init(name: "bread", logOdds: 1.25, favorites: 20, normals: 1)])
            let learned = Action.Target(
                post: "https://pal.example/e3", author: Life.ann, address: "e3")
            return (
                try await mirror.note(.favorite(learned), .done, at: now, why: why),
                try await mirror.note(.favorite(Life.target("gone")), .done, at: now, why: why)
            )
        }
        let report = try await explain(favorites.0.id, on: stage)
        let then = try #require(report.judgement)
        #expect(then.basis == .stored)
        #expect(then.rate == 4.5)
        #expect(then.threshold == 2)
        #expect(then.features == [.init(name: "bread", logOdds: 1.25, favorites: 20, normals: 1)])
        // fresh bread, by pal.
        let again = try #require(report.judgementNow)
        let expected = ExpectedRate.ofBread
        let fresh = expected.evidence(40, 0) / 2.0.squareRoot()
        let bread = expected.evidence(30, 0) / 2.0.squareRoot()
        let pal = expected.evidence(40, 0)
        #expect(again.basis == .recomputed)
        #expect(again.threshold == 3)
        #expect(again.favorites == 40)
        #expect(again.normals == 40)
        #expect(abs(log(again.rate) - (expected.base + fresh + bread + pal)) < 1e-9)
        #expect(abs(try #require(again.baseLogOdds) - expected.base) < 1e-9)
        #expect(again.features.map(\.name) == ["@pal@pal.example", "fresh", "bread"])
        #expect(again.features.map(\.favorites) == [40, 40, 30])
        #expect(again.features.map(\.normals) == [0, 0, 0])
        for (feature, logOdds) in zip(again.features, [pal, fresh, bread]) {
            #expect(abs(feature.logOdds - logOdds) < 1e-9)
        }
        #expect(report.target?.text == "fresh bread")

        let gone = try await explain(favorites.1.id, on: stage)
        #expect(gone.judgement != nil)
        #expect(gone.judgementNow == nil)
        #expect(
            gone.judgementProblem == "the post's text is not kept, so it cannot be judged again")
        let lines = try await text(favorites.0.id, on: stage)
        #expect(lines.contains("how it was judged at the decision"))
        #expect(lines.contains("  rate 4.5, above the threshold of 2"))
        expect(lines) {
            $0.contains {
                $0.hasPrefix("  bread ") && $0.contains("+1.25 ███") && $0.hasSuffix(" 20     1")
            }
        }
        expect(lines) { $0.contains { $0.hasPrefix("  any post ") && $0.contains("░") } }
        for columns in [40, 60, 80] {
            let bars = try await text(favorites.0.id, on: stage, columns: columns).filter {
                $0.contains("█")
            }
            #expect(bars.count == 4)
            expect(bars) { $0.allSatisfy { $0.count <= columns } }
        }
    }

    /// What an older version stored has no counts, and no threshold.
    @Test func anOldExplanationIsShownAsFarAsItGoes() async throws {
        let stage = try await StoreUnderTest.sqlite.stage(["TIME_ZONE": "UTC"])
        let action = try await stage.withMirror { mirror in
            let action = try await mirror.note(.favorite(Life.target("1")), .done, at: now)
            let old =
                #"{"favoriteRate":3.5,"features":[{"logOdds":-0.5,"name":"tea"}],"summary":"so it was"}"#
            try await mirror.storage.execute("UPDATE actions SET explanation = \(old)")
            return action
        }
        let report = try await explain(action.id, on: stage)
        #expect(report.judgement?.rate == 3.5)
        #expect(report.judgement?.threshold == 2)
        #expect(report.judgement?.features == [.init(name: "tea", logOdds: -0.5)])
        try await expect(text(action.id, on: stage)) {
            $0.contains { $0.hasPrefix("  tea ") && $0.contains("-0.50 ░") }
        }
    }

    // MARK: A post that might come

    @Test(arguments: StoreUnderTest.allCases)
    func aTextIsJudgedAsThePostWouldBe(store: StoreUnderTest) async throws {
        let stage = try await store.stage(
            ["TIME_ZONE": "UTC", "FEATURES": "content"].merging(Life.botSettings) { $1 })
        try await stage.withMirror { try await $0.learnBread() }
        let expected = ExpectedRate.ofBread
        let words =
            [expected.evidence(30, 0), 0, expected.evidence(10, 40)].reduce(0, +) / 3.0.squareRoot()
        let unknown = try await explain("--text", "bread and rain", on: stage)
        #expect(abs(log(try #require(unknown.judgementNow).rate) - (expected.base + words)) < 1e-9)
        #expect(unknown.verdict == .nothing)
        #expect(unknown.rules.map(\.code) == ["below-threshold"])
        #expect(unknown.id == nil)
        #expect(unknown.person == nil)

        let pal = try await explain(
            "--text", "bread and rain", "--author", "@pal@pal.example", on: stage)
        let author = expected.evidence(40, 0)
        #expect(
            abs(log(try #require(pal.judgementNow).rate) - (expected.base + words + author)) < 1e-9)
        #expect(pal.verdict == .favorite)
        #expect(pal.rules.isEmpty)
        try await expect(
            text("--text", "fresh bread", on: stage).first,
            equals: "the bot would favorite this post")
        // Nothing of it was stored.
        try await expect(stage.status().recent) { $0.isEmpty }
        try await expect(stage.status().classifier?.favorites, equals: 40)
    }

    /// Words first, then the author, the spelling and the form, each below what it adds in all.
    @Test(arguments: StoreUnderTest.allCases)
    func whatCountsOfAPostIsToldInGroups(store: StoreUnderTest) async throws {
        let stage = try await store.stage(
            ["TIME_ZONE": "UTC", "FEATURES": "full"].merging(Life.botSettings) { $1 })
        try await stage.withMirror { try await $0.learnBread() }
        let post = ["--text", "!! fresh bread, and the rain!", "--author", "pal@pal.example"]
        let ending = try await stage.run(words: ["explain", "--json"] + post, environment: [:])
        let report = try Stage.decode(ExplainReport.self, from: ending)
        let judgement = try #require(report.judgementNow)
        let groups = Dictionary(grouping: judgement.features) { $0.group }
        #expect(Set(groups.keys) == Set(Explanation.Feature.Group.allCases))
        #expect(groups[.author]?.map(\.name) == ["@pal@pal.example"])
        #expect(groups[.spelling]?.count == 1)
        expect(groups[.spelling]?.first?.name) { $0?.hasPrefix("runs of letters (") == true }
        expect(groups[.form]?.map(\.name)) { $0?.contains("ends with !") == true }
        // Signs and small words are no more than the last of the words.
        let words = try #require(groups[.words])
        expect(words.dropLast()) {
            $0.allSatisfy { $0.name.contains { $0.isLetter } && $0.sums == nil }
        }
        expect(words.last?.name) { $0?.hasPrefix("signs, small words (") == true }
        let sum = judgement.features.reduce(try #require(judgement.baseLogOdds)) { $0 + $1.logOdds }
        #expect(abs(sum - log(judgement.rate)) < 1e-9)

        let lines = try await text(
            "--text", "!! fresh bread, and the rain!", "--author", "pal@pal.example", on: stage)
        let headings = try ["words", "author", "spelling", "form"].map { name in
            try #require(
                lines.lastIndex { $0.hasPrefix("  \(name) ") && !$0.contains { "█░".contains($0) } }
            )
        }
        #expect(headings == headings.sorted())
        let leading = lines[headings[0] + 1]
        expect(leading) { $0.dropFirst(2).first?.isLetter == true }
    }

    @Test func everyRuleThatHoldsForAPostHoldsForAText() async throws {
        let stage = try await StoreUnderTest.sqlite.stage(
            ["TIME_ZONE": "UTC"].merging(Life.botSettings) { $1 })
        let bread = ["--text", "fresh bread", "--author", "pal@pal.example"]
        func verdict(_ words: [String], _ environment: [String: String] = [:]) async throws -> (
            String?, [String]
        ) {
            let ending = try await stage.run(
                words: ["explain", "--json"] + words, environment: environment)
            let report = try Stage.decode(ExplainReport.self, from: ending)
            return (report.verdict?.rawValue, report.rules.map(\.code.rawValue))
        }
        try await expect(verdict(bread)) { $0 == ("nothing", ["too-little-learned"]) }
        try await stage.withMirror { mirror in
            try await mirror.learnBread()
            try await mirror.belong()
        }
        try await expect(verdict(bread)) { $0 == ("favorite", []) }
        try await expect(verdict(bread, ["FAVORITE_MODE": "suggest"])) { $0 == ("suggestion", []) }
        try await expect(verdict(bread, ["FAVORITE_MODE": "off"])) {
            $0 == ("nothing", ["mode-off"])
        }
        try await expect(verdict(bread, ["BOT_SERVER": "", "BOT_ACCESS_TOKEN": ""])) {
            $0 == ("nothing", ["no-account"])
        }
        try await expect(verdict(["--text", "fresh bread", "--author", "me@home.example"])) {
            $0 == ("nothing", ["own-post"])
        }
        try await expect(
            verdict(["--text", "stop", "--author", "pal@pal.example"]).1.first,
            equals: "asked-to-stop")
        try await stage.withMirror { mirror in
            for number in 1...10 {
                try await mirror.note(.favorite(Life.target("f\(number)")), .done, at: Date())
            }
        }
        try await expect(verdict(bread)) { $0 == ("nothing", ["daily-cap"]) }
        try await expect(stage.run("people", "deny", "pal@pal.example").status, equals: 0)
        try await expect(verdict(bread).1.first, equals: "denied")
    }

    @Test func onXAPersonDecides() async throws {
        let keys = ["CONSUMER_KEY", "CONSUMER_SECRET", "ACCESS_TOKEN", "ACCESS_TOKEN_SECRET"]
        let settings = Dictionary(uniqueKeysWithValues: keys.map { ("BOT_\($0)", "planted-\($0)") })
            .merging(["BOT_NETWORK": "x", "TIME_ZONE": "UTC"]) { $1 }
        let stage = try await StoreUnderTest.sqlite.stage(settings)
        try await stage.withMirror { try await $0.learnBread() }
        let report = try await explain("--text", "fresh bread", "--author", "@pal", on: stage)
        #expect(report.verdict == .suggestion)
        #expect(report.person == ReportedPerson(account: "x:pal", name: "@pal"))
    }

    // MARK: Names

    @Test(arguments: StoreUnderTest.allCases)
    func everyIDThatIsShownIsKnown(store: StoreUnderTest) async throws {
        let stage = try await store.stage(["TIME_ZONE": "UTC"])
        try await stage.train(Fixture.lines(days: 30, perDay: 3))
        try await stage.withMirror { mirror in
            try await mirror.note(.favorite(Life.target("1")), .skipped, at: now)
            try await mirror.note(
                .reply(Action.Reply(to: Life.target("2"), thread: "t")), .skipped, at: now)
        }
        let status = try await stage.status()
        #expect(status.recent.count == 2)
        expect(status.recent) { $0.allSatisfy { $0.person?.name == "@ann@pal.example" } }
        let shown = try await stage.run("status", environment: ["COLUMNS": "80"]).output
        for action in status.recent {
            #expect(shown.contains("\n  \(action.id.prefix(7)) "))
            try await expect(explain(String(action.id.prefix(7)), on: stage).id, equals: action.id)
        }
        #expect(shown.split(separator: "\n").filter { $0.contains("@ann@pal.example") }.count == 2)
        // Days that nobody has planned yet.
        for plan in [
            try await stage.plan(),
            try await stage.plan("--date", "\(status.today!.advanced(by: 300))"),
        ] {
            let printed = try await stage.run("plan", "--date", "\(plan.day)").output
            for slot in plan.slots.prefix(2) {
                #expect(printed.contains(" \(slot.id.prefix(7)) preview"))
                let byID = try await explain(String(slot.id.prefix(7)), on: stage)
                #expect(byID.state == "preview")
                #expect(byID.subject == slot.subject)
                #expect(byID.text == slot.text)
                try await expect(explain(slot.subject, on: stage).id, equals: slot.id)
            }
        }
    }

    @Test func aStoredSlotIsKnownByItsNameAndItsID() async throws {
        let stage = try await StoreUnderTest.sqlite.stage(["TIME_ZONE": "UTC"])
        let day = try #require(LocalDay("2026-11-20"))
        let wording = Action.Wording(
            source: Life.post("1", "", at: now).id, text: "A loaf.", visibility: .unlisted)
        let slot = try await stage.withMirror { mirror in
            let why = Explanation(
                "one of 12 texts within 30 minutes of 08:15", pool: 12, windowMinutes: 30)
            return try await mirror.note(
                .post(Slot.Name(day: day, number: 3), wording), .planned, at: now, why: why)
        }
        for name in ["2026-11-20#3", slot.id, slot.id.uppercased()] {
            let report = try await explain(name, on: stage)
            #expect(report.id == slot.id)
            #expect(report.state == "planned")
            #expect(report.subject == "2026-11-20#3")
            #expect(report.why == "one of 12 texts within 30 minutes of 08:15")
        }
        try await expect(text(slot.id, on: stage)) {
            $0.contains("  original    no longer in the archive")
        }
    }

    @Test(arguments: StoreUnderTest.allCases) func aNameOfNoneOrManyIsMisuse(store: StoreUnderTest)
        async throws
    {
        let stage = try await store.stage(["TIME_ZONE": "UTC"])
        let ids = try await stage.withMirror { mirror in
            var ids: [String] = []
            // With so many, two begin with the same letter.
            for number in 1...40 {
                ids.append(
                    try await mirror.note(.favorite(Life.target("\(number)")), .done, at: now).id)
            }
            return ids
        }
        // A number alone is that of a slot.
        let lettered = ids.filter { $0.first?.isLetter == true }
        let digit = try #require(
            Dictionary(grouping: lettered) { $0.prefix(1) }.first {
                (2...5).contains($0.value.count)
            })
        let many = try await stage.run("explain", String(digit.key))
        #expect(many.status == 64)
        #expect(many.output.isEmpty)
        #expect(
            many.error.hasPrefix(
                "error: \"\(digit.key)\" is the beginning of several ids; give more digits: "))
        for id in digit.value {
            #expect(many.error.contains("\(id) (favorite about @ann@pal.example, done)"))
        }
        for name in ["zz", "%", "_", "123456789abc", "\u{1B}[2J", "4.5", "2026-11-20"] {
            let none = try await stage.run("explain", name)
            #expect(none.status == 64)
            #expect(none.output.isEmpty)
            expect(none.error) {
                $0.contains("is no action of this mirror; a slot is named as 4 or '#4' for today's")
            }
            #expect(!none.error.contains("\u{1B}"))
        }
    }

    @Test(arguments: [
        [], ["a", "--text", "b"], ["--author", "a"], ["--text", " "],
        ["--text", "a", "--author", "nobody at all"],
    ]) func whatIsMeantMustBeClear(_ words: [String]) async throws {
        let stage = try await StoreUnderTest.sqlite.stage(["TIME_ZONE": "UTC"])
        let ending = try await stage.run(words: ["explain"] + words)
        #expect(ending.status == 64)
        #expect(ending.output.isEmpty)
        #expect(ending.error.contains("Usage: mirror-bot explain"))
    }
}
