/// Language tags of BCP 47, in the forms that servers accept and archives write.
package enum LanguageTag {
    /// Subtags for an unknown language, or for none.
    private static let empty: Set<String> = ["und", "zxx", "mul", "mis"]

    /// Whether `text` has the form of a tag: `ja`, `pt-BR`, `zh-Hant-TW`.
    package static func isWellFormed(_ text: String) -> Bool {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard let first = parts.first, (2...3).contains(first.utf8.count), parts.count <= 5 else {
            return false
        }
        return first.utf8.allSatisfy(\.isASCIILetter)
            && parts.dropFirst().allSatisfy { part in
                (1...8).contains(part.utf8.count) && part.utf8.allSatisfy(\.isASCIIAlphanumeric)
            }
    }

    /// Whether `text` names a language; false for an unknown one and for private codes (`qaa`
    /// through `qtz`).
    package static func namesLanguage(_ text: String) -> Bool {
        guard isWellFormed(text) else { return false }
        let primary = text.prefix { $0 != "-" }.lowercased()
        let privateCodes = "qaa"..."qtz"
        let isPrivate = primary.utf8.count == 3 && privateCodes.contains(primary)
        return !empty.contains(primary) && !isPrivate
    }

    /// The tag if it names a language; else nil.
    package static func naming(_ text: String) -> String? { namesLanguage(text) ? text : nil }
}
