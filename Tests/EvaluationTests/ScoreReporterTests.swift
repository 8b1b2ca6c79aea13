import Archive
import Expectations
import Favorites
import Fixtures
import Foundation
import Posts
import Schedule
import Testing

@testable import Control
@testable import Evaluation
@testable import Fleet
@testable import Mirroring

/// What a mirror says of itself, on real stores.
@Suite(.mirrors, .timeLimit(.minutes(30))) struct ScoreReporterTests {
    private func report(
        _ mirror: HumanMirror, zone: TimeZone? = Sample.zone, now: Date = Sample.origin
    ) async throws -> ScoreReport {
        try await ScoreReporter(mirror: mirror, zone: zone).report(now: now)
    }

    private func reason<Scores>(_ part: ScoreReport.Part<Scores>) -> String? {
        guard case .missing(let reason) = part else { return nil }
        return reason
    }

    @Test func aNewMirrorSaysWhatIsMissing() async throws {
        let mirror = try await BareMirror().open()
        let report = try await report(mirror)
        #expect(
            reason(report.scheduler)
                == "the archive holds no posts of the days before today; run mirror-bot train scheduler"
        )
        #expect(
            reason(report.classifier)
                == "0 posts of a home timeline were learned; at least 20 are needed; run mirror-bot train classifier, or let "
                + "mirror-bot run learn them")
        let zoneless = try await self.report(mirror, zone: nil)
        try expect(#require(reason(zoneless.scheduler))) { $0.hasPrefix("TIME_ZONE is not set; ") }
        let json = String(decoding: try JSONEncoder().encode(report), as: UTF8.self)
        #expect(json.contains(#""scheduler":{"missing":"the archive holds no posts"#))
    }

    @Test(arguments: Engine.allCases)
    func aTrainedMirrorMeasuresBothModelsAndChangesNothing(_ engine: Engine) async throws {
        let mirror = try await BareMirror(engine).open()
        try await TrainedDatabase.train(mirror)
        let before = try await TableContents(of: mirror.storage)
        let report = try await report(mirror)
        let after = try await TableContents(of: mirror.storage)
        #expect(before == after)
        #expect(report.mirror == "test")

        let times = try await mirror.archive.scheduleRows()
        let evaluation = ScheduleEvaluation(zone: Sample.zone)
        let expected = try evaluation.scores(of: times, name: "test")
        try expect(#require(report.scheduler.scores), equals: expected)
        try expect(
            #require(expected[.trainingPosts]) + (expected[.testedPosts] ?? 0),
            equals: Double(times.count))

        let classifier = try #require(report.classifier.scores)
        #expect(classifier.testing.posts == Sample.exampleCount * 2 / 5)
        #expect(classifier.training.posts == Sample.exampleCount * 8 / 5)
        try expect(#require(classifier.rocAUC)) { $0 > 0.6 }
    }

    @Test func todaysPostsAreNotCounted() async throws {
        let mirror = try await BareMirror().open()
        try await TrainedDatabase.train(mirror)
        let times = try await mirror.archive.scheduleRows()
        let last = try #require(times.map(\.day).max())
        let noon = Date(timeIntervalSince1970: Double(last.ordinal) * 86_400 + 3 * 3_600)
        let complete = times.filter { $0.day < last }
        #expect(complete.count < times.count)
        let scores = try #require(try await report(mirror, now: noon).scheduler.scores)
        expect(
            scores,
            equals: (try ScheduleEvaluation(zone: Sample.zone).scores(of: complete, name: "test")))
    }

    @Test func theSettingsOfTheMirrorAreMeasured() async throws {
        let bare = try await BareMirror(variables: ["OLD_BOT": "yes", "MAX_PER_DAY": "1"])
        let mirror = try await bare.open()
        try await TrainedDatabase.train(mirror)
        let times = try await mirror.archive.scheduleRows()
        let configuration = ScheduleConfiguration(
            model: .raw, bursts: false, maximumPerDay: 1)
        let scores = try #require(try await report(mirror).scheduler.scores)
        let expected = try ScheduleEvaluation(configuration: configuration, zone: Sample.zone)
            .scores(of: times, name: "test")
        #expect(scores == expected)
        #expect(scores[.logLikelihood] == -.infinity)
        #expect(scores[.gaps] == nil)
    }

    @Test func oneModelIsMeasuredWithoutTheOther() async throws {
        let bare = try await BareMirror(variables: ["MECAB_DICTIONARY": "/nowhere"])
        let trained = try await bare.open(["MECAB_DICTIONARY": ""])
        try await TrainedDatabase.train(trained)
        let mirror = try await bare.open()
        let report = try await report(mirror)
        #expect(report.scheduler.scores != nil)
        try expect(#require(reason(report.classifier))) { $0.contains("/nowhere") }
    }

    @Test func tooFewPostsSaySo() async throws {
        let mirror = try await BareMirror().open()
        let human = AccountID(network: .mastodon, value: "me@home.example")
        let posts = (0..<7).map { number in
            Post(
                id: PostID(network: .mastodon, value: "\(number)"), author: human, text: "hello",
                createdAt: Sample.origin - Double(number + 1) * 86_400)
        }
        _ = try await mirror.archive.store(
            posts, timeZone: Sample.zone, limit: 100)
        let report = try await report(mirror)
        #expect(
            reason(report.scheduler)
                == "there are 7 posts; at least 20 are needed, replies not counted")
    }

    @Test func theCutCountsWhatWasSeenOnATimeline() {
        func post(_ number: Int, _ state: ExampleState) -> LabelledPost {
            let id = PostID(network: .mastodon, value: "\(number)")
            return LabelledPost(Example(id: id, author: nil, text: "x"), state: state)
        }
        let unseen = (0..<50).map { post($0, .favorite) }
        let seen = (100..<120).map { post($0, $0 % 4 == 0 ? .seenFavorite : .seen) }
        #expect(ScoreReporter.firstTestedIndex(in: unseen + seen) == 66)
        #expect(ScoreReporter.firstTestedIndex(in: seen + unseen) == 16)
        #expect(ScoreReporter.firstTestedIndex(in: unseen + seen.dropLast()) == nil)
    }
}
