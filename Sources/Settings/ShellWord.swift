import Posts

/// Words of commands that are proposed to a person.
package enum ShellWord {
    /// The word quoted for a POSIX shell: unchanged if it has no special characters, else in single
    /// quotes.
    package static func quoted(_ word: String) -> String {
        let isPlain = word.utf8.allSatisfy { byte in
            byte >= 0x80 || byte.isASCIIAlphanumeric || "-_./:@%+=,".utf8.contains(byte)
        }
        return isPlain && !word.isEmpty ? word : "'" + word.replacing("'", with: "'\\''") + "'"
    }
}
