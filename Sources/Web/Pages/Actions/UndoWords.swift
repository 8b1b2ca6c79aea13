import Control
import Localization
import Outbox

/// Sentences about the effect, cost and duration of an undo.
enum UndoWords {
    /// Returns the effect of an undo on the actions.
    static func lead(_ outlook: UndoOutlook, server: String) -> String {
        var parts: [String] = []
        let deleted = outlook.posts + outlook.replies
        if deleted > 0 {
            parts.append(
                deleted == 1
                    ? localized("The text is deleted at \(server)")
                    : localized("The \(Words.number(deleted)) texts are deleted at \(server)"))
        }
        if outlook.favorites > 0 {
            parts.append(
                outlook.favorites == 1
                    ? localized("the favorite is withdrawn")
                    : localized("\(Words.number(outlook.favorites)) favorites are withdrawn"))
        }
        if outlook.withheld > 0 {
            let number = Words.number(outlook.withheld)
            parts.append(
                outlook.withheld == 1
                    ? localized("\(number) that did not happen yet is cancelled")
                    : localized("\(number) that did not happen yet are cancelled"))
        }
        guard !parts.isEmpty else { return localized("Nothing of this can be taken back.") }
        let effects = Words.capitalized(parts.joined(by: .comma))
        return deleted > 0
            ? localized("\(effects), and never comes again. What was sent counts as used.")
            : localized("\(effects), and never comes again.")
    }

    /// Returns the notes for a person to read before an undo.
    static func notes(_ outlook: UndoOutlook) -> [String] {
        var notes: [String] = []
        if outlook.impossible > 0 {
            notes.append(
                localized(
                    "\(Words.number(outlook.impossible)) of them cannot be taken back: not sent, gone already, or sent by another account."
                ))
        }
        if outlook.posts + outlook.replies > 0, let limit = outlook.deletions {
            notes.append(
                localized(
                    "The server allows \(allowed(limit, Words.count(limit.count, "deletion")))."))
        }
        if outlook.favorites > 0, let limit = outlook.withdrawals {
            let withdrawals = Words.count(limit.count, "withdrawn favorite")
            notes.append(
                outlook.withdrawsFavorites
                    ? localized("It allows \(allowed(limit, withdrawals)).")
                    : localized(
                        "The network does not let software withdraw favorites: do that in a browser."
                    ))
        }
        if outlook.seconds > 0 {
            notes.append(localized("So it takes about \(Words.span(outlook.seconds))."))
        }
        if outlook.requests > 0 {
            notes.append(
                outlook.cost.map { localized("It costs \(Words.dollars($0)) at most.") }
                    ?? localized("It costs nothing."))
            notes.append(localized("Who has read, copied or quoted it keeps that."))
            if !outlook.isAtWork {
                notes.append(localized("No worker runs. It begins when one does."))
            }
        }
        return notes
    }

    /// - Parameter count: The number that is allowed, in words.
    private static func allowed(_ limit: UndoOutlook.Allowance, _ count: String) -> String {
        let period = Words.span(Double(limit.period))
        let used = Words.number(limit.used)
        return limit.used == 1
            ? localized("\(count) in \(period); \(used) is used")
            : localized("\(count) in \(period); \(used) are used")
    }

    /// Returns the outcome of undo requests, in one sentence.
    static func said(_ undoRequests: UndoWishes, isAtWork: Bool) -> String {
        func count(_ answers: UndoAnswer...) -> Int {
            undoRequests.answers.values.count { answers.contains($0) }
        }
        let requestedCount = count(.asked, .remembered)
        let cancelledCount = count(.withheld)
        let undoneCount = count(.already)
        let impossibleCount = count(.nothing, .outOfReach, .unknown)
        var parts: [String] = []
        if requestedCount > 0 {
            parts.append(
                isAtWork
                    ? localized(
                        "\(Words.number(requestedCount)) will be taken back as fast as the network allows"
                    )
                    : localized(
                        "\(Words.number(requestedCount)) will be taken back once a worker runs"))
        }
        if cancelledCount > 0 {
            parts.append(localized("\(Words.number(cancelledCount)) will not happen"))
        }
        if undoneCount > 0 {
            parts.append(localized("\(Words.number(undoneCount)) had been taken back before"))
        }
        if impossibleCount > 0 {
            parts.append(localized("\(Words.number(impossibleCount)) cannot be taken back"))
        }
        guard !parts.isEmpty else { return localized("There is nothing to take back.") }
        return Words.sentence(parts.joined(by: .semicolon))
    }
}
