package import Conduct

/// The fitness that a text needs to be posted by itself.
package enum FitnessMode: String, CaseIterable, Sendable {
    /// Only strictly fit texts are accepted, and plain ones are preferred.
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
