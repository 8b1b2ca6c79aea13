import Expectations
import MeCab
import Posts
import Testing

@testable import Favorites

/// What a person is told of the reasons for a favorite.
@Suite struct SmallFeaturesTests {
    @Test(arguments: [
        ",", "?", "!!!", ":)", "://", "3", "2024", "٣", "an", "the", "of", "t", "doesn", "こと", "する",
        "の", "ん", "私",
        "und", "of\u{1F}the", "of the", "こと\u{1F}の",
        "les", "для", "и", "για", "من", "של", "है", "그리고", "…", "",
    ])
    func signsNumbersAndSmallWordsSayNothing(feature: String) {
        #expect(SmallFeatures.contains(feature))
    }

    @Test(arguments: [
        "cat", "猫", "写真", "撮る", "#an", "#3d", "@an", "@3", "☕❤", "책", "ไท", "ቤት", "घर", "ים",
        "البحر", "дождь", "wwww",
        "the\u{1F}cat", "good morning", "こと\u{1F}猫",
        "swift",
    ])
    func wordsHashtagsAuthorsAndPicturesDo(feature: String) {
        #expect(!SmallFeatures.contains(feature))
    }

    @Test func whatIsToldLeadsWithMeaningAndAddsUp() throws {
        let extractor = try FeatureExtractor(tokenizer: Tokenizer())
        var classifier = MemoryClassifier(.content)
        func example(_ number: Int, _ text: String) -> Example {
            Example(id: PostID(network: .mastodon, value: "\(number)"), author: "ann", text: text)
        }
        classifier.learn(
            (0..<40).flatMap { number -> [FavoriteEvent] in
                let isLiked = number < 20
                let post = example(number, isLiked ? "an, bread? the \(number % 4)" : "an rain")
                return isLiked ? [.seen(post), .favorited(post)] : [.seen(post)]
            }, extractor.features)
        let assessment = classifier.assess(
            extractor.features(of: example(99, "an, bread? the rain 3")))
        let told = assessment.grouped()
        let strongest = told.strongest
        let rest = told.rest
        #expect(Set(strongest.map(\.feature)) == ["bread", "rain", "@ann"])
        #expect(rest.count == 5)
        let sum = strongest.reduce(assessment.baseLogOdds + rest.logOdds) { $0 + $1.logOdds }
        #expect(abs(sum - assessment.logRate) < 1e-9)
        let strengths = strongest.map { abs($0.logOdds) }
        #expect(strengths == strengths.sorted(by: >))
        // Whatever is shown, the sum stays.
        let short = assessment.grouped(atMost: 1)
        #expect(short.strongest.map(\.feature) == [strongest[0].feature])
        #expect(short.rest.count == 7)
        #expect(
            abs(assessment.baseLogOdds + short.strongest[0].logOdds + short.rest.logOdds - sum)
                < 1e-9)
    }
}
