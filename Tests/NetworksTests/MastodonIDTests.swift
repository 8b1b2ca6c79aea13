import Testing

@testable import Networks

@Suite struct MastodonIDTests {
    @Test(
        arguments: [
            ("9", "10", false), ("10", "9", true), ("109", "109", false), ("0010", "9", true),
            ("115999999999999999", "99999999999999999", true),
            ("01KAE3V6ZZZZZZZZZZZZZZZZZZ", "01KAE3V700000000000000000A", false),
            ("01KAE3V700000000000000000B", "01KAE3V700000000000000000A", true),
            // Flake ids, hashes and mixtures.
            ("AbCdEfGhIjKlMnOpQr", "AbCdEfGhIjKlMnOpQs", nil), ("d41d8cd9", "8f14e45f", nil), ("9", "abc", nil),
            ("01KAE3V700000000000000000A", "9", nil),
        ] as [(String, String, Bool?)])
    func knowsTheOrderOfCommonIDs(id: String, other: String, expected: Bool?) {
        #expect(MastodonID.isNewer(id, than: other) == expected)
    }

    @Test(
        arguments: [
            (["3", "2", "1"], "3", "1"), (["2", "10", "9"], "10", "2"), (["x", "b", "c"], "x", "c"), (["5"], "5", "5"),
            ([], nil, nil),
        ] as [([String], String?, String?)])
    func findsTheEndsOfAPage(ids: [String], newest: String?, oldest: String?) {
        #expect(MastodonID.newest(of: ids) == newest)
        #expect(MastodonID.oldest(of: ids) == oldest)
    }

    @Test(arguments: [
        ("1", true), ("01KAE3V700000000000000000A", true), ("a/b?c", true), ("", false), (".", false), ("..", false),
        ("a b", false), ("a\nb", false), ("a\u{0}", false), (String(repeating: "1", count: 257), false),
    ])
    func refusesWhatCannotBeAnID(text: String, expected: Bool) {
        #expect(MastodonID.isUsable(text) == expected)
    }
}
