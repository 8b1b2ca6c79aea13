import Foundation
import NetworkNames
import Posts

/// The mentions of the bot: their authors, their times, and which of them deserve an answer.
extension SandboxScript {
    private var firstMinute: Double { configuration.isAwakeAtNight ? 0 : 9 * 60 }
    private var lastMinute: Double { configuration.isAwakeAtNight ? 24 * 60 - 1 : 21 * 60 + 30 }
    /// Seconds of the run before the first mention.
    private static let leadIn = 3_600.0
    /// Seconds of the run after the last mention, in which the bot can still answer.
    private static let leadOut = 3 * 3_600.0

    /// Writes old mentions, chatter, the two conversations that reach the caps, and the request to
    /// stop.
    mutating func writeMentions() {
        generator = SampleGenerator(seed: configuration.seed &+ 3)
        let windows = windows()
        guard let first = windows.first else { return }
        let group = windows.count > 1 ? windows[1] : first
        writePastMentions()
        writeBurst(in: first)
        writeGroupThread(in: group)
        writeStop(in: windows)
        for window in windows {
            // The two people of the long conversation say nothing else on that day, because the
            // daily cap would apply first.
            let friends = population.indices(of: .friend).filter {
                window != group || !groupSpeakers.contains($0)
            }
            if let count = configuration.mentionsPerDay {
                writeTurns(count, by: friends, in: window)
            } else {
                writeChatter(by: friends, in: window)
            }
        }
        writeQuietMentions(in: windows)
        markDeserved()
    }

    /// The times at which people mention the bot: the daytime of every local day, if it is well
    /// within the run.
    private func windows() -> [DateInterval] {
        let earliest = origin.addingTimeInterval(Self.leadIn)
        let latest = end.addingTimeInterval(-Self.leadOut)
        let daytimes = days(from: origin, to: end).compactMap { day -> DateInterval? in
            guard let morning = date(day, minute: firstMinute),
                let evening = date(day, minute: lastMinute)
            else { return nil }
            let start = max(morning, earliest)
            let end = min(evening, latest)
            return end.timeIntervalSince(start) >= 4 * 3_600
                ? DateInterval(start: start, end: end) : nil
        }
        return daytimes.isEmpty ? [DateInterval(start: earliest, end: latest)] : daytimes
    }

    @discardableResult
    private mutating func mention(
        by author: Int, at date: Date, kind: SandboxMention.Kind, thread: Int? = nil,
        answering: Int? = nil,
        besides: Int? = nil, words: String? = nil, visibility: Visibility = .public
    ) -> Int {
        let person = people[author]
        let words = words ?? SampleTexts.mention(language: person.language, generator: &generator)
        let names = [SandboxPopulation.botName] + (besides.map { [people[$0].localName] } ?? [])
        let thread = thread ?? newThread()
        return post(by: author, at: date, text: names.map { "@\($0) " }.joined() + words) { post in
            post.mention = SandboxMention(kind: kind, thread: thread)
            post.target = answering.map { .answer(to: $0) }
            post.visibility = visibility
        }
    }

    /// Mentions that must not be answered, because the bot did not exist yet.
    private mutating func writePastMentions() {
        for index in population.indices(of: .friend).prefix(2) {
            mention(
                by: index, at: origin.addingTimeInterval(-(1 + generator.uniform()) * 86_400),
                kind: .past)
        }
    }

    /// One friend mentions the bot four times in a day: once more than the cap.
    private mutating func writeBurst(in window: DateInterval) {
        guard let friend = population.indices(of: .friend).first else { return }
        // On a network without visibilities, a private mention would never arrive.
        let hasLevels = configuration.botNetwork == .mastodon
        let visibilities: [Visibility] = [
            .public, .unlisted, hasLevels ? .private : .public, .public,
        ]
        for (step, visibility) in visibilities.enumerated() {
            mention(
                by: friend, at: window.date(at: 0.1 + 0.12 * Double(step)), kind: .friend,
                visibility: visibility)
        }
    }

    private var groupSpeakers: [Int] {
        Array(population.indices(of: .friend).dropFirst().prefix(2))
    }

    /// Two friends take turns in one conversation; their sixth mention usually exceeds the cap.
    private mutating func writeGroupThread(in window: DateInterval) {
        guard groupSpeakers.count == 2 else { return }
        let thread = newThread()
        var last: Int?
        for step in 0..<6 {
            let speaker = groupSpeakers[step % 2]
            let other = groupSpeakers[1 - step % 2]
            last = mention(
                by: speaker, at: window.date(at: 0.06 + 0.15 * Double(step)), kind: .friend,
                thread: thread,
                answering: last, besides: last == nil ? nil : other)
        }
    }

    /// The weary friend gets an answer, asks the bot to stop at once, and mentions it again
    /// nevertheless.
    private mutating func writeStop(in windows: [DateInterval]) {
        guard let first = windows.first else { return }
        for weary in population.indices(of: .weary) {
            let thread = newThread()
            let start = mention(by: weary, at: first.date(at: 0.15), kind: .friend, thread: thread)
            mention(
                by: weary, at: first.date(at: 0.45), kind: .stop, thread: thread, answering: start,
                words: SampleTexts.stop(language: people[weary].language))
            mention(by: weary, at: first.date(at: 0.85), kind: .afterStop)
            for window in windows.dropFirst() where generator.chance(0.5) {
                mention(by: weary, at: window.date(at: generator.uniform()), kind: .afterStop)
            }
        }
    }

