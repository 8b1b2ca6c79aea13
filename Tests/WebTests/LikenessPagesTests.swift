import Expectations
import Foundation
import HTTPTypes
import Outbox
import Posts
import Settings
import Testing

@testable import Archive
@testable import Control
@testable import Mirroring
@testable import Web

/// The pages Hours, Favorites, Texts and Settings: what they show.
@Suite(.timeLimit(.minutes(30))) struct LikenessPagesTests {
    // MARK: Hours

    @Test func theTableOfHoursHasTheNumbersOfTheReport() async throws {
        let stage = try await PageStage.open()
        try await stage.archive((0..<60).map { "A loaf of bread, number \($0) of many." })
        let content = try await stage.content(HoursPage.self, "/hours")
        let times = try await StatsReporter(mirror: stage.mirror, zone: .gmt).times(
            now: PageStage.now)
        #expect(times.human.posts == 60)
        let page = try RenderedPage(content, of: HoursPage.self)
        for (hour, share) in times.human.shares.enumerated() {
            let row =
                "<th scope=\"row\">\(hour):00</th><td>\(Words.percent(share, digits: 1))</td><td>0.0 %</td>"
            #expect(page.html.contains(row))
        }
        #expect(page.html.contains("The bot has no posts yet, so there is nothing to compare."))
        #expect(page.html.contains("60 posts, 2026-"))
        let busiest = try #require(times.human.busiest)
        #expect(page.html.contains("The human posts most from \(busiest.hour):00 on"))
        #expect(page.count("<tr><th scope=\"row\">2026-") == 28)
        await stage.close()
    }

    @Test func hoursOfAMirrorWithoutAClockSayWhatIsMissing() async throws {
        let stage = try await PageStage.open(["TIME_ZONE": ""])
        let page = try RenderedPage(
            try await stage.content(HoursPage.self, "/hours"), of: HoursPage.self)
        #expect(page.html.contains("Set the time zone"))
        #expect(page.count("<svg") == 0)
        await stage.close()
    }

    @Test func fullHoursFitIntoAPage() throws {
        let stats = SampleReport.stats()
        var full = stats.humanPosts
        full.week = (0..<7).map { day in (0..<24).map { 10_000 + day * 24 + $0 } }
        full.weekdays = full.week.map { $0.reduce(0, +) }
        full.hours = (0..<24).map { hour in full.week.reduce(0) { $0 + $1[hour] } }
        full.posts = full.hours.reduce(0, +)
        let times = StatsReport.Times(
            human: full, bot: full, humanSince: stats.days[0].day, humanUntil: stats.days[27].day,
            botSince: stats.days[0].day,
            likeness: StatsReport.Likeness(share: 0.9, halves: 0.94, expected: 0.62),
            days: stats.days)
        let zones = ZonesReport(timeZone: "Europe/Berlin", zones: [])
        let context = HoursPage.context(
            times, zones, words: Words(zone: .gmt, now: PageStage.now), base: "/m/test")
        let page = try RenderedPage(
            PageContent(HoursPage.templates[0], in: .hours, context), of: HoursPage.self)
        #expect(page.html.contains("90 of 100 posts of the bot"))
        #expect(page.html.contains("are <b>94 %</b> alike"))
        #expect(page.html.contains("would reach about 62 %"))
    }

    @Test func thePictureHoldsNoText() async throws {
        let stage = try await PageStage.open()
        try await stage.archive(["A loaf that nobody shall see in a picture."])
        let reply = try await stage.answer(HoursPage.self, .get, "/hours.svg")
        guard case .file(let svg, let type, let name) = reply else {
            Issue.record("it is no file")
            return
        }
        #expect(type == "image/svg+xml" && name == "hours.svg")
        #expect(!svg.contains("loaf"))
        await stage.close()
    }

    // MARK: Favorites

    private static func taste(_ word: String, count: Int = 10) -> StatsReport.Taste {
        let words = (0..<count).map { number in
            StatsReport.Word(
                word: "\(word)\(number)", favorites: 44, normals: 3,
                logOdds: 2.5 - Double(number) / 10)
        }
        return StatsReport.Taste(
            authors: (0..<count).map {
                StatsReport.Author(name: "@\(word)\($0)", favorites: 88, normals: 126, given: 41)
            },
            wordsFor: words,
            wordsAgainst: words.map {
                StatsReport.Word(word: $0.word, favorites: 0, normals: 61, logOdds: -$0.logOdds)
            },
            problem: nil, measure: DrawingTests.measure)
    }

    private static func favorites(
        _ taste: StatsReport.Taste, waiting: String? = nil, judged: ExplainReport? = nil,
        token: Markup? = "<i/>",
        typed: (String, String) = ("", "")
    ) -> PageContent {
        let state = StatusReport.ClassifierState(
            favorites: 1_284, normals: 9_730, seen: 9_000, counts: 4_000, waiting: waiting)
        return PageContent(
            FavoritesPage.templates[0], in: .favorites,
            FavoritesPage.context(
                state, taste, threshold: 2, judged: judged,
                words: Words(zone: .gmt, now: PageStage.now),
                base: "/m/test", token: token, typed: typed))
    }

    @Test func favoritesShowTheNumbersOfTheReport() throws {
        let page = try RenderedPage(Self.favorites(Self.taste("kiha")), of: FavoritesPage.self)
        #expect(page.html.contains("1,284<small>favorites, and 9,730 other posts</small>"))
        #expect(
            page.html.contains(
                "83 %<small>of what it would favorite; two of three are meant to be</small>"))
        #expect(page.html.contains("25 %<small>of what the human favorites</small>"))
        #expect(page.html.contains("<td class=\"n\" data-name=\"favorites / others\">44 / 3</td>"))
        #expect(page.html.contains("on 1,000 posts of which 200 were favorites."))
        #expect(page.count("<circle") == 3)
        #expect(
            page.html.contains("<th scope=\"row\" class=\"n\">55 %</th><td class=\"n\">58 %</td>"))
        // The strongest word is the whole width, and the others are to its scale.
        #expect(page.html.contains("width=\"100%\""))
        #expect(page.html.contains("width=\"64%\""))
    }

    @Test func tooLittleLearnedIsSaidAlone() throws {
        let waiting = "12 of 20 favorites, 0 of 20 normals learned"
        let page = try RenderedPage(
            Self.favorites(Self.taste("kiha"), waiting: waiting), of: FavoritesPage.self)
        #expect(page.html.contains("12 of 20 favorites, 0 of 20 normals learned."))
        #expect(page.count("kiha") == 0)
        #expect(page.count("<form") == 0)
    }

    @Test func withoutAMeasureTheCommandIsNamed() throws {
        var taste = Self.taste("kiha")
        taste.measure = nil
        let page = try RenderedPage(Self.favorites(taste), of: FavoritesPage.self)
        #expect(page.html.contains("<code>mirror-bot score</code>"))
        #expect(page.html.contains("–<small>of what the human favorites</small>"))
    }

    @Test func aJudgedPostShowsItsSteps() throws {
        var report = ExplainReport(mirror: "test", timeZone: "UTC", kind: .favorite)
        report.text = SampleReport.hostile
        report.person = ReportedPerson(account: "x", name: SampleReport.hostile)
        report.verdict = .nothing
        report.rules = [ReportedReason("daily-cap")]
        report.judgementNow = ExplainReport.Judgement(
            basis: .recomputed, rate: 0.2, threshold: 2, weights: nil, baseLogOdds: -2,
            favorites: 10, normals: 80,
            features: (0..<40).map {
                Explanation.Feature(name: SampleReport.hostile + "\($0)", logOdds: 0.1)
            })
        let typed = (SampleReport.hostile, SampleReport.hostile)
        let page = try RenderedPage(
            Self.favorites(Self.taste(SampleReport.hostile), judged: report, typed: typed),
            of: FavoritesPage.self)
        #expect(page.html.contains("Of six such posts they favorite one."))
        #expect(page.html.contains("The bot would leave it alone."))
        #expect(page.html.contains("<code>FAVORITES_PER_DAY</code></a> decides that."))
        // Any post, the eleven strongest words, and one row for all others; and one in the drawing
        // of calibration.
        #expect(page.count("<line class=\"limit\"") == 14)
        #expect(page.html.contains("29 other words"))
    }

    @Test func aPageThatOnlyShowsHasNoForm() throws {
        let page = try RenderedPage(
            Self.favorites(Self.taste("kiha"), token: nil), of: FavoritesPage.self)
        #expect(page.count("<form") == 0)
    }

    // MARK: Texts

    private static func text(_ text: String, _ number: Int) -> TextList.Text {
        TextList.Text(
            post: "https://home.example/@ann/\(number)\"onload=",
            address: "https://home.example/@ann/\(number)",
            created: PageStage.now - 86_400, text: text, language: "en", answers: nil,
            fitness: .unfit, isFit: false,
            unfit: "time-bound", unfitText: ReportedReason("time-bound").text, sometimes: nil,
            demoted: nil, label: nil,
            isNever: number % 2 == 0,
            uses: 2, lastUse: PageStage.now - 86_400, planned: nil, seen: Seen(of: "x"))
    }

    @Test(arguments: [
        String(repeating: "\"", count: 10_000), String(repeating: "x", count: 10_000),
        "e" + String(repeating: "\u{301}", count: 10_000), String(repeating: "👩‍👩‍👧‍👦", count: 5_000),
        SampleReport.hostile,
    ])
    func theWorstTextsFitIntoAPage(_ worst: String) async throws {
        let stage = try await PageStage.open()
        var search = TextList.Search()
        let words = String(worst.unicodeScalars.prefix(100))
        search.words = words
        search.reason = words
        var unsent = Archive.Unsent()
        for index in 0..<40 { unsent.unfit["the-long-name-of-\(index)"] = 1_000 + index }
        let shown = TextsPage.Shown(
            list: TextList(texts: (0..<10).map { Self.text(worst, $0) }, next: "1 mastodon x"),
            search: search,
            archive: StatusReport.ArchiveState(
                posts: 8_412, limit: 10_000, oldest: .distantPast, newest: PageStage.now,
                texts: StatusReport.TextState(unsent, .strict)),
            slots: SampleReport.day().slots, muted: Self.muted(worst), fitness: "strict")
        let context = TextsPage.context(shown, of: try await stage.request("/texts"))
        let page = try RenderedPage(
            PageContent(TextsPage.templates[0], in: .texts, context), of: TextsPage.self)
        #expect(page.count("<bdi>") >= 10)
        await stage.close()
    }

    private static func muted(_ word: String) -> [Forgotten] {
        (0..<30).map { number in
            Forgotten(
                Archive.Note(
                    kind: "word", value: String(word.unicodeScalars.prefix(200)) + "\(number)",
                    noted: PageStage.now))
        } + [Forgotten(Archive.Note(kind: "post", value: "0123", noted: PageStage.now))]
    }

    @Test func textsSayWhenThePlainOnesAreUsedUp() async throws {
        let stage = try await PageStage.open()
        try await stage.archive(
            (0..<40).map { "The bread of the old bakery smells of rosemary, loaf \($0)." })
        let texts = try #require(
            try await StatusReporter(mirror: stage.mirror).archive(zone: .gmt, now: PageStage.now)
                .texts)
        let forecast = try #require(texts.forecast)
        expect(forecast.free) { $0 > 0 && $0 <= 40 }
        let page = try RenderedPage(
            try await stage.content(TextsPage.self, "/texts"), of: TextsPage.self)
        let sentence = forecast.sentence(today: LocalTime(PageStage.now, in: .gmt).day)
        #expect(
            page.html.contains(
                "<p id=\"forecast\" class=\"hint block\">P\(sentence.dropFirst()).</p>"))
        await stage.close()
    }

    @Test func textsSayWhatTheyAreGoodForAndLeadToAsMany() async throws {
        let stage = try await PageStage.open(["FITNESS": "strict"])
        let plain = (0..<5).map { "The bread of the old bakery smells of rosemary, loaf \($0)." }
        let bound = (0..<3).map { "The train does not run today, so we walk home, part \($0)." }
        try await stage.archive(plain + bound)
        let page = try RenderedPage(
            try await stage.content(TextsPage.self, "/texts"), of: TextsPage.self)
        let texts = try #require(
            try await StatusReporter(mirror: stage.mirror).archive(zone: .gmt, now: PageStage.now)
                .texts)
        #expect(texts.fit + texts.sometimes + texts.unfit == 8)
        #expect(page.html.contains("8 old posts of the human, of 2026"))
        // What may be posted comes first, and the rest is one link away.
        #expect(page.count("<p class=\"at\">") == texts.fit)
        #expect(page.html.contains("/texts?fitness=all\">Show all</a>"))
        #expect(page.html.contains("/texts?fitness=fit\">\(texts.fit) fit at any time</a>"))
        expect(texts.unfit) { $0 >= 3 }
        for reason in texts.reasons {
            #expect(page.html.contains("/texts?fitness=unfit&amp;reason=\(reason.reason)\""))
            let query = [("fitness", "unfit"), ("reason", reason.reason)]
            let list = try RenderedPage(
                try await stage.content(TextsPage.self, "/texts", query: query), of: TextsPage.self)
            #expect(list.count("<p class=\"at\">") == reason.count)
            #expect(list.html.contains(Words.count(reason.count, "text") + ": "))
        }
        let found = try RenderedPage(
            try await stage.content(TextsPage.self, "/texts", query: [("q", "ROSEMARY")]),
            of: TextsPage.self)
        #expect(found.count("<p class=\"at\">") == 5)
        let none = try RenderedPage(
            try await stage.content(TextsPage.self, "/texts", query: [("q", "<script>")]),
            of: TextsPage.self)
        #expect(none.html.contains("No text of the kind is archived."))
        let readOnly = try RenderedPage(
            try await stage.content(TextsPage.self, "/texts", isReadOnly: true), of: TextsPage.self)
        // Looking is no change.
        #expect(readOnly.count("<form") == 1)
        #expect(readOnly.count("method=\"post\"") == 0)
        await stage.close()
    }

    @Test func aListGoesOnWhereItEnded() async throws {
        let stage = try await PageStage.open()
        try await stage.archive((0..<23).map { "Bread number \($0) of the old bakery." })
        var shown = [String]()
        var query = [(String, String)]()
        for _ in 0..<3 {
            let content = try await stage.content(TextsPage.self, "/texts", query: query)
            let page = try RenderedPage(content, of: TextsPage.self)
            shown += page.html.matches(of: #/Bread number ([0-9]+) /#).map { String($0.output.1) }
            guard case .text(let more) = content.context["more"] else { break }
            let after = try #require(more.split(separator: "after=").last)
            query = [("after", try #require(String(after).removingPercentEncoding))]
        }
        #expect(shown == (0..<23).map(String.init))
        await stage.close()
    }

    @Test func aPlaceThatIsNoneBeginsTheListAnew() async throws {
        let stage = try await PageStage.open()
        try await stage.archive(["Bread."])
        let page = try RenderedPage(
            try await stage.content(TextsPage.self, "/texts", query: [("after", "nowhere")]),
            of: TextsPage.self)
        #expect(page.count("<p class=\"at\">") == 1)
        await stage.close()
    }

    // MARK: Settings

    @Test(arguments: ["often", "set", "all"])
    func settingsAreShownAsConfigShowsThem(_ tab: String) async throws {
        let stage = try await PageStage.open([
            "MAX_PER_DAY": "7", "SECRET_KEY": String(repeating: "k", count: 40),
        ])
        try await stage.mirror.set(["QUIET_HOURS": "23:00-07:00"], now: PageStage.now)
        let report = ConfigReport(
            try await stage.mirror.settingValues(), problems: [], environment: [:])
        var names: [String] = []
        var query: [(String, String)] = [("show", tab)]
        for _ in 0..<5 {
            let content = try await stage.content(SettingsPage.self, "/settings", query: query)
            let page = try RenderedPage(content, of: SettingsPage.self)
            names += page.html.matches(of: /<tr id="([A-Z_]+)">/).map { String($0.output.1) }
            #expect(!page.html.contains("kkkk"))
            if page.html.contains("id=\"QUIET_HOURS\"") {
                #expect(
                    page.html.contains(
                        "<th scope=\"row\">Quiet hours<br><code>QUIET_HOURS</code><br>"))
                #expect(
                    page.html.contains(
                        "<b><bdi>23:00-07:00</bdi></b><br><span class=\"small soft\">set here</span>"
                    ))
            }
            if page.html.contains("id=\"SECRET_KEY\"") {
                #expect(
                    page.html.contains(
                        "set, not shown</bdi></b><br><span class=\"small soft\">from the environment"
                    ))
            }
            guard case .text = content.context["more"] else { break }
            query = [("show", tab), ("after", try #require(names.last))]
        }
        let all = report.groups.flatMap(\.settings)
        let expected = all.filter { line in
            switch tab {
            case "often": line.isOften
            case "set": ![.fallback, .unset, .implied].contains(line.origin)
            default: true
            }
        }
        #expect(names == expected.map(\.name))
        await stage.close()
    }

    @Test func aStoredValueOfARetiredSettingIsShownUntilItIsForgotten() async throws {
        let stage = try await PageStage.open()
        let mirror = stage.mirror
        let table = SettingTable(storage: mirror.storage, mirror: mirror.name)
        try await table.store(["BURSTS": "no"], now: PageStage.now)
        func page() async throws -> String {
            let content = try await stage.content(SettingsPage.self, "/settings")
            return try RenderedPage(content, of: SettingsPage.self).html
        }
        let before = try await page()
        #expect(before.contains("<p><code>BURSTS</code> is no longer used: "))
        #expect(before.contains("<button name=\"unset\" value=\"BURSTS\">Forget it"))
        let seen = SettingTable.seen(["BURSTS"], in: ["BURSTS": "no"])
        let change = try await Desk(mirror, zone: .gmt, now: PageStage.now).perform(
            PersonRequest(UnsetValues(["BURSTS"]), seen: seen))
        #expect(change.changed == ["BURSTS"])
        // It could not be set again.
        #expect(change.wayBack == nil)
        try await #expect(!page().contains("BURSTS"))
        await stage.close()
    }

    @Test func aReadOnlyPageHasNoFormAtAll() async throws {
        let stage = try await PageStage.open()
        let mirror = stage.mirror
        try await SettingTable(storage: mirror.storage, mirror: mirror.name).store(
            ["BURSTS": "no"], now: PageStage.now)
        let page = try RenderedPage(
            try await stage.content(SettingsPage.self, "/settings", isReadOnly: true),
            of: SettingsPage.self)
        #expect(page.count("<form") == 0)
        await stage.close()
    }

    @Test func oneSettingStandsAlone() async throws {
        let stage = try await PageStage.open()
        let page = try RenderedPage(
            try await stage.content(SettingsPage.self, "/settings", query: [("name", "FEATURES")]),
            of: SettingsPage.self
        )
        #expect(page.html.matches(of: /<tr id="([A-Z_]+)">/).count == 1)
        #expect(page.html.contains("<details class=\"change\" open>"))
        let none = try RenderedPage(
            try await stage.content(SettingsPage.self, "/settings", query: [("name", "<script>")]),
            of: SettingsPage.self)
        #expect(none.html.contains("There is no setting &lt;script&gt;."))
        await stage.close()
    }
}
