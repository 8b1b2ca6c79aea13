import Foundation
import Posts

/// What the sandbox remembers: posts, timelines, favorites, notifications, and the ledger.
///
/// A plain value; ``SandboxNetwork`` serialises access. It moves on only when
/// it is asked something, by applying the script up to that instant.
struct SandboxState: Sendable {
    let world: SandboxWorld
    var ledger = SandboxLedger()
    var posts: [Int64: SandboxPost] = [:]
    /// Ids of posts that once existed.
    var deleted: Set<Int64> = []
    /// Ascending ids of the answers to a post, by its id.
    var answers: [Int64: [Int64]] = [:]
    /// Ascending ids of each person's own posts.
    var postsByAuthor: [[Int64]]
    /// Ascending ids of the posts on the two homes, by person.
    var homes: [Int: [Int64]] = [SandboxPopulation.human: [], SandboxPopulation.bot: []]
    /// In the order they were made, by person.
    var favorites: [Int: [SandboxFavorite]] = [SandboxPopulation.human: [], SandboxPopulation.bot: []]
    /// Ids of the posts that told somebody of themselves, for those who have `notifications`; in their order.
    var mentions: [Int: [Int64]] = [:]
    /// Ids of the open posts of each person by their words, without white space around them.
    var idsByText: [PersonText: [Int64]] = [:]
    /// The posts in `favorites`, by person.
    var favorited: [Int: Set<Int64>] = [:]
    /// In the order they were made, by person; only the human's and the bot's are kept.
    var notifications: [Int: [SandboxNotification]] = [:]

    private var nextEvent = 0
    var lastID: Int64 = 0
    var lastSerial: Int64 = 1_000
    /// The id of each scripted post that has happened.
    private var idByNumber: [Int: Int64] = [:]
    /// The bot's answer to each scripted mention.
    var answerByNumber: [Int: Int64] = [:]
    /// How many times people said something that is not in the script.
    var spoken = 0
    /// Who has changed whether the account counts as automated.
    var botFlags: [Int: Bool] = [:]
    /// Who has asked the bot to stop.
    var stopped: Set<Int> = []
    var conduct: SandboxConduct
    /// What the request in hand has made or recognised; nil where it did neither.
    var made: (effect: SandboxLedger.Write.Effect, post: Int64)?

    init(world: SandboxWorld) {
        self.world = world
        self.conduct = SandboxConduct(world.configuration)
        self.postsByAuthor = Array(repeating: [], count: world.population.people.count)
    }

    var population: SandboxPopulation { world.population }
    var people: [SandboxPerson] { world.population.people }

    /// Applies what happens up to and including `now`.
    mutating func advance(to now: Date) {
        while nextEvent < world.events.count, world.events[nextEvent].date <= now {
            let event = world.events[nextEvent]
            nextEvent += 1
            switch event.action {
            case .post(let post): apply(post, at: event.date)
            case .favorite(let number): applyFavorite(number, at: event.date)
            case .follow(let person): notify(SandboxPopulation.bot, .follow, by: person, post: nil, at: event.date)
            }
        }
    }

    /// What somebody wrote, as far as repetitions go.
    struct PersonText: Hashable {
        var person: Int
        var text: String

        init(_ person: Int, _ text: String) {
            self.person = person
            self.text = text.trimmingCharacters(in: .whitespacesAndNewlines)
        }
    }

    mutating func record(_ rejection: SandboxLedger.Rejection) { ledger.rejections.append(rejection) }
}

extension SandboxState {
    private mutating func apply(_ scripted: ScriptedPost, at date: Date) {
        let original = scripted.repostOf.flatMap { idByNumber[$0] }
        guard scripted.repostOf == nil || original.flatMap({ posts[$0] }) != nil else { return }
        var post = SandboxPost(
            id: nextID(at: date, wanted: scripted.id), author: scripted.author, createdAt: date, text: scripted.text,
            html: StatusHTML(scripted.text, population: population), visibility: scripted.visibility,
            warning: scripted.warning, isSensitive: !scripted.warning.isEmpty, language: scripted.language.rawValue,
            attachment: scripted.attachment, repostOf: original)
        switch scripted.target {
        case .post(let number): post.replyTo = idByNumber[number]
        case .answer(let number): post.replyTo = answerByNumber[number] ?? idByNumber[number]
        case nil: break
        }
        post.isLoved = scripted.isLoved
        post.mention = scripted.mention
        post.number = scripted.number
        idByNumber[scripted.number] = post.id
        insert(&post)
        if let mention = scripted.mention { note(mention, of: post) }
        noteOnHome(post)
    }

    mutating func note(_ mention: SandboxMention, of post: SandboxPost) {
        if mention.kind == .stop { stopped.insert(post.author) }
        ledger.mentions.append(
            .init(
                id: String(post.id), identity: identity(of: post, on: world.configuration.botNetwork),
                handle: people[post.author].handle, kind: mention.kind, date: post.createdAt,
                deservesReply: mention.deservesReply, burden: post.burden, notice: post.notice,
                notification: notifications[SandboxPopulation.bot]?.last { $0.post == post.id }.map { String($0.id) }))
    }

    /// Counts what the bot could favorite: open posts by others on its home since the run began.
    mutating func noteOnHome(_ post: SandboxPost) {
        guard post.createdAt >= world.configuration.origin, reachesHome(of: SandboxPopulation.bot, post),
            objection(toFavoriting: post) == nil
        else { return }
        ledger.eligiblePosts += 1
        if post.isLoved { ledger.lovedPosts += 1 }
    }

    private mutating func applyFavorite(_ number: Int, at date: Date) {
        guard let id = idByNumber[number], posts[id] != nil else { return }
        addFavorite(by: SandboxPopulation.human, of: id, at: date)
    }
}
