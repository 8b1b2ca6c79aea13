import Control
import Foundation
import Localization
import Mirroring
import Posts
import Settings

/// The verdict on a mirror for the page Today: a word, a sentence, the time since when it holds,
/// and the remedy.
struct VerdictView {
    let context: PageContext

    init(_ status: StatusReport, _ request: MirrorRequest) {
        let words = request.words
        let verdict = status.verdict
        let state = verdict?.state ?? .healthy
        let mainObstacle = status.obstacles?.first { $0.code == verdict?.code }
        let pause = request.record.pause(at: request.now)
        let (word, rest) = Self.title(state, status, mainObstacle, pause, words)
        let isHeld = request.record.standing?.isHold == true
        let canPause = state != .paused && state != .unset && pause == nil
        context = [
            "state": .text(state.rawValue), "word": .text(word), "rest": .sentence(rest),
            "lines": .sentences(Self.lines(state, status, mainObstacle, pause, request)),
            "command": .text(Self.command(state, status, mainObstacle, request)),
            "setup": state == .unset && !request.access.isReadOnly
                ? .text(SetupPage.address(of: nil, request)) : .none,
            "remedy": .sentence(Self.remedy(mainObstacle)),
            "canChange": .flag(!request.access.isReadOnly && (canPause || pause != nil || isHeld)),
            "isHeld": .flag(isHeld),
            "canPause": .flag(canPause), "token": .markup(request.hidden(seen: status.pauseSeen)),
            "pauseAction": .text(request.base + "/pause"),
            "resumeAction": .text(request.base + "/resume"),
            "pauseUntil": .text(request.base + "/confirm/pause"),
            "isPaused": .flag(pause != nil),
            "steps": .list(
                (status.setup ?? []).map { Self.step($0, isReadOnly: request.access.isReadOnly) }),
            "hasSteps": .flag(state == .unset),
        ]
    }

    private static func command(
        _ state: Health.Verdict.State, _ status: StatusReport, _ mainObstacle: Obstacle?,
        _ request: MirrorRequest
    ) -> String? {
        switch state {
        case .paused: nil
        // The page has a link to the set-up instead of a command.
        case .unset where !request.access.isReadOnly: nil
        case .unset: status.setupCommand ?? mainObstacle?.remedy?.command ?? "mirror-bot setup"
        case .healthy, .hindered, .failing: mainObstacle?.remedy?.command
        }
    }

    private static func title(
        _ state: Health.Verdict.State, _ status: StatusReport, _ mainObstacle: Obstacle?,
        _ pause: Pause?, _ words: Words
    ) -> (word: String, rest: String) {
        let next = status.nextSlot.map {
            localized("Next post at \(words.moment($0)), \(words.relative($0))")
        }
        switch state {
        case .healthy:
            return (localized("Healthy."), next ?? localized("No post is planned"))
        case .paused where mainObstacle?.code == .retired:
            return (localized("Retired."), localized("It says nothing any more"))
        case .paused:
            if let until = pause?.until {
                return (localized("Paused"), localized("until \(words.moment(until))"))
            }
            return (localized("Paused"), localized("until you go on"))
        case .hindered:
            let consequence = mainObstacle?.code.consequence ?? localized("not all of it")
            return (
                localized("Works, but"),
                next.map { localized("\(consequence). \($0)") } ?? consequence
            )
        case .unset:
            return (localized("Not set up yet."), SetupPage.progress(status.setup ?? []))
        case .failing:
            let word =
                localized(
                    mainObstacle?.stops.contains(.sending) == false
                        ? "Not hearing." : "Not sending.")
            return (word, Words.capitalized(mainObstacle?.cause ?? status.verdict?.text ?? ""))
        }
    }

    private static func lines(
        _ state: Health.Verdict.State, _ status: StatusReport, _ mainObstacle: Obstacle?,
        _ pause: Pause?,
        _ request: MirrorRequest
    ) -> [String] {
        let words = request.words
        var lines: [String] = []
        if let pause {
            lines.append(Self.words(pause, words))
            lines.append(
                localized(
                    "Nothing is read, decided or sent. Afterwards mentions of the last 24 hours are answered; posts that were planned meanwhile are left out."
                ))
        } else if let mainObstacle, state != .unset {
            var sentences = state == .failing ? [] : [Words.sentence(mainObstacle.cause)]
            if let since = mainObstacle.since {
                sentences.append(
                    localized("Since \(words.moment(since)), \(words.relative(since))."))
            }
            if !sentences.isEmpty { lines.append(sentences.joined(by: .sentence)) }
        }
        if state == .unset {
            lines.append(
                localized(
                    request.access.isReadOnly
                        ? "A command leads through them, in a terminal in the folder of this mirror."
                        : "This page leads through the others."))
        } else {
            lines.append(worker(status, mainObstacle, request))
        }
        return lines
    }

    /// Says who paused the mirror, since when and why.
    private static func words(_ pause: Pause, _ words: Words) -> String {
        let since = words.moment(pause.since)
        guard let reason = pause.reason else {
            return localized(
                pause.code == nil ? "By you, since \(since)." : "By itself, since \(since).")
        }
        return localized(
            pause.code == nil
                ? "By you, since \(since): “\(reason)”."
                : "By itself, since \(since): “\(reason)”.")
    }

    private static func worker(
        _ status: StatusReport, _ mainObstacle: Obstacle?, _ request: MirrorRequest
    ) -> String {
        let words = request.words
        var parts: [String] = []
        switch status.worker?.state {
        case .running?: parts.append(localized("A worker runs"))
        case .passes?:
            parts.append(
                status.worker?.lastPass.map {
                    localized(
                        "A worker runs again and again, for one pass each, last \(words.relative($0))"
                    )
                } ?? localized("A worker runs again and again, for one pass each"))
        case .late?, .absent?, nil:
            if mainObstacle?.code != .noWorker { parts.append(localized("No worker runs")) }
            if let beat = status.worker?.beat {
                parts.append(localized("The last one beat \(words.relative(beat))"))
            }
            if !request.access.isReadOnly {
                parts.append(localized("This page can change the plan all the same"))
            }
        }
        if let heard = status.feeds.first(where: { $0.feed == FeedName.botMentions })?.lastSuccess {
            parts.append(localized("Mentions were heard \(words.relative(heard))"))
        }
        return localized("\(parts.joined(separator: localized(". "))).")
    }

    private static func remedy(_ mainObstacle: Obstacle?) -> String? {
        guard let remedy = mainObstacle?.remedy, remedy.command == nil else { return nil }
        return (remedy.text ?? remedy.setting.map { localized("set \($0)") }).map(Words.sentence)
    }

    private static func step(_ step: SetupStep, isReadOnly: Bool) -> PageContext {
        [
            "text": .text(Words.capitalized(step.text)), "isDone": .flag(step.isDone),
            "detail": .sentence(isReadOnly ? step.detail : nil),
            "command": .text(step.isDone || !isReadOnly ? nil : step.command),
            "symbol": .text(step.isDone ? "s-healthy" : "s-unset"),
        ]
    }
}
