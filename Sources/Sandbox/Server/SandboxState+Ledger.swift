import Foundation
import NetworkNames
import Posts

/// The ledger's notes about the bot.
extension SandboxState {
    /// Returns the worldwide id of a post on a network; `recordKey` is its key if it was written
    /// there.
    func identity(of post: SandboxPost, on network: NetworkName, recordKey: String? = nil) -> String
    {
        let author = people[post.author].handle
        guard network == .bluesky, let recordKey else {
            return SandboxIdentity.post(post.id, by: author, on: network).value
        }
        return RecordAddress(
            SandboxIdentity.account(author, on: .bluesky).value, RecordAddress.posts, recordKey
        ).uri
    }

    mutating func recordDelivery(of post: SandboxPost, from draft: Draft) {
        let parent = post.replyTo.flatMap { posts[$0] }
        let mentioned = post.recipients.filter { $0 != post.author }
        let isHeard = parent.map { $0.mention != nil && mentioned.contains($0.author) } ?? false
        if let number = parent?.number, parent?.mention != nil { answerByNumber[number] = post.id }
        let delivery = SandboxLedger.Delivery(
            id: String(post.id),
            identity: identity(of: post, on: draft.network, recordKey: draft.idempotencyKey),
            text: post.text,
            replyTo: post.replyTo.map(String.init), isHeard: isHeard, date: post.createdAt,
            visibility: post.visibility, language: post.language,
            idempotencyKey: draft.idempotencyKey,
            mentioned: mentioned.map { people[$0].handle }, pictures: draft.pictures,
            isSensitive: post.isSensitive,
            quoters: draft.quoters, repliers: draft.repliers)
        ledger.record(delivery)
        if let parent, parent.visibility.reach < post.visibility.reach {
            ledger.widenedReplies.append(delivery.id)
        }
        for person in mentioned
            + ancestors(of: post, on: draft.network).filter({ !mentioned.contains($0) })
        {
            let objection = objection(toNotifying: person, by: post, answering: parent)
            ledger.notifications.append(
                .init(
                    recipient: people[person].handle, kind: .mention, postID: String(post.id),
                    date: post.createdAt,
                    objection: objection))
        }
    }

    /// Returns the people who are notified because they wrote a post above: on Bluesky, the authors
    /// of the nearest four posts.
    private func ancestors(of post: SandboxPost, on network: NetworkName) -> [Int] {
        network == .bluesky ? authors(above: post, within: 4) : []
    }

    /// Returns the authors of the posts above one, the nearest first, without the human and the
    /// bot.
    func authors(above post: SandboxPost, within height: Int = .max) -> [Int] {
        var authors: [Int] = []
        var postAbove = post.replyTo.flatMap { posts[$0] }
        var remainingHeight = height
        while remainingHeight > 0, let next = postAbove {
            if ![SandboxPopulation.bot, SandboxPopulation.human].contains(next.author),
                !authors.contains(next.author)
            {
                authors.append(next.author)
            }
            postAbove = next.replyTo.flatMap { posts[$0] }
            remainingHeight -= 1
        }
        return authors
    }

    /// The reason why the bot must not notify the person with this post; nil if it may.
    private mutating func objection(
        toNotifying person: Int, by post: SandboxPost, answering parent: SandboxPost?
    )
        -> String?
    {
        guard let parent, parent.author == person,
            parent.html.mentions.contains(SandboxPopulation.bot)
        else {
            return "did not mention the bot"
        }
        if people[person].isBot { return "automated account" }
        if people[person].role == .optedOut { return "account keeps bots away" }
        if stopped.contains(person) { return "account asked the bot to stop" }
        if !people[person].isAnswered { return "the human never answered this person" }
        let day = LocalTime(post.createdAt, in: world.configuration.timeZone).day
        return objection(
            toAnswering: PersonDay(person: person, day: day), thread: parent.mention?.thread)
    }

    /// Counts an answer against the courtesy caps; returns the reason against it if it exceeds one.
    private mutating func objection(toAnswering key: PersonDay, thread: Int?) -> String? {
        answersByPersonAndDay[key, default: 0] += 1
        if let thread { answersByThread[thread, default: 0] += 1 }
        let caps = world.configuration
        if answersByPersonAndDay[key, default: 0] > caps.repliesPerPersonAndDay {
            return "too many answers in a day"
        }
        if let thread, answersByThread[thread, default: 0] > caps.repliesPerThread {
            return "too many answers in a conversation"
        }
        return nil
    }

