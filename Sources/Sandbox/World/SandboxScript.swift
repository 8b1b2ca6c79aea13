import Foundation
import NetworkNames
import Posts

/// The script of a world in progress.
///
/// Three parts write it, each with a generator of its own, so that more events in one do not change
/// the others: the past, the run, the mentions.
struct SandboxScript {
    let configuration: SandboxWorld.Configuration
    let population: SandboxPopulation
    /// The human's posts before the run, oldest first.
    let archive: [Post]
    /// The share of the human's posts that are in Japanese.
    let japaneseShare: Double
    var generator: SampleGenerator
    private var posts: [(date: Date, post: ScriptedPost)] = []
    private var eventsOfOthers: [SandboxEvent] = []
    private var nextThread = 0

    init(configuration: SandboxWorld.Configuration) {
        self.configuration = configuration
        self.generator = SampleGenerator(seed: configuration.seed)
        let archive =
            (configuration.humanPosts
            ?? Self.samplePosts(
                before: configuration.origin, people: configuration.friends.count,
                offset: configuration.sampleOffset))
            .filter {
                !$0.isRepost && $0.createdAt < configuration.origin
                    && $0.createdAt.timeIntervalSince1970 > 0
            }
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
    var writtenPosts: [(date: Date, post: ScriptedPost)] { posts }

    /// Adds a post to the script, unless its time is outside of the script.
    ///
    /// - Returns: The number of the post.
    @discardableResult
    mutating func post(
        by author: Int, at date: Date, text: String, language: SampleLanguage? = nil,
        change: (inout ScriptedPost) -> Void = { _ in }
    ) -> Int {
        var post = ScriptedPost(
            number: posts.count, author: author, text: text,
            language: language ?? people[author].language)
        change(&post)
        posts.append((date, post))
        return post.number
    }

    mutating func addEvent(_ action: SandboxEvent.Action, at date: Date) {
        eventsOfOthers.append(SandboxEvent(date: date, action: action))
    }

    mutating func newThread() -> Int {
        nextThread += 1
        return nextThread
    }

    mutating func setReplyDeserved(_ number: Int) {
        posts[number].post.mention?.deservesReply = true
    }

    /// All events in the order of time.
    func events() -> [SandboxEvent] {
        let unsortedEvents =
            posts.map { SandboxEvent(date: $0.date, action: .post($0.post)) } + eventsOfOthers
        return unsortedEvents.enumerated()
            .filter { $0.element.date < end }
            .sorted { ($0.element.date, $0.offset) < ($1.element.date, $1.offset) }
            .map(\.element)
    }

    /// Draws a number from the Poisson distribution with the mean, by Knuth's algorithm.
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

    /// The instant of a minute of a local day; nil if a change of the clock skips it.
    func date(_ day: LocalDay, minute: Double) -> Date? {
        let zone = configuration.timeZone
        let wall = Date(timeIntervalSince1970: Double(day.ordinal) * 86_400 + minute * 60)
        let firstGuess = wall.addingTimeInterval(-Double(zone.offset(at: wall)))
        // The offset at the first guess may differ from that at the final instant.
        let date = wall.addingTimeInterval(-Double(zone.offset(at: firstGuess)))
        return LocalTime(date, in: zone).day == day ? date : nil
    }

    /// The local days that overlap a period.
    func days(from start: Date, to end: Date) -> [LocalDay] {
        let first = LocalTime(start, in: configuration.timeZone).day
        let last = LocalTime(end, in: configuration.timeZone).day
        return first <= last ? (first.ordinal...last.ordinal).map { LocalDay(ordinal: $0) } : []
    }

    /// Draws an instant of the waking hours of a local day; nil if a change of the clock skips it.
    mutating func wakingInstant(on day: LocalDay) -> Date? {
        if configuration.isAwakeAtNight { return date(day, minute: generator.uniform() * 1_440) }
        let dayShare = (generator.uniform() + generator.uniform()) / 2
        return date(day, minute: 7 * 60 + dayShare * 16.5 * 60)
    }
}

/// The posts of people before and during the run, and the human's reactions to them.
extension SandboxScript {
    /// The number of days before the run on which the posts of other people begin.
    static let pastDays = 21

    /// Returns the mean number of posts a day of a person with the role.
    private static func dailyMean(of role: SandboxPerson.Role) -> Double {
        switch role {
        case .friend: 3
        case .stranger: 2.5
        case .automated: 4
        case .optedOut, .weary: 1
        case .human, .bot: 0
        }
    }

