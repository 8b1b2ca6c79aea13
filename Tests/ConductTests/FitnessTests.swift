import Foundation
import Posts
import Testing

@testable import Conduct

/// Texts that stand for themselves, and texts that do not; written for this page.
@Suite struct FitnessTests {
    /// Cuts at signs that a line of the tests has for the cuts of a dictionary.
    private func verdict(_ text: String, year: Int = 2_015, cut: Bool = true) -> Fitness.Verdict {
        let plain = text.replacing("|", with: "")
        return Fitness.standard.verdict(on: post(plain), year: year) { _ in
            cut ? text.split(separator: "|").map { Fitness.Word(String($0), mayTellTime: true) } : nil
        }
    }

    @Test(arguments: [
        ("What a match, see https://x.com/somebody/status/123456 for it", Refusal.Reason.quotesAPost),
        ("Look at this https://social.example/@mira/109876543210987654", .quotesAPost),
        ("I'm at Cafe Nord (Oslo)", .checkIn), ("Pancakes (@ The Old Mill)", .checkIn),
        ("I just unlocked the Early Bird badge", .checkIn), ("駅にチェックインしました", .checkIn),
        ("I liked a video by the sea", .appShare), ("#nowplaying rain on a roof", .appShare),
        ("The long way home ... https://feed.example/1", .cutShare), ("Photo: https://pic.example/9", .mediaLeft),
        ("Fog over our bay https://flickr.com/photos/1", .mediaLeft), ("42 !!!", .numbersOnly),
        ("https://example.org/a", .linkOnly),
        ("2/ and then the bread fell", .threadPart), ("続き：そして朝が来た", .threadPart),
        ("Tea with @mira under the bridge", .namesSomebody), ("Hey Mira, your umbrella is here", .namesSomebody),
        ("Rest in peace, old friend", .tragedy), ("震度3くらいだった", .tragedy),
        ("Thanks everyone for the soup", .thanksSomebody), ("ありがとう！たすかりました", .thanksSomebody),
        ("Anyone know a good cobbler?", .asksSomebody), ("誰か傘を貸してくれませんか", .asksSomebody),
        ("Tickets for the play are on sale", .event), ("新刊を公開しました", .event),
        ("The fair opens on June 12", .dated), ("Home by 7:30 pm", .dated), ("A record for 2014", .dated),
        ("Tonight the moon is a coin", .timeBound), ("昨日|は|雨|だっ|た", .timeBound),
    ])
    func whatDoesNotStandForItselfIsRefused(text: String, reason: Refusal.Reason) {
        let verdict = verdict(text)
        #expect(verdict.reason == reason, "\(verdict)")
        #expect(verdict.grade > .fit, "\(verdict)")
    }

    @Test(arguments: [
        "Rivers forget nothing", "Worth reading about slow bread: https://example.org/bread", "5 @ 20 cents",
        "I like this video of a kettle", "ripgrep is fast", "My phone died and I heard birds", "Anyone can cook rice",
        "Christmas Island has red crabs", "Welcome to nowhere", "In 1969 a step", "He ate 3/4 of a pizza",
        "USA Today prints in four colours", "A good night's sleep mends a day", "明日葉|は|苦い", "ありがとうの一言でよい",
        "クリスマスローズが好き", "犬|は|昨日|の|こと|を|恨ま|ない", "今|でも|本|が|好き",
    ])
    func whatStandsForItselfIsFit(text: String) {
        let verdict = verdict(text)
        #expect(verdict == Fitness.Verdict(), "\(verdict)")
    }

    @Test(arguments: [
        ("Happy new year, geese", "days 12-31..01-03"), ("Merry Christmas, moles", "days 12-01..12-26"),
        ("七夕の笹", "days 07-07..07-07"), ("Good morning, kettle", "times 04:00..10:59"),
        ("Goodnight, moths. Good night!", "times 20:00..03:59"), ("こんばんは、月", "times 17:00..23:59"),
        ("Mondays are a rumour", ""), ("Monday is a rumour", "weekdays 1"), ("花金だ", "weekdays 5"),
        ("October smells of pencils", "months 10"),
        ("Good morning, and merry Christmas", "days 12-01..12-26; times 04:00..10:59"),
    ])
    func someAreFitAtTheirTime(text: String, window: String) {
        let verdict = verdict(text)
        #expect(verdict.window?.description ?? "" == window)
        #expect(verdict.grade == .fit)
        #expect((verdict.reason == nil) == window.isEmpty)
    }

