/// Commands of this program inside sentences.
package enum CommandWords {
    private static let program = "mirror-bot "
    /// The commands about one mirror, with their subcommands.
    private static let commands: Set<Substring> = [
        "config", "doctor", "explain", "forget", "history", "login", "notify", "pause", "people",
        "people list", "plan",
        "profile", "rebind", "resume", "run", "setup", "set", "stats", "status", "suggestions",
        "texts", "train",
        "train classifier", "train scheduler", "undo", "undo proposed", "zones",
    ]

    /// Adds the flags that name a mirror to the commands in a text; without flags the text is
    /// unchanged.
    ///
    /// - Parameter flags: Flags such as `--mirror ann`, quoted for a shell; see
    ///   `MirrorSettings.flagWords`.
    package static func adding(_ flags: [String], to text: String) -> String {
        guard !flags.isEmpty else { return text }
        let flagText = flags.joined(separator: " ")
        // This is optimized, because a list of many mirrors calls it for several texts of each.
        let parts = text.split(separator: program, omittingEmptySubsequences: false)
        return parts.dropFirst().reduce(into: String(parts[0])) { result, part in
            result += program
            if let end = endOfCommand(part), !part[end...].hasPrefix(" --mirror ") {
                result += "\(part[..<end]) \(flagText)\(part[end...])"
            } else {
                result += part
            }
        }
    }

    /// The end of the longest command with which a text begins; nil if it begins with no command
    /// about one mirror.
    private static func endOfCommand(_ text: Substring) -> Substring.Index? {
        let firstEnd = endOfWord(text)
        guard commands.contains(text[..<firstEnd]) else { return nil }
        guard text[firstEnd...].utf8.first == UInt8(ascii: " ") else { return firstEnd }
        let secondEnd = endOfWord(text[text.utf8.index(after: firstEnd)...])
        return commands.contains(text[..<secondEnd]) ? secondEnd : firstEnd
    }

    private static func endOfWord(_ text: Substring) -> Substring.Index {
        let letters = UInt8(ascii: "a")...UInt8(ascii: "z")
        return text.utf8.firstIndex { !letters.contains($0) && $0 != UInt8(ascii: "-") }
            ?? text.endIndex
    }
}
