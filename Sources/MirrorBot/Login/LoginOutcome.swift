import Mirroring

/// What a person at the terminal gave, ready to be tried.
struct LoginOutcome {
    let account: AccountConfiguration
    /// What the person should know before going on, a sentence each.
    let warnings: [String]
}
