import Conduct
import Posts
import Testing

/// Words and days that keep a text from being used.
@Suite struct MutedTests {
    private func muted(_ word: String) throws -> Muted {
        Muted([try #require(Muted.Entry(word: word))])
    }

    @Test(arguments: [
        ("name", "My Name is mud"), ("NAME", "a name."), ("ｎａｍｅ", "name"), ("name", "（ｎａｍｅ）"),
        ("Renée", "for RENEE!"),
        ("renee", "Rene\u{301}e came"), ("Straße", "the STRASSE"), ("Οδός", "ΟΔΟΣ"), ("ё", "Ё"),
        ("name", "@name hi"),
        ("name", "see https://e.example/name/1"), ("my  dog", "then my\ndog ran"),
        ("na\u{200B}me", "na\u{AD}me"),
        ("東京", "今日は東京へ"), ("ﾈｺ", "うちのネコは"), ("Tokyo", "Tokyoに行く"), ("철수", "철수는 왔다"),
        ("☕", "time for ☕"),
        ("C++", "i like c++ a lot"),
    ])
    func aWordIsFoundHoweverItIsWritten(word: String, text: String) throws {
        #expect(try muted(word).hasWord(text))
    }

    @Test(arguments: [
        ("name", "names"), ("name", "rename"), ("name", "surname_x"), ("ame", "name"), ("が", "か"),
        ("パン", "ハン"),
        ("my dog", "mydog"), ("東京", "京東"), ("name", ""), ("name", "na me"),
    ])
    func otherWordsAreNotFound(word: String, text: String) throws {
        #expect(try !muted(word).hasWord(text))
    }

    @Test(arguments: ["", " \n", "\u{200B}", String(repeating: "a", count: 201)])
    func whatIsNoWordCannotBeMuted(word: String) { #expect(Muted.Entry(word: word) == nil) }

    @Test func aDayIsMutedInEveryYear() throws {
        let muted = Muted([
            try #require(Muted.Entry(day: "12-24")), try #require(Muted.Entry(day: "02-29")),
        ])
        func reason(_ day: String) throws -> Refusal.Reason? {
            muted.reason(against: "any", of: try #require(LocalDay(day)))
        }
        #expect(try reason("2019-12-24") == .mutedDay && reason("1999-12-24") == .mutedDay)
        #expect(
            try reason("2020-02-29") == .mutedDay && reason("2021-02-28") == nil
                && reason("2019-12-25") == nil)
        for text in ["24-12", "12-24-2019", "13-01", "02-30", "", "12-4", "../12"] {
            #expect(Muted.Entry(day: text) == nil, "\(text)")
        }
    }

    @Test func aSpanHasItsEnds() throws {
        let first = try #require(LocalDay("2019-03-01"))
        let last = try #require(LocalDay("2019-06-30"))
        let muted = Muted([.span(first...last)])
        for (offset, reason) in [(-1, nil), (0, .mutedDay), (121, .mutedDay), (122, nil)]
            as [(Int, Refusal.Reason?)]
        {
            #expect(
                muted.reason(against: "any", of: first.advanced(by: offset)) == reason, "\(offset)")
        }
    }

    @Test func whatIsStoredIsReadBack() throws {
        let day = try #require(LocalDay("2019-03-01"))
        for entry in [
            Muted.Entry.word("a name"), .day(month: 2, day: 29), .span(day...day.advanced(by: 9)),
        ] {
            let (kind, value) = entry.stored
            #expect(Muted.Entry(kind: kind, value: value) == entry, "\(kind) \(value)")
        }
        for (kind, value) in [
            ("span", "2019-03-02/2019-03-01"), ("span", "x"), ("day", "x"), ("week", "1"),
            ("word", ""),
        ] {
            #expect(Muted.Entry(kind: kind, value: value) == nil, "\(kind) \(value)")
        }
    }
}
