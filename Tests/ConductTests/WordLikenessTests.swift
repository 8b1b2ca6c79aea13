import Conduct
import Expectations
import Foundation
import Testing

@Suite struct WordLikenessTests {
    private let texts: [WordLikeness.Words] = [
        ["train": 1, "late": 1, "again": 1], ["tea": 2, "again": 1], ["train": 2, "tea": 1],
        ["again": 1, "yes": 1],
    ]

    private func compare(_ first: WordLikeness.Words, _ second: WordLikeness.Words) -> (
        Double, [String]
    ) {
        let likeness = WordLikeness(texts)
        let (value, common) = WordLikeness.compare(likeness.vector(first), likeness.vector(second))
        return (value, common)
    }

    @Test func theCosineIsThatOfTheFormula() {
        // ln(5/3) for train and tea, ln(5/4) for again, ln(5/2) for late.
        let train = log(5.0 / 3)
        let again = log(5.0 / 4)
        let late = log(5.0 / 2)
        let asked = (train * train + late * late).squareRoot()
        let answer = (train * train + again * again + late * late).squareRoot()
        let (value, common) = compare(["train": 1, "late": 1], texts[0])
        #expect(abs(value - (train * train + late * late) / (asked * answer)) < 1e-12)
        #expect(common == ["late", "train"])
        let twice = 1 + log(2.0)
        let both = ((twice * train) * (twice * train) + train * train).squareRoot()
        #expect(abs(compare(["train": 1], texts[2]).0 - twice * train / both) < 1e-12)
    }

    @Test func whatIsInAllTextsSaysNothing() {
        let likeness = WordLikeness([["yes": 1], ["yes": 2, "tea": 1]])
        let (value, common) = WordLikeness.compare(
            likeness.vector(["yes": 1]), likeness.vector(["yes": 2, "tea": 1]))
        #expect(value == 0)
        #expect(common.isEmpty)
    }

    @Test func whatIsInNoTextCountsAllTheSame() {
        let (value, common) = compare(["sushi": 1], ["sushi": 3])
        #expect(abs(value - 1) < 1e-12)
        #expect(common == ["sushi"])
    }

    @Test(arguments: ["?", "!", "…", "ー", "🙏", "❓", "♪", "^^", "\u{301}", "〜", "(", "★"])
    func signsAreNoWords(sign: String) {
        let (value, common) = compare([sign: 2, "late": 1], [sign: 1, "tea": 1])
        #expect(value == 0)
        #expect(common.isEmpty)
        #expect(
            compare([sign: 5, "late": 1], ["late": 1]).0 == compare(["late": 1], ["late": 1]).0)
    }

    @Test(arguments: ["7", "猫", "tea", "é", "ⅷ", "ｗ"]) func lettersAndDigitsAre(word: String) {
        #expect(compare([word: 1], [word: 1]).1 == [word])
    }

    @Test(arguments: [[:], ["train": 1], ["nothing": 1]] as [WordLikeness.Words])
    func nothingInCommonIsZero(_ words: WordLikeness.Words) {
        #expect(compare(words, ["yes": 1]).0 == 0)
        #expect(compare(["yes": 1], words).0 == 0)
    }

    @Test func theSameWordsAreAlikeToTheLastBit() {
        var seen: Set<UInt64> = []
        for round in 0..<20 {
            // A dictionary of another capacity has another order.
            var words = WordLikeness.Words(minimumCapacity: 1 << (round % 10))
            for number in 0..<40 {
                words["word\((number * 7 + round) % 40)"] = (number * 7 + round) % 40 % 3 + 1
            }
            seen.insert(compare(words, words.merging(["train": 1]) { $1 }).0.bitPattern)
        }
        #expect(seen.count == 1)
    }

    @Test func theLikenessIsNeverAboveOne() {
        for number in 1..<50 {
            let words = WordLikeness.Words(
                uniqueKeysWithValues: (0..<number).map { ("word\($0)", $0 % 4 + 1) })
            expect(compare(words, words).0) { $0 <= 1 && $0 > 1 - 1e-12 }
        }
    }
}
