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
            cut
                ? text.split(separator: "|").map { Fitness.Word(String($0), mayTellTime: true) }
                : nil
        }
    }

    @Test(arguments: [
        (
            "What a match, see https://x.com/somebody/status/123456 for it",
            Refusal.Reason.quotesAPost
        ),
        ("Look at this https://social.example/@mira/109876543210987654", .quotesAPost),
        ("Rivers are ~~never~~ seldom wrong", .struckOut),
        ("Rivers are n̶e̶v̶e̶r̶ seldom wrong", .struckOut),
        ("川は~~絶対に~~めったに間違えない", .struckOut),
        ("I'm at Cafe Nord (Oslo)", .checkIn), ("Pancakes (@ The Old Mill)", .checkIn),
        ("I just unlocked the Early Bird badge", .checkIn), ("駅にチェックインしました", .checkIn),
        ("I liked a video by the sea", .appShare), ("#nowplaying rain on a roof", .appShare),
        ("The long way home ... https://feed.example/1", .cutShare),
        ("Photo: https://pic.example/9", .mediaLeft),
        ("Fog over our bay https://flickr.com/photos/1", .mediaLeft), ("42 !!!", .numbersOnly),
        ("https://example.org/a", .linkOnly),
        ("2/ and then the bread fell", .threadPart), ("続き：そして朝が来た", .threadPart),
        ("Tea with @mira under the bridge", .namesSomebody),
        ("Hey Mira, your umbrella is here", .namesSomebody),
        ("Rest in peace, old friend", .tragedy), ("震度3くらいだった", .tragedy),
        ("Thanks everyone for the soup", .thanksSomebody), ("ありがとう！たすかりました", .thanksSomebody),
        ("Anyone know a good cobbler?", .asksSomebody), ("誰か傘を貸してくれませんか", .asksSomebody),
        ("Tickets for the play are on sale", .event), ("新刊を公開しました", .event),
        ("The fair opens on June 12", .dated), ("Home by 7:30 pm", .dated),
        ("A record for 2014", .dated),
        ("Tonight the moon is a coin", .timeBound), ("昨日|は|雨|だっ|た", .timeBound),
    ])
    func whatDoesNotStandForItselfIsRefused(text: String, reason: Refusal.Reason) {
        let verdict = verdict(text)
        #expect(verdict.reason == reason, "\(verdict)")
        #expect(verdict.grade > .fit, "\(verdict)")
    }

    @Test(arguments: [
        "Rivers forget nothing", "Worth reading about slow bread: https://example.org/bread",
        "5 @ 20 cents",
        "I like this video of a kettle", "ripgrep is fast", "My phone died and I heard birds",
        "Anyone can cook rice",
        "Christmas Island has red crabs", "Welcome to nowhere", "In 1969 a step",
        "He ate 3/4 of a pizza",
        "USA Today prints in four colours", "A good night's sleep mends a day", "明日葉|は|苦い",
        "ありがとうの一言でよい",
        "クリスマスローズが好き", "犬|は|昨日|の|こと|を|恨ま|ない", "今|でも|本|が|好き",
    ])
    func whatStandsForItselfIsFit(text: String) {
        let verdict = verdict(text)
        #expect(verdict.reason == nil, "\(verdict)")
        #expect(verdict.window == nil, "\(verdict)")
        #expect(verdict.grade <= .fit, "\(verdict)")
    }

    @Test(arguments: [
        ("Happy new year, geese", "days 12-31..01-03"),
        ("Merry Christmas, moles", "days 12-01..12-26"),
        ("七夕の笹", "days 07-07..07-07"), ("Good morning, kettle", "times 04:00..10:59"),
        ("Goodnight, moths. Good night!", "times 20:00..03:59"), ("こんばんは、月", "times 17:00..23:59"),
        ("Mondays are a rumour", ""), ("Monday is a rumour", "weekdays 1"), ("花金だ", "weekdays 5"),
        ("October smells of pencils", "months 10"),
        ("Good morning, and merry Christmas", "days 12-01..12-26; times 04:00..10:59"),
    ])
    func someAreFitAtTheirTime(text: String, window: String) {
        let verdict = verdict(text)
        #expect(verdict.window?.description ?? "" == window)
        #expect(verdict.grade <= .fit)
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
        #expect(verdict("おはよう|ござい|ます").grade == .plain)
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
        #expect(
            Fitness.standard.verdict(on: named, year: 2_020) { _ in [] }.reason == .namesSomebody)
    }

    /// What patterns cost must not grow without bounds with a text that wants that.
    @Test(
        .timeLimit(.minutes(30)),
        arguments: [
            "anybody ", "( ", "add ", "thanks ", "あ", "1/", "\u{0301}", "🧵", "\"", "A", "Aa ", "ab",
            "k", "ha", "1:",
            "👇", ": ",
        ])
    func hugeTextsAreJudgedByTheirEnds(part: String) {
        let text = String(repeating: part, count: 200_000 / part.utf8.count)
        #expect(verdict(text + " Tonight it is late", cut: false).grade > .fit)
    }

    @Test func aWindowHoldsWhenItSays() throws {
        func holds(_ window: String, _ day: String, _ minute: Int) throws -> Bool {
            let window = try #require(FitnessWindow(window))
            #expect(FitnessWindow(window.description) == window)
            return window.holds(
                on: try #require(LocalDay(day)), at: try #require(MinuteOfDay(minute)))
        }
        #expect(
            try holds("days 12-31..01-03", "2026-12-31", 0)
                && holds("days 12-31..01-03", "2027-01-03", 0))
        #expect(
            try !holds("days 12-31..01-03", "2026-12-30", 0)
                && !holds("days 12-31..01-03", "2027-01-04", 0))
        #expect(
            try holds("times 20:00..03:59", "2026-05-05", 239)
                && !holds("times 20:00..03:59", "2026-05-05", 240))
        #expect(
            try holds("weekdays 1 5; months 5", "2026-05-01", 0)
                && !holds("weekdays 1 5", "2026-05-02", 0))
        #expect(try holds("days 02-29..02-29", "2028-02-29", 0))
        #expect(try !holds("days 12-01..12-26; days 12-31..01-03", "2026-12-26", 0))
        for nothing in [
            "", ";", "days", "days 12-31", "days 13-01..13-02", "times 24:30..25:00", "weekdays 8",
            "moon 1",
        ] {
            #expect(FitnessWindow(nothing) == nil, "\(nothing)")
        }
    }

    // MARK: Plain texts

    private static let plainOrNot: [(String, Refusal.Reason?)] = [
        ("Rivers forget nothing", nil), ("Bread, butter, and a window: enough", nil),
        ("The river is wide but the boat is small", nil),
        ("Der Fluss ist breit, aber das Boot ist klein", nil),
        ("Hier riecht es nach Regen", nil), ("Dans la cuisine, le silence est un but en soi", nil),
        ("Worth reading about slow bread: https://example.org/bread", .withLink),
        ("More about bread on example.org", .withLink), ("Slow bread #baking", .withTag),
        ("And then the bread fell", .goesOn), ("Although the kettle is old, it sings", .goesOn),
        ("Aber der Topf ist alt", .goesOn), ("Mais la soupe est froide", .goesOn),
        ("Pero el pan es bueno", .goesOn),
        ("하지만 빵은 맛있다", .goesOn), ("でも本が好き", .goesOn),
        ("Exactly!", .onlyReacts), ("なるほど", .onlyReacts), ("Genau!", .onlyReacts),
        ("The prime minister owns no bicycle", .publicAffairs),
        ("Der Bundestag hat schöne Fenster", .publicAffairs),
        ("El gobierno no sabe hacer pan", .publicAffairs), ("정부는 빵을 모른다", .publicAffairs),
        ("総理の傘は黒い", .publicAffairs), ("What a game that was", .liveShow),
        ("Elfmeter sind grausam", .liveShow),
        ("¡Golazo de mi vecino!", .liveShow), ("試合のあとの水", .liveShow),
    ]

    @Test(arguments: plainOrNot)
    func whatDatesATextKeepsItFromBeingPlain(text: String, demotion: Refusal.Reason?) {
        let verdict = verdict(text)
        #expect(verdict.demotion == demotion, "\(verdict)")
        #expect(verdict.grade == (demotion == nil ? .plain : .fit), "\(verdict)")
        #expect(verdict.isPlain == (demotion == nil))
        #expect(verdict.reason == nil)
    }

    /// A link says less of a text than its words.
    @Test func theWordsNameTheReasonBeforeTheLink() {
        let verdict = verdict("The parliament in a nutshell: https://example.org/p #politics")
        #expect(verdict.demotion == .publicAffairs)
        #expect(verdict.demotionByWords == .publicAffairs)
        #expect(verdict.findings.map(\.reason) == [.withLink, .withTag, .publicAffairs])
        #expect(self.verdict("Slow bread #baking").demotionByWords == nil)
    }

    // MARK: Faults that the rules had

    /// With the flag `i`, `[A-Z]` is every letter.
    @Test func noRowForEitherCaseHoldsAClassOfCapitals() throws {
        let capital = try NSRegularExpression(pattern: #"\[[^\]]*(?<!\\)\p{Lu}[^\]]*\]"#)
        var rows = 0
        for row in Fitness.table.split(separator: "\n") where !row.hasPrefix("#") {
            let fields = row.split(separator: "\t")
            try #require(fields.count == 4, "\(row)")
            guard fields[2].prefix(while: { $0 != " " }).contains("i") else { continue }
            rows += 1
            let pattern = String(fields[3])
            let found = capital.firstMatch(
                in: pattern, range: NSRange(pattern.startIndex..., in: pattern))
            #expect(found == nil, "\(row)")
        }
        #expect(rows > 100)
    }

    private static let mended: [(String, Refusal.Reason?, String?)] = [
        ("rip my old CDs, then sell them", nil, nil), ("Let it rip!", nil, nil),
        ("I rip paper slowly", nil, nil),
        ("RIP Grandpa Otto", .tragedy, nil), ("RIP my friend", .tragedy, nil),
        ("R.I.P.", .tragedy, nil),
        ("Looking forward to #WWDC21", .tagNumber, nil), ("WWDC21 was loud", .event, nil),
        ("Eurovision 2014 songs", .event, nil), ("Oscars2016 dresses", .event, nil),
        ("The show begins in less than 12 hours", .timeBound, nil),
        ("Home within the next two hours", .timeBound, nil),
        ("Done in about ten minutes", .timeBound, nil),
        ("Night!", .greetingTime, "times 20:00..03:59"),
        ("Nite all", .greetingTime, "times 20:00..03:59"),
        ("Evening, folks", .greetingTime, "times 17:00..22:59"), ("The night is a coat", nil, nil),
        ("Have a great weekend", .greetingTime, "weekdays 5 6 7"),
        ("Happy weekend!", .greetingTime, "weekdays 5 6 7"),
        ("Schönes Wochenende euch", .greetingTime, "weekdays 5 6 7"),
        ("良い週末を", .greetingTime, "weekdays 5 6 7"),
        ("いい肉の日だ", .greetingSeason, "days 11-29..11-29"),
        ("猫の日", .greetingSeason, "days 02-22..02-22"),
        ("9月の雨は長い", .dated, "months 9"), ("１２月が好き", .dated, "months 12"),
        ("十一月の猫", .dated, "months 11"),
        ("三日月を食べたい", nil, nil), ("3か月ほど寝かせる", nil, nil), ("9월의 비는 길다", .dated, "months 9"),
        ("The doors stayed open", nil, nil), ("Doors open at 7", .event, nil),
        ("The ticket he left on the table", nil, nil), ("Registration is now open", .event, nil),
        ("これから毎日歩くつもりだ", nil, nil), ("これからもよく寝たい", nil, nil), ("これから会議", .timeBound, nil),
        ("I offer you tea, now and then", nil, nil), ("Also ich mag Brot", nil, nil),
        ("Also, the bread fell", .threadPart, nil),
    ]

    @Test(arguments: mended)
    func faultsOfOneKindAreMended(text: String, reason: Refusal.Reason?, window: String?) {
        let verdict = verdict(text, cut: false)
        #expect(verdict.reason == reason, "\(verdict)")
        #expect(verdict.window?.description == window, "\(verdict)")
    }

    @Test(arguments: [
        ("See you at #35c3", true), ("#FOSDEM2020 was cold", true), ("＃夏コミ９６", true),
        ("#4c1 talks", true),
        ("#Sep11", true), ("#100days of bread", true), ("#web3 is a word", false),
        ("We are #10", false),
        ("C#10 is nice", false), ("https://example.org/a#part42 is a page about it", false),
        ("#bread", false),
    ])
    func aHashtagWithANumberIsOfAnEvent(text: String, isOne: Bool) {
        let verdict = verdict(text)
        #expect(verdict.findings.contains { $0.reason == .tagNumber } == isOne, "\(verdict)")
        #expect((verdict.grade == .broken) == isOne, "\(verdict)")
    }

    // MARK: Rows of form

    /// The first rule about the words, and the window.
    private static let forms: [(String, Refusal.Reason?, String?)] = [
        // Scores.
        ("Que jogo, 1x0 no fim", .liveShow, nil), ("Dois a um: 2 x 1", .liveShow, nil),
        ("Es steht 2:1 im Regen", .liveShow, nil),
        ("Up 3-1 and nobody sits", .liveShow, nil), ("2-2, every chair is loud", .liveShow, nil),
        ("雨の中で3対1", .liveShow, nil), ("비가 오는데 2대1", .liveShow, nil),
        ("6-4, 6-3, water", .liveShow, nil),
        ("A 4x4 on a hill", nil, nil), ("Two boards, 2x4 each", nil, nil),
        ("Pictures in 16:9 and 4:3", nil, nil),
        ("A 1:1 map of the kitchen", nil, nil), ("He plays a 4-4-2 of spoons", nil, nil),
        ("Bread in 2-3 steps", nil, nil),
        ("Nine to five is 9-5", nil, nil), ("0-3 years old and loud", nil, nil),
        ("The sum 3 x 4 = 12 is bread", nil, nil),
        ("1対1で話すと長い", nil, nil), ("Version 1.2:3 of a soup", nil, nil),
        // Stretched letters.
        ("Goooood bread", .onlyReacts, nil), ("That is sooo long.", .onlyReacts, nil),
        ("NOOOO, the soup", .onlyReacts, nil),
        ("Schööön, das Brot", .onlyReacts, nil), ("やったーーー", .onlyReacts, nil),
        ("うううう、雨", .onlyReacts, nil),
        ("아아아 커피", .onlyReacts, nil), ("A book by the bookkeeper", nil, nil),
        ("Henry VIII ate bread", nil, nil),
        ("Two AAA cells", nil, nil), ("The www of spiders", nil, nil), ("コーヒーがある", nil, nil),
        ("ドドドと滝が落ちる", nil, nil),
        ("A letter with xxx", nil, nil),
        // Laughs that stand alone.
        ("ㅋㅋㅋ", .onlyReacts, nil), ("그렇구나 ㅋㅋㅋ", .onlyReacts, nil), ("kkkk", .onlyReacts, nil),
        ("Pão demais kkkk", .onlyReacts, nil), ("パンだw", .onlyReacts, nil),
        ("อร่อย 555", .onlyReacts, nil),
        ("jajaja pan", .goesOn, nil), ("otro pan jaja", .onlyReacts, nil),
        ("wkwkwk roti", .goesOn, nil),
        ("хахаха", .onlyReacts, nil), ("哈哈哈", .onlyReacts, nil), ("パンか（笑）", .onlyReacts, nil),
        ("ja ja, das Brot ist gut genug", nil, nil), ("彼女の微笑", nil, nil),
        ("Room 5550 has a bed", nil, nil),
        ("雨のあとの冬の草", nil, nil), ("La hija del panadero", nil, nil),
        // A weekday inside a longer word.
        ("Freitagabend mit Brot", .greetingTime, "weekdays 5"),
        ("Der Montagmorgenkaffee", .greetingTime, "weekdays 1"),
        ("Zondagmiddag en soep", .greetingTime, "weekdays 7"),
        ("Fredagsmys", .greetingTime, "weekdays 5"),
        ("A sundayish soup", .greetingTime, "weekdays 7"),
        ("Perjantaipullo", .greetingTime, "weekdays 5"),
        ("Viernesito con pan", .greetingTime, "weekdays 5"),
        ("Domingão de pão", .greetingTime, "weekdays 7"),
        ("Freitagabends gibt es Brot", nil, nil), ("Sonntags ist Ruhe", nil, nil),
        ("Fredagar är gula", nil, nil),
        ("Fridays are a rumour", nil, nil),
        // Somebody died.
        ("Otto Brotmann died at 81", .tragedy, nil), ("So Mira Teapot is dead.", .tragedy, nil),
        ("Otto von Brot has been a baker, Otto von Brot just died", .tragedy, nil),
        ("Otto Brotmann ist tot", .tragedy, nil),
        ("Otto Brotmann ist gestern gestorben", .tragedy, nil),
        ("Otto Brotmann est mort", .tragedy, nil), ("Murió Otto Brotmann", .tragedy, nil),
        ("Otto Brotmann nos dejó", .tragedy, nil), ("Morreu o ator Otto Brotmann", .tragedy, nil),
        ("Otto Brotmann is overleden", .tragedy, nil), ("È morto Otto Brotmann", .tragedy, nil),
        ("Otto Brotmann har avlidit", .tragedy, nil), ("Умер Отто Бротман", .tragedy, nil),
        ("オットーさんが死んだ", .tragedy, nil),
        ("오토 씨가 세상을 떠났다", .tragedy, nil), ("奥托去世", .tragedy, nil),
        ("My phone died and I heard birds", nil, nil), ("The old kettle is dead", nil, nil),
        ("Mein Handy ist tot", nil, nil), ("Murió mi celular", nil, nil),
        ("The Walking Dead, with bread", nil, nil),
        ("기타 계정이 있다", nil, nil),
        // Parts of a thread.
        ("Abro hilo sobre el pan", .threadPart, nil), ("Fio: o pão", .threadPart, nil),
        ("Draadje: het brood", .threadPart, nil),
        ("Тред: о хлебе", .threadPart, nil), ("パンの話をツリーに続けます", .threadPart, nil),
        ("빵 이야기 타래로", .threadPart, nil),
        ("1) Take flour", .threadPart, nil), ("Then water (2)", .threadPart, nil),
        ("[2/5] Water", .threadPart, nil),
        ("👆 about bread", .threadPart, nil), ("About bread 👇", .threadPart, nil),
        ("What bread needs:", .threadPart, nil),
        ("Teil 2 von 3, das Mehl", .threadPart, nil), ("Вода (продолжение)", .threadPart, nil),
        ("I lost the thread", nil, nil), ("El hilo de la aguja", nil, nil),
        ("Le pain tient sur un fil", nil, nil),
        ("Bread is fine :blobcat:", nil, nil), ("My oven turned old (42)", nil, nil),
        ("The rain goes on 雨が続く", nil, nil),
    ]

    @Test(arguments: forms)
    func formTellsWhatWordsDoNot(text: String, reason: Refusal.Reason?, window: String?) {
        let verdict = verdict(text, cut: false)
        let found = verdict.reason ?? verdict.demotionByWords
        #expect(found == reason, "\(verdict)")
        #expect(verdict.window?.description == window, "\(verdict)")
    }

    // MARK: Other languages

    /// The commonest words tell the language: what is a time in one is a place in another.
    @Test func wordsAreReadInTheLanguageOfTheText() {
        #expect(verdict("Hier il est tombé dans la soupe").reason == .timeBound)
        #expect(verdict("Hier ist es schön und warm").reason == nil)
        #expect(verdict("Nu eerst een kop koffie met de buren").reason == .timeBound)
        #expect(verdict("Un corps nu dans la mer").reason == nil)
        var short = post("Hier.")
        short.language = "fr"
        #expect(Fitness.standard.verdict(on: short, year: 2_015) { _ in nil }.reason == .timeBound)
        short.language = "de-AT"
        #expect(Fitness.standard.verdict(on: short, year: 2_015) { _ in nil }.reason == nil)
    }

    @Test(arguments: [
        ("Am Freitag gibt es Fisch", "weekdays 5"),
        ("Vendredi, du poisson pour tous", "weekdays 5"),
        ("El viernes hay pescado", "weekdays 5"), ("Sexta-feira tem peixe", "weekdays 5"),
        ("Vrijdag eten we vis", "weekdays 5"), ("금요일에는 생선", "weekdays 5"),
        ("Der Juli ist laut", "months 7"), ("En juillet les murs sont chauds", "months 7"),
        ("El julio de mi abuela", "months 7"), ("Em julho o mar é frio", "months 7"),
        ("In juli is het water warm", "months 7"),
        ("Guten Morgen, Welt", "times 04:00..10:59"), ("Buenas noches, luna", "times 20:00..03:59"),
        ("Frohe Weihnachten", "days 12-01..12-26"), ("Feliz Natal", "days 12-01..12-26"),
        ("새해 복 많이 받으세요", "days 12-31..01-03"), ("Jeden Freitag gibt es Fisch", ""),
        ("매주 금요일은 생선", ""),
    ])
    func weekdaysMonthsAndGreetingsOfOtherLanguagesHaveWindows(text: String, window: String) {
        let verdict = verdict(text)
        #expect(verdict.window?.description ?? "" == window, "\(verdict)")
        #expect(verdict.grade <= .fit, "\(verdict)")
    }

    private struct Line: Decodable {
        let text, language: String
        let fit: Bool
    }

    /// Invented texts, half of them fit.
    ///
    /// A text is found if a rule about its words keeps it from being plain.
    @Test(arguments: ["de", "fr", "es", "pt", "nl", "ko"])
    func nineOfTenUnfitTextsAreFoundInOtherLanguages(language: String) throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "Resources/languages.jsonl")
        let decoder = JSONDecoder()
        let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
            .map { try decoder.decode(Line.self, from: Data($0.utf8)) }.filter {
                $0.language == language
            }
        let unfit = lines.count { !$0.fit }
        #expect(lines.count >= 40)
        #expect(unfit * 2 == lines.count)
        func found(_ line: Line) -> Bool {
            var written = post(line.text)
            written.language = line.language
            let verdict = Fitness.standard.verdict(on: written, year: 2_015) { _ in nil }
            return verdict.reason != nil || verdict.demotionByWords != nil
        }
        let hits = lines.filter(found)
        let right = hits.count { !$0.fit }
        let missed = lines.filter { !$0.fit && !found($0) }.map(\.text)
        #expect(Double(right) >= 0.9 * Double(unfit), "\(missed)")
        #expect(Double(right) >= 0.9 * Double(hits.count), "\(hits.filter(\.fit).map(\.text))")
    }

    // MARK: What only the whole archive tells

    @Test func aHashtagOfOneOccasionIsNeverUsed() {
        var habits = Habits()
        func day(_ number: Int) -> Date { Date(timeIntervalSince1970: Double(number) * 86_400) }
        for month in 0..<5 {
            habits.include("Slow bread #Baking", by: nil, at: day(month * 30))
            habits.include("A talk #conf", by: nil, at: day(month * 7))
            if month < 4 { habits.include("Fog #weather", by: nil, at: day(month * 30)) }
        }
        func reason(_ text: String) -> Refusal.Reason? {
            habits.complete(verdict(text), on: post(text)).reason
        }
        #expect(reason("Other bread ＃baking") == nil)
        #expect(reason("Another talk #conf") == .rareTag)
        #expect(reason("More fog #weather") == .rareTag)
        #expect(reason("Bread #baking in fog #weather") == .rareTag)
        #expect(reason("No tag") == nil)
        #expect(habits.complete(verdict("a #conf"), on: post("a #conf")).grade == .broken)
        #expect(
            habits.complete(verdict("One"), on: post("One"), followedBy: ["two #conf"]).reason
                == .rareTag)
    }

    /// A tag that becomes usual has no text judged again that has no tag.
    @Test func newHabitsConcernOnlyTheTextsThatHaveThem() {
        var old = Habits()
        for number in 0..<5 {
            old.include("News https://feed.example/\(number)", by: "Feed", at: noon)
        }
        var new = old
        for month in 0..<5 {
            new.include("#baking", by: nil, at: noon + Double(month * 30) * 86_400)
        }
        #expect(old.version != new.version)
        let known = old.version[...]
        #expect(new.giveSameVerdict(on: "Rivers", as: known))
        #expect(!new.giveSameVerdict(on: "Slow #baking", as: known))
        #expect(!Habits().giveSameVerdict(on: "Rivers", as: known))
        #expect(!old.giveSameVerdict(on: "Rivers", as: " words\(old.version)"))
        #expect(old.giveSameVerdict(on: "Rivers", as: new.version[...]))
        #expect(Habits().version.isEmpty)
    }

    @Test func aProgramThatPostsLinksOfOneSiteIsAMachine() {
        var machines = MachineClients()
        for number in 0..<5 {
            machines.include("News https://www.feed.example/\(number)", by: "Feed")
            machines.include(
                number < 2 ? "Read https://feed.example/\(number)" : "Rivers", by: "Web")
            if number < 4 { machines.include("https://feed.example/\(number)", by: "Rare") }
        }
        machines.include("Three of six would do", by: "Feed")
        let link = "More https://feed.example/9"
        #expect(machines.wrote(link, by: "Feed"))
        for client in ["Web", "Rare", nil, "Unknown"] { #expect(!machines.wrote(link, by: client)) }
        // What does not lead there was written by a person.
        #expect(!machines.wrote("Three of six would do", by: "Feed"))
        #expect(!machines.wrote("https://other.example/", by: "Feed"))
        #expect(!machines.version.isEmpty)
        #expect(MachineClients().version.isEmpty)
    }

    /// Shortened links lead to any site, and who answers people is one.
    @Test func aProgramOfAPersonIsNoMachine() {
        var machines = MachineClients()
        for number in 0..<40 {
            machines.include("Read this https://bit.ly/\(number)", by: "TweetDeck")
            machines.include("My page https://blog.example/\(number)", by: "Phone")
            machines.include("My page https://blog.example/\(number)", by: "Feed")
        }
        for _ in 0..<3 { machines.include("@ben yes", by: "Phone", isAnswer: true) }
        machines.include("@ben a slip", by: "Feed", isAnswer: true)
        #expect(!machines.wrote("Read this https://bit.ly/9", by: "TweetDeck"))
        #expect(!machines.wrote("My page https://blog.example/9", by: "Phone"))
        #expect(machines.wrote("My page https://blog.example/9", by: "Feed"))
    }

    /// Which of two sites is the commonest must not change the version by chance.
    @Test func theSiteOfAMachineIsNoChance() {
        func version(_ order: [String]) -> String {
            var machines = MachineClients()
            for number in 0..<6 {
                machines.include(
                    order.map { "https://\($0)/\(number)" }.joined(separator: " "), by: "Feed")
            }
            return machines.version
        }
        #expect(version(["a.example", "b.example"]) == version(["b.example", "a.example"]))
    }
}
