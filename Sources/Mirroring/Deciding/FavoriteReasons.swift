package import Favorites
import Localization
package import Outbox

extension Explanation {
    /// The words and authors that mean something to a person, the strongest first; also those that
    /// an older version stored.
    package var tellingFeatures: [Feature] {
        features?.filter {
            $0.sums == nil && [.words, .author].contains($0.kind)
                && !SmallFeatures.contains($0.name)
        } ?? []
    }
}

extension Explanation.Feature {
    /// The feature's group, also for a feature that an older version stored without one.
    package var kind: Group {
        group ?? (sums == nil && FeatureGroup(of: name) == .author ? .author : .words)
    }

    /// Returns the contributions of the features to ln of a favorite rate: the telling words and
    /// authors, the strongest first, then the sum of all other words, the sum of the runs of
    /// letters, and the form of the text.
    ///
    /// - Parameters:
    ///   - assessment: The result of the classifier.
    ///   - number: The maximum number of words and authors to list; the features of the text's form
    ///     are then added up in one entry. Nil lists every feature except signs, numbers and
    ///     function words.
    /// - Returns: Contributions that add up, with the base, to ln of the rate.
    package static func all(of assessment: Assessment, atMost number: Int? = nil) -> [Self] {
        let shown = assessment.grouped(atMost: number ?? .max)
        func feature(_ contribution: Contribution) -> Self {
            Self(
                name: FeatureGroup.displayName(of: contribution.feature),
                logOdds: contribution.logOdds,
                favorites: contribution.favoriteCount, normals: contribution.normalCount,
                group: Group(FeatureGroup(of: contribution.feature)))
        }
        func sum(_ sum: Assessment.Groups.Sum, _ name: LocalizedText, _ group: Group) -> [Self] {
            guard sum.count > 0 else { return [] }
            return [
                Self(
                    name: "\(name.key) (\(sum.count))", logOdds: sum.logOdds, sums: sum.count,
                    group: group)
            ]
        }
        let others =
            number == nil
            ? sum(shown.rest, LocalizedText("signs, small words"), .words)
            : sum(shown.restOfWords, LocalizedText("other words"), .words)
                + sum(shown.restOfPairs, LocalizedText("other pairs"), .words)
        return shown.strongest.map(feature) + others
            + sum(shown.spelling, LocalizedText("runs of letters"), .spelling)
            + (number == nil
                ? shown.form.map(feature) : sum(.init(shown.form), LocalizedText("form"), .form))
    }

    /// Features by group, in the order in which they are shown to people; empty groups are left
    /// out.
    ///
    /// - Parameter features: Features in any order, which is kept within each group.
    package static func grouped(_ features: [Self]) -> [(group: Group, features: [Self])] {
        let groups = Dictionary(grouping: features, by: \.kind)
        return Group.allCases.compactMap { group in groups[group].map { (group, $0) } }
    }
}

extension Explanation.Feature.Group {
    init(_ group: FeatureGroup) {
        switch group {
        case .words: self = .words
        case .author: self = .author
        case .spelling: self = .spelling
        case .form: self = .form
        }
    }
}
