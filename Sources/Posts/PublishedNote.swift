extension String {
    /// The text with a note in a paragraph of its own below it, as both are published.
    ///
    /// Every text with a note that is counted against a server's limit, sent, looked up or compared
    /// is made here.
    package func noted(_ note: String) -> String { "\(self)\n\n\(note)" }
}
