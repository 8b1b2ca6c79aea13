import Control
import Foundation
import Mirroring

/// What happens in one episode, drawn before it begins.
///
/// Times are real seconds, for a lease and a connection live in real time; the clocks of the
/// network and the workers run faster.
struct EpisodePlan: Equatable, Sendable {
    /// Counted from 1.
    var number: Int
    var shape: EpisodeShape
    /// By how many seconds of their own the clocks of the first and the second worker are ahead of
    /// the network's.
    var skews = [0.0, 0]
    var networkFaults: [TimedNetworkFault] = []
    var storeFault: TimedStoreFault?
    /// What people say to the bot besides what the script has them say.
    var outcries: [Outcry] = []
    /// How the first worker's clock is set while it lives.
    var clockJump: ClockJump?
    /// What the first worker cannot find.
    var lack: Lack?
    /// Whether X takes a text a second time, which no document of its promises to refuse.
    var publishesRepeats = true

    /// Whether a worker is to die while it plans its day, which it does only once.
    var interruptsPlanning: Bool {
        if case .killedAt(let point, _) = shape {
            EpisodeSchedule.planPoints.contains(point)
        } else {
            false
        }
    }

    /// Whether a worker may end by itself because its token, or a signature with a wrong date, was
    /// refused.
    var refusesToken: Bool {
        clockJump?.kind == .dayAhead || networkFaults.contains { $0.fault == .unauthorized }
    }
}

/// The sorts of episodes.
enum EpisodeKind: String, CaseIterable, Sendable {
    case killed
    /// As killed, but nothing goes wrong for so long that some actions have every chance.
    case calm
    case killedAt = "killed-at"
    case terminated
    case overlapped
    case frozen
    case fenced
    /// A worker's clock shows the next day for a while.
    case dayAhead = "day-ahead"
    /// Something is wrong for an hour, and one worker lives through it.
    case endured

    /// How often it is drawn, compared with the others; 0 for what has its turn at certain places.
    var weight: Double {
        switch self {
        case .killedAt: 38
        case .killed: 27
        case .calm: 10
        case .frozen: 8
        case .terminated, .overlapped: 7
        case .fenced: 4
        case .dayAhead, .endured: 0
        }
    }
}

/// How the workers of an episode live and end.
enum EpisodeShape: Equatable, Sendable {
    /// One worker, killed after a time.
    case killed(after: Double)
    /// One worker that kills itself at a fault point.
    case killedAt(FaultPoint, passing: Int)
    /// One worker that is asked to end.
    case terminated(after: Double)
    /// A second worker begins while the first works; the first is killed or asked to end, the
    /// second is killed.
    case overlapped(first: Double, isKilled: Bool, second: Double)
    /// A worker stops at a fault point; another takes its lease and works for a time; the first
    /// wakes up and goes on for a time; both are killed.
    case frozen(FaultPoint, passing: Int, meanwhile: Double, after: Double)
    /// What only the fence saves: a worker is stopped with a refusal in its hands, another sends
    /// the same action again and is stopped with the answer, and the first one wakes up first.
    case fenced
    /// One worker lives for a time, then for so many seconds more with something wrong, and is
    /// killed some time after.
    case endured(LongFault, after: Double, seconds: Double)
}
