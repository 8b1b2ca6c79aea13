package import Conduct

/// How fit a text must be to be posted by itself.
package enum FitnessMode: String, CaseIterable, Sendable {
    /// Plain texts before the others that are strictly fit.
    case plain
    case strict
    /// What names a day, speaks to somebody or was news does too.
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
