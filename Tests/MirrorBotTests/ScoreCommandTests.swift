import Control
import Expectations
import Foundation
import Mirroring
import Posts
import Testing

/// `mirror-bot score`.
@Suite(.timeLimit(.minutes(30))) struct ScoreCommandTests {
    private let stage: Stage

    init() throws { stage = try Stage(["TIME_ZONE": "Asia/Tokyo"]) }

    private func json(_ ending: Ending) throws -> [String: Any] {
        #expect(ending.status == 0, "\(ending.error)")
        let object = try JSONSerialization.jsonObject(with: Data(ending.output.utf8))
        return try #require(object as? [String: Any])
    }

    private func trainClassifier(_ lines: String) async throws {
        let ending = try await stage.run("train", "classifier", "--from", "-", input: lines)
        #expect(ending.status == 0, "\(ending.error)")
    }

    @Test func aNewMirrorSaysWhyThereIsNothingToSay() async throws {
        try await stage.makeDatabase()
        let ending = try await stage.run("score")
        #expect(ending.status == 0)
        #expect(ending.error.isEmpty)
        let lines = ending.output.split(separator: "\n").map(String.init)
        #expect(
            lines.contains(
                "  ! nothing to say: the archive holds no posts of the days before today; run mirror-bot train scheduler"
            ))
        #expect(
            lines.contains(
                "  ! nothing to say: 0 posts of a home timeline were learned; at least 20 are needed; run mirror-bot train "
                    + "classifier, or let mirror-bot run learn them"))
        let report = try json(try await stage.run("score", "--json"))
        #expect(report["schema"] as? String == "mirror-bot/score/1")
        for part in ["scheduler", "classifier"] {
            let missing = try #require(report[part] as? [String: String])
            #expect(Set(missing.keys) == ["missing"])
        }
    }

    @Test func withoutAZoneTheScheduleSaysSo() async throws {
        try await stage.makeDatabase()
        let report = try json(
            try await stage.run("score", "--json", environment: ["TIME_ZONE": ""]))
        let missing = try #require(report["scheduler"] as? [String: String])
        expect(missing["missing"]) { $0?.hasPrefix("TIME_ZONE is not set; ") == true }
    }

    @Test func aTrainedMirrorHasALineForEachFigure() async throws {
        try await stage.train(Fixture.lines(days: 60, perDay: 3))
        try await trainClassifier(Fixture.examples(100))
        let ending = try await stage.run("score", environment: ["COLUMNS": "90"])
        #expect(ending.status == 0)
        #expect(ending.error.isEmpty)
        let lines = ending.output.split(separator: "\n", omittingEmptySubsequences: false).map(
            String.init)
        #expect(lines.first == "mirror default  on a part of its own past that it had not seen")
        // The twenty later posts have seven favorites, and of so few no share is told.
        #expect(
            lines[1].hasPrefix("  too few favorites to say how many are right: ")
                || lines[1].hasPrefix("  about "))
        expect(lines) { $0.contains { $0.hasPrefix("  words for count ") } }
        #expect(
            lines.contains("posting times  learned from 144 posts, tested on the 36 after them"))
        expect(lines) {
            $0.contains {
                $0.hasPrefix("favorites  learned from 80 posts, ")
                    && $0.contains("tested on 20 later ones")
            }
        }
        for name in [
            "log-likelihood", "over the kernel", "over the histogram", "posts a day", "gaps",
            "first post", "hours",
            "all days", "several posts", "their shape", "ROC AUC",
            "average precision", "precision", "recall", "F1", "Brier score", "calibration error",
        ] {
            let line = try #require(
                lines.first { $0.hasPrefix("  \(name) ") }, "\(name) is missing")
            #expect(line.dropFirst(30).contains(/\w{3}/), "\(name) is not explained")
        }
        // Three posts at the same minutes every day: the number of posts is certain.
        try expect(#require(lines.first { $0.hasPrefix("  posts a day ") })) {
            $0.contains("0.000  in the number of posts")
        }
        for line in lines.dropFirst() where !line.hasPrefix("favorites") {
            #expect(line.count <= 90, "\(line)")
        }
    }

    @Test func repliesAreCountedInPlainWords() async throws {
        try await stage.makeDatabase()
        let now = Date()
        try await stage.withMirror { mirror in
            let bob = AccountID(network: .mastodon, value: "bob@pal.example")
            try await mirror.remember([
                Life.post("1", "@ann@pal.example Sounds good", at: now, to: Life.ann),
                Life.post("2", "@ann@pal.example At 7?", at: now, to: Life.ann),
                Life.post("3", "@bob@pal.example Really?", at: now, to: bob),
                Life.post("4", "to myself", at: now, to: Life.human),
                Life.post("5", "to nobody", at: now),
            ])
        }
        let report = try json(try await stage.run("score", "--json"))
        let replies = try #require(report["replies"] as? [String: Int])
        #expect(
            replies == [
                "people": 2, "replies": 3, "plain": 1, "people_with_plain": 1, "answers_known": 0,
            ])
        let ending = try await stage.run("score", environment: ["COLUMNS": "200"])
        expect(ending.output) {
            $0.contains(
                "  2 people can be answered, 1 of them with a short reply that asks nothing and names nobody (33 % of 3 "
                    + "replies)\n")
        }
    }

    @Test func theKeysForProgramsAreThoseOfTheEvaluations() async throws {
        try await stage.train(Fixture.lines(days: 60, perDay: 3))
        try await trainClassifier(Fixture.examples(100))
        let report = try json(try await stage.run("score", "--json"))
        #expect(report["mirror"] as? String == "default")
        let scheduler = try #require(report["scheduler"] as? [String: Any])
        for key in [
            "log_likelihood", "log_likelihood_histogram", "log_likelihood_kernel20",
            "tv_daily_counts", "ks_gaps",
            "ks_first_post", "human_tv_daily_counts", "human_ks_gaps", "human_ks_first_post",
            "n_train", "n_test",
        ] { #expect(scheduler[key] is Double, "\(key) is missing") }
        let classifier = try #require(report["classifier"] as? [String: Any])
        for key in [
            "roc_auc", "average_precision", "precision", "recall", "f1", "brier", "ece",
            "posts_per_second", "n_train",
            "n_test",
        ] { #expect(classifier[key] is Double, "\(key) is missing") }
        #expect(classifier["n_train"] as? Int == 80)
        #expect(classifier["n_test"] as? Int == 20)
        try expect(#require(classifier["roc_auc"] as? Double)) { $0 > 0.9 }
        let calibration = try #require(classifier["calibration"] as? [[String: Any]])
        expect(calibration) { $0.compactMap { $0["posts"] as? Int }.reduce(0, +) == 20 }
    }

    @Test func keepsTheFiguresOfFavoritesForTheStats() async throws {
        try await stage.train(Fixture.lines(days: 60))
        try await trainClassifier(Fixture.examples(100))
        let before = try json(try await stage.run("stats", "--json"))
        #expect(before["measure"] == nil)
        let scores = try #require(
            try json(try await stage.run("score", "--json"))["classifier"] as? [String: Any])
        let stats = try json(try await stage.run("stats", "--json"))
        let measure = try #require(stats["measure"] as? [String: Any])
        #expect(measure["posts"] as? Int == scores["n_test"] as? Int)
        for key in ["precision", "recall", "threshold"] {
            #expect(measure[key] as? Double == scores[key] as? Double, "\(key)")
        }
        #expect(
            (measure["calibration"] as? [Any])?.count == (scores["calibration"] as? [Any])?.count)
    }

    @Test func asksForNothingOfANetworkAndLearnsNothing() async throws {
        try await stage.train(Fixture.lines(days: 60))
        try await trainClassifier(Fixture.examples(100))
        let before = try await stage.status()
        _ = try json(try await stage.run("score", "--json"))
        let after = try await stage.status()
        #expect(after.archive.posts == before.archive.posts)
        #expect(after.classifier?.counts == before.classifier?.counts)
    }
}
