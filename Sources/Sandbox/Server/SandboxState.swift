import Foundation
import NetworkNames
import Posts

/// The state of the sandbox: posts, timelines, favorites, notifications, and the ledger.
///
/// A plain value; ``SandboxNetwork`` serializes access. It changes only at a request, by applying
/// the script up to that time.
struct SandboxState: Sendable {
    let world: SandboxWorld
    var ledger = SandboxLedger()
    var posts: [Int64: SandboxPost] = [:]
    /// The ids of deleted posts.
    var deleted: Set<Int64> = []
    /// The ids of the answers to each post, ascending, by the post's id.
    var answers: [Int64: [Int64]] = [:]
    /// The ids of each person's own posts, ascending.
    var postsByAuthor: [[Int64]]
    /// The ids of the posts on the two homes, ascending, by person.
    var homes: [Int: [Int64]] = [SandboxPopulation.human: [], SandboxPopulation.bot: []]
    /// The favorites in the order in which they were given, by person.
    var favorites: [Int: [SandboxFavorite]] = [
        SandboxPopulation.human: [], SandboxPopulation.bot: [],
    ]
    /// The ids of the posts that mention the human or the bot, by person, in the order of the
    /// notifications.
    var mentions: [Int: [Int64]] = [:]
    /// The ids of the open posts of each person by their text, without white space around it.
    var idsByText: [PersonText: [Int64]] = [:]
    /// The posts in `favorites`, by person.
    var favorited: [Int: Set<Int64>] = [:]
    /// The notifications in the order in which they were made, by person; only the human's and the
    /// bot's are kept.
    var notifications: [Int: [SandboxNotification]] = [:]

    private var nextEvent = 0
    var lastID: Int64 = 0
    var lastSerial: Int64 = 1_000
    /// The id of each scripted post that has happened.
    private var idByNumber: [Int: Int64] = [:]
    /// The bot's answer to each scripted mention.
    var answerByNumber: [Int: Int64] = [:]
    /// The number of mentions that are not in the script.
    var unscriptedMentions = 0
    /// The automated flags of the people who have changed theirs, by person.
    var botFlags: [Int: Bool] = [:]
    /// The profiles that people have changed since the start, on the Mastodon family, by person.
    var profiles: [Int: (note: String?, fields: [(name: String, value: String)])] = [:]
    /// The people who have asked the bot to stop.
    var stopped: Set<Int> = []
    /// The state of the human's account during the current request.
    var humanStanding = SandboxStanding.active
    /// The number of answers to a person on a day, and in a conversation, for the caps.
    var answersByPersonAndDay: [PersonDay: Int] = [:]
    var answersByThread: [Int: Int] = [:]
    /// The uploaded files, by number.
    var media: [Int64: SandboxMedia] = [:]
    /// Deletions that were confirmed and are not carried out yet, by post.
    var leaving: [Int64: LeavingPost] = [:]
    /// The post that the current request has created or recognized, with the effect; `nil` if it
    /// did neither.
    var requestOutcome: (effect: SandboxLedger.Write.Effect, post: Int64)?

    /// The state of a person's account.
    func standing(of person: Int?) -> SandboxStanding {
        person == SandboxPopulation.human ? humanStanding : .active
    }

    init(world: SandboxWorld) {
        self.world = world
        self.postsByAuthor = Array(repeating: [], count: world.population.people.count)
        for post in world.configuration.olderPosts { keep(older: post) }
    }

    var population: SandboxPopulation { world.population }
    var people: [SandboxPerson] { world.population.people }

    /// Applies the events up to and including `now`.
    mutating func advance(to now: Date) {
        while nextEvent < world.events.count, world.events[nextEvent].date <= now {
            let event = world.events[nextEvent]
            nextEvent += 1
            switch event.action {
            case .post(let post): apply(post, at: event.date)
            case .favorite(let number): applyFavorite(number, at: event.date)
            case .follow(let person):
                notify(SandboxPopulation.bot, .follow, by: person, post: nil, at: event.date)
            }
        }
    }

    /// The key for finding repetitions: a person and one of their texts, without white space around
    /// it.
    struct PersonText: Hashable {
        var person: Int
        var text: String

        init(_ person: Int, _ text: String) {
            self.person = person
            let space = CharacterSet.whitespacesAndNewlines
            let edges = [text.unicodeScalars.first, text.unicodeScalars.last].compactMap(\.self)
            let isTrimmed = edges.allSatisfy { edge in
                !space.contains(edge)
            }
            // The check avoids trimming, which takes much longer even if there is nothing to trim.
            self.text = isTrimmed ? text : text.trimmingCharacters(in: space)
        }
    }

