import Control
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
                    ? "The text is deleted at \(server)"
                    : "The \(Words.number(deleted)) texts are deleted at \(server)"
            )
        }
        if outlook.favorites > 0 {
            parts.append(
                outlook.favorites == 1
                    ? "the favorite is withdrawn"
                    : "\(Words.number(outlook.favorites)) favorites are withdrawn")
        }
        if outlook.withheld > 0 {
            parts.append(
                "\(Words.number(outlook.withheld)) that did not happen yet \(outlook.withheld == 1 ? "is" : "are") cancelled"
            )
        }
        guard !parts.isEmpty else { return "Nothing of this can be taken back." }
        let sentence = Words.capitalized(parts.joined(separator: ", ")) + ", and never comes again."
        return deleted > 0 ? sentence + " What was sent counts as used." : sentence
    }

    /// Returns the notes for a person to read before an undo.
    static func notes(_ outlook: UndoOutlook) -> [String] {
        var notes: [String] = []
        if outlook.impossible > 0 {
            notes.append(
                "\(Words.number(outlook.impossible)) of them cannot be taken back: not sent, gone already, or sent by "
                    + "another account.")
        }
        if outlook.posts + outlook.replies > 0, let limit = outlook.deletions {
            notes.append("The server allows \(allowed(limit, "deletion")).")
        }
        if outlook.favorites > 0, let limit = outlook.withdrawals {
            notes.append(
                outlook.withdrawsFavorites
                    ? "It allows \(allowed(limit, "withdrawn favorite"))."
                    : "The network does not let software withdraw favorites: do that in a browser.")
        }
        if outlook.seconds > 0 { notes.append("So it takes about \(Words.span(outlook.seconds)).") }
        if outlook.requests > 0 {
            notes.append(
                outlook.cost.map { "It costs \(Words.dollars($0)) at most." } ?? "It costs nothing."
            )
            notes.append("Who has read, copied or quoted it keeps that.")
            if !outlook.isAtWork {
                notes.append("No worker runs. It begins when one does.")
            }
        }
        return notes
    }

    private static func allowed(_ limit: UndoOutlook.Allowance, _ what: String) -> String {
        "\(Words.count(limit.count, what)) in \(Words.span(Double(limit.period))); \(Words.number(limit.used)) "
            + (limit.used == 1 ? "is used" : "are used")
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
                    ? "\(Words.number(requestedCount)) will be taken back as fast as the network allows"
                    : "\(Words.number(requestedCount)) will be taken back once a worker runs")
        }
        if cancelledCount > 0 { parts.append("\(Words.number(cancelledCount)) will not happen") }
        if undoneCount > 0 {
            parts.append("\(Words.number(undoneCount)) had been taken back before")
        }
        if impossibleCount > 0 {
            parts.append("\(Words.number(impossibleCount)) cannot be taken back")
        }
        return parts.isEmpty
            ? "There is nothing to take back."
            : Words.capitalized(parts.joined(separator: "; ")) + "."
    }
}
