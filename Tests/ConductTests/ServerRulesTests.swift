import Conduct
import Expectations
import Foundation
import Testing

/// Which sentences of a server's rules a person is shown, and which limits are read in them.
@Suite struct ServerRulesTests {
    /// A sentence of `server-rules.txt`.
    private struct Line {
        let language: String
        let part: String
        let text: String
        let speaksOfBots: Bool
        /// The number of the rule to which it belongs.
        let rule: Int
    }

    private static let lines: [Line] = {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "Resources/server-rules.txt")
        guard let text = try? String(contentsOf: file, encoding: .utf8) else { return [] }
        var lines: [Line] = []
        var language = ""
        var part = ""
        var rule = 0
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            let words = line.split(separator: " ")
            if words[0] == "list" {
                language = String(words[1])
                part = String(words[2])
                rule += 1
                continue
            }
            if !line.hasPrefix(" ") { rule += 1 }
            let sentence = line.trimmingCharacters(in: .whitespaces)
            lines.append(
                Line(
                    language: language, part: part, text: String(sentence.dropFirst(2)),
                    speaksOfBots: sentence.hasPrefix("+"), rule: rule))
        }
        return lines
    }()

    /// The texts of the rules, and the sentences that are found in each.
    private func found(in lines: [Line]) -> Set<String> {
        let rules = Dictionary(grouping: lines, by: \.rule).values
        return Set(
            rules.flatMap { rule in
                ServerRules.standard.sentences(in: rule.map(\.text).joined(separator: " ")).map(
                    \.text)
            })
    }

    @Test func thereAreFortyListsInEightLanguagesAndEightMore() {
        let parts = Dictionary(grouping: Self.lines, by: \.part)
        expect(
            Set(Self.lines.map(\.language)),
            equals: ["en", "de", "fr", "es", "it", "pt", "nl", "ja"])
        #expect(parts["seen"]?.count == 170)
        #expect(parts["held"]?.count == 144)
        #expect(parts["fresh"]?.count == 56)
    }

    @Test func nearlyAllSentencesAboutBotsAreShownAndHardlyAnyOthers() {
        for (part, lines) in Dictionary(grouping: Self.lines, by: \.part) {
            let found = found(in: lines)
            let about = lines.filter(\.speaksOfBots)
            let others = lines.filter { !$0.speaksOfBots }
            let missed = about.filter { !found.contains($0.text) }.map(\.text)
            let wrong = others.filter { found.contains($0.text) }.map(\.text)
            #expect(Double(missed.count) <= 0.05 * Double(about.count), "\(part): \(missed)")
            #expect(Double(wrong.count) <= 0.05 * Double(others.count), "\(part): \(wrong)")
        }
    }

    @Test(arguments: [
        (
            "Automated accounts may post at most 10 times a day.",
            [RuleSentence.Limit.postsPerDay(10)]
        ),
        ("No more than one automated post per hour, please.", [.postsPerDay(24)]),
        ("Sie dürfen höchstens 5 Beiträge pro Tag veröffentlichen.", [.postsPerDay(5)]),
        ("Pas plus de 8 messages automatiques par jour.", [.postsPerDay(8)]),
        ("自動投稿は1日10回までとします。", [.postsPerDay(10)]),
        ("No more than 14 automated posts per week.", [.postsPerDay(2)]),
        ("Bots must post unlisted.", [.unlisted]),
        ("Automatisierte Beiträge bitte nur ungelistet.", [.unlisted]),
        ("Los mensajes automáticos llevan la etiqueta #bot.", [.hashtag("#bot")]),
        // Which of two numbers is the limit is for a person to say.
        ("Bots may post 5 times a day, 10 on weekends.", []),
        ("Bots are welcome.", []),
    ])
    func limitsAreRead(_ text: String, _ limits: [RuleSentence.Limit]) {
        let sentences = ServerRules.standard.sentences(in: text)
        expect(sentences.map(\.text), equals: [text])
        expect(sentences.flatMap(\.limits), equals: limits)
    }

    @Test func whatAServerDoesByItselfIsNoRuleForBots() {
        expect(
            ServerRules.standard.sentences(
                in:
                    "Inactive accounts are deleted automatically. Our robots.txt keeps crawlers out."
            ),
            equals: [])
    }

    @Test func aLongPageTakesNoLongTime() {
        let page = String(
            repeating: "Be kind to everybody, always, a bit more each day ", count: 40_000)
        expect(ServerRules.standard.sentences(in: page), equals: [])
    }

    // MARK: The first reply

    @Test func theNoteHasTheLanguageOfTheMention() {
        let note = FirstReplyNote(human: "ann@home.example")
        expect(FirstReplyNote.languages, equals: ["en", "de", "fr", "es", "it", "pt", "nl", "ja"])
        expect(note.line(in: "de-AT"), equals: "(Bot: alte Worte von ann. \"stop\" beendet es.)")
        expect(note.line(in: nil), equals: note.line(in: "en"))
        expect(note.line(in: "tlh"), equals: note.line(in: "en"))
        expect(note.line(in: "en")) { $0.contains("ann") && !$0.contains("home.example") }
        expect(FirstReplyNote(human: nil).line(in: "en")) { $0.contains("a person") }
        expect(FirstReplyNote(human: "a b#c").line(in: "en")) { !$0.contains("#") }
    }

    /// A line that calls nobody, links nothing and is no hashtag, on any network.
    @Test(arguments: ["ann@home.example", "ann.example.org", "ann_b"])
    func theNoteIsInert(_ handle: String) {
        for language in FirstReplyNote.languages {
            let line = FirstReplyNote(human: handle).line(in: language)
            #expect(!line.contains("@") && !line.contains("#") && !line.contains("://"), "\(line)")
            #expect(!line.contains("home.example") && !line.contains("example.org"), "\(line)")
            #expect(!OptOut.asksToStop(text: line), "\(line)")
            // Half of what X allows is left for the human's words.
            #expect(line.unicodeScalars.count < 70, "\(line)")
        }
    }
}
