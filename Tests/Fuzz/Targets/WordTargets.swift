import Favorites
import MeCab
import NetworkNames
import Posts

/// Names, links and words in texts of strangers.
extension FuzzTarget {
    static let grammars = [textGrammar, features]

    private static let textGrammar = FuzzTarget(
        "text-grammar",
        texts: [
            "by @stadt@bäw.example, @eve@xn--bw-via.example:8443 and @foo--bar@my--host.example",
            "RT@a ＠b ﹫c @\u{200B}d",
            "https://a.example/вики/@ann?q=日本&x (http://例え.jp/) #हिन्दी #col·lecció #\u{FE0F}\u{20E3}",
            "@josé@a.example",
        ],
        words: [
            "@", "＠", "https://", "http://", "#", ".", "--", "..", ":80", "日本", "ä", "\u{200C}",
            "\u{308}", "・",
        ]
    ) { text in
        var text = text
        try text.withUTF8 { bytes in
            let grammar = TextGrammar(bytes)
            var position = 0
            var end = 0
            while let (_, next) = grammar.decoded(at: position) {
                for range in [
                    grammar.link(at: position)?.range,
                    grammar.mention(at: position).map { position..<$0.end },
                    grammar.mention(at: position)?.name, grammar.hashtag(at: position)?.range,
                ].compactMap(\.self) {
                    try hold(
                        range.lowerBound >= position && range.upperBound <= bytes.count,
                        "a part is in the text")
                    let isWhole = String(validating: bytes[range], as: UTF8.self) != nil
                    try hold(isWhole, "a part is made of whole characters")
                    end = max(end, range.upperBound)
                }
                // As every reader does, so that the time stays linear.
                position =
                    grammar.link(at: position)?.range.upperBound ?? grammar.mention(at: position)?
                    .end ?? next
            }
            try hold(end <= bytes.count, "parts end with the text")
        }
    }

    /// Shared by all runs, for opening the dictionary takes longer than any text.
    private static let extractor = Result { FeatureExtractor(tokenizer: try Tokenizer()) }

    private static let features = FuzzTarget(
        "features",
        texts: [
            "今日は #猫 の写真 @ann@bäw.example https://a.example/вики",
            "오늘은 비가 와서 قرأت اليوم วันนี้ฝน आज बारिश",
            "צה\"ל ג'ירפה ٣٫٥ 𠮷 ọ̀rẹ́",
        ],
        words: [
            "가", "ب", "ก", "क", "א", "\"", "'", "٣", "\u{64B}", "\u{200C}", "#", "@", "https://",
            "𠮷", "\u{FE0F}",
        ]
    ) { text in
        let extractor = try extractor.get()
        let example = Example(id: PostID(network: .mastodon, value: "1"), author: nil, text: text)
        let words = extractor.features(of: example).words
        try hold(Set(words).count == words.count, "words are distinct")
        let isShort = words.allSatisfy {
            !$0.isEmpty && $0.utf8.count <= FeatureExtractor.maximumBytes
        }
        try hold(isShort, "no word is empty or long")
        let isWhole = words.allSatisfy { !$0.contains(where: \.isWhitespace) }
        try hold(isWhole, "no word has white space")
        try hold(
            extractor.features(of: example.stored).words == words,
            "what is unlearned is what was learned")
    }
}
