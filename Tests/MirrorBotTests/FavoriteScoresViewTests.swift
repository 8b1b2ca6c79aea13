import Evaluation
import Favorites
import Foundation
import NetworkNames
import Posts
import Testing

@testable import MirrorBot

/// The classifier's figures on a terminal.
@Suite struct FavoriteScoresViewTests {
    private func scores(
        _ predictions: [(probability: Double, isFavorite: Bool)], rate: Double = 25_000
    )
        -> FavoriteScores
    {
        FavoriteScores(
            predictions: predictions.map { probability, isFavorite in
                Prediction(
                    id: PostID(network: .mastodon, value: "1"),
                    logRate: log(probability / (1 - probability)),
                    probability: probability, isFired: probability > 2.0 / 3, isFavorite: isFavorite
                )
            },
            threshold: 2,
            training: .init(
                favorites: 30, normals: 70, baseRate: BaseRate(posts: 100, favorites: 30),
                distinctFeatures: 5,
                waiting: nil), postsPerSecond: predictions.isEmpty ? nil : rate)
    }

    private func lines(_ scores: FavoriteScores, columns: Int = 100) -> [String] {
        let terminal = Terminal(descriptor: -1, environment: ["COLUMNS": "\(columns)"])
        return FavoriteScoresView(scores: scores, terminal: terminal).lines
    }

    // MARK: In plain words

    @Test(
        arguments: [
            ([(12, true), (6, false)], "about two of three favorites are right"),
            ([(11, true), (9, false)], "about half of the favorites are right"),
            ([(78, true), (22, false)], "about four of five favorites are right"),
            ([(40, true)], "nearly all favorites are right"),
            ([(40, false)], "hardly any favorite is right"),
            ([(7, true), (2, false)], "too few favorites to say how many are right: 7 of 9 were"),
            ([], "no post was sure enough to be favorited, so none was right or wrong"),
        ] as [([(Int, Bool)], String)])
    func sharesAreToldAsPeopleTellThem(_ fired: [(Int, Bool)], _ words: String) {
        let predictions = fired.flatMap {
            Array(repeating: (probability: 0.75, isFavorite: $0.1), count: $0.0)
        }
        #expect(
            ScoreView.favoritesInWords(scores(predictions + [(0.1, true), (0.1, false)])) == words)
        #expect(ScoreView.favoritesInWords(nil) == nil)
    }

    @Test func whereTheHumanFavoritedNothingNothingIsTold() {
        let words = ScoreView.favoritesInWords(scores(Array(repeating: (0.9, false), count: 30)))
        #expect(
            words
                == "the human favorited none of the tested posts, so nothing can be said of the bot's favorites"
        )
    }

    @Test func whereTooLittleWasLearnedNothingIsTold() throws {
        let waiting = try #require(
            WaitReason(CategoryCounts(favorites: 9, normals: 50), needed: 20))
        let scores = FavoriteScores(
            predictions: [], threshold: 2,
            training: .init(
                favorites: 9, normals: 50, baseRate: BaseRate(posts: 59, favorites: 9),
                distinctFeatures: 5,
                waiting: waiting), postsPerSecond: nil)
        #expect(
            ScoreView.favoritesInWords(scores)
                == "no favorite can be judged yet: too little was learned (9 of 20 favorites)")
    }

    private static let some: [(Double, Bool)] = [
        (0.75, true), (0.75, false), (0.25, true), (0.25, false), (0.25, false), (0.05, false),
    ]

    @Test func everyFigureHasAMeaning() {
        #expect(
            lines(scores(Self.some.map { ($0.0, $0.1) })) == [
                "order of the posts",
                "  ROC AUC              0.688  a favorite ranks above another post in 68.8% of pairs; by chance 50%",
                "  average precision    0.450  precision from the top down; by chance 0.333",
                "  best F1              0.571  if every rate from 0.333 up counted as a favorite",
                "",
                "favorites above a rate of 2",
                "  precision            0.500  1 of the bot's 2 favorites are the human's too",
                "  recall               0.500  1 of the human's 2 favorites are the bot's too",
                "  F1                   0.500  both in one figure, their harmonic mean",
                "",
                "probabilities",
                "  Brier score          0.219  their mean squared error; always saying 33% gives 0.222",
                "  calibration error    0.133  they are 13.3% off on average; 0 is perfect",
                "  said      favorites",
                "  0–10%     ░░░░░░░░░░░░░░░░░░░░   0% of 1",
                "  20–30%    ███████░░░░░░░░░░░░░  33% of 3",
                "  70–80%    ██████████░░░░░░░░░░  50% of 2",
                "",
                "speed",
                "  posts a second       25000  one thread finds the words and the rate",
            ])
    }

    @Test func whatHasNoValueIsADash() {
        let lines = lines(scores([]))
        for name in [
            "ROC AUC", "average precision", "precision", "recall", "F1", "Brier score",
            "posts a second",
        ] {
            let line = lines.first { $0.hasPrefix("  \(name)  ") } ?? ""
            #expect(line.dropFirst(2 + name.count).drop { $0 == " " }.hasPrefix("-  "), "\(line)")
        }
        #expect(!lines.joined().lowercased().contains("nan"))
    }

    @Test(arguments: [40, 60, 80, 100]) func noLineIsWiderThanTheTerminal(_ columns: Int) {
        for line in lines(scores(Self.some.map { ($0.0, $0.1) }), columns: columns) {
            // A meaning keeps 20 columns beside its figure.
            #expect(Printable.width(line) <= max(columns, 50), "\(line)")
        }
    }

    @Test(arguments: [
        (
            0, 2.0,
            "no text that may be posted looks out of place to the rules, which miss some (docs/measures.md)"
        ),
        (10, 2.0, "the texts of one day in 50 would look out of place"),
        (100, 3.0, "the texts of one day in 4 would look out of place"),
        (900, 4.0, "the texts of most days would look out of place: FITNESS=plain keeps them out"),
    ])
    func saysInPlainWordsOnHowManyDaysATextIsOutOfPlace(
        number: Int, postsPerDay: Double, words: String
    ) {
        let scores = TextScores(texts: 1_000, outOfPlace: number, postsPerDay: postsPerDay)
        #expect(ScoreView.textsInWords(.measured(scores)) == words)
        #expect(ScoreView.textsInWords(.missing("nothing")) == nil)
    }

    @Test(arguments: [
        (
            214, 0,
            "posts are chosen from 214 plain texts, of which about one in ten would look out of place"
        ),
        (
            12, 0,
            "only 12 texts are plain, so all 1000 that stand for themselves are used, of which about one in four would look out of place"
        ), (3, 900, "the texts of most days would look out of place: FITNESS=plain keeps them out"),
    ])
    func saysInPlainWordsWhatPlainTextsAreWorth(plain: Int, number: Int, words: String) {
        let scores = TextScores(texts: 1_000, outOfPlace: number, plain: plain, postsPerDay: 4)
        #expect(ScoreView.textsInWords(.measured(scores)) == words)
    }
}
