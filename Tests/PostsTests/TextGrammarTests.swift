import Posts
import TestSupport
import Testing

/// The grammar of links, mentions and hashtags against those of the networks.
@Suite struct TextGrammarTests {
    // MARK: What is found

    /// Whatever the grammar finds in a text from left to right, written with the name in square
    /// brackets.
    private func found(in text: String) -> [String] {
        var text = text
        var found = [String]()
        text.withUTF8 { bytes in
            let grammar = TextGrammar(bytes)
            func part(_ range: Range<Int>) -> String {
                String(decoding: bytes[range], as: UTF8.self)
            }
            var position = 0
            while let (_, next) = grammar.decoded(at: position) {
                var end = next
                if let link = grammar.link(at: position) {
                    found.append(part(link.range) + (link.isCertain ? "" : "?"))
                    end = link.range.upperBound
                } else if let mention = grammar.mention(at: position) {
                    found.append(
                        "[\(part(mention.name))]\(part(mention.name.upperBound..<mention.end))")
                    end = mention.end
                } else if let hashtag = grammar.hashtag(at: position) {
                    found.append(part(hashtag.range) + (hashtag.isCertain ? "" : "?"))
                    end = hashtag.range.upperBound
                }
                position = max(end, next)
            }
        }
        return found
    }

    @Test(arguments: [
        ("by @stadt@bäw.example yesterday", ["[stadt]@bäw.example"]),
        ("by @eve@xn--bw-via.example", ["[eve]@xn--bw-via.example"]),
        ("by @jo@my--host.example, who", ["[jo]@my--host.example"]),
        ("by @foo--bar@x.example.", ["[foo--bar]@x.example"]),
        ("by @a..b@y.example", ["[a..b]@y.example"]),
        ("@a@пример.рф и @b@例え.jp", ["[a]@пример.рф", "[b]@例え.jp"]),
        ("@a@उदाहरण.भारत", ["[a]@उदाहरण.भारत"]), ("@a@ab日本.jp", ["[a]@ab日本.jp"]),
        ("@a@b_c.example:8443", ["[a]@b_c.example:8443"]), ("@a@b.example:", ["[a]@b.example"]),
        ("@a@ba\u{308}w.example", ["[a]@ba\u{308}w.example"]),
        ("@josé@example.org", ["[josé]@example.org"]),
        // A sentence goes on behind a host in ASCII without a space.
        ("@a@example.orgさん", ["[a]@example.org"]), ("@a@localhostから", ["[a]@localhost"]),
        ("@a@例え.jpです", ["[a]@例え.jp"]), ("@a@ab日本.みんな", ["[a]@ab日本.みんな"]),
        ("@a@b.exampleさん.よろしく", ["[a]@b.example"]), ("@a@example.org에서", ["[a]@example.org"]),
        ("@花子さんは@bob.exampleと", ["[]", "[bob.example]"]), ("@bob...and so", ["[bob]"]),
        ("RT@a, art@a, é@a", ["[a]", "[a]"]), ("me@example.org", []), ("@ a @", []), ("@-a", []),
    ])
    func aMentionHasItsWholeHost(text: String, expected: [String]) {
        #expect(found(in: text) == expected)
    }

    @Test(arguments: [
        ("https://a.example/вики/@ann.", ["https://a.example/вики/@ann"]),
        ("https://a.example/日本語/@ann とか", ["https://a.example/日本語/@ann"]),
        ("https://a.example/?q=日本&@ann", ["https://a.example/?q=日本&@ann"]),
        ("https://a.example/を見て", ["https://a.example/"]),
        ("https://a.exampleを見て", ["https://a.example"]),
        ("https://a.example/x日本。", ["https://a.example/x"]),
        ("https://пример.рф/x", ["https://пример.рф/x?"]),
        ("https://example.рф/x", ["https://example.рф/x?"]),
        ("https://www.例え.jpです", ["https://www.例え.jp?"]),
        ("https://a.example/café, oui", ["https://a.example/café"]),
        ("https://ja.example/wiki/東京", ["https://ja.example/wiki/東京"]),
        ("(https://zh.example/wiki/长城)。", ["https://zh.example/wiki/长城"]),
        ("https://ko.example/wiki/서울 봐", ["https://ko.example/wiki/서울"]),
        ("https://a.example/에서", ["https://a.example/"]),
        ("https://th.example/wiki/กรุงเทพ ครับ", ["https://th.example/wiki/กรุงเทพ"]),
        ("https://en.example/wiki/A–B_C, see", ["https://en.example/wiki/A–B_C"]),
        ("https://a.example/x – y", ["https://a.example/x"]),
        ("https://a.example/x|y|", ["https://a.example/x|y"]),
        ("https://", []), ("https:///x", []), ("HTTP://A.EXAMPLE!", ["HTTP://A.EXAMPLE"]),
    ])
    func aLinkHasItsLettersAndItsSigns(text: String, expected: [String]) {
        #expect(found(in: text) == expected)
    }

