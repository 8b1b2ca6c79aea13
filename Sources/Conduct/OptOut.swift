import Foundation
import Posts

/// How people say that they want nothing to do with bots.
package enum OptOut {
    /// Whether a profile asks bots to stay away, by `#nobot` or `#nobots`.
    ///
    /// Case and full-width forms make no difference. A tag that runs into the
    /// next line, as happens when markup is removed, still counts.
    ///
    /// - Parameter bio: The profile as plain text; markup does no harm.
    /// - Returns: True if the tag is found. In doubt, true.
    package static func isOptedOut(bio: String) -> Bool {
        hasTag(bio) || hasTag(withoutMarkup(bio))
    }

    /// Whether a mention of the bot asks it to stop.
    ///
    /// Only if that is all it says: "don't stop" does not.
    ///
    /// - Parameter text: The mention's text, mentions included.
    /// - Returns: True if nothing but a request to stop is left once mentions, punctuation and courtesies are removed.
    package static func asksToStop(text: String) -> Bool {
        // No such request is long; a long text need not be looked at.
        guard text.utf8.count <= 2_000 else { return false }
        let folded = text.precomposedStringWithCompatibilityMapping.lowercased()
        var plain = String.UnicodeScalarView()
        for token in PlainTokens(folded).tokens {
            switch token {
            // What chooses the form of an emoji is a mark by its category, and would stick to the blank before it.
            case .scalar(let scalar) where scalar == "'" || scalar == "’" || scalar.isInvisible: continue
            case .scalar(let scalar) where scalar.isWord && scalar != "_": plain.append(scalar)
            case .scalar(let scalar) where clauseEnds.contains(scalar): plain.append("\n")
            case .scalar: plain.append(" ")
            case .link: return false
            case .mention: plain.append(" ")
            }
        }
        let clauses = plain.split(separator: "\n").map { words(of: String($0)) }.filter { !$0.isEmpty }
        return isRequest(clauses.flatMap(\.self)) || !clauses.isEmpty && clauses.allSatisfy(isRequest)
    }

    /// What one request ends with and another may follow.
    private static let clauseEnds: Set<Unicode.Scalar> = [".", "!", "?", ",", ";", "\n", "。", "、", "，", "…"]

    /// The words of a clause without courtesies.
    private static func words(of clause: String) -> [String] {
        clause.split(separator: " ").map(String.init).filter { !courtesies.contains($0) }.map(withoutJapaneseCourtesy)
    }

    private static func isRequest(_ words: [String]) -> Bool {
        guard let first = words.first else { return false }
        let isRepeated = words.allSatisfy { $0 == first }
        if isRepeated && requests.contains(first) || requests.contains(words.joined(separator: " ")) { return true }
        return first == "stop" && words.dropFirst().allSatisfy(whatToStop.contains)
    }

    /// The words that may follow "stop" without making it a sentence about something else.
    private static let whatToStop: Set<String> = [
        "it", "this", "that", "me", "to", "at", "replying", "answering", "responding", "messaging", "mentioning",
        "tagging", "pinging", "writing", "talking", "contacting", "bothering", "spamming", "favoriting", "liking",
    ]

    private static let courtesies: Set<String> = [
        "please", "pls", "plz", "bot", "now", "thanks", "bitte", "por", "favor", "svp", "もう", "お願いします",
    ]

    private static let requests: Set<String> = [
        "stop", "unsubscribe", "opt out",
        "optout", "opt me out", "leave me alone", "go away", "shut up", "nobot", "nobots", "no bots",
        "やめて", "やめろ", "やめてほしい", "止めて", "辞めて", "停止", "配信停止", "解除", "退会", "返信しないで",
        "話しかけないで", "ストップ",
        "stopp", "aufhören", "abmelden", "lass mich in ruhe", "arrête", "arrêtez", "désabonner", "detente", "déjame",
        "cancelar", "basta", "停", "停下", "退订", "取消订阅", "그만", "그만해", "중지", "구독취소",
    ]

    private static func withoutJapaneseCourtesy(_ word: String) -> String {
        var word = word
        for beginning in ["bot", "もう"] where word.hasPrefix(beginning) {
            // Words such as "bothering" begin so, too.
            guard let next = word.dropFirst(beginning.count).first, !next.isASCII else { continue }
            word.removeFirst(beginning.count)
        }
        let endings = ["お願いします", "ください", "下さい", "です", "して", "よ", "ね", "くれ", "を"]
        while let ending = endings.first(where: { word.hasSuffix($0) && word != $0 }), !requests.contains(word) {
            word.removeLast(ending.count)
        }
        return word
    }

    private static func hasTag(_ text: String) -> Bool {
        let visible = text.precomposedStringWithCompatibilityMapping.unicodeScalars.filter { !$0.isInvisible }
        let scalars = Array(visible)
        let tag = Array("#nobot".unicodeScalars)
        for start in scalars.indices where scalars[start] == "#" {
            let rest = scalars[start...]
            guard rest.starts(with: tag, by: { $0.lowercaseASCII == $1 }) else { continue }
            var after = rest.dropFirst(tag.count)
            if after.first?.lowercaseASCII == "s" { after = after.dropFirst() }
            // A longer tag such as #nobottles is another tag; a capital begins the next, glued word.
            guard let next = after.first else { return true }
            if !(next.isASCIIAlphanumeric || next == "_") || ("A"..."Z").contains(next) { return true }
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
