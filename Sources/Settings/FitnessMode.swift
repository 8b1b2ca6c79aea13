package import Conduct

/// The fitness that a text needs to be posted by itself.
package enum FitnessMode: String, CaseIterable, Sendable {
    /// Plain texts are preferred to other strictly fit ones.
    case plain
    case strict
    /// Texts that name a day, address somebody or were news are accepted too.
    case loose
    case off

    /// The largest accepted concession.
    package var grade: Fitness.Grade {
        switch self {
        case .plain, .strict: .fit
        case .loose: .addressed
        case .off: .broken
        }
    }
}
