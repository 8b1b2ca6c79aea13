import Expectations
import MeCab
import Posts
import Testing

@testable import Favorites

@Suite struct WordCounterTests {
    private static let texts = [
        "今日は猫の写真を撮った。猫だ", "Ｔｒａｉｎ late, train LATE again!",
        "@ann #Train https://a.example/train の遅延", "오늘 기차가 늦었다",
        "猫猫猫", "😀☕❤️", "", "\u{3000}", String(repeating: "a", count: 3_000),
    ]

    @Test(arguments: texts) func theWordsAreThoseOfTheClassifier(_ text: String) throws {
        let tokenizer = try Tokenizer()
        let features = FeatureExtractor(tokenizer: tokenizer, words: .content).features(
            of: Example(id: PostID(network: .mastodon, value: "1"), author: nil, text: text))
        let counts = WordCounter(tokenizer: tokenizer).words(of: text)
        #expect(Set(counts.keys) == Set(features.words))
        expect(counts.values) { $0.allSatisfy { $0 > 0 } }
    }

    @Test func aWordCountsAsOftenAsItOccurs() throws {
        let counter = WordCounter(tokenizer: try Tokenizer())
        #expect(counter.words(of: "Ｔｒａｉｎ late, train LATE again")["train"] == 2)
        #expect(counter.words(of: "猫が猫を見た。見る")["猫"] == 2)
        #expect(counter.words(of: "猫が猫を見た。見る")["見る"] == 2)
        #expect(counter.words(of: "오늘 오늘")["오늘"] == 2)
        #expect(counter.words(of: "#Tea tea")["tea"] == 2)
        #expect(counter.words(of: "#Tea tea")["#tea"] == 1)
    }
}
