import Conduct
import Posts
import TestSupport
import Testing

/// Names of people in texts, put together by the grammars of the networks.
@Suite struct NamesTests {
    private static let names = ["ann", "Bo_1", "c--d", "e..f", "g.h-i", "_j_", "4", "josé", "имя"]
    private static let labels = [
        "a", "x1", "bäw", "xn--bw-via", "my--host", "例え", "ab日本cd", "пример", "ελλάδα", "مثال",
        "उदाहरण", "한국", "ไทย",
        "b_c", "ca\u{303}o",
    ]
    private static let ends = ["example", "jp", "рф", "みんな", "भारत", "xn--p1ai", "example:8443"]
    private static let words = [
        "heard", "昨日", "gestern", "вчера", "говорит:", "(and)", "नमस्ते", "x", "—",
    ]

    /// Words with some names between them: with their hosts, and without these and their signs.
    private static func sentence(_ generator: inout SeededGenerator) -> (
        written: String, plain: String
    ) {
        var written = ["so"]
        var plain = ["so"]
        for _ in 0..<Int.random(in: 1...6, using: &generator) {
            guard Bool.random(using: &generator) else {
                let word = words.randomElement(using: &generator) ?? ""
                written = written + [word]
                plain = plain + [word]
                continue
            }
            let name = names.randomElement(using: &generator) ?? ""
            let host = (0..<Int.random(in: 1...3, using: &generator)).map { _ in
                labels.randomElement(using: &generator) ?? ""
            }
            let end = ends.randomElement(using: &generator) ?? ""
            let sign = [",", "!", ".", "、", "", "", "", ""].randomElement(using: &generator) ?? ""
            written.append("@\(name)@\((host + [end]).joined(separator: "."))\(sign)")
            plain.append(name + sign)
        }
        return (
            (written + ["said so"]).joined(separator: " "),
            (plain + ["said so"]).joined(separator: " ")
        )
    }

    @Test(arguments: 0..<8)
    func nothingIsLeftOfAHost(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<200 {
            let (written, plain) = Self.sentence(&generator)
            let cleaned = TextRules().text(for: post(written)).value
            #expect(cleaned == plain, "\(written)")
        }
    }

    /// Whose name it was makes no difference to what two texts have in common, where it lives makes
    /// none either.
    @Test(arguments: [
        ("hi @ann@bäw.example", "hi @ann"), ("hi @ann@xn--bw-via.example", "hi @ann@bäw.example"),
        ("hi @c--d@my--host.example", "hi @c--d@a.example"),
        ("hi @josé@a.example", "hi @josé@b.example"),
    ])
    func aHostMakesNoDifferenceToATextsKey(first: String, second: String) {
        #expect(TextRules.textKey(first) == TextRules.textKey(second))
        #expect(TextRules.stableLetters(of: first) == TextRules.stableLetters(of: second))
    }
}
