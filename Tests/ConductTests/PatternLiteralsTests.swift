import Foundation
import TestSupport
import Testing

@testable import Conduct

/// What every match of a pattern contains, so that patterns need not be tried in vain.
@Suite struct PatternLiteralsTests {
    @Test(arguments: [
        ("fog", "Thick FOG", true), ("fog", "f og", false), ("fogs?", "fog", true),
        ("fo+g", "fooog", true),
        ("fog|mist", "mist", true), ("fog|mist", "must", false),
        ("fog(?:gy|horn)", "foghorn", true),
        ("fog(?:gy|horn)", "fogbow", true), ("(?:fog)?horn", "horn", true),
        ("(?:fog)*horn", "fog", false),
        ("(?:fog){2,}", "fog", true), ("(?i:fog)gy", "FOGGY", true), (#"\bfog\b"#, "fog", true),
        (#"fog\.x"#, "fog.x", true), (#"fog\.x"#, "fog,x", false), (#"^\W*fog"#, "...fog", true),
        ("[Ff]og", "Fog", true), ("[☝👆]", "👆", true), ("[☝👆]", "👇", false), ("[^a]og", "fog", true),
        (#"\d{1,2} ?h"#, "at ٤h", true), (#"\d h"#, "at noon,h", false),
        ("fog(?= over)", "fog", true),
        ("(?<!no )fog", "fog", true), ("(?<!no )fog", "no", false), ("霧|もや", "朝霧", true),
        ("霧|もや", "朝", false),
        ("straße", "STRASSE", true), ("été", "ÉTÉ", true), ("σοφός", "ΣΟΦΌΣ", true),
        (#"\u2600fog"#, "fog", true),
        ("fog{0,}horn", "fohorn", true), ("f[a-z]g", "fog", true),
    ])
    func saysNoOnlyWhereAPatternCannotMatch(pattern: String, text: String, mayMatch: Bool) throws {
        let literals = try #require(PatternLiterals(of: pattern))
        #expect(literals.mayMatch(TextGrams(text)) == mayMatch)
    }

    /// Where nothing is known the pattern is tried.
    @Test(arguments: [
        #"\w+"#, "fog|.", "(?:fog)?", #"(f)\1"#, "(?<name>fog)", #"\x41fog"#, #"\p{L}fog"#,
        "(?x)f o g", "",
    ])
    func saysNothingOfWhatIsNotKnown(pattern: String) {
        #expect(PatternLiterals(of: pattern) == nil)
    }

    @Test func mostRulesAreNotTriedInVain() {
        let patterns = Fitness.table.split(separator: "\n").filter { !$0.hasPrefix("#") }
            .map { String($0.split(separator: "\t")[3]) }
        let unknown = patterns.filter { PatternLiterals(of: $0) == nil }
        #expect(unknown.count <= 12, "\(unknown)")
    }

    /// Every verdict is the one that it is when every pattern is tried: of texts in eight
    /// languages, and of texts made of what the rules look for.
    @Test(arguments: 0..<3 as Range<UInt64>) func changesNoVerdict(seed: UInt64) throws {
        let whole = Fitness(Fitness.table, triesAll: true)
        for text in try languages(seed) + madeOfRules(seed) {
            let written = post(text)
            let year = 2_015
            let verdict = Fitness.standard.verdict(on: written, year: year) { _ in nil }
            #expect(verdict == whole.verdict(on: written, year: year) { _ in nil }, "\(text)")
        }
    }

    private struct Line: Decodable { let text: String }

    /// A third of the texts, as they are written and in capitals.
    private func languages(_ seed: UInt64) throws -> [String] {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "Resources/languages.jsonl")
        let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
        return try lines.enumerated().filter { UInt64($0.offset) % 3 == seed }
            .map { try JSONDecoder().decode(Line.self, from: Data($0.element.utf8)).text }
            .flatMap { [$0, $0.uppercased()] }
    }

    private func madeOfRules(_ seed: UInt64) -> [String] {
        var generator = SeededGenerator(seed: seed)
        let words = Fitness.table.split(separator: "\n").filter { !$0.hasPrefix("#") }
            .flatMap {
                $0.split(separator: "\t")[3].matches(of: #/[\p{L}\p{N}' ]{2,}/#).map {
                    String($0.output)
                }
            }
        let signs = [
            "#", "@mira", "https://example.org/a", "7", "2014", "!", "…", "ㅋㅋ", "👇", "12:30", "3-1",
            ":",
        ]
        return (0..<150).map { _ in
            (0..<Int.random(in: 1...5, using: &generator)).map { _ in
                let word =
                    (Bool.random(using: &generator) ? words : signs).randomElement(
                        using: &generator) ?? ""
                return Bool.random(using: &generator) ? word : word.capitalized
            }
            .joined(separator: Bool.random(using: &generator) ? " " : "")
        }
    }
}