    @Test(arguments: [
        ("#हिन्दी #தமிழ்", ["#हिन्दी", "#தமிழ்"]), ("#東京・大阪、", ["#東京・大阪"]), ("#col·lecció·", ["#col·lecció"]),
        ("#می\u{200C}روم", ["#می\u{200C}روم"]), ("#1 #1a #_", ["#1a"]),
        ("a#b ＃タグ ##c", ["＃タグ", "#c"]),
        ("#\u{FE0F}\u{20E3} &#x27;", ["#x27?"]), ("❤️#a", ["#a"]),
    ])
    func aHashtagHasItsWholeWord(text: String, expected: [String]) {
        #expect(found(in: text) == expected)
    }

    // MARK: What the networks find

    private static let pieces = [
        "@", "＠", "@ann", "@bo.b", "@c--d", "@e_", "@bäw", "@例え", "@xn--bw-via", "example", "日本",
        "さん", "вики", "é",
        "हिन्दी",
        "한국", "host", "jp", "com", ".", "..", "-", "--", "_", ":", ":80", " ", " ", "\n", "(", ")",
        "/", "=", "&", "?",
        "#",
        "＃", "#tag", "#1", "・", "·", "\u{200C}", "\u{200D}", "\u{FE0F}", "1", "RT", "rt:", "!", "、",
        "。", "https://",
        "http://a.jp", "https://a.com/", "https://b.example.jp/x", "|", "~", "%", "+", ",", "'",
    ]

    /// Written without spaces, so that a sentence may go on behind a host.
    private static func goesOn(_ scalar: Unicode.Scalar) -> Bool {
        "例え日本さん한국・".unicodeScalars.contains(scalar)
    }

    private static func texts(seed: UInt64, count: Int = 400) -> [String] {
        var generator = SeededGenerator(seed: seed)
        return (0..<count).map { _ in
            (0..<Int.random(in: 1...14, using: &generator)).map { _ in
                pieces.randomElement(using: &generator) ?? ""
            }
            .joined()
        }
    }

    /// Reads a text with the grammar, and what it finds at each place, except within links.
    private static func withGrammar(
        of text: String,
        _ body: (
            _ grammar: TextGrammar, _ bytes: UnsafeBufferPointer<UInt8>, _ isInLink: (Int) -> Bool
        ) -> Void
    ) {
        var text = text
        text.withUTF8 { bytes in
            let grammar = TextGrammar(bytes)
            var links: [Range<Int>] = []
            for place in bytes.indices
            where bytes[place] & 0xC0 != 0x80 && place >= links.last?.upperBound ?? 0 {
                if let link = grammar.link(at: place) { links.append(link.range) }
            }
            body(grammar, bytes) { place in links.contains { $0.contains(place) } }
        }
    }

