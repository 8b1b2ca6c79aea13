package import Posts

/// How long a server finds a text.
package enum TextLength {
    /// Counts as the server does, and never less.
    ///
    /// Where links have a length of their own, as on Mastodon, a link counts
    /// that, and a mention counts without its host; a link that the server may
    /// not recognise counts in full if that is more. Where they have none,
    /// everything counts as it is written. X counts weights.
    ///
    /// - Parameters:
    ///   - text: The text as it is sent.
    ///   - limits: The server's way of counting.
    /// - Returns: The length in `limits.unit`.
    package static func count(_ text: String, limits: PublishingLimits) -> Int {
        guard limits.unit != .xWeight else { return XWeightedText.weight(of: text) }
        guard let linkLength = limits.charactersPerURL else {
            return limits.unit == .graphemes ? text.count : text.unicodeScalars.count
        }
        var rest = String.UnicodeScalarView()
        var links = 0
        for token in PlainTokens(text).tokens {
            switch token {
            case .scalar(let scalar): rest.append(scalar)
            case .mention(let name):
                rest.append("@")
                rest.append(contentsOf: name)
            case .link(let link, let isCertain):
                let cost = max(0, linkLength)
                links += isCertain ? cost : max(cost, link.count)
            }
        }
        return links + (limits.unit == .graphemes ? String(rest).count : rest.count)
    }

    /// Whether the text may be published on the server.
    static func refusal(of text: String, limits: PublishingLimits) -> Refusal? {
        let length = count(text, limits: limits)
        if length > limits.maximumCharacters {
            return Refusal(
                .tooLong, "the text has \(length) characters, and the server allows \(limits.maximumCharacters)")
        }
        if let maximum = limits.maximumBytes, text.utf8.count > maximum {
            return Refusal(.tooLong, "the text has \(text.utf8.count) bytes, and the server allows \(maximum)")
        }
        return nil
    }
}
