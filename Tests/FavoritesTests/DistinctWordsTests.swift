import Testing

@testable import Favorites

@Suite struct DistinctWordsTests {
    @Test func eachWordIsKeptOnceInTheOrderOfItsFirst() {
        var words = DistinctWords()
        for word in ["猫", "写真", "猫", "a", "写真集", "A", "a", "", ""] { words.insert(word) }
        #expect(words.words == ["猫", "写真", "a", "写真集", "A", ""])
    }

    @Test func manyWordsAreToldApart() {
        var words = DistinctWords()
        for round in 0..<2 {
            for number in 0..<2_000 { words.insert("語\(number)") }
            #expect(words.words.count == 2_000, "round \(round)")
        }
        #expect(words.words == (0..<2_000).map { "語\($0)" })
    }

    @Test func brokenBytesAreRepaired() {
        var words = DistinctWords()
        [0xE7, 0x8C].withUnsafeBufferPointer { words.insert($0) }
        #expect(words.words == ["\u{FFFD}"])
    }

    @Test func placesFollowTheOrderOfTheFirstAppearance() {
        var index = FeatureIndex()
        let first = index.places(of: FeatureSet(words: ["猫", "写真"], author: "@a"))
        let second = index.places(of: FeatureSet(words: ["写真", "駅", "猫"], author: "@a"))
        let third = index.places(of: FeatureSet(words: [], author: nil))
        #expect(index.features == ["猫", "写真", "@a", "駅"])
        #expect(first.words == [0, 1])
        #expect(first.author == 2)
        #expect(second.words == [1, 3, 0])
        #expect(second.author == 2)
        #expect(third.words == [])
        #expect(third.author == nil)
    }

    @Test func aKeyIsItsBytes() {
        #expect(FeatureKey(feature: "猫") == FeatureKey(feature: "猫"))
        #expect(FeatureKey(feature: "猫") != FeatureKey(feature: "犬"))
        #expect(FeatureKey(feature: "a") != FeatureKey(feature: "ab"))
        // Equal to Swift, but features are in one form.
        #expect(FeatureKey(feature: "\u{304C}") != FeatureKey(feature: "\u{304B}\u{3099}"))
    }
}
