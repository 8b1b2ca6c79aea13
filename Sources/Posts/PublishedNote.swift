extension String {
    /// The text with a note in a paragraph of its own below it, as both are published.
    ///
    /// What is counted against a server's limit, sent, looked up and compared is made here alone.
    package func noted(_ note: String) -> String { "\(self)\n\n\(note)" }
}
