import Foundation
import Localization
package import Posts
import Storage

/// Learns from a person's decisions which of the human's texts the bot should rather not post.
///
/// It uses the model of favorites (``FavoriteModel``, ``WeightFit``) with counts of its own
/// (`CountNamespace.texts`): a text with a label against it takes the place of a favorite.
/// The counts are derived from the labels in ``LabelTable``: they contain a digest of these labels,
/// and are rebuilt when it differs, as after a label was removed. Weights depend on the labels
/// alone, and are fitted again with them.
///
/// A text is only demoted, that is, chosen if there is no other. A text with the label
/// ``PersonLabel/kept`` never is.
package struct TextTaste: Sendable {
    /// The features of a text, independent of the setting for others' posts: labels are few, and
    /// words alone rarely recur.
    package static let wordSelection = FeatureWords.full
    /// The least number of labels for judging texts.
    package static let fewestLabels = 12
    /// A text is demoted if its features raise the log odds of a label against it by more than
    /// this.
    ///
    /// The rate of labels against texts is ignored: people label the texts that strike them.
    package static let demotionMargin = 0.1

    package let table: LabelTable
    private let counts: any CountStore
    private let extractor: FeatureExtractor
    private let configuration: FavoriteConfiguration
    private let latestFit = LatestFit()

    /// - Parameters:
    ///   - counts: A store of `CountNamespace.texts`.
    ///   - configuration: Whether weights are learned, and the number of labels of each kind that
    ///     is needed.
    package init(
        _ table: LabelTable, counts: any CountStore, extractor: FeatureExtractor,
        configuration: FavoriteConfiguration
    ) {
        self.table = table
        self.counts = counts
        self.extractor = extractor
        self.configuration = configuration
    }

    /// Begins to judge texts by the present labels.
    ///
    /// - Returns: Nil if there are too few labels, or only labels of one kind.
    /// - Throws: `StorageError` or `CancellationError`.
    package func session() async throws -> TextSession? {
        let source = LabelledTexts(table: table, extractor: extractor)
        let rows = source.usable(try await table.rows())
        guard rows.count >= Self.fewestLabels else { return nil }
        let againstCount = rows.count { $0.label.isAgainst }
        guard againstCount > 0, againstCount < rows.count else { return nil }
        let stamp = source.stamp(of: rows)
        let weights = latestFit.weights(of: stamp) { fitted(rows) }
        return TextSession(rows, source, stamp: stamp, counts: counts, weights: weights)
    }

    /// The weights that separate the labelled texts best; plain ones if there are too few.
    private func fitted(_ rows: [LabelTable.Row]) -> EvidenceWeights {
        let learned = LabelledTexts.Learned(rows, extractor)
        let hasEnough =
            WaitReason(learned.categories, needed: configuration.minimumPerCategory) == nil
        guard configuration.weighting == .learned, hasEnough else {
            return .plain(of: extractor.wordSelection)
        }
        return WeightFit(learned.samples, of: extractor.wordSelection).weights
    }

    /// Returns the digests that are kept for a text that the human deleted.
    package func digests(of text: String, of id: PostID) -> FeatureDigests {
        extractor.digests(of: text, id)
    }
}

extension FeatureExtractor {
    /// Returns the features of a text of the human, without the author, who is the same for all of
    /// them.
    fileprivate func features(of text: String, _ id: PostID) -> FeatureSet {
        features(of: Example(id: id, author: nil, authorID: nil, text: text).stored)
    }

    fileprivate func digests(of text: String, _ id: PostID) -> FeatureDigests {
        FeatureDigests(features(of: text, id), extraction: fingerprint)
    }
}

/// The weights of the last labels, so that a plan of many slots fits them once.
private final class LatestFit: @unchecked Sendable {
    // Sendable because every access to `latest` holds the lock.
    private let lock = NSLock()
    private var latest: (stamp: CountStamp, weights: EvidenceWeights)?

