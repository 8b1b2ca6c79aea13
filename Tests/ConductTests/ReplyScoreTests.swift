import NetworkNames
import Posts
import Testing

@testable import Conduct

/// The score of an old reply: words + 0.3 · kind + centre.
@Suite struct ReplyScoreTests {
    @Test func theKindCountsForThreeTenths() {
        #expect(abs(ReplyScore(words: 0.5, kind: -1, centre: 0.25).total - 0.45) < 1e-12)
        #expect(ReplyScore().total == 0)
    }

    @Test(
        arguments: [
            (0.5, 1, 0.1, .words), (0.2, 1, 0.1, .kind), (0, 0.2, 0.1, .centre),
            (0.3, 1, 0.3, .words),
            (0, -1, 0, nil), (0, 0, 0, nil),
        ] as [(Double, Double, Double, ReplyScore.Part?)])
    func theLargestPartIsNamed(words: Double, kind: Double, centre: Double, part: ReplyScore.Part?)
    {
        #expect(ReplyScore(words: words, kind: kind, centre: centre).largest == part)
    }

    @Test func onlyAReplyWhoseKindIsKnownIsDoubtful() {
        let kinds = ReplyScore.Kinds(.thanks, .no)
        #expect(ReplyScore(kind: -1, kinds: kinds).isDoubtful(below: -0.2))
        #expect(!ReplyScore(kind: -0.5, kinds: kinds).isDoubtful(below: -0.2))
        #expect(!ReplyScore(kind: -1).isDoubtful(below: -0.2))
        #expect(!ReplyScore(kind: -1, kinds: kinds).isDoubtful(below: nil))
        #expect(ReplyScore(words: 0.3, kinds: kinds).isDoubtful(below: 0.4))
    }

    // MARK: The centre

    private func reply(
        _ id: String, _ text: String, _ words: WordLikeness.Words, answered: String? = nil
    ) -> ReplyHabits.Reply {
        ReplyHabits.Reply(
            id: PostID(network: .x, value: id), text: text, language: "en", words: words,
            answered: answered)
    }

    private func centre(_ habits: ReplyHabits, _ id: String, _ words: WordLikeness.Words) -> Double
    {
        habits.centre(of: PostID(network: .x, value: id), words)
    }

    @Test func theCentreIsTheMeanLikenessToTheOtherShortReplies() {
        let long = String(repeating: "bread ", count: 20)
        let habits = ReplyHabits([
            reply("a", "x y", ["x": 1, "y": 1]), reply("b", "x", ["x": 1]),
            reply("c", "z", ["z": 1]),
            reply("long", long, ["x": 1]),
        ])
        // ln (4/3) for x, ln 2 for y and z: cos (a, b) = .383332889.
        #expect(abs(centre(habits, "a", ["x": 1, "y": 1]) - 0.191_666_444_5) < 1e-9)
        #expect(abs(centre(habits, "b", ["x": 1]) - 0.191_666_444_5) < 1e-9)
        #expect(centre(habits, "c", ["z": 1]) == 0)
        // One that is none of them is compared with all.
        #expect(abs(centre(habits, "new", ["x": 1, "z": 1]) - 0.484_629_081_3) < 1e-9)
        #expect(centre(habits, "new", [:]) == 0)
        #expect(centre(ReplyHabits([reply("a", "x", ["x": 1])]), "a", ["x": 1]) == 0)
    }

    @Test func theSumIsTheMeanOfPairs() {
        let texts: [WordLikeness.Words] = (0..<40).map { number in
            ["a\(number % 3)": 1, "b\(number % 7)": number % 4 + 1, "c\(number)": 1]
        }
        let likeness = WordLikeness(texts)
        let vectors = texts.map(likeness.vector)
        var sum = WordLikeness.Sum()
        for vector in vectors { sum.add(vector) }
        for (index, vector) in vectors.enumerated() {
            let others = vectors.indices.filter { $0 != index }.map {
                WordLikeness.compare(vector, vectors[$0]).likeness
            }
            let mean = others.reduce(0, +) / Double(others.count)
            #expect(abs(sum.likeness(to: vector, isIncluded: true) - mean) < 1e-9)
        }
    }

    // MARK: Frequent words and the mirror's own table

    @Test func theHundredMostFrequentWordsTellNothing() {
        // 120 words in 121 to 240 replies, and 21 words of its own in each.
        let replies = (0..<240).map { number in
            var words: WordLikeness.Words = [:]
            for word in 0..<21 { words["own\(number).\(word)"] = 1 }
            for word in 0..<120 where number < 240 - word { words["w\(word)"] = 1 }
            return reply("\(number)", "x", words)
        }
        let habits = ReplyHabits(replies)
        #expect(!habits.isSignificant("w0"))
        #expect(!habits.isSignificant("w99"))
        #expect(habits.isSignificant("w100"))
        #expect(habits.isSignificant("own7.0"))
        // In few replies no word is frequent.
        #expect(ReplyHabits(Array(replies.prefix(9))).isSignificant("w0"))
        // A fiftieth of the 330 words of ten replies.
        let few = ReplyHabits(Array(replies.prefix(10)))
        #expect((0..<120).count { !few.isSignificant("w\($0)") } == 6)
    }

    @Test(arguments: [199, 200]) func enoughAnsweredMentionsReplaceTheShippedTable(count: Int)
        throws
    {
        // Of this person "nope" is what answers thanks.
        let habits = ReplyHabits(
            (0..<count).map { number in
                number % 2 == 0
                    ? reply("\(number)", "nope", [:], answered: "thanks")
                    : reply("\(number)", "tea with milk", [:], answered: "my train is late")
            })
        let asked = try #require(habits.kind(ofMention: "Thank you!", language: "en"))
        #expect(asked.kind == .thanks)
        let found = try #require(habits.kinds(of: "nope", language: "en", after: asked))
        #expect(found.kinds == ReplyScore.Kinds(.thanks, .no))
        if count < ReplyHabits.fewestOwnAnswers {
            #expect(
                found.logOdds
                    == ReplyKinds.standard.answers(in: .english).logOdds(of: .no, after: .thanks))
        } else {
            var own = KindTable()
            own.add(.thanks, .no, times: 100)
            own.add(.statement, .other, times: 100)
            #expect(found.logOdds == own.logOdds(of: .no, after: .thanks))
        }
        #expect(habits.kinds(of: "nein", language: "de", after: asked) == nil)
        #expect(habits.kind(ofMention: "Danke!", language: "de") == nil)
    }
}