    /// Writes the friends' mentions on ordinary days, some of which go on for a few rounds.
    private mutating func writeChatter(by friends: [Int], in window: DateInterval) {
        for friend in friends {
            for _ in 0..<poisson(0.6) {
                writeConversation(by: friend, rounds: nil, in: window)
            }
        }
    }

    /// Writes the friends' mentions if there are many: `count` on every full day, the friends
    /// taking turns.
    private mutating func writeTurns(_ count: Double, by friends: [Int], in window: DateInterval) {
        let length = window.end.timeIntervalSince(window.start) / ((lastMinute - firstMinute) * 60)
        // Without friends there are no mentions, and beyond this limit nobody could read them.
        var mentionsLeft = friends.isEmpty ? 0 : Int(min(max(0, count * length), 10_000).rounded())
        var waiting: [Int] = []
        while mentionsLeft > 0 {
            if waiting.isEmpty { waiting = shuffled(friends) }
            guard let friend = waiting.popLast() else { return }
            mentionsLeft -= writeConversation(by: friend, rounds: mentionsLeft, in: window)
        }
    }

    /// Makes one friend mention the bot once or twice, at most `limit` times; returns how often.
    @discardableResult
    private mutating func writeConversation(
        by friend: Int, rounds limit: Int?, in window: DateInterval
    ) -> Int {
        let start = generator.uniform() * 0.9
        let thread = newThread()
        let rounds = min(limit ?? .max, generator.chance(0.3) ? 2 : 1)
        var last: Int?
        for round in 0..<rounds {
            last = mention(
                by: friend, at: window.date(at: start + 0.08 * Double(round)), kind: .friend,
                thread: thread,
                answering: last)
        }
        return rounds
    }

    private mutating func shuffled(_ people: [Int]) -> [Int] {
        var people = people
        for index in people.indices.reversed() {
            people.swapAt(index, generator.number(below: index + 1))
        }
        return people
    }

    /// Mentions by people whom the bot must not answer; at least one of each kind.
    private mutating func writeQuietMentions(in windows: [DateInterval]) {
        let kinds: [(role: SandboxPerson.Role, kind: SandboxMention.Kind, dailyMean: Double)] = [
            (role: .stranger, kind: .stranger, dailyMean: 0.1),
            (role: .automated, kind: .automated, dailyMean: 1),
            (role: .optedOut, kind: .optedOut, dailyMean: 0.5),
        ]
        for (role, kind, dailyMean) in kinds {
            let authors = population.indices(of: role)
            guard let first = windows.first, let author = generator.element(of: authors) else {
                continue
            }
            mention(by: author, at: first.date(at: 0.2 + 0.6 * generator.uniform()), kind: kind)
            for window in windows {
                for author in authors {
                    for _ in 0..<poisson(dailyMean) {
                        mention(by: author, at: window.date(at: generator.uniform()), kind: kind)
                    }
                }
            }
        }
    }

    /// Whether an answer to a mention would notify other people too: on Bluesky the authors of the
    /// four posts above.
    private func notifiesOthers(_ post: ScriptedPost) -> Bool {
        guard configuration.botNetwork == .bluesky else { return false }
        var postAbove = post
        for _ in 0..<4 {
            guard case .answer(let number) = postAbove.target else { return false }
            postAbove = writtenPosts[number].post
            if ![post.author, SandboxPopulation.human, SandboxPopulation.bot].contains(
                postAbove.author)
            {
                return true
            }
        }
        return false
    }

    /// Goes through the friends' mentions in the order of time and marks those that the caps permit
    /// to answer.
    private mutating func markDeserved() {
        var byPersonAndDay: [PersonDay: Int] = [:]
        var byThread: [Int: Int] = [:]
        let mentions = writtenPosts.filter { $0.post.mention?.kind == .friend }
            .sorted { ($0.date, $0.post.number) < ($1.date, $1.post.number) }
        for entry in mentions {
            guard let mention = entry.post.mention, !notifiesOthers(entry.post) else { continue }
            let day = LocalTime(entry.date, in: configuration.timeZone).day
            let key = PersonDay(person: entry.post.author, day: day)
            guard byPersonAndDay[key, default: 0] < configuration.repliesPerPersonAndDay,
                byThread[mention.thread, default: 0] < configuration.repliesPerThread
            else { continue }
            byPersonAndDay[key, default: 0] += 1
            byThread[mention.thread, default: 0] += 1
            setReplyDeserved(entry.post.number)
        }
    }
}

extension DateInterval {
    fileprivate func date(at fraction: Double) -> Date {
        start.addingTimeInterval(end.timeIntervalSince(start) * fraction)
    }
}

/// A person and a local day: the key of the daily cap.
struct PersonDay: Hashable, Sendable {
    var person: Int
    var day: LocalDay
}
