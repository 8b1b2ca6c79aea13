import Control
import Mirroring
import Outbox

extension LeftAction {
    /// The action in one line, for the person.
    var line: String {
        let stateText =
            switch state {
            case .done: "is out; mirror-bot undo \(id) takes it back"
            case .sending:
                "it is not known yet whether it arrived; mirror-bot undo \(id) takes it back if it did"
            default: "did not arrive, and will not be sent"
            }
        let quotedText = text.map { ": \(Printable.line($0, columns: 50))" } ?? ""
        return Printable.line("\(kind.rawValue) \(id) was leaving already and \(stateText)")
            + quotedText
    }
}
