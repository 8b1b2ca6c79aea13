import Control
import Favorites
import Foundation
import Localization
import Mirroring
import Posts
import Settings

extension PageTemplate {
    /// A table of words with their weights.
    static let words = PageTemplate("words")
}

/// The page about the model learned from the human's favorites, with a trial judgement of a post.
enum FavoritesPage: MirrorPage {
    static let section = PageSection.favorites
    static let templates = [
        PageTemplate("favorites"),
        .steps, .words,
    ]
    static let liveParts = ["learned"]
    static let routes: [MirrorRoute] = [.get("/favorites", page), .post("/favorites/try", judge)]

    /// The longest text to judge, in characters: longer than any network allows.
    private static let maximumLength = 30_000

    private static func page(_ request: MirrorRequest) async throws -> WebReply {
        try await page(request, judged: nil)
    }

    private static func page(_ request: MirrorRequest, judged: ExplainReport?) async throws
        -> WebReply
    {
        let reporter = StatsReporter(
            mirror: request.mirror, zone: request.zone ?? .gmt, kept: request.keptReports)
        let classifier = try await StatusReporter(mirror: request.mirror, countsAll: false)
            .classifier()
        let taste = try await reporter.taste()
        let context = context(
            classifier, taste, threshold: request.mirror.configuration.favorites.threshold,
            judged: judged,
            of: request)
        return .page(PageContent(templates[0], in: section, context))
    }

    /// Judges a typed post; stores nothing.
    private static func judge(_ request: MirrorRequest) async throws -> WebReply {
        try await request.attempt(refusedBy: page) {
            guard let text = request.form.typed("text") else {
                throw ChangeRefusal(.unusable, localized("write what the post would say"))
            }
            guard text.count <= maximumLength else {
                throw ChangeRefusal(
                    .unusable,
                    localized("the text is longer than \(Words.number(maximumLength)) characters"))
            }
            let author: (id: AccountID, handle: String)? =
                if let name = request.form.typed("author") {
                    try await PeopleBook(mirror: request.mirror).author(name)
                } else { nil }
            let report = try await ExplainReporter(mirror: request.mirror)
                .report(onText: text, by: author, now: request.now)
            return try await page(request, judged: report)
        }
    }

    // MARK: What it shows

    static func context(
        _ classifier: StatusReport.ClassifierState?, _ taste: StatsReport.Taste, threshold: Double,
        judged: ExplainReport?, of request: MirrorRequest
    ) -> PageContext {
        context(
            classifier, taste, threshold: threshold, judged: judged, words: request.words,
            base: request.base,
            token: request.access.isReadOnly ? nil : request.hidden(),
            typed: (request.form["text"] ?? "", request.form["author"] ?? ""))
    }

