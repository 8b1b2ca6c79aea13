/// Commands of this program inside of sentences.
package enum CommandWords {
    /// Returns a text whose commands are about the mirror that flags name; without flags the text as it is.
    ///
    /// - Parameter flags: Such as `--mirror ann`, as a shell reads them; see `MirrorSettings.flagWords`.
    package static func adding(_ flags: [String], to text: String) -> String {
        guard !flags.isEmpty, text.contains("mirror-bot ") else { return text }
        // The commands about one mirror, with those of their parts that come before any flag.
        let commands =
            #/
            mirror-bot\ (?:
                config|doctor|explain|forget|history|login|notify|pause|people\ list|people|plan|profile|rebind
                |resume|run|setup|set|stats|status|suggestions|texts|train\ scheduler|train\ classifier|train
                |undo\ proposed|undo|zones
            )(?![a-z\-])(?!\ --mirror\ )
            /#
        let words = flags.joined(separator: " ")
        return text.replacing(commands) { "\($0.output) \(words)" }
    }
}
