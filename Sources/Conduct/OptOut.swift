import Foundation
package import Posts

/// Recognizes people's statements that they want no contact with bots.
package enum OptOut {
    /// Whether a profile asks bots to stay away: by a tag such as `#nobot`, or by words such as "no
    /// bots please".
    ///
    /// Ignores case and full-width forms. A tag that runs into the next line, as happens when
    /// markup is removed, still counts.
    ///
    /// - Parameter bio: The profile as plain text, with its table as lines `name: value`; may
    ///   contain markup.
    /// - Returns: True if such a tag or such words are found; in doubt, true.
    package static func isOptedOut(bio: String) -> Bool {
        if bio.isEmpty { return false }
        let plain = withoutMarkup(bio)
        return hasTag(bio) || hasTag(plain) || keepsBotsAway(plain)
    }

    /// Whether an account asks bots to stay away, in its profile or its display name.
    package static func isOptedOut(_ account: Account) -> Bool {
        isOptedOut(bio: account.bio) || isOptedOut(bio: account.displayName)
    }

    /// Whether a mention of the bot asks it to stop.
    ///
    /// True only if the mention says nothing else, or if it asks clearly and says little else:
    /// false for "don't stop" and "the bus stop". See `StopGrammar`.
    ///
    /// - Parameter text: The mention's text, mentions included.
    package static func asksToStop(text: String) -> Bool {
        // Requests are short, so a long text is not examined.
        guard text.utf8.count <= longestRequest else { return false }
        return StopGrammar.standard.asksToStop(FoldedText(text))
    }

    /// Whether a mention asks the mirroring as a whole to stop, as "stop mirroring me" does.
    ///
    /// Such a mention is also a request to stop; if it comes from the human's account, the mirror
    /// stops.
    ///
    /// - Parameter text: The mention's text, mentions included.
    package static func asksToStopMirror(text: String) -> Bool {
        guard text.utf8.count <= longestRequest else { return false }
        return StopGrammar.standard.asksToStop(FoldedText(text), onlyMirroring: true)
    }

    /// The maximum length of a request, in bytes, including the names of mentioned people.
    private static let longestRequest = 20_000
    /// The number of bytes at the start of a profile that are searched for words.
    private static let longestProfile = 65_536

    private static func keepsBotsAway(_ profile: String) -> Bool {
        let beginning = String(decoding: profile.utf8.prefix(longestProfile), as: UTF8.self)
        return StopGrammar.standard.keepsBotsAway(FoldedText(beginning, keepsUnderscores: true))
    }

    private static func hasTag(_ text: String) -> Bool {
        let visible = text.precomposedStringWithCompatibilityMapping.unicodeScalars.filter {
            !$0.isInvisible
        }
        let scalars = Array(visible)
        let tag = Array("#nobot".unicodeScalars)
        for start in scalars.indices where scalars[start] == "#" {
            let fromSign = scalars[start...]
            guard fromSign.starts(with: tag, by: { $0.lowercaseASCII == $1 }) else { continue }
            var afterTag = fromSign.dropFirst(tag.count)
            if afterTag.first?.lowercaseASCII == "s" { afterTag = afterTag.dropFirst() }
            // A longer tag such as #nobottles is another tag; a capital letter begins the next word
            // of a joined tag.
            guard let next = afterTag.first else { return true }
            if !(next.isASCIIAlphanumeric || next == "_") || ("A"..."Z").contains(next) {
                return true
            }
        }
        return false
    }

    private static func withoutMarkup(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        // The text since a "<" that no ">" has closed yet.
        var pending = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if scalar == "<" {
                result.append(contentsOf: pending)
                pending = String.UnicodeScalarView([scalar])
            } else if pending.isEmpty {
                result.append(scalar)
            } else if scalar == ">" {
                pending = String.UnicodeScalarView()
            } else {
                pending.append(scalar)
            }
        }
        result.append(contentsOf: pending)
        return String(result)
    }
}