    /// Writes the human's archive, the posts of others in the last weeks, the human's favorites
    /// among them, and some followers of the bot.
    mutating func writePast() {
        generator = SampleGenerator(seed: configuration.seed &+ 1)
        if configuration.isHumanPresent { writeArchive() }
        writePosts(from: origin.addingTimeInterval(-Double(Self.pastDays) * 86_400), to: origin)
        for index in population.indices(of: .stranger).prefix(3) {
            addEvent(
                .follow(index),
                at: origin.addingTimeInterval(-generator.uniform() * 5 * 86_400 - 60))
        }
    }

    /// Writes the posts of the others and of the human during the run.
    mutating func writeRun() {
        generator = SampleGenerator(seed: configuration.seed &+ 2)
        writePosts(from: origin, to: end)
        if configuration.isHumanPresent { writeHumanPosts() }
        for index in population.indices(of: .stranger).dropFirst(3).prefix(4) {
            addEvent(
                .follow(index),
                at: origin.addingTimeInterval(generator.uniform() * end.timeIntervalSince(origin)))
        }
    }

    private mutating func writePosts(from start: Date, to end: Date) {
        var recent: [Int] = []
        for day in days(from: start, to: end) {
            var drafts: [(date: Date, author: Int)] = []
            for index in people.indices.dropFirst(2) {
                for _ in 0..<poisson(Self.dailyMean(of: people[index].role)) {
                    guard let date = wakingInstant(on: day), date >= start, date < end else {
                        continue
                    }
                    drafts.append((date, index))
                }
            }
            drafts.sort { ($0.date, $0.author) < ($1.date, $1.author) }
            for draft in drafts {
                let number = writePost(by: draft.author, at: draft.date, recent: recent)
                recent.append(number)
                if recent.count > 40 { recent.removeFirst() }
            }
        }
    }

    private mutating func writePost(by author: Int, at date: Date, recent: [Int]) -> Int {
        let kindDraw = generator.uniform()
        let originals = recent.filter {
            let post = writtenPosts[$0].post
            return post.author != author && post.repostOf == nil && post.visibility == .public
        }
        if kindDraw < 0.05, let original = generator.element(of: originals) {
            return post(by: author, at: date, text: "") { $0.repostOf = original }
        }
        if kindDraw < 0.13, let parent = generator.element(of: originals) {
            return writeReply(by: author, at: date, to: parent)
        }
        return writeTopicPost(by: author, at: date)
    }

    private mutating func writeReply(by author: Int, at date: Date, to parent: Int) -> Int {
        let answered = people[writtenPosts[parent].post.author]
        let words = SampleTexts.mention(language: people[author].language, generator: &generator)
        return post(by: author, at: date, text: "@\(answered.localName) \(words)") {
            $0.target = .post(parent)
            $0.visibility = .unlisted
        }
    }

    private mutating func writeTopicPost(by author: Int, at date: Date) -> Int {
        let person = people[author]
        let topic = generator.element(of: person.topics) ?? .trains
        var text = SampleTexts.post(topic: topic, language: person.language, generator: &generator)
        let suffixDraw = generator.uniform()
        if suffixDraw < 0.06 {
            text +=
                "\n\nhttps://elsewhere.example/notes/\(generator.number(below: 9_000) + 1_000)?from=\(topic)&page=2"
        } else if suffixDraw < 0.12 {
            text += "\n#\(topic)"
        } else if suffixDraw < 0.15 {
            text += " <3 & :-)"
        }
        let isLoved = topic.wouldBeFavorited(by: person.sample, generator: &generator)
        let decoration = generator.uniform()
        let favoriteDelay = 120 - 3_600 * log(1 - generator.uniform())
        let number = post(by: author, at: date, text: text) { post in
            post.isLoved = isLoved
            Self.decorate(&post, draw: decoration)
        }
        if isLoved, configuration.isHumanPresent, population.followedByHuman.contains(author) {
            addEvent(.favorite(number), at: date.addingTimeInterval(favoriteDelay))
        }
        return number
    }