    /// Records an action that the bot took back.
    mutating func recordRemoval(
        _ kind: SandboxLedger.Removal.Kind, of post: Int64, by person: Int, at date: Date
    ) {
        guard person == SandboxPopulation.bot else { return }
        ledger.removals.append(.init(kind: kind, postID: String(post), date: date))
    }

    /// Records that the bot changed the text of one of its posts.
    mutating func recordEdit(of post: Int64, text: String, by person: Int, at date: Date) {
        guard person == SandboxPopulation.bot else { return }
        ledger.edits.append(.init(postID: String(post), text: text, date: date))
    }

    /// Records a request for a favorite; only the bot's are in the ledger, whether or not they
    /// changed anything.
    mutating func recordFavorite(
        of post: SandboxPost, by person: Int, isNew: Bool, from network: NetworkName,
        recordKey: String? = nil,
        at date: Date
    ) {
        requestOutcome = (isNew ? .created : .repeated, post.id)
        guard person == SandboxPopulation.bot else { return }
        guard isNew else {
            ledger.duplicates.append(.init(kind: .favorite, postID: String(post.id), date: date))
            return
        }
        ledger.favorites.append(
            .init(
                postID: String(post.id),
                identity: identity(of: post, on: network, recordKey: recordKey),
                author: people[post.author].handle, date: date, isLoved: post.isLoved,
                objection: objection(toFavoriting: post), confirmsStop: post.mention?.kind == .stop)
        )
        ledger.notifications.append(
            .init(
                recipient: people[post.author].handle, kind: .favorite, postID: String(post.id),
                date: date,
                objection: nil))
    }
}

extension Visibility {
    /// The rank of a post's audience by size.
    var reach: Int {
        switch self {
        case .direct: 0
        case .local: 1
        case .private: 2
        case .unlisted: 3
        case .public: 4
        }
    }
}

/// Mentions of the bot that are not in the script.
extension SandboxState {
    /// Makes a person mention the bot.
    ///
    /// - Returns: The ledger's entry; nil if the sandbox has no person of this name, or the name is
    ///   the bot's.
    mutating func say(_ utterance: SandboxUtterance, at date: Date) -> SandboxLedger.Mention? {
        guard let author = population.index(of: utterance.speaker), author != SandboxPopulation.bot
        else { return nil }
        // The number is negative, so that no scripted post has the same one.
        unscriptedMentions += 1
        let text = "@\(SandboxPopulation.botName) \(utterance.words)"
        var post = SandboxPost(
            id: nextID(at: date, wanted: nil), author: author, createdAt: date, text: text,
            html: StatusHTML(text, population: population), visibility: .public, warning: "",
            isSensitive: false,
            language: people[author].language.rawValue)
        post.burden = utterance.burden
        post.notice = utterance.notice
        post.number = -unscriptedMentions
        post.replyTo = answeredPost(of: utterance, by: author)
        var mention = SandboxMention(
            kind: kind(of: utterance, by: author), thread: -unscriptedMentions)
        let notifiesOthers =
            authors(above: post).contains { $0 != author }
            && world.configuration.botNetwork == .bluesky
        mention.deservesReply =
            mention.kind == .friend && utterance.burden == nil && !notifiesOthers
        post.mention = mention
        insert(&post)
        recordMention(mention, of: post)
        countIfEligible(post)
        return ledger.mentions.last
    }

    private func answeredPost(of utterance: SandboxUtterance, by author: Int) -> Int64? {
        switch utterance.answered {
        case .bot: postsByAuthor[SandboxPopulation.bot].last
        case .another:
            homes[SandboxPopulation.bot]?.last { id in
                guard let post = posts[id], post.author > SandboxPopulation.bot,
                    post.author != author
                else {
                    return false
                }
                return post.visibility.isOpen && post.repostOf == nil && post.burden == nil
            }
        case nil: nil
        }
    }

    private func kind(of utterance: SandboxUtterance, by author: Int) -> SandboxMention.Kind {
        switch people[author].role {
        case .automated, .bot, .human: .automated
        case .optedOut: .optedOut
        case .friend, .weary, .stranger:
            if stopped.contains(author) {
                .afterStop
            } else if utterance.asksToStop {
                .stop
            } else {
                people[author].isAnswered ? .friend : .stranger
            }
        }
    }
}