    @Test(arguments: 0..<8)
    func everyMentionOfEveryNetworkIsFound(seed: UInt64) throws {
        let mastodon = try NetworkGrammar.mastodonMention()
        let others = [try NetworkGrammar.xMention(), try NetworkGrammar.blueskyMention()]
        var count = 0
        for text in Self.texts(seed: seed) {
            Self.withGrammar(of: text) { grammar, bytes, isInLink in
                for match in mastodon.matches(in: text) where !isInLink(match.range.lowerBound) {
                    count += 1
                    guard let mention = grammar.mention(at: match.range.lowerBound) else {
                        Issue.record(
                            "no mention at \(match.range.lowerBound) of \(text.debugDescription)")
                        continue
                    }
                    let hasHost = match.range.upperBound > match.name.upperBound
                    #expect(
                        mention.name.lowerBound == match.name.lowerBound, "\(text.debugDescription)"
                    )
                    #expect(
                        hasHost
                            ? mention.name == match.name
                            : mention.furthestEnd == match.name.upperBound
                                || mention.end > match.range.upperBound, "\(text.debugDescription)")
                    guard hasHost else { continue }
                    // A port is more than the network reads, a sentence that goes on is less.
                    let rest =
                        mention.end < match.range.upperBound
                        ? grammar.decoded(at: mention.end)?.scalar : nil
                    #expect(
                        mention.end >= match.range.upperBound || rest.map(Self.goesOn) ?? false
                            || rest == "-",
                        "\(text.debugDescription)")
                    let more = bytes[min(mention.end, match.range.upperBound)..<mention.end]
                    #expect(
                        more.isEmpty || more.first == UInt8(ascii: ":"), "\(text.debugDescription)")
                }
                for pattern in others {
                    for match in pattern.matches(in: text) where !isInLink(match.range.lowerBound) {
                        count += 1
                        let mention = grammar.mention(at: match.range.lowerBound)
                        #expect(
                            mention?.name.lowerBound == match.name.lowerBound,
                            "\(pattern) of \(text.debugDescription)")
                        #expect(
                            mention.map { max($0.furthestEnd, $0.end) >= match.name.upperBound }
                                ?? false,
                            "\(pattern) of \(text.debugDescription)")
                    }
                }
            }
        }
        #expect(count > 200)
    }

    @Test(arguments: 0..<8)
    func everyCertainMentionIsOneOnMastodon(seed: UInt64) throws {
        let mastodon = try NetworkGrammar.mastodonMention()
        var count = 0
        for text in Self.texts(seed: seed &+ 100) {
            let signs = Set(
                mastodon.matches(in: text.replacing("=", with: " ")).map(\.range.lowerBound))
            Self.withGrammar(of: text) { grammar, bytes, isInLink in
                for place in bytes.indices
                where bytes[place] == UInt8(ascii: "@") && !isInLink(place) {
                    guard let mention = grammar.mention(at: place), mention.isCertain,
                        !mention.name.isEmpty,
                        bytes[mention.name].allSatisfy({ $0 < 0x80 })
                    else { continue }
                    count += 1
                    // Mastodon goes on behind the mention before.
                    let isBehindAnother = place > 0 && bytes[place - 1] != UInt8(ascii: " ")
                    #expect(signs.contains(place) || isBehindAnother, "\(text.debugDescription)")
                }
            }
        }
        #expect(count > 50)
    }

    @Test(arguments: 0..<8)
    func everyLinkOfXIsPartOfOne(seed: UInt64) throws {
        let pattern = try NetworkGrammar.xLink()
        var count = 0
        for text in Self.texts(seed: seed &+ 200) {
            Self.withGrammar(of: text) { grammar, bytes, _ in
                for match in pattern.matches(in: text) {
                    count += 1
                    let link = grammar.link(at: match.range.lowerBound)
                    #expect(
                        link.map { $0.range.upperBound >= match.range.upperBound } ?? false,
                        "\(text.debugDescription)")
                }
            }
        }
        #expect(count > 50)
    }

    @Test(arguments: 0..<8)
    func everyHashtagOfEveryNetworkIsFoundWhole(seed: UInt64) throws {
        let patterns = [try NetworkGrammar.mastodonHashtag(), try NetworkGrammar.xHashtag()]
        var count = 0
        for text in Self.texts(seed: seed &+ 300) {
            Self.withGrammar(of: text) { grammar, bytes, isInLink in
                for pattern in patterns {
                    for match in pattern.matches(in: text) where !isInLink(match.range.lowerBound) {
                        // Mastodon takes two digits with a dot between them for a tag, and what
                        // follows a key.
                        let word = String(decoding: bytes[match.name], as: UTF8.self).unicodeScalars
                        guard word.first != "\u{FE0F}",
                            word.contains(where: { $0.isLetter || $0.isMark })
                        else {
                            continue
                        }
                        count += 1
                        guard let hashtag = grammar.hashtag(at: match.range.lowerBound) else {
                            Issue.record("\(pattern) is not found in \(text.debugDescription)")
                            continue
                        }
                        let rest = bytes[
                            hashtag.range
                                .upperBound..<max(match.range.upperBound, hashtag.range.upperBound)]
                        let signs = String(decoding: rest, as: UTF8.self).unicodeScalars
                        #expect(
                            signs.allSatisfy { "·・\u{200C}\u{200D}".unicodeScalars.contains($0) },
                            "\(text.debugDescription)")
                    }
                }
            }
        }
        #expect(count > 20)
    }
}
