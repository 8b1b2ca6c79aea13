import Formats
import Testing

@testable import Mastodon
@testable import Networks

@Suite struct MastodonIDTests {
    @Test(
        arguments: [
            ("9", "10", false), ("10", "9", true), ("109", "109", false), ("0010", "9", true),
            ("115999999999999999", "99999999999999999", true),
            ("01KAE3V6ZZZZZZZZZZZZZZZZZZ", "01KAE3V700000000000000000A", false),
            ("01KAE3V700000000000000000B", "01KAE3V700000000000000000A", true),
            // Flake ids, hashes and mixtures.
            ("AbCdEfGhIjKlMnOpQr", "AbCdEfGhIjKlMnOpQs", nil), ("d41d8cd9", "8f14e45f", nil),
            ("9", "abc", nil),
            ("01KAE3V700000000000000000A", "9", nil),
        ] as [(String, String, Bool?)])
    func knowsTheOrderOfCommonIDs(id: String, other: String, expected: Bool?) {
        #expect(MastodonID.isNewer(id, than: other) == expected)
    }

    @Test(arguments: [
        (["3", "2", "1"], false, false), (["1", "2", "3"], true, true),
        (["2", "10", "9"], true, false),
        (["10", "9", "11"], true, false), (["x", "b", "c"], false, false),
        (["3", "b", "1"], false, false),
        (["5"], false, false), ([], false, false), (["10", "9"], false, false),
        (["9", "10"], true, true),
    ])
    func noticesIDsThatDoNotSort(ids: [String], contradicts: Bool, isAscending: Bool) {
        #expect(MastodonID.contradictsOrder(ids) == contradicts)
        #expect(MastodonID.isAscending(ids) == isAscending)
    }

    @Test(arguments: [
        ("115999999999999999", true), ("01KAE3V700000000000000000A", true),
        ("AbCdEfGhIjKlMnOpQr", true),
        // Two forms of hashes, and nothing that is known.
        ("1763700000d41d8cd98f00b204e9800998ecf8427e", false),
        ("d41d8cd98f00b204e9800998ecf8427e", false),
        ("AbCd-fGhIjKlMnOpQr", false), ("x", false),
    ])
    func knowsWhichIDsKeepTheirPlace(id: String, expected: Bool) {
        #expect(MastodonID.isOrdered(id) == expected)
    }

    @Test(arguments: [
        ("1", true), ("01KAE3V700000000000000000A", true), ("a/b?c", true), ("", false),
        (".", false), ("..", false),
        ("a b", false), ("a\nb", false), ("a\u{0}", false),
        (String(repeating: "1", count: 257), false),
    ])
    func refusesWhatCannotBeAnID(text: String, expected: Bool) {
        #expect(MastodonID.isUsable(text) == expected)
    }

    @Test(
        arguments: [
            ("1000", 0, "999"), ("1000", 3, "936"), ("10", 1, "6"), ("10", 2, "1"), ("10", 3, nil),
            ("1", 0, nil),
            ("2", 0, "1"), ("2", 1, nil), ("115999999999999999", 0, "115999999999934463"),
            ("01KAE3V700000000000000000B", 0, "01KAE3V6ZZ000000000000000B"),
            ("0000000000000000000000000A", 0, "00000000000000000000000001"),
            ("AbCdEfGhIjKlMnOpQr", 0, "AbCdEfGLK33BLhEXsb"),
            ("d41d8cd98f00b204e9800998ecf8427e", 0, nil),
        ] as [(String, Int, String?)])
    func makesUpAnIDFurtherBelow(id: String, step: Int, expected: String?) {
        #expect(MastodonPlace(id)?.below(step: step)?.text == expected)
    }

    @Test(
        arguments: [
            ("1000", 0, "1001"), ("1000", 3, "1064"),
            ("115999999999934463", 0, "115999999999999999"),
            ("01KAE3V6ZZ000000000000000B", 0, "01KAE3V700000000000000000B"),
            ("9223372036854775807", 0, nil),
            ("AbCdEfGLK33BLhEXsb", 0, "AbCdEfGhIjKlMnOpQr"), ("zzzzzzzzzzzzzzzzzz", 0, nil),
            ("7ZZZZZZZZZZZZZZZZZZZZZZZZZ", 0, nil), ("99999999999999999999", 0, nil),
        ] as [(String, Int, String?)])
    func makesUpAnIDFurtherAbove(id: String, step: Int, expected: String?) {
        #expect(MastodonPlace(id)?.above(step: step)?.text == expected)
    }

    @Test(arguments: [
        "", "d41d8cd98f00b204e9800998ecf8427e", "8ZZZZZZZZZZZZZZZZZZZZZZZZZ", "12 13", "-1",
    ])
    func makesNoNumberOfAnIDWithoutOrder(id: String) { #expect(MastodonPlace(id) == nil) }
}
