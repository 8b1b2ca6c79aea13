import Foundation
import Posts

/// The world while it is being written.
///
/// Three authors write on it, each with a generator of its own, so that more
/// of one thing does not change the others: the past, the run, the mentions.
struct SandboxScript {
    let configuration: SandboxWorld.Configuration
    let population: SandboxPopulation
    /// The human's posts before the run, oldest first.
    let archive: [Post]
    /// The share of the human's posts that are in Japanese.
    let japaneseShare: Double
    var generator: SampleGenerator
    private var posts: [(date: Date, post: ScriptedPost)] = []
    private var others: [SandboxEvent] = []
    private var nextThread = 0

    init(configuration: SandboxWorld.Configuration) {
        self.configuration = configuration
        self.generator = SampleGenerator(seed: configuration.seed)
        let archive =
            (configuration.humanPosts
            ?? Self.samplePosts(before: configuration.origin, people: configuration.friends.count))
            .filter { !$0.isRepost && $0.createdAt < configuration.origin && $0.createdAt.timeIntervalSince1970 > 0 }
            .sorted { $0.createdAt < $1.createdAt }
        self.archive = archive
        let japanese = archive.count { $0.language?.hasPrefix("ja") ?? false }
        self.japaneseShare = archive.isEmpty ? 0.5 : Double(japanese) / Double(archive.count)
        self.population = SandboxPopulation(
            friends: configuration.friends, language: japaneseShare >= 0.5 ? .japanese : .english,
            generator: &generator)
    }

    var origin: Date { configuration.origin }
    var end: Date { configuration.end }
    var people: [SandboxPerson] { population.people }

    /// The posts written so far, in the order of their numbers.
    var written: [(date: Date, post: ScriptedPost)] { posts }

    /// Puts a post into the script, unless its time has no place there.
    ///
    /// - Returns: The number of the post.
    @discardableResult
    mutating func post(
        by author: Int, at date: Date, text: String, language: SampleLanguage? = nil,
        change: (inout ScriptedPost) -> Void = { _ in }
    ) -> Int {
        var post = ScriptedPost(
            number: posts.count, author: author, text: text, language: language ?? people[author].language)
        change(&post)
        posts.append((date, post))
        return post.number
    }

    mutating func happen(_ action: SandboxEvent.Action, at date: Date) {
        others.append(SandboxEvent(date: date, action: action))
    }

    mutating func thread() -> Int {
        nextThread += 1
        return nextThread
    }

    mutating func setReplyDeserved(_ number: Int) { posts[number].post.mention?.deservesReply = true }

    /// Everything in the order of time.
    func events() -> [SandboxEvent] {
        let all = posts.map { SandboxEvent(date: $0.date, action: .post($0.post)) } + others
        return all.enumerated()
            .filter { $0.element.date < end }
            .sorted { ($0.element.date, $0.offset) < ($1.element.date, $1.offset) }
            .map(\.element)
    }

    /// A number of events at this mean rate, by counting draws (Knuth).
    mutating func poisson(_ mean: Double) -> Int {
        let limit = exp(-mean)
        var product = generator.uniform()
        var count = 0
        while product > limit, count < 1_000 {
            product *= generator.uniform()
            count += 1
        }
        return count
    }

    /// The instant of a minute of a local day; nil where the clock skips it.
    func date(_ day: LocalDay, minute: Double) -> Date? {
        let zone = configuration.timeZone
        let wall = Date(timeIntervalSince1970: Double(day.ordinal) * 86_400 + minute * 60)
        let first = wall.addingTimeInterval(-Double(zone.secondsFromGMT(for: wall)))
        // The offset at the guess may not be that at the instant meant.
        let date = wall.addingTimeInterval(-Double(zone.secondsFromGMT(for: first)))
        return LocalTime(date, in: zone).day == day ? date : nil
    }

    /// The local days that have a part between two instants.
    func days(from start: Date, to end: Date) -> [LocalDay] {
        let first = LocalTime(start, in: configuration.timeZone).day
        let last = LocalTime(end, in: configuration.timeZone).day
        return first <= last ? (first.ordinal...last.ordinal).map { LocalDay(ordinal: $0) } : []
    }

    /// An instant of the person's waking hours on a local day.
    mutating func wakingInstant(on day: LocalDay) -> Date? {
        if configuration.isAwakeAtNight { return date(day, minute: generator.uniform() * 1_440) }
        let middle = (generator.uniform() + generator.uniform()) / 2
        return date(day, minute: 7 * 60 + middle * 16.5 * 60)
    }
}