    mutating func record(_ rejection: SandboxLedger.Rejection) {
        ledger.rejections.append(rejection)
    }
}

extension SandboxState {
    private mutating func apply(_ scripted: ScriptedPost, at date: Date) {
        let original = scripted.repostOf.flatMap { idByNumber[$0] }
        guard scripted.repostOf == nil || original.flatMap({ posts[$0] }) != nil else { return }
        var post = SandboxPost(
            id: nextID(at: date, wanted: scripted.id), author: scripted.author, createdAt: date,
            text: scripted.text,
            html: StatusHTML(scripted.text, population: population),
            visibility: scripted.visibility,
            warning: scripted.warning, isSensitive: !scripted.warning.isEmpty,
            language: scripted.language.rawValue,
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
        if let mention = scripted.mention { recordMention(mention, of: post) }
        countIfEligible(post)
    }

    mutating func recordMention(_ mention: SandboxMention, of post: SandboxPost) {
        if mention.kind == .stop { stopped.insert(post.author) }
        ledger.mentions.append(
            .init(
                id: String(post.id),
                identity: identity(of: post, on: world.configuration.botNetwork),
                handle: people[post.author].handle, kind: mention.kind, date: post.createdAt,
                deservesReply: mention.deservesReply, burden: post.burden, notice: post.notice,
                notification: notifications[SandboxPopulation.bot]?.last { $0.post == post.id }.map
                { String($0.id) },
                parent: post.replyTo.map { String($0) },
                isBelowOthers: authors(above: post).contains { $0 != post.author }))
    }

    /// Counts a post if the bot could favorite it: an open post by another person that came to the
    /// bot's home after the run began.
    mutating func countIfEligible(_ post: SandboxPost) {
        guard post.createdAt >= world.configuration.origin,
            reachesHome(of: SandboxPopulation.bot, post),
            objection(toFavoriting: post) == nil
        else { return }
        ledger.eligiblePosts += 1
        if post.isLoved { ledger.lovedPosts += 1 }
    }

    /// Stores a post of the human that appears in no list.
    private mutating func keep(older entry: Post) {
        let human = SandboxPopulation.human
        guard let id = SandboxIdentity.localID(of: entry.id, by: people[human]) else { return }
        var text = entry.text
        if let answered = entry.replyTo?.author.flatMap({ population.index(of: $0.value) }),
            !text.hasPrefix("@")
        {
            text = "@\(people[answered].localName) \(text)"
        }
        posts[id] = SandboxPost(
            id: id, author: human, createdAt: entry.createdAt, text: text,
            html: StatusHTML(text, population: population), visibility: entry.visibility,
            warning: entry.isSensitive ? "sensitive" : "", isSensitive: entry.isSensitive,
            language: entry.language,
            attachment: entry.hasMedia ? .image : nil)
    }

    private mutating func applyFavorite(_ number: Int, at date: Date) {
        guard let id = idByNumber[number], posts[id] != nil else { return }
        addFavorite(by: SandboxPopulation.human, of: id, at: date)
    }
}

/// Changes of the state by publishing, favoriting or deleting.
extension SandboxState {
    /// The post that a request asks to publish.
    struct Draft: Sendable {
        var text: String
        var warning: String
        var isSensitive: Bool
        var visibility: Visibility
        var language: String?
        var replyTo: Int64?
        /// The idempotency key, on Bluesky the record key.
        var idempotencyKey: String?
        /// The network that received the request.
        var network = NetworkName.mastodon
        /// The people whom the text names; `nil` to read them from the text, as Mastodon-compatible
        /// servers do.
        var mentions: [Int]?
        /// Whether the author of the answered post is notified even if the text does not name them.
        var notifiesParent = false
        /// The numbers of uploaded files.
        var media: [Int64] = []
        /// The attached pictures, as in the ledger.
        var pictures: [SandboxLedger.Picture] = []
        /// The people who may quote it, in the network's words; `nil` if the request does not say.
        var quoters: String?
        /// The people who may answer it, in the network's words; `nil` if the request does not say.
        var repliers: [String]?
        /// Whether the warning is only a title, which does not make the post sensitive.
        var warningsAreTitles = false
    }

