import Foundation
import Posts

/// What changes when somebody publishes, favorites or deletes.
extension SandboxState {
    /// What a request asks to publish.
    struct Draft: Sendable {
        var text: String
        var warning: String
        var isSensitive: Bool
        var visibility: Visibility
        var language: String?
        var replyTo: Int64?
        /// The idempotency key, on Bluesky the record key.
        var idempotencyKey: String?
        /// Where the request came from.
        var network = NetworkName.mastodon
        /// Whom the text names; nil where that is read from the text itself, as Mastodon-compatible servers do.
        var mentions: [Int]?
        /// The author of the answered post is told even where the text does not name them.
        var tellsParent = false
    }

    /// Publishes for the bot or the human and tells those who are mentioned.
    mutating func publish(_ draft: Draft, by author: Int, at date: Date) -> SandboxPost {
        var post = SandboxPost(
            id: nextID(at: date, wanted: nil), author: author, createdAt: date, text: draft.text,
            html: StatusHTML(draft.text, population: population), visibility: draft.visibility,
            warning: draft.warning, isSensitive: draft.isSensitive || !draft.warning.isEmpty,
            language: draft.language, replyTo: draft.replyTo)
        post.told = told(of: draft)
        insert(&post)
        made = (.created, post.id)
        if author == SandboxPopulation.bot {
            recordDelivery(of: post, from: draft)
        }
        return post
    }

    /// Whom a draft tells; nil for those whom its text names.
    private func told(of draft: Draft) -> [Int]? {
        guard draft.mentions != nil || draft.tellsParent else { return nil }
        var told = draft.mentions ?? StatusHTML(draft.text, population: population).mentions
        if draft.tellsParent, let parent = draft.replyTo.flatMap({ posts[$0]?.author }), !told.contains(parent) {
            told.insert(parent, at: 0)
        }
        return told
    }

    /// Adds a favorite and tells the author; false when it was there already.
    @discardableResult
    mutating func addFavorite(by person: Int, of id: Int64, at date: Date) -> Bool {
        guard !isFavorited(id, by: person), let author = posts[id]?.author else { return false }
        favorited[person, default: []].insert(id)
        favorites[person, default: []].append(SandboxFavorite(id: nextSerial(), post: id, createdAt: date))
        posts[id]?.favorites += 1
        notify(author, .favorite, by: person, post: id, at: date)
        return true
    }

    mutating func removeFavorite(by person: Int, of id: Int64) {
        guard isFavorited(id, by: person) else { return }
        favorites[person]?.removeAll { $0.post == id }
        favorited[person]?.remove(id)
        posts[id]?.favorites -= 1
    }

    mutating func delete(_ id: Int64) {
        guard let post = posts.removeValue(forKey: id) else { return }
        deleted.insert(id)
        forgetText(of: post)
        postsByAuthor[post.author].removeAll { $0 == id }
        for person in homes.keys { homes[person]?.removeAll { $0 == id } }
        for person in favorites.keys { favorites[person]?.removeAll { $0.post == id } }
        for person in notifications.keys { notifications[person]?.removeAll { $0.post == id } }
        for person in mentions.keys { mentions[person]?.removeAll { $0 == id } }
    }

    /// Writes another text over a post; what it told people stays told.
    mutating func rewrite(_ id: Int64, text: String, language: String?) {
        guard var post = posts[id] else { return }
        forgetText(of: post)
        post.text = text
        post.html = StatusHTML(text, population: population)
        post.language = language
        posts[id] = post
        rememberText(of: post)
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
        for reader in [SandboxPopulation.human, SandboxPopulation.bot] where reachesHome(of: reader, post) {
            homes[reader]?.append(post.id)
        }
        for person in post.recipients where person != post.author {
            notify(person, .mention, by: post.author, post: post.id, at: post.createdAt, post.notice)
        }
    }

    mutating func notify(
        _ person: Int, _ kind: SandboxNotification.Kind, by cause: Int, post: Int64?, at date: Date,
        _ notice: SandboxNotice = .atOnce
    ) {
        guard person == SandboxPopulation.human || person == SandboxPopulation.bot, person != cause else { return }
        let delay: TimeInterval
        switch notice {
        case .atOnce: delay = 0
        case .late(let seconds): delay = seconds
        case .never: return
        }
        notifications[person, default: []].append(
            SandboxNotification(
                id: nextSerial(), kind: kind, createdAt: date, cause: cause, post: post, visibleFrom: date + delay))
        if kind == .mention, let post { mentions[person, default: []].append(post) }
    }

    /// Ids follow time; an id that an archive names is kept while it is free and in order.
    mutating func nextID(at date: Date, wanted: Int64?) -> Int64 {
        let usual = SandboxPost.id(at: date)
        let isInTime = wanted.map { $0 >= usual && $0 - usual < 65_536 } ?? false
        let id = max(lastID + 1, isInTime ? wanted ?? usual : usual)
        lastID = id
        return id
    }

    private mutating func nextSerial() -> Int64 {
        lastSerial += 1
        return lastSerial
    }
}
