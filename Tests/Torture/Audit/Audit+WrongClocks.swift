import Foundation
import Outbox
import Sandbox

/// What only a clock explains that was set to a wrong time.
///
/// Rows carry the time that was shown when they were changed, so that exactly those can be told
/// which a worker with a wrong clock made.
extension Audit {
    /// Whether a row of this time was written by a worker whose clock was ahead.
    func isFromAhead(_ date: Date) -> Bool {
        input.wrongClocks.contains { $0.isAhead && shows($0, date) }
    }

    /// Whether a request arrived while some clock was wrong, and was in time by what that clock
    /// showed.
    func isInTimeByWrongClock(_ write: SandboxLedger.Write, for action: Action) -> Bool {
        let first = action.due - input.skew
        let last = action.expires + input.skew + input.patience
        return input.wrongClocks.contains { wrong in
            let shown = write.arrived + wrong.seconds
            return isNear(wrong, write.arrived) && first <= shown && shown <= last
        }
    }

    /// Whether a clock was wrong at an instant of the network's clock, or so shortly before that a
    /// request was under way.
    func isNear(_ wrong: WrongClock, _ date: Date) -> Bool {
        wrong.interval.start <= date && date <= wrong.interval.end + input.patience
    }

    /// Whether a wrong clock made it impossible to tell how old the request for an action was.
    ///
    /// That is so if it was sent, or given up, by a worker whose clock was wrong. Everybody else
    /// knows it: the network has told when it was asked.
    func isOfUnknownAge(_ action: Action) -> Bool {
        input.wrongClocks.contains { wrong in
            shows(wrong, action.updated) || action.sending.map { shows(wrong, $0) } ?? false
        }
    }

    /// The latest time at which a row of this time may have been written: a clock that was behind
    /// has shown an hour twice.
    func latest(_ date: Date) -> Date {
        input.wrongClocks.filter { !$0.isAhead && shows($0, date) }.map { date - $0.seconds }.max()
            ?? date
    }

    func shows(_ wrong: WrongClock, _ date: Date) -> Bool {
        wrong.shown.start - input.skew <= date && date <= wrong.shown.end + input.skew
    }
}
