import Posts

/// Words of commands that are proposed to a person.
package enum ShellWord {
    /// The word as a POSIX shell reads it: unchanged if no shell would interpret any of it, else in
    /// single quotes.
    package static func quoted(_ word: String) -> String {
        let isPlain = word.utf8.allSatisfy { byte in
            byte >= 0x80 || byte.isASCIIAlphanumeric || "-_./:@%+=,".utf8.contains(byte)
        }
        return isPlain && !word.isEmpty ? word : "'" + word.replacing("'", with: "'\\''") + "'"
    }
}
