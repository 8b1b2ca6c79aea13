/// A language in which the program speaks to a person.
package enum Language: String, CaseIterable, Sendable {
    case english = "en"
    case japanese = "ja"

    /// The language of the sentences that the present task makes: English unless the task, or one
    /// that it is a part of, chose another one.
    @TaskLocal package static var current = Language.english

    /// Returns the language of a BCP 47 tag, such as `ja` of `ja-JP`; nil for any other language.
    package init?(tag: some StringProtocol) {
        let primary = tag.prefix { $0 != "-" && $0 != "_" }
        self.init(rawValue: primary.lowercased())
    }

    /// Returns the language of the terminal, by the variables that POSIX gives it.
    ///
    /// - Parameter environment: Returns a variable's value. The first of `LC_ALL`, `LC_MESSAGES`
    ///   and `LANG` that is not empty decides.
    /// - Returns: English if the value names neither language, such as `C.UTF-8`.
    package static func ofTerminal(_ environment: (String) -> String?) -> Language {
        for name in ["LC_ALL", "LC_MESSAGES", "LANG"] {
            guard let value = environment(name), !value.isEmpty else { continue }
            return Language(tag: value.prefix { $0 != "." && $0 != "@" }) ?? .english
        }
        return .english
    }
}