    func weights(of stamp: CountStamp, _ fit: () -> EvidenceWeights) -> EvidenceWeights {
        if let latest = lock.withLock({ latest }), latest.stamp == stamp { return latest.weights }
        let weights = fit()
        lock.withLock { latest = (stamp, weights) }
        return weights
    }
}

/// The learned judgement of a text.
package struct TextOpinion: Equatable, Sendable {
    package let id: PostID
    /// The estimated rate of labels against such texts, and the contribution of each feature.
    package let assessment: Assessment
    /// Whether the text is chosen only after others: it reads like the texts that a person
    /// rejected, and that person has not kept it.
    package let isDemoted: Bool
    /// The number of texts with a label against them.
    package let againstCount: Int

    /// The reason why the text is demoted, in one sentence without a full stop, by groups of
    /// features.
    package var sentence: String {
        let groupsOfFeatures = assessment.grouped(atMost: 3)
        let words = groupsOfFeatures.strongest.filter { $0.logOdds > 0 }.map {
            FeatureGroup.displayName(of: $0.feature)
        }
        let form = groupsOfFeatures.form.filter { $0.logOdds > 0 }.prefix(2).map {
            FeatureGroup.localizedName(ofForm: FeatureGroup.displayName(of: $0.feature))
        }
        var groups: [String] = []
        if !words.isEmpty {
            let list = words.joined(by: .comma)
            groups.append(localized("its words (\(list))"))
        } else if groupsOfFeatures.rest.logOdds > 0 {
            groups.append(localized("its small words and signs"))
        }
        if groupsOfFeatures.spelling.logOdds > 0 {
            groups.append(localized("its spelling"))
        }
        if groupsOfFeatures.form.reduce(0, { $0 + $1.logOdds }) > 0, !form.isEmpty {
            let list = form.joined(by: .comma)
            groups.append(localized("its form (\(list))"))
        }
        guard !groups.isEmpty else {
            return localized(
                "it comes after others, for it reads like the \(againstCount) texts that were left out"
            )
        }
        let list =
            switch Language.current {
            case .english:
                groups.formatted(.list(type: .and).locale(Locale(identifier: "en_US")))
            case .japanese: groups.joined(separator: "、")
            }
        return localized(
            "it comes after others, for it reads like the \(againstCount) texts that were left out, by \(list)"
        )
    }
}

/// Judges texts by the labels of one moment.
package struct TextSession: Sendable {
    private let source: LabelledTexts
    private let stamp: CountStamp
    private let counts: any CountStore
    private let weights: EvidenceWeights
    private let keptPosts: Set<PostID>
    private let keptTexts: Set<String>
    private let againstCount: Int

    fileprivate init(
        _ rows: [LabelTable.Row], _ source: LabelledTexts, stamp: CountStamp,
        counts: any CountStore,
        weights: EvidenceWeights
    ) {
        self.source = source
        self.stamp = stamp
        self.counts = counts
        self.weights = weights
        let keptRows = rows.filter { !$0.label.isAgainst }
        keptPosts = Set(keptRows.map(\.id))
        keptTexts = Set(keptRows.compactMap(\.text))
        againstCount = rows.count - keptRows.count
    }

    /// Judges whether texts are demoted.
    ///
    /// - Returns: One opinion for each text, in their order.
    /// - Throws: ``FavoritesError`` with code `.countsUnavailable` or `.countsUnstable`,
    ///   `StorageError` or `CancellationError`.
    package func opinions(on texts: [(id: PostID, text: String)]) async throws -> [TextOpinion] {
        guard !texts.isEmpty else { return [] }
        var index = FeatureIndex(posts: texts.count)
        let places = texts.map { index.places(of: source.extractor.features(of: $0.text, $0.id)) }
        let snapshot = try await snapshot(of: index.features.map(FeatureDigests.digest))
        let model = FavoriteModel(snapshot.categories, weights: weights)
        let weighed = zip(index.features, snapshot.counts).map(model.weigh)
        return zip(texts, places).map { text, places in
            let assessment = model.assess(places, of: weighed)
            let isKept = keptPosts.contains(text.id) || keptTexts.contains(text.text)
            return TextOpinion(
                id: text.id, assessment: assessment,
                isDemoted: !isKept && assessment.byFeatures > TextTaste.demotionMargin,
                againstCount: againstCount)
        }
    }

    /// Reads the counts of the labels, and rebuilds them if they are of other labels.
    private func snapshot(of features: [String]) async throws -> CountSnapshot {
        if let snapshot = try await counts.counts(of: features), snapshot.stamp == stamp {
            return snapshot
        }
        try await counts.rebuild(from: source)
        // Counts of later labels are accepted too: the labels were changed meanwhile.
        guard let snapshot = try await counts.counts(of: features),
            snapshot.stamp.extraction == stamp.extraction
        else {
            throw FavoritesError(
                .countsUnstable,
                localized(
                    "could not read the counts of texts: other processes keep changing them; try again"
                ))
        }
        return snapshot
    }
}

