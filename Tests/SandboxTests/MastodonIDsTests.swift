import Foundation
import Testing

@testable import Sandbox

@Suite struct MastodonIDsTests {
    /// Small serial numbers, people, posts of two years, and the ends of the range.
    private static let numbers: [Int64] = {
        var numbers: [Int64] = [1, 2, 1_001, 1_002, 65_535, 65_536, .max - 1, .max]
        numbers += [MastodonEntities.accountID(0), MastodonEntities.accountID(3)]
        for time: Int64 in [1_700_000_000_000, 1_700_000_000_001, 1_795_100_400_000] {
            numbers += [time << 16, time << 16 | 1, time << 16 | 0xFFFF]
        }
        return numbers
    }()

    @Test(arguments: MastodonIDs.allCases)
    func leadsBackToTheNumber(ids: MastodonIDs) {
        for number in Self.numbers { #expect(ids.number(of: ids.text(of: number)) == number) }
        #expect(Set(Self.numbers.map(ids.text)).count == Self.numbers.count)
    }

    @Test func looksLikeTheServersOwn() throws {
        let number: Int64 = 1_700_000_000_123 << 16 | 7
        #expect(MastodonIDs.decimal.text(of: number) == "111411200008060935")
        // 1,700,000,000,123 ms in ten characters, then 80 bits.
        let ulid = MastodonIDs.ulid.text(of: number)
        #expect(ulid.hasPrefix("01HF7YAT3V"))
        #expect(ulid.count == 26)
        #expect(ulid.wholeMatch(of: /[0-7][0-9A-HJKMNP-TV-Z]{25}/) != nil)
        let flake = MastodonIDs.flake.text(of: number)
        #expect(flake.wholeMatch(of: /[0-9A-Za-z]{18}/) != nil)
        #expect(flake.lowercased() != flake)
        #expect(flake.uppercased() != flake)
        #expect(MastodonIDs.hash.text(of: number).wholeMatch(of: /[0-9a-f]{32}/) != nil)
    }

    @Test(arguments: [MastodonIDs.decimal, .ulid, .flake])
    func sortsByLengthAndBytesAsTimeDoes(ids: MastodonIDs) {
        let texts = Self.numbers.sorted().map(ids.text)
        #expect(texts.sorted { ($0.count, $0) < ($1.count, $1) } == texts)
    }

    /// A bound may be any id of the form, up to the highest.
    @Test(arguments: [
        (MastodonIDs.decimal, "9223372036854775807"), (.ulid, "7ZZZZZZZZZZZZZZZZZZZZZZZZZ"),
    ])
    func takesTheHighestIDForABound(ids: MastodonIDs, highest: String) throws {
        let bound = try #require(ids.bound(of: highest))
        #expect(Self.numbers.allSatisfy { $0 <= bound })
    }

    @Test func hashesDoNotSort() {
        let texts = (0..<40).map { MastodonIDs.hash.text(of: (1_700_000_000_000 + $0) << 16) }
        #expect(texts.sorted() != texts)
        #expect(texts.sorted().reversed() != texts)
    }

    @Test(arguments: MastodonIDs.allCases)
    func refusesWhatItNeverWrote(ids: MastodonIDs) {
        let good = ids.text(of: 1_700_000_000_123 << 16)
        let other = String(good.dropLast()) + (good.hasSuffix("0") ? "1x" : "0x")
        let bad = [
            "", "0", "-1", " ", "!", other, good + "!", "x" + good,
            String(repeating: "Z", count: 26),
            String(repeating: "z", count: 26), String(repeating: "f", count: 32),
            String(repeating: "9", count: 40),
            "猫",
        ]
        for text in bad { #expect(ids.number(of: text) == nil) }
    }
}
