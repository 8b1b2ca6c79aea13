import Foundation
import Outbox
import Posts
import Sandbox

/// What the network says about single requests and about whom they reached.
extension Audit {
    /// What is wrong with how an action was sent, whatever became of it.
    func objectionsToRequests(of action: Action) -> [AuditFinding] {
        let acting = writes(of: action).filter(\.mayHaveActed)
        var objections: [String] = []
        if acting.count > rules.sends {
            objections.append("was sent \(acting.count) times, and \(rules.sends) is the most")
        }
        if let key = rules.key(of: action), let other = acting.first(where: { $0.key != key }) {
            objections.append("was sent under another key than its own: \(other.summary)")
        }
        if let early = acting.first(where: { isEarly($0, for: action) }) {
            objections.append("was sent before its time: \(early.summary)")
        }
        if let late = acting.first(where: { isLate($0, for: action) }) {
            objections.append("was sent after its time: \(late.summary)")
        }
        return objections.map { AuditFinding(.unexplained, action, $0) }
    }

    private func isEarly(_ write: SandboxLedger.Write, for action: Action) -> Bool {
        write.arrived < action.due - input.skew && !isInTimeByWrongClock(write, for: action)
    }

    /// Whether a request arrived after its action had expired, other than from a worker that had
    /// been stopped meanwhile.
    private func isLate(_ write: SandboxLedger.Write, for action: Action) -> Bool {
        let end = action.expires + input.skew
        guard isMoreThanPatience(from: end, to: write.arrived, action.kind),
            !isInTimeByWrongClock(write, for: action)
        else { return false }
        return !input.stoppedWorkers.contains {
            $0.stopped <= end + input.patience && $0.woken >= action.expires
                && !isMoreThanPatience(from: $0.woken, to: write.arrived, action.kind)
        }
    }

    /// Whether a request took longer than it may although the machine did not hold it up.
    private func isMoreThanPatience(from start: Date, to end: Date, _ kind: ActionKind) -> Bool {
        starvation.longestStretch(for: kind, from: start, to: end) > input.patience
    }

    /// What the network itself objects to.
    var objectionsOfNetwork: [AuditFinding] {
        unwelcome + rejections + answersBeforeActivation + tooManyAnswers
            + ledger.widenedReplies.map {
                AuditFinding(.unexplained, "post \($0)", "reaches more people than what it answers")
            }
    }

    /// People who were told of something, and posts that were favorited, against the network's
    /// better knowledge.
    private var unwelcome: [AuditFinding] {
        let told = ledger.notifications.compactMap { notification in
            notification.objection.map {
                (
                    "notification by \(notification.postID)", notification.recipient,
                    notification.date, $0
                )
            }
        }
        let favorited = ledger.favorites.compactMap { favorite in
            favorite.objection.map {
                ("favorite \(favorite.identity)", favorite.author, favorite.date, $0)
            }
        }
        return (told + favorited).filter { _, person, date, why in
            !isPardoned(why, person, at: date)
        }
        .map { about, person, date, why in
            AuditFinding(.unexplained, "\(about) at \(date.rfc3339)", "\(person): \(why)")
        }
    }

    /// Whether the worker could not know better.
    ///
    /// The network's own caps are not those of the mirror, which are judged by ``tooManyAnswers``.
    /// And who asks the bot to stop may hear of it once more until a worker has had the time to
    /// read that.
    private func isPardoned(_ why: String, _ person: String, at date: Date) -> Bool {
        if why.hasPrefix("too many answers") { return true }
        guard why == "account asked the bot to stop" else { return false }
        return !ledger.mentions.contains { mention in
            mention.kind == .stop && mention.handle == person
                && hadTime(for: .reply, from: mention.date + input.skew, to: date)
        }
    }

    /// Answers on the network beyond the mirror's caps, by the day and the conversation for which
    /// they were meant.
    private var tooManyAnswers: [AuditFinding] {
        let answers = actions.filter { $0.kind == .reply && !things(of: $0).isEmpty }
        let byPerson = Dictionary(grouping: answers) { action in
            "\(action.target?.author.value ?? "nobody") on \(LocalTime(action.due, in: input.zone).day)"
        }
        let byThread = Dictionary(grouping: answers) { $0.payload.reply?.thread ?? $0.subject }
        let crowds = [
            ("answers to", byPerson, rules.repliesPerPerson),
            ("answers in", byThread, rules.repliesPerThread),
        ]
        return crowds.flatMap { what, groups, cap in
            groups.filter { $0.value.count > cap }.sorted { $0.key < $1.key }.map { name, group in
                AuditFinding(
                    .unexplained, "\(what) \(name)", "are \(group.count), and the cap is \(cap)")
            }
        }
    }

    private var answersBeforeActivation: [AuditFinding] {
        actions.filter { action in
            action.kind == .reply && !things(of: action).isEmpty
                && mention(of: action).map { $0.date < input.activated } ?? false
        }
        .map { AuditFinding(.unexplained, $0, "answers a mention from before the mirror started") }
    }

    private var rejections: [AuditFinding] {
        ledger.rejections.filter { !$0.isExpected && !isRepetition($0) && !isOfWrongClock($0) }.map
        { rejection in
            AuditFinding(
                .unexplained, "\(rejection.method) \(rejection.path) at \(rejection.date.rfc3339)",
                "was refused with \(rejection.status): \(rejection.reason)")
        }
    }

    /// Whether a worker had signed with the time of a clock that was wrong, or that it did not know
    /// to be right again.
    private func isOfWrongClock(_ rejection: SandboxLedger.Rejection) -> Bool {
        rejection.reason == SandboxLedger.Rejection.otherTime
            && input.wrongClocks.contains {
                isNear($0, rejection.date) || isFirst(rejection, after: $0)
            }
    }

    /// Whether a rejection is how a worker learned, with the first such read after a while, that
    /// its clock was set right.
    ///
    /// Each account learns it by itself, and is asked for nothing for some minutes.
    private func isFirst(_ rejection: SandboxLedger.Rejection, after wrong: WrongClock) -> Bool {
        let quiet = DateInterval(start: wrong.interval.end, duration: Self.quietTime)
        guard rejection.method == "GET", quiet.contains(rejection.date) else { return false }
        return !ledger.rejections.contains {
            $0.reason == rejection.reason && $0.path == rejection.path && quiet.contains($0.date)
                && $0.date < rejection.date
        }
    }

    /// For how long an account may be asked for nothing, in seconds.
    private static let quietTime: TimeInterval = 900

    /// Whether a rejection tells of a read that libcurl made again because its connection was cut.
    ///
    /// It sends the same bytes, so the server has seen the signature; the worker then signs anew.
    private func isRepetition(_ rejection: SandboxLedger.Rejection) -> Bool {
        guard rejection.method == "GET", rejection.reason == SandboxLedger.Rejection.repeatedNonce
        else { return false }
        return failures.contains { failure in
            abs(failure.interval.start.timeIntervalSince(rejection.date)) <= input.patience
                || failure.interval.contains(rejection.date)
        }
    }
}

extension SandboxLedger.Write {
    /// The request in a few words, none of them the bot's.
    var summary: String {
        let planned = fault.map { ", \($0)" } ?? ""
        return
            "\(kind.rawValue) at \(arrived.rfc3339), \(effect.rawValue), \(status.map(String.init) ?? "no status")"
            + (isAnswered ? "" : ", not answered") + planned.prefix(120)
    }
}
