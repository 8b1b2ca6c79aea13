import Foundation
package import Posts

/// How people say that they want nothing to do with bots.
package enum OptOut {
    /// Whether a profile asks bots to stay away: by a tag such as `#nobot`, or by words such as "no
    /// bots please".
    ///
    /// Case and full-width forms make no difference. A tag that runs into the
    /// next line, as happens when markup is removed, still counts.
    ///
    /// - Parameter bio: The profile as plain text, its table included as lines `name: value`;
    ///   markup does no harm.
    /// - Returns: True if either is found. In doubt, true.
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
    /// True only if that is all it says, or if it says so clearly beside little else: "don't stop"
    /// and "the bus stop" do not. See `StopGrammar`.
    ///
    /// - Parameter text: The mention's text, mentions included.
    package static func asksToStop(text: String) -> Bool {
        // No such request is long; a long text need not be read.
        guard text.utf8.count <= longestRequest else { return false }
        return StopGrammar.standard.asksToStop(FoldedText(text))
    }

    /// Whether a mention asks that the mirroring as a whole stops, as "stop mirroring me" does; it
    /// is a request to stop as well, and the human's account makes more of it.
    ///
    /// - Parameter text: The mention's text, mentions included.
    package static func asksToStopMirror(text: String) -> Bool {
        guard text.utf8.count <= longestRequest else { return false }
        return StopGrammar.standard.asksToStop(FoldedText(text), mirroring: true)
    }

    /// The most bytes of a mention that may be a request, the people whom it names included.
    private static let longestRequest = 20_000
    /// The bytes of a profile in which words are looked for.
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
            let rest = scalars[start...]
            guard rest.starts(with: tag, by: { $0.lowercaseASCII == $1 }) else { continue }
            var after = rest.dropFirst(tag.count)
            if after.first?.lowercaseASCII == "s" { after = after.dropFirst() }
            // A longer tag such as #nobottles is another tag; a capital begins the next, glued
            // word.
            guard let next = after.first else { return true }
            if !(next.isASCIIAlphanumeric || next == "_") || ("A"..."Z").contains(next) {
                return true
            }
        }
        return false
    }

    private static func withoutMarkup(_ text: String) -> String {
        var result = String.UnicodeScalarView()
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