    /// Publishes a post of the bot or the human and notifies the mentioned people.
    mutating func publish(_ draft: Draft, by author: Int, at date: Date) -> SandboxPost {
        var post = SandboxPost(
            id: nextID(at: date, wanted: nil), author: author, createdAt: date, text: draft.text,
            html: StatusHTML(draft.text, population: population), visibility: draft.visibility,
            warning: draft.warning,
            isSensitive: draft.isSensitive || (!draft.warning.isEmpty && !draft.warningsAreTitles),
            language: draft.language, replyTo: draft.replyTo)
        post.explicitRecipients = explicitRecipients(of: draft)
        post.media = draft.media
        for id in draft.media { media[id]?.isAttached = true }
        insert(&post)
        requestOutcome = (.created, post.id)
        if author == SandboxPopulation.bot {
            recordDelivery(of: post, from: draft)
        }
        return post
    }

    /// Returns the people whom a draft notifies; `nil` if these are the people named in its text.
    private func explicitRecipients(of draft: Draft) -> [Int]? {
        guard draft.mentions != nil || draft.notifiesParent else { return nil }
        var recipients = draft.mentions ?? StatusHTML(draft.text, population: population).mentions
        if draft.notifiesParent, let parent = draft.replyTo.flatMap({ posts[$0]?.author }),
            !recipients.contains(parent)
        {
            recipients.insert(parent, at: 0)
        }
        return recipients
    }

    /// Adds a favorite and notifies the author; false if it existed already.
    @discardableResult
    mutating func addFavorite(by person: Int, of id: Int64, at date: Date) -> Bool {
        guard !isFavorited(id, by: person), let author = posts[id]?.author else { return false }
        favorited[person, default: []].insert(id)
        favorites[person, default: []].append(
            SandboxFavorite(id: nextSerial(), post: id, createdAt: date))
        posts[id]?.favorites += 1
        notify(author, .favorite, by: person, post: id, at: date)
        return true
    }

    /// Removes a favorite; false if it did not exist.
    @discardableResult
    mutating func removeFavorite(by person: Int, of id: Int64) -> Bool {
        guard isFavorited(id, by: person) else { return false }
        favorites[person]?.removeAll { $0.post == id }
        favorited[person]?.remove(id)
        posts[id]?.favorites -= 1
        return true
    }

    /// - Parameters:
    ///   - staysVisible: Whether the post can still be read.
    ///   - date: The date of the deletion, if the server shows it as the date of an edit.
    mutating func delete(_ id: Int64, staysVisible: Bool = false, datedAt date: Date? = nil) {
        guard let post = posts[id] else { return }
        if !staysVisible { posts[id] = nil }
        if let date { posts[id]?.editedAt = date }
        deleted.insert(id)
        forgetText(of: post)
        postsByAuthor[post.author].removeAll { $0 == id }
        for person in homes.keys { homes[person]?.removeAll { $0 == id } }
        for person in favorites.keys { favorites[person]?.removeAll { $0.post == id } }
        for person in notifications.keys { notifications[person]?.removeAll { $0.post == id } }
        for person in mentions.keys { mentions[person]?.removeAll { $0 == id } }
    }

    /// Replaces the text of a post, without a trace of the old one.
    mutating func rewrite(_ id: Int64, text: String, language: String?) {
        guard var post = posts[id] else { return }
        forgetText(of: post)
        post.text = text
        post.editedAt = nil
        post.html = StatusHTML(text, population: population)
        post.language = language
        posts[id] = post
        rememberText(of: post)
    }

    /// Replaces a post by its changed version; notifies the people whom only the new text names.
    ///
    /// - Parameter isDated: Whether the post shows the time of the edit.
    mutating func replace(
        _ old: SandboxPost, by changed: SandboxPost, text: String, isDated: Bool, at date: Date
    ) {
        forgetText(of: old)
        var post = changed
        post.text = text
        post.html = StatusHTML(text, population: population)
        post.explicitRecipients = nil
        if isDated { post.editedAt = date }
        posts[post.id] = post
        rememberText(of: post)
        let earlierRecipients = Set(old.recipients)
        for person in post.recipients
        where person != post.author && !earlierRecipients.contains(person) {
            notify(person, .mention, by: post.author, post: post.id, at: date, notice: post.notice)
        }
    }

    private mutating func rememberText(of post: SandboxPost) {
        guard post.visibility.isOpen else { return }
        idsByText[PersonText(post.author, post.text), default: []].append(post.id)
    }

    private mutating func forgetText(of post: SandboxPost) {
        idsByText[PersonText(post.author, post.text)]?.removeAll { $0 == post.id }
    }

