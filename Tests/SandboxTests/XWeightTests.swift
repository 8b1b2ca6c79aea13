import Foundation
import Testing

@testable import Sandbox

@Suite struct XWeightTests {
    @Test(
        arguments: [
            ("Hi http://test.co", 26), ("http://test.co", 23), ("Hello, world! 👋", 16), ("H🐱☺👨‍👩‍👧‍👦", 7),
            ("😷👾😡🔥💩", 10), ("🙋🏽👨‍🎤", 4), (String(repeating: "故", count: 160), 320),
            ("the" + String(repeating: "故", count: 160), 323), ("A\u{301}B", 2), ("A\u{FB2C}", 4),
            (String(repeating: "https://www.twitter.com/aloha ", count: 10), 240),
            (String(repeating: "randomurl", count: 7) + "s.com", 68), ("🇯🇵1️⃣", 4), ("1", 1), ("ⓐ", 2),
            ("“a”", 3),
        ])
    func weighsAsTheTableSays(text: String, weight: Int) {
        #expect(XWeight.weight(of: text) == weight)
    }

    @Test(
        arguments: [
            ("see example.com.", ["example.com"]),
            ("(https://a.example/b?c=d)", ["https://a.example/b?c=d"]),
            ("mail me@example.com", []), ("foo.jp", []), ("foo.jp/bar", ["foo.jp/bar"]),
            ("www.foo.jp", ["www.foo.jp"]),
            ("v1.2.3 and node.js", []), ("日本語https://a.com/x日本語", ["https://a.com/x"]),
            ("http://localhost:80/", []), ("HTTP://A.COM:8080/x, b", ["HTTP://A.COM:8080/x"]),
            ("a.com b.org", ["a.com", "b.org"]), ("-a.com @b.com #c.com", []), ("http://", []),
            ("....", []),
            ("a..com", []),
        ])
    func findsLinks(text: String, links: [String]) {
        let found = XLinks.ranges(in: text).map { String(text[$0]) }
        #expect(found == links)
    }

    @Test(arguments: ["", " \n", "a\u{FEFF}b", "a\u{FFFE}", String(repeating: "a", count: 281)])
    func objectsToTextsThatXDoesNotTake(text: String) {
        #expect(XWeight.objection(to: text) != nil)
    }

    @Test func takesExactly280() {
        #expect(XWeight.objection(to: String(repeating: "a", count: 280)) == nil)
        #expect(XWeight.objection(to: String(repeating: "故", count: 140)) == nil)
        #expect(XWeight.objection(to: String(repeating: "故", count: 140) + "a") != nil)
    }
}
