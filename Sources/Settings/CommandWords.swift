/// Commands of this program inside of sentences.
package enum CommandWords {
    private static let program = "mirror-bot "
    /// The commands about one mirror, with those of their parts that come before any flag.
    private static let commands: Set<Substring> = [
        "config", "doctor", "explain", "forget", "history", "login", "notify", "pause", "people",
        "people list", "plan",
        "profile", "rebind", "resume", "run", "setup", "set", "stats", "status", "suggestions",
        "texts", "train",
        "train classifier", "train scheduler", "undo", "undo proposed", "zones",
    ]

    /// Returns a text whose commands are about the mirror that flags name; without flags the text
    /// as it is.
    ///
    /// - Parameter flags: Such as `--mirror ann`, as a shell reads them; see
    ///   `MirrorSettings.flagWords`.
    package static func adding(_ flags: [String], to text: String) -> String {
        guard !flags.isEmpty else { return text }
        let words = flags.joined(separator: " ")
        // The list of many mirrors asks this of several texts of each.
        let parts = text.split(separator: program, omittingEmptySubsequences: false)
        return parts.dropFirst().reduce(into: String(parts[0])) { whole, part in
            whole += program
            if let end = endOfCommand(part), !part[end...].hasPrefix(" --mirror ") {
                whole += "\(part[..<end]) \(words)\(part[end...])"
            } else {
                whole += part
            }
        }
    }

    /// Where the longest command ends that a text begins with; nil if there is none about one
    /// mirror.
    private static func endOfCommand(_ text: Substring) -> Substring.Index? {
        let first = endOfWord(text)
        guard commands.contains(text[..<first]) else { return nil }
        guard text[first...].utf8.first == UInt8(ascii: " ") else { return first }
        let second = endOfWord(text[text.utf8.index(after: first)...])
        return commands.contains(text[..<second]) ? second : first
    }

    private static func endOfWord(_ text: Substring) -> Substring.Index {
        let letters = UInt8(ascii: "a")...UInt8(ascii: "z")
        return text.utf8.firstIndex { !letters.contains($0) && $0 != UInt8(ascii: "-") }
            ?? text.endIndex
    }
}