    mutating func insert(_ post: inout SandboxPost) {
        if let parent = post.replyTo {
            post.replyToAuthor = posts[parent]?.author
            posts[parent]?.replies += 1
            answers[parent, default: []].append(post.id)
        }
        posts[post.id] = post
        rememberText(of: post)
        postsByAuthor[post.author].append(post.id)
        for reader in [SandboxPopulation.human, SandboxPopulation.bot]
        where reachesHome(of: reader, post) {
            homes[reader]?.append(post.id)
        }
        for person in post.recipients where person != post.author {
            notify(
                person, .mention, by: post.author, post: post.id, at: post.createdAt,
                notice: post.notice)
        }
    }

    mutating func notify(
        _ person: Int, _ kind: SandboxNotification.Kind, by cause: Int, post: Int64?, at date: Date,
        notice: SandboxNotice = .atOnce
    ) {
        guard person == SandboxPopulation.human || person == SandboxPopulation.bot, person != cause
        else { return }
        let delay: TimeInterval
        switch notice {
        case .atOnce: delay = 0
        case .late(let seconds): delay = seconds
        case .never: return
        }
        notifications[person, default: []].append(
            SandboxNotification(
                id: nextSerial(), kind: kind, createdAt: date, cause: cause, post: post,
                visibleFrom: date + delay))
        if kind == .mention, let post { mentions[person, default: []].append(post) }
    }

    /// Returns the id for a new post: ids grow with time, and an id from an archive is kept if it
    /// is free and in order.
    mutating func nextID(at date: Date, wanted: Int64?) -> Int64 {
        let idOfDate = SandboxPost.id(at: date)
        var preferred = idOfDate
        // An id of the same millisecond differs in its lower 16 bits only.
        if let wanted, wanted >= idOfDate, wanted - idOfDate < 65_536 { preferred = wanted }
        let id = max(lastID + 1, preferred)
        lastID = id
        return id
    }

    private mutating func nextSerial() -> Int64 {
        lastSerial += 1
        return lastSerial
    }
}

/// The visibility of posts, the conversations around them, and the posts that the bot may favorite.
extension SandboxState {
    func isFavorited(_ id: Int64, by person: Int) -> Bool {
        favorited[person]?.contains(id) == true
    }

    /// Whether `viewer` may read the post; nil for a client without a token.
    func canSee(_ post: SandboxPost, as viewer: Int?) -> Bool {
        if post.visibility.isOpen { return true }
        guard let viewer else { return false }
        if viewer == post.author || post.html.mentions.contains(viewer)
            || post.recipients.contains(viewer)
        {
            return true
        }
        return post.visibility == .private && population.isFollowed(post.author, by: viewer)
    }

    /// Whether a post reaches the reader's home: the reader's own posts, and posts of followed
    /// people, except answers to a person whom the reader does not follow.
    func reachesHome(of reader: Int, _ post: SandboxPost) -> Bool {
        if post.author == reader { return true }
        guard population.isFollowed(post.author, by: reader), post.visibility != .direct else {
            return false
        }
        guard post.replyTo != nil, let answered = post.replyToAuthor else { return true }
        return answered == reader || answered == post.author
            || population.isFollowed(answered, by: reader)
    }

    /// The posts above one, the oldest first.
    func ancestors(of post: SandboxPost) -> [SandboxPost] {
        var chain: [SandboxPost] = []
        // An answered post has a smaller id, so this ends.
        while let parent = (chain.last ?? post).replyTo.flatMap({ posts[$0] }) {
            chain.append(parent)
        }
        return chain.reversed()
    }

    /// The answers to a post and the answers to these, each after the post it answers.
    func descendants(of post: SandboxPost) -> [SandboxPost] {
        var descendants: [SandboxPost] = []
        var unvisitedIDs = Array((answers[post.id] ?? []).reversed())
        while let id = unvisitedIDs.popLast() {
            if let answer = posts[id] { descendants.append(answer) }
            unvisitedIDs += (answers[id] ?? []).reversed()
        }
        return descendants
    }

    /// The reason why the bot must not favorite the post; nil if it may.
    func objection(toFavoriting post: SandboxPost) -> String? {
        let author = people[post.author]
        // A favorite may confirm a request to stop.
        if post.mention?.kind == .stop { return nil }
        return switch true {
        case post.author == SandboxPopulation.bot: "own post"
        case post.author == SandboxPopulation.human: "post of the human"
        case post.repostOf != nil: "repost"
        case !post.visibility.isOpen: "not a public post"
        case author.isBot: "automated account"
        case author.role == .optedOut: "account keeps bots away"
        case stopped.contains(post.author): "account asked the bot to stop"
        default: nil
        }
    }
}
