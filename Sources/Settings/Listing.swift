import Localization

/// Names in a sentence, one after the other.
enum Listing {
    /// The names with "and" between them.
    static func all(of names: [String]) -> String {
        guard let first = names.first else { return "" }
        return names.dropFirst().reduce(first) { localized("\($0) and \($1)") }
    }

    /// The names with "or" between them.
    static func any(of names: [String]) -> String {
        guard let first = names.first else { return "" }
        return names.dropFirst().reduce(first) { localized("\($0) or \($1)") }
    }
}