    /// - Parameters:
    ///   - token: The hidden fields of forms; nil if the page is read-only.
    ///   - typed: The typed text and author.
    static func context(
        _ classifier: StatusReport.ClassifierState?, _ taste: StatsReport.Taste, threshold: Double,
        judged: ExplainReport?, words: Words, base: String, token: Markup?,
        typed: (text: String, author: String)
    ) -> PageContext {
        guard let classifier, classifier.waiting == nil, taste.problem == nil else {
            let problem =
                classifier?.waiting ?? taste.problem ?? localized("what was learned cannot be read")
            return [
                "base": .text(base),
                "waiting": .sentence(Words.sentence(problem)),
                "learned": .none,
            ]
        }
        let measure = taste.measure
        let calibration = measure.flatMap { $0.calibration.isEmpty ? nil : $0 }
        let learnedWords = tables(taste.wordsFor, taste.wordsAgainst, hasExamples: true)
        let learned: PageContext = [
            "favorites": .number(classifier.favorites), "others": .number(classifier.normals),
            "precision": .text(measure?.precision.map { Words.percent($0) } ?? "–"),
            "precisionWords": .text(
                localized(
                    "of what it would favorite; \(Words.chance(above: threshold)) are meant to be")),
            "recall": .text(measure?.recall.map { Words.percent($0) } ?? "–"),
            "threshold": .text(Words.rate(threshold)),
            "thresholdWords": .text(
                localized("a chance of \(Words.chance(above: threshold))")),
            "measured": .text(measured(measure, words)), "isMeasured": .flag(measure != nil),
            "canTry": .flag(token != nil), "token": .markup(token ?? ""),
            "typedText": .text(typed.text), "typedAuthor": .text(typed.author),
            "judged": .fields(judged.map { judgement($0) }),
            "wordsFor": .fields(learnedWords.for),
            "wordsAgainst": .fields(learnedWords.against),
            "calibration": .fields(calibration.map { plot($0) }),
            "hasAuthors": .flag(!taste.authors.isEmpty),
            "authors": .list(
                taste.authors.map { author in
                    [
                        "name": .account(ListWords.cut(Words.cut(author.name, to: 80), bytes: 160)),
                        "query": .text(
                            WebFields.encoded(String(author.name.drop { $0 == "@" }.prefix(60)))),
                        "favorites": .number(Int(author.favorites)),
                        "others": .number(Int(author.normals)),
                        "given": .number(author.given),
                    ]
                }),
        ]
        return ["base": .text(base), "waiting": .none, "learned": .fields(learned)]
    }

    private static func measured(_ measure: ClassifierMeasure?, _ words: Words) -> String {
        guard let measure else { return localized("How often that is right was not measured yet.") }
        return localized(
            "Right and found as measured \(words.moment(measure.measured)), on \(Words.count(measure.posts, "post")) of which \(Words.number(measure.favorites)) were favorites."
        )
    }

    /// Returns the contexts of the template `words` for the words for and against a favorite, with
    /// all bars on one scale.
    ///
    /// - Parameters:
    ///   - wordsFor: The words that speak for a favorite.
    ///   - wordsAgainst: The words that speak against a favorite.
    ///   - hasExamples: Whether each word has an example: a post of somebody that contains it.
    static func tables(
        _ wordsFor: [StatsReport.Word], _ wordsAgainst: [StatsReport.Word], hasExamples: Bool
    ) -> (for: PageContext, against: PageContext) {
        let strongest = (wordsFor + wordsAgainst).map { abs($0.logOdds) }.max() ?? 0
        return (
            table(wordsFor, side: "for", strongest: strongest, hasExamples: hasExamples),
            table(
                wordsAgainst, side: "against", strongest: strongest, hasExamples: hasExamples)
        )
    }

    private static func table(
        _ words: [StatsReport.Word], side: String, strongest: Double, hasExamples: Bool
    ) -> PageContext {
        let rows = words.map { word in
            [
                "word": .text(ListWords.cut(Words.cut(word.word, to: 60), bytes: 120)),
                "bar": .markup(
                    Drawing.meter(strongest > 0 ? abs(word.logOdds) / strongest : 0, side: side)),
                "seen": .text(
                    "\(Words.number(Int(word.favorites))) / \(Words.number(Int(word.normals)))"),
                "example": .text(
                    hasExamples
                        ? word.example.map { ListWords.cut(Words.cut($0, to: 90), bytes: 270) }
                        : nil),
            ] as PageContext
        }
        return ["hasWords": .flag(!rows.isEmpty), "words": .list(rows)]
    }

    private static func plot(_ measure: ClassifierMeasure) -> PageContext {
        [
            "plot": .markup(CalibrationPlot(measure: measure).drawing.element),
            "bins": .list(
                measure.calibration.map { bin in
                    [
                        "told": .text(Words.percent(bin.predicted)),
                        "came": .text(Words.percent(bin.observed)),
                        "posts": .number(bin.posts),
                    ]
                }),
        ]
    }

