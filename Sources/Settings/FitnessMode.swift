package import Conduct

/// How fit a text must be to be posted by itself.
package enum FitnessMode: String, CaseIterable, Sendable {
    /// Plain texts before the others that are strictly fit.
    case plain
    case strict
    /// Also texts that name a day, speak to somebody or were news.
    case loose
    case off

    /// How much may be given up.
    package var grade: Fitness.Grade {
        switch self {
        case .plain, .strict: .fit
        case .loose: .addressed
        case .off: .broken
        }
    }
}