    /// The first rule names the reason, the worst the grade.
    @Test func theFirstRuleNamesTheReasonAndTheWorstTheGrade() {
        let mixed = verdict("Thanks everyone, see you in May, https://x.com/a/status/123")
        #expect(mixed.reason == .quotesAPost)
        #expect(mixed.grade == .broken)
        #expect(verdict("Today it rained").grade == .ofItsTime)
        #expect(verdict("Thanks all").grade == .addressed)
        let named = verdict("Tickets on sale, Merry Christmas")
        #expect(named.reason == .event)
        #expect(named.grade == .addressed)
        #expect(named.window != nil)
    }

    /// Without a dictionary a word is found wherever it stands: in doubt a text is not sent.
    @Test func withoutADictionaryMoreIsRefused() {
        #expect(verdict("おはよう|ござい|ます").grade == .fit)
        #expect(verdict("おはようございます", cut: false).grade == .ofItsTime)
    }

    @Test func yearsNearTheirOwnAreDatesAndOthersAreNot() {
        #expect(verdict("Best of 2014", year: 2_016).reason == .dated)
        #expect(verdict("Best of 2014", year: 2_017).reason == nil)
        #expect(verdict("It cost $2014 and 2014 km", year: 2_014).reason == nil)
    }

    @Test func aQuoteThatTheTextDoesNotShowCounts() {
        var quoting = post("This is exactly what I always say about bread")
        let before = Fitness.standard.verdict(on: quoting, year: 2_015) { _ in nil }
        #expect(before.reason == nil)
        quoting.isQuote = true
        let verdict = Fitness.standard.verdict(on: quoting, year: 2_015) { _ in nil }
        #expect(verdict.reason == .quotesAPost)
        #expect(verdict.grade == .broken)
    }

    @Test func aMentionThatTheTextLostCounts() {
        var named = post("Tea under the bridge")
        named.mentions = [friend]
        #expect(Fitness.standard.verdict(on: named, year: 2_020) { _ in [] }.reason == .namesSomebody)
    }

    /// What patterns cost must not grow without bounds with a text that wants that.
    @Test(.timeLimit(.minutes(1)), arguments: ["anybody ", "( ", "add ", "thanks ", "あ", "1/", "\u{0301}", "🧵", "\""])
    func hugeTextsAreJudgedByTheirEnds(part: String) {
        let text = String(repeating: part, count: 200_000 / part.utf8.count)
        #expect(verdict(text + " Tonight it is late", cut: false).grade > .fit)
    }

    @Test func aWindowHoldsWhenItSays() throws {
        func holds(_ window: String, _ day: String, _ minute: Int) throws -> Bool {
            let window = try #require(FitnessWindow(window))
            #expect(FitnessWindow(window.description) == window)
            return window.holds(on: try #require(LocalDay(day)), at: try #require(MinuteOfDay(minute)))
        }
        #expect(try holds("days 12-31..01-03", "2026-12-31", 0) && holds("days 12-31..01-03", "2027-01-03", 0))
        #expect(try !holds("days 12-31..01-03", "2026-12-30", 0) && !holds("days 12-31..01-03", "2027-01-04", 0))
        #expect(try holds("times 20:00..03:59", "2026-05-05", 239) && !holds("times 20:00..03:59", "2026-05-05", 240))
        #expect(try holds("weekdays 1 5; months 5", "2026-05-01", 0) && !holds("weekdays 1 5", "2026-05-02", 0))
        #expect(try holds("days 02-29..02-29", "2028-02-29", 0))
        #expect(try !holds("days 12-01..12-26; days 12-31..01-03", "2026-12-26", 0))
        for nothing in [
            "", ";", "days", "days 12-31", "days 13-01..13-02", "times 24:30..25:00", "weekdays 8", "moon 1",
        ] {
            #expect(FitnessWindow(nothing) == nil, "\(nothing)")
        }
    }

    @Test func aProgramThatPostsLinksOfOneSiteIsAMachine() {
        var machines = MachineClients()
        for number in 0..<5 {
            machines.count("Feed", "News https://www.feed.example/\(number)")
            machines.count("Web", number < 2 ? "Read https://feed.example/\(number)" : "Rivers")
            if number < 4 { machines.count("Rare", "https://feed.example/\(number)") }
        }
        machines.count("Feed", "Three of six would do")
        #expect(machines.contains("Feed"))
        #expect(!machines.contains("Web"))
        #expect(!machines.contains("Rare"))
        #expect(!machines.contains(nil))
        #expect(!machines.contains("Unknown"))
        #expect(!machines.version.isEmpty)
        #expect(MachineClients().version.isEmpty)
    }
}
