import Posts

/// What holds for every plain text that we make of something.
///
/// - Throws: ``FuzzFinding``.
func holdPlain(_ text: String, _ what: String) throws {
    for scalar in text.unicodeScalars where scalar != "\n" && scalar != "\t" {
        try hold(scalar.properties.generalCategory != .control, "\(what) has no control characters")
    }
    try hold(PlainText.cleaned(text) == text, "\(what) has no white space around it")
}

/// What holds for every text that is printed or logged for a person.
///
/// - Throws: ``FuzzFinding``.
func holdPrintable(_ text: String, _ what: String, atMost bytes: Int) throws {
    try hold(text.utf8.count <= bytes, "\(what) has at most \(bytes) bytes")
    let isClean = text.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
    try hold(isClean, "\(what) has no control characters")
}

/// Fails if a text shows a secret, byte for byte: an accent behind it makes another character of
/// its last one.
///
/// - Throws: ``FuzzFinding``.
func holdHidden(_ secret: String, in text: String) throws {
    let secret = Array(secret.utf8)
    let text = Array(text.utf8)
    let isShown = text.indices.contains {
        text[$0] == secret.first && text[$0...].starts(with: secret)
    }
    try hold(!isShown, "no secret is shown")
}

/// What holds for an id, a name or an address that goes into a path, a header or a database.
///
/// - Throws: ``FuzzFinding``.
func holdOneWord(_ text: String, _ what: String) throws {
    let isWord = text.unicodeScalars.allSatisfy {
        $0.properties.generalCategory != .control && !$0.properties.isWhitespace
    }
    try hold(isWord && !text.isEmpty, "\(what) is one word")
}
