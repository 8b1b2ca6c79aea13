extension String {
    /// The text followed by a note in a separate paragraph, in the published form.
    ///
    /// All code that counts, sends, looks up or compares a text with a note uses this function.
    package func noted(_ note: String) -> String { "\(self)\n\n\(note)" }
}