    /// Gives some posts a picture, a poll, a warning, or a smaller audience.
    private static func decorate(_ post: inout ScriptedPost, draw: Double) {
        switch draw {
        case ..<0.08: post.attachment = .image
        case ..<0.10: post.attachment = .poll
        case ..<0.13: post.warning = "spoiler"
        case ..<0.17: post.visibility = .private
        case ..<0.30: post.visibility = .unlisted
        default: break
        }
    }
}

/// The human's posts: the archived ones, and new ones at the same times of day and rate.
extension SandboxScript {
    /// Replays the archive, with each reply under a post of the person it answers.
    mutating func writeArchive() {
        for entry in archive {
            guard let replyTo = entry.replyTo else {
                writeArchived(entry, text: entry.text, target: nil)
                continue
            }
            guard let author = replyTo.author, author.network == .mastodon,
                let index = population.index(of: author.value)
            else {
                // The answered person is not in the sandbox, so the reply would have no parent.
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
        let talk = SampleTalk(of: entry.text, in: person.language)
        let words = SampleTexts.mention(
            about: talk, language: person.language, generator: &generator)
        // In the sample archive every answered post is ten minutes older than the reply.
        let date = entry.createdAt.addingTimeInterval(-600)
        let id = SandboxIdentity.localID(of: entry.replyTo?.post, by: people[index])
        let parent = post(
            by: index, at: date, text: "@\(people[SandboxPopulation.human].userName) \(words)"
        ) {
            $0.id = id
        }
        let text = entry.text.hasPrefix("@") ? entry.text : "@\(person.localName) \(entry.text)"
        writeArchived(entry, text: text, target: parent)
    }

    private mutating func writeArchived(_ entry: Post, text: String, target: Int?) {
        let language: SampleLanguage =
            entry.language?.hasPrefix("ja") == true ? .japanese : .english
        let id = SandboxIdentity.localID(of: entry.id, by: people[SandboxPopulation.human])
        post(by: SandboxPopulation.human, at: entry.createdAt, text: text, language: language) {
            post in
            post.visibility = entry.visibility
            post.warning = entry.isSensitive ? "sensitive" : ""
            post.attachment = entry.hasMedia ? .image : nil
            post.target = target.map { .post($0) }
            post.id = id
        }
    }

    private func lastNumber(by index: Int) -> Int? {
        writtenPosts.last { $0.post.author == index }?.post.number
    }

    /// Writes new posts of the human at the archive's times of day and daily rate, and a few
    /// replies to friends.
    mutating func writeHumanPosts() {
        let zone = configuration.timeZone
        let past = archive.filter { !$0.isReply && $0.isTimeTrusted }.map {
            LocalTime($0.createdAt, in: zone)
        }
        let counts = Self.recentCounts(past.map(\.day), before: LocalTime(origin, in: zone).day)
        for day in days(from: origin, to: end) {
            for _ in 0..<(generator.element(of: counts) ?? 0) {
                guard let minute = generator.element(of: past)?.minute.value,
                    let date = date(day, minute: Double(minute) + generator.uniform()),
                    date >= origin
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
            at: local.minute, isWeekend: local.day.weekday >= 6, language: language,
            generator: &generator)
        post(by: SandboxPopulation.human, at: date, text: text, language: language)
    }

    private mutating func writeHumanReplies() {
        let candidates = writtenPosts.filter { entry in
            entry.date >= origin && entry.post.visibility.isOpen && entry.post.repostOf == nil
                && entry.post.target == nil && people[entry.post.author].role == .friend
        }
        for entry in candidates where generator.chance(0.15) {
            let friend = people[entry.post.author]
            let talk = SampleTalk(of: entry.post.text, in: friend.language) ?? .visit
            let words = SampleTexts.reply(
                about: talk, language: friend.language, generator: &generator)
            let date = entry.date.addingTimeInterval(300 + generator.uniform() * 3_000)
            post(
                by: SandboxPopulation.human, at: date, text: "@\(friend.localName) \(words)",
                language: friend.language
            ) {
                $0.target = .post(entry.post.number)
            }
        }
    }

    /// The numbers of posts on each of the last 60 days before `day`, including days without any.
    private static func recentCounts(_ days: [LocalDay], before day: LocalDay) -> [Int] {
        guard let oldest = days.min(), let newest = days.max() else { return [] }
        let last = min(newest, day.advanced(by: -1))
        let first = max(oldest, last.advanced(by: -59))
        guard first <= last else { return [] }
        let counts = Dictionary(days.map { ($0, 1) }, uniquingKeysWith: +)
        return (first.ordinal...last.ordinal).map { counts[LocalDay(ordinal: $0)] ?? 0 }
    }
}

extension SandboxScript {
    /// The human's posts of the sample archive, as an importer would read them.
    static func samplePosts(
        before origin: Date, people: Int = SamplePeople.answered.count,
        offset: Int = SampleArchive.offset
    ) -> [Post] {
        SampleArchive(endingAt: origin, people: people, offset: offset).posts.map { sample in
            Post(
                id: PostID(network: .mastodon, value: sample.uri),
                author: AccountID(network: .mastodon, value: sample.author.handle),
                text: sample.text,
                createdAt: sample.createdAt,
                replyTo: sample.replyTo.map { person in
                    ReplyTarget(author: AccountID(network: .mastodon, value: person.handle))
                },
                visibility: sample.visibility, language: sample.language.rawValue)
        }
    }
}
