import Foundation
import Posts

/// What people post, before and during the run, and what the human makes of it.
extension SandboxScript {
    /// How long before the run the posts of the others begin.
    static let pastDays = 21

    /// Posts a day by role.
    private static func rate(_ role: SandboxPerson.Role) -> Double {
        switch role {
        case .friend: 3
        case .stranger: 2.5
        case .automated: 4
        case .optedOut, .weary: 1
        case .human, .bot: 0
        }
    }

    /// The human's archive, the others' posts of the last weeks, the human's favorites among them, and old mentions.
    mutating func writePast() {
        generator = SampleGenerator(seed: configuration.seed &+ 1)
        writeArchive()
        writePosts(from: origin.addingTimeInterval(-Double(Self.pastDays) * 86_400), to: origin)
        for index in population.indices(of: .stranger).prefix(3) {
            happen(.follow(index), at: origin.addingTimeInterval(-generator.uniform() * 5 * 86_400 - 60))
        }
    }

    /// The others' posts during the run, and the human's own.
    mutating func writeRun() {
        generator = SampleGenerator(seed: configuration.seed &+ 2)
        writePosts(from: origin, to: end)
        writeHumanPosts()
        for index in population.indices(of: .stranger).dropFirst(3).prefix(4) {
            happen(.follow(index), at: origin.addingTimeInterval(generator.uniform() * end.timeIntervalSince(origin)))
        }
    }

    private mutating func writePosts(from start: Date, to end: Date) {
        var recent: [Int] = []
        for day in days(from: start, to: end) {
            var drafts: [(date: Date, author: Int)] = []
            for index in people.indices.dropFirst(2) {
                for _ in 0..<poisson(Self.rate(people[index].role)) {
                    guard let date = wakingInstant(on: day), date >= start, date < end else { continue }
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
        let shape = generator.uniform()
        let originals = recent.filter {
            let post = written[$0].post
            return post.author != author && post.repostOf == nil && post.visibility == .public
        }
        if shape < 0.05, let original = generator.element(of: originals) {
            return post(by: author, at: date, text: "") { $0.repostOf = original }
        }
        if shape < 0.13, let parent = generator.element(of: originals) {
            return writeReply(by: author, at: date, to: parent)
        }
        return writeTopicPost(by: author, at: date)
    }

    private mutating func writeReply(by author: Int, at date: Date, to parent: Int) -> Int {
        let other = people[written[parent].post.author]
        let words = SampleTexts.mention(language: people[author].language, generator: &generator)
        return post(by: author, at: date, text: "@\(other.localName) \(words)") {
            $0.target = .post(parent)
            $0.visibility = .unlisted
        }
    }

    private mutating func writeTopicPost(by author: Int, at date: Date) -> Int {
        let person = people[author]
        let topic = generator.element(of: person.topics) ?? .trains
        var text = SampleTexts.post(topic: topic, language: person.language, generator: &generator)
        let ornament = generator.uniform()
        if ornament < 0.06 {
            text += "\n\nhttps://elsewhere.example/notes/\(generator.number(below: 9_000) + 1_000)?from=\(topic)&page=2"
        } else if ornament < 0.12 {
            text += "\n#\(topic)"
        } else if ornament < 0.15 {
            text += " <3 & :-)"
        }
        let isLoved = topic.wouldBeFavorited(by: person.sample, generator: &generator)
        let dress = generator.uniform()
        let lag = 120 - 3_600 * log(1 - generator.uniform())
        let number = post(by: author, at: date, text: text) { post in
            post.isLoved = isLoved
            Self.dress(&post, draw: dress)
        }
        if isLoved, population.followedByHuman.contains(author) {
            happen(.favorite(number), at: date.addingTimeInterval(lag))
        }
        return number
    }

    /// Gives some posts a picture, a poll, a warning, or a smaller circle of readers.
    private static func dress(_ post: inout ScriptedPost, draw: Double) {
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