    private static func judgement(_ report: ExplainReport) -> PageContext {
        let verdict =
            switch report.verdict {
            case .favorite: localized("The bot would favorite it.")
            case .suggestion: localized("It would wait for you.")
            case .nothing, nil: localized("The bot would leave it alone.")
            }
        let rate = report.judgementNow.map {
            localized("Rate \(Words.rate($0.rate)). \(Words.chance(ofOdds: $0.rate))")
        }
        return [
            "text": .text(TextsPage.excerpt(report.text ?? "")), "language": .none,
            "author": .account(report.person.map { Words.cut($0.name, to: 80) }),
            "verdict": .text(verdict), "rate": .text(rate),
            "rules": .list(
                report.rules.map { rule in
                    [
                        "text": .sentence(Words.sentence(rule.text)),
                        "setting": .text(rule.setting),
                    ]
                }),
            "steps": .fields(
                report.judgementNow?.steps(
                    caption: localized("From any post to this one: each word moves the odds."))),
        ]
    }
}

extension ExplainReport.Judgement {
    /// The context of the template `steps`.
    func steps(caption: String) -> PageContext {
        let bars = StepBars(self)
        let sum = StepBars.signed(bars.sum)
        let shownRate = Words.rate(rate)
        return [
            "stepsCaption": .text(caption),
            "stepRows": .list(
                bars.rows.map { row in
                    [
                        "name": .account(ListWords.cut(Words.cut(row.name, to: 60), bytes: 120)),
                        "counts": .text(row.counts),
                        "bar": .markup(row.bar),
                        "adds": .text(row.adds),
                    ]
                }),
            "forKey": .markup(Drawing.key("for")), "againstKey": .markup(Drawing.key("against")),
            "baseKey": .markup(Drawing.key("base")),
            "stepsThreshold": .text(Words.chance(above: threshold)),
            "stepsSum": .text(
                weights.map {
                    localized(
                        "In all \(sum): a rate of \(shownRate). \(Words.capitalized($0.text)).")
                } ?? localized("In all \(sum): a rate of \(shownRate).")),
        ]
    }
}

extension Words {
    /// The words that a sentence has for small numbers, from 0 on.
    private static var numerals: [Substring] {
        localized("none one two three four five six seven eight nine ten eleven twelve")
            .split(separator: " ")
    }

    /// Formats a number in a sentence: as a word up to twelve, as `seven`, otherwise in digits, as
    /// `13`.
    static func numeral(_ number: Int) -> String {
        let numerals = numerals
        return numerals.indices.contains(number) ? String(numerals[number]) : Self.number(number)
    }

    /// Formats a favorite rate with at most three significant digits, as `5.1` or `2`.
    static func rate(_ rate: Double) -> String {
        rate.isFinite ? String(format: "%.3g", rate) : "–"
    }

    /// Formats the probability for odds of r to one, which is r / (r + 1).
    ///
    /// If the odds are a small integer, the probability is in words, as `two of three`; otherwise
    /// it is in per cent.
    static func chance(above odds: Double) -> String {
        guard odds.isFinite, odds >= 1, odds < 12, odds == odds.rounded() else {
            return percent(odds.isFinite ? odds / (odds + 1) : 1)
        }
        return localized("\(numeral(Int(odds))) of \(numeral(Int(odds) + 1))")
    }

    /// Returns the probability for odds of favorites to other posts as a sentence.
    ///
    /// For odds of five it is `Of six such posts they favorite five.`
    static func chance(ofOdds odds: Double) -> String {
        guard odds.isFinite, odds > 0 else { return localized("Of such posts they favorite none.") }
        let largestOdds = 1_000_000.0
        let (favorites, others) =
            odds >= 1
            ? (Int(min(odds, largestOdds).rounded()), 1)
            : (1, Int(min(1 / odds, largestOdds).rounded()))
        return localized(
            "Of \(numeral(favorites + others)) such posts they favorite \(numeral(favorites)).")
    }
}
