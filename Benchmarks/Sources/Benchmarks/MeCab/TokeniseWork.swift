import CBaseline
import Favorites
import MeCab
import NetworkNames
import Posts

extension Work {
    /// Cutting posts into words and picking those that can be features.
    ///
    /// Both sides get texts that are cleaned already, cut them with the same dictionary and keep
    /// the picked words of a post in memory of their own.
    static let tokenise = Work(name: "tokenise") { bench, report in
        let work = try TokeniseWork(postCount: bench.amount(5_000, smoke: 300))
        try work.checkBaseline()
        for words in [FeatureWords.nouns, .content] {
            let name = "tokenise_\(words.rawValue)"
            await report.measure(name) {
                let comparison = try await bench.compare(
                    pairs: bench.pairs * TokeniseWork.pairsForOne
                ) {
                    try await bench.elapsed { try work.ours(words) }
                } baseline: {
                    try await bench.blocking { try work.baseline(words) }
                }
                let title = "tokenise posts and pick \(words == .nouns ? "nouns" : "content words")"
                return [
                    comparison.line(
                        name, title, amount: work.texts.count, unit: "posts", target: .atLeast(0.9))
                ]
            }
        }
        await report.measure("tokenise_two_threads") { try await work.threads(bench) }
        for choice in ClassifierStage.choices {
            await report.measure("tokenise_features" + choice.suffix) {
                [try await work.whole(bench, choice.words, choice.suffix, choice.title)]
            }
        }
    }
}

private struct TokeniseWork: Sendable {
    let texts: [String]
    private let posts: [Example]
    private let tokenizer: Tokenizer
    private let block: TextBlock
    private let c: CTokeniser

    /// Many short pairs say more than few long ones where other programs run.
    static let pairsForOne = 4

    init(postCount: Int) throws {
        posts = Timeline(count: postCount).posts.enumerated().map { index, post in
            Example(
                id: PostID(network: .mastodon, value: "\(index)"), author: post.author,
                text: post.text)
        }
        texts = posts.map { TextCleaner($0.text).text }
        tokenizer = try Tokenizer()
        block = TextBlock(texts)
        c = try CTokeniser()
    }

    /// Makes sure that both sides do the same.
    func checkBaseline() throws {
        for text in texts.prefix(2_000) {
            for words in [FeatureWords.nouns, .content] {
                guard try picked(words, from: text) == c.words(of: text, words.baseline) else {
                    throw BaselineError(description: "the baseline picks other words than we do")
                }
            }
        }
    }

    private func picked(_ words: FeatureWords, from text: String) throws -> [String] {
        var picked: [String] = []
        // As the classifier does; the baseline keeps its memory from post to post.
        picked.reserveCapacity(32)
        try tokenizer.forEachWord(in: text) { word, wordClass in
            switch wordClass {
            case .noun: picked.append(word.text)
            case .adverb, .interjection, .adnominal: if words != .nouns { picked.append(word.text) }
            case .verb, .adjective:
                if words != .nouns { picked.append(tokenizer.baseForm(of: word)) }
            case .other: if words.hasPairs { picked.append(word.text) }
            }
        }
        return picked
    }

    func ours(_ words: FeatureWords) throws {
        try ours(words, texts[...])
    }

    private func ours(_ words: FeatureWords, _ texts: ArraySlice<String>) throws {
        var total = 0
        for text in texts { total += try picked(words, from: text).count }
        try checkTotal(total)
    }

    func baseline(_ words: FeatureWords) throws -> Duration {
        try Bench.time {
            let total = try block.withTexts {
                try BaselineError.check(baseline_pick_all(c.tokeniser, $0, words.baseline))
            }
            try checkTotal(total)
        }
    }

    private func checkTotal(_ total: Int) throws {
        guard total > texts.count else {
            throw BaselineError(description: "there are too few words")
        }
    }

    /// Two threads that share one dictionary, beside two of the baseline, and beside one of ours.
    func threads(_ bench: Bench) async throws -> [Line] {
        let half = texts.count / 2
        @Sendable func twoOfOurs() async throws -> Duration {
            try await bench.elapsed {
                async let first: Void = ours(.content, texts[..<half])
                async let second: Void = ours(.content, texts[half...])
                _ = try await (first, second)
            }
        }
        let beside = try await bench.compare(pairs: bench.pairs * Self.pairsForOne, ours: twoOfOurs)
        {
            try await bench.blocking {
                try Bench.time {
                    let total = try block.withTexts {
                        try BaselineError.check(
                            baseline_pick_all_threads(c.model, $0, baseline_content, 2))
                    }
                    try checkTotal(total)
                }
            }
        }
        let alone = try await bench.compare(pairs: bench.pairs * Self.pairsForOne, ours: twoOfOurs)
        {
            try await bench.elapsed { try ours(.content) }
        }
        return [
            beside.line(
                "tokenise_two_threads", "the same by two threads that share one model",
                amount: texts.count,
                unit: "posts", target: .atLeast(0.9)),
            alone.line(
                "tokenise_two_threads_to_one", "the same, two threads beside one of ours",
                amount: texts.count,
                unit: "posts", target: .none),
        ]
    }

    /// What a post costs from its text to its features, cleaning included.
    ///
    /// The baseline picks the words alone: it makes no pairs of them.
    func whole(_ bench: Bench, _ words: FeatureWords, _ suffix: String, _ title: String)
        async throws -> Line
    {
        let extractor = FeatureExtractor(tokenizer: tokenizer, words: words)
        let comparison = try await bench.compare(pairs: bench.pairs * Self.pairsForOne) {
            try await bench.elapsed {
                var total = 0
                for post in posts { total += extractor.features(of: post).words.count }
                try checkTotal(total)
            }
        } baseline: {
            try await bench.blocking { try baseline(.content) }
        }
        return comparison.line(
            "tokenise_features" + suffix,
            "posts to features (ours cleans them, C does not)" + title,
            amount: texts.count, unit: "posts", target: .none)
    }
}

extension FeatureWords {
    /// The same choice in C, which knows neither runs of letters nor form; no work measures those.
    var baseline: baseline_choice {
        switch self {
        case .pairs, .full: baseline_pairs
        case .content, .spelling: baseline_content
        case .nouns: baseline_nouns
        }
    }
}