/// The labels in the form from which counts are made.
struct LabelledTexts: CountSource {
    let table: LabelTable
    let extractor: FeatureExtractor

    var storage: any StorageEngine { table.storage }

    func tally(on connection: any StorageConnection) throws -> CountBatch {
        let rows = usable(try table.rows(on: connection))
        return CountBatch(
            stamp: stamp(of: rows), previous: 0, change: Learned(rows, extractor).change)
    }

    /// The rows without digests by another extractor: the deleted texts cannot be analysed again.
    func usable(_ rows: [LabelTable.Row]) -> [LabelTable.Row] {
        rows.filter { row in row.digests.map { $0.extraction == extractor.fingerprint } ?? true }
    }

    /// The stamp of counts of these labels: a digest of them instead of a growing number.
    func stamp(of rows: [LabelTable.Row]) -> CountStamp {
        let parts = rows.map { row in
            [
                row.id.network.rawValue, row.id.value, row.label.isAgainst ? "-" : "+",
                row.text ?? row.digests?.stored ?? "",
            ]
        }.sorted { $0.lexicographicallyPrecedes($1) }
        // The number has 51 bits, which a double stores exactly, and is never 0.
        let sequence = Int64(StableHash.seed(of: parts.flatMap(\.self)) >> 13) + 1
        return CountStamp(sequence: sequence, extraction: extractor.fingerprint)
    }

    /// Labels with the features of their texts.
    struct Learned {
        private var texts: [(features: FeatureSet, isAgainst: Bool)] = []
        private(set) var change = CountChange()

        /// - Parameter rows: See ``LabelledTexts/usable(_:)``.
        init(_ rows: [LabelTable.Row], _ extractor: FeatureExtractor) {
            for row in rows {
                guard
                    let digests = row.text.map({ extractor.digests(of: $0, row.id) }) ?? row.digests
                else { continue }
                texts.append((digests.features, row.label.isAgainst))
                change.move(
                    digests.features, from: nil, to: row.label.isAgainst ? .seenFavorite : .seen)
            }
        }

        var categories: CategoryCounts {
            CategoryCounts(
                favorites: change.favorites, normals: change.normals, seen: change.seen,
                seenFavorites: change.seenFavorites)
        }

        /// Each text as a sample, judged by all others.
        var samples: [WeightFit.Sample] {
            var counts: [String: FeatureCount] = [:]
            for (feature, number) in change.features(of: .favorite) {
                counts[feature] = FeatureCount(favorite: number)
            }
            for (feature, number) in change.features(of: .normal) {
                counts[feature, default: FeatureCount()].normal = number
            }
            let model = FavoriteModel(categories)
            return texts.map { text in
                model.sample(text.features, isFavorite: text.isAgainst) {
                    counts[$0] ?? FeatureCount()
                }
            }
        }
    }
}

extension Assessment {
    /// The amount that all features together add to the log odds, including the weights' constant.
    package var byFeatures: Double { logRate - baseLogOdds + weights.base }
}
