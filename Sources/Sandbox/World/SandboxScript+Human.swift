import Foundation
import Posts

/// The human: the archive as the network remembers it, and a life that goes on in the same rhythm.
extension SandboxScript {
    /// Replays the archive, each reply under a post of the person it answers.
    mutating func writeArchive() {
        for entry in archive {
            guard let replyTo = entry.replyTo else {
                writeArchived(entry, text: entry.text, target: nil)
                continue
            }
            guard let author = replyTo.author, author.network == .mastodon,
                let index = population.index(of: author.value)
            else {
                // Nobody here was answered; the post would be no reply to anyone.
                continue
            }
            if index == SandboxPopulation.human {
                writeArchived(entry, text: entry.text, target: lastNumber(by: index))
            } else {
                writeArchivedReply(entry, to: index)
            }
        }
    }

    private mutating func writeArchivedReply(_ entry: Post, to index: Int) {
        let person = people[index]
        let words = SampleTexts.mention(language: person.language, generator: &generator)
        // Ten minutes is what the sample archive says of every answered post.
        let date = entry.createdAt.addingTimeInterval(-600)
        let id = localID(of: entry.replyTo?.post, by: index)
        let parent = post(by: index, at: date, text: "@\(people[SandboxPopulation.human].userName) \(words)") {
            $0.id = id
        }
        let text = entry.text.hasPrefix("@") ? entry.text : "@\(person.localName) \(entry.text)"
        writeArchived(entry, text: text, target: parent)
    }

    private mutating func writeArchived(_ entry: Post, text: String, target: Int?) {
        let language: SampleLanguage = entry.language?.hasPrefix("ja") ?? false ? .japanese : .english
        let id = localID(of: entry.id, by: SandboxPopulation.human)
        post(by: SandboxPopulation.human, at: entry.createdAt, text: text, language: language) { post in
            post.visibility = entry.visibility
            post.warning = entry.isSensitive ? "sensitive" : ""
            post.attachment = entry.hasMedia ? .image : nil
            post.target = target.map { .post($0) }
            post.id = id
        }
    }

    private func lastNumber(by index: Int) -> Int? { written.last { $0.post.author == index }?.post.number }

    /// The id that an archive of the sandbox itself gives the post.
    private func localID(of id: PostID?, by author: Int) -> Int64? {
        let prefix = people[author].uri + "/statuses/"
        guard let id, id.network == .mastodon, id.value.hasPrefix(prefix) else { return nil }
        return Int64(id.value.dropFirst(prefix.count))
    }

    /// New posts of the human at the archive's minutes, as many a day as there, and a few replies to friends.
    mutating func writeHumanPosts() {
        let zone = configuration.timeZone
        let past = archive.filter { !$0.isReply && $0.isTimeTrusted }.map { LocalTime($0.createdAt, in: zone) }
        let counts = Self.recentCounts(past.map(\.day), before: LocalTime(origin, in: zone).day)
        for day in days(from: origin, to: end) {
            for _ in 0..<(generator.element(of: counts) ?? 0) {
                guard let minute = generator.element(of: past)?.minute.value,
                    let date = date(day, minute: Double(minute) + generator.uniform()), date >= origin
                else { continue }
                writeHumanPost(at: date)
            }
        }
        writeHumanReplies()
    }

    private mutating func writeHumanPost(at date: Date) {
        let local = LocalTime(date, in: configuration.timeZone)
        let language = generator.chance(japaneseShare) ? SampleLanguage.japanese : .english
        let text = SampleTexts.ownPost(
            at: local.minute, isWeekend: local.day.weekday >= 6, language: language, generator: &generator)
        post(by: SandboxPopulation.human, at: date, text: text, language: language)
    }

    private mutating func writeHumanReplies() {
        let candidates = written.filter { entry in
            entry.date >= origin && entry.post.visibility.isOpen && entry.post.repostOf == nil
                && entry.post.target == nil && people[entry.post.author].role == .friend
        }
        for entry in candidates where generator.chance(0.15) {
            let friend = people[entry.post.author]
            let words = SampleTexts.reply(language: friend.language, generator: &generator)
            let date = entry.date.addingTimeInterval(300 + generator.uniform() * 3_000)
            post(
                by: SandboxPopulation.human, at: date, text: "@\(friend.localName) \(words)",
                language: friend.language
            ) {
                $0.target = .post(entry.post.number)
            }
        }
    }

    /// The numbers of posts on each of the last 60 days before `day`, days without any included.
    private static func recentCounts(_ days: [LocalDay], before day: LocalDay) -> [Int] {
        guard let oldest = days.min(), let newest = days.max() else { return [] }
        let last = min(newest, day.advanced(by: -1))
        let first = max(oldest, last.advanced(by: -59))
        guard first <= last else { return [] }
        let counts = Dictionary(days.map { ($0, 1) }, uniquingKeysWith: +)
        return (first.ordinal...last.ordinal).map { counts[LocalDay(ordinal: $0)] ?? 0 }
    }
}
