import Archive
import Expectations
import Favorites
import Fixtures
import Foundation
import Posts
import Testing

@testable import Evaluation
@testable import Mirroring

/// How often the reply that would be chosen is the human's own.
@Suite(.mirrors, .timeLimit(.minutes(30))) struct ReplyEvaluationTests {
    private func outcome(_ score: Double, _ isRight: Bool) -> ReplyEvaluation.Outcome {
        ReplyEvaluation.Outcome(
            score: score, isSame: false, isOfSameKind: isRight, sameByChance: 0, sameKindByChance: 0
        )
    }

    @Test func theThresholdHoldsBackWhatIsMostlyWrong() {
        let wrong = (0..<30).map { outcome(Double($0) / 100, $0 % 3 == 0) }
        let right = (30..<100).map { outcome(Double($0) / 100, $0 % 10 != 0) }
        // From .31 on 63 are right and 6 wrong.
        #expect(ReplyEvaluation.threshold(for: wrong + right) == 0.31)
        #expect(ReplyEvaluation.threshold(for: right.shuffled()) == 0.31)
        #expect(ReplyEvaluation.threshold(for: Array(right.prefix(49))) == nil)
    }

    @Test func nineTenthsAreHeldBackAtMost() {
        let wrong = (0..<100).map { outcome(Double($0), false) }
        #expect(ReplyEvaluation.threshold(for: wrong) == 90)
    }

    @Test func equalScoresAreHeldBackTogether() {
        let mixed = (0..<60).map { outcome($0 < 40 ? 1 : 2, $0 % 2 == 0 || $0 >= 40) }
        #expect(ReplyEvaluation.threshold(for: mixed) == 1)
    }

    /// A person who answers thanks with "you're welcome" and questions with "yes" is found out.
    @Test(arguments: Engine.allCases) func theLastFifthIsMeasured(_ engine: Engine) async throws {
        let mirror = try await BareMirror(engine).open()
        let human = AccountID(network: .mastodon, value: "me@home.example")
        let friend = AccountID(network: .mastodon, value: "friend@home.example")
        let asked = ["Thank you!", "Are you at home?", "Good morning"]
        let answers = ["You're welcome!", "Yes indeed", "Hello hello"]
        var posts: [Post] = []
        var events: [FavoriteEvent] = []
        for number in 0..<300 {
            let parent = PostID(network: .mastodon, value: "asked-\(number)")
            let text = "\(answers[number % 3]) word\(["a", "b", "c", "d", "e"][number % 5])"
            posts.append(
                Post(
                    id: PostID(network: .mastodon, value: "reply-\(number)"), author: human,
                    text: text,
                    createdAt: Sample.origin - Double(300 - number) * 3_600,
                    replyTo: ReplyTarget(author: friend, post: parent)))
            events.append(
                .seen(
                    Example(id: parent, author: "friend", authorID: friend, text: asked[number % 3])
                ))
        }
        _ = try await mirror.archive.store(posts, timeZone: Sample.zone, limit: 1_000)
        _ = try await mirror.favorites().learn(events, at: Sample.origin)
        let report = try await ScoreReporter(mirror: mirror, zone: Sample.zone).report(
            now: Sample.origin)
        let scores = try #require(report.replies.scores)
        #expect(scores.answersKnown > 0)
        let choices = try #require(scores.choices)
        #expect(choices.answers == 60)
        #expect(choices.kindKnown == 60)
        #expect(choices.sameKind == 60)
        #expect(choices.sameKindByChance > 15 && choices.sameKindByChance < 25)
        #expect(choices.same > 0 && choices.same < 60)
        #expect(choices.measured == Sample.origin)
        #expect(choices.held == 0)
        #expect(choices.threshold != nil)
        #expect(try await mirror.replyMeasure() == nil)
    }

    @Test func withoutAnsweredMentionsNothingIsSaid() async throws {
        let mirror = try await BareMirror().open()
        let human = AccountID(network: .mastodon, value: "me@home.example")
        let posts = (0..<60).map { number in
            Post(
                id: PostID(network: .mastodon, value: "\(number)"), author: human, text: "Yes",
                createdAt: Sample.origin - Double(number + 1) * 3_600,
                replyTo: ReplyTarget(
                    author: AccountID(network: .mastodon, value: "friend@home.example")))
        }
        _ = try await mirror.archive.store(posts, timeZone: Sample.zone, limit: 1_000)
        let report = try await ScoreReporter(mirror: mirror, zone: Sample.zone).report(
            now: Sample.origin)
        let scores = try #require(report.replies.scores)
        #expect(scores.answersKnown == 0)
        #expect(scores.choices == nil)
    }

    @Test(
        arguments: [
            (
                ReplyMeasure(
                    measured: Sample.origin, answers: 120, same: 9, sameByChance: 2.2,
                    kindKnown: 118, sameKind: 70,
                    sameKindByChance: 54.6, threshold: 0.1, held: 20),
                "the bot would have chosen the human's own text for 9 of the last 120 answers (2 if it drew), and a reply "
                    + "of the same kind for 70 of 118 (55 if it drew); 20 of these hardly fitted, for which REPLIES decides"
            ),
            (
                ReplyMeasure(
                    measured: Sample.origin, answers: 12, same: 1, sameByChance: 0.4, kindKnown: 0,
                    sameKind: 0,
                    sameKindByChance: 0, threshold: nil, held: 0),
                "the bot would have chosen the human's own text for 1 of the last 12 answers (0 if it drew)"
            ),
        ])
    func theMeasureIsASentence(measure: ReplyMeasure, sentence: String) {
        #expect(measure.inWords == sentence)
    }
}
