import Posts

/// Who sees what, and what the bot may do.
extension SandboxState {
    func isFavorited(_ id: Int64, by person: Int) -> Bool {
        favorited[person]?.contains(id) ?? false
    }

    /// Whether `viewer` may read the post; nil is somebody without a token.
    func canSee(_ post: SandboxPost, as viewer: Int?) -> Bool {
        if post.visibility.isOpen { return true }
        guard let viewer else { return false }
        if viewer == post.author || post.html.mentions.contains(viewer) { return true }
        return post.visibility == .private && population.follows(viewer, post.author)
    }

    /// Own posts, and those of followed people unless they talk to somebody the reader does not follow.
    func reachesHome(of reader: Int, _ post: SandboxPost) -> Bool {
        if post.author == reader { return true }
        guard population.follows(reader, post.author), post.visibility != .direct else { return false }
        guard post.replyTo != nil, let other = post.replyToAuthor else { return true }
        return other == reader || other == post.author || population.follows(reader, other)
    }

    /// The posts that one answers, the oldest first.
    func ancestors(of post: SandboxPost) -> [SandboxPost] {
        var chain: [SandboxPost] = []
        // Ids of answered posts are smaller, so this ends.
        while let parent = (chain.last ?? post).replyTo.flatMap({ posts[$0] }) { chain.append(parent) }
        return chain.reversed()
    }

    /// The answers to a post and the answers to these, each after what it answers.
    func descendants(of post: SandboxPost) -> [SandboxPost] {
        var found: [SandboxPost] = []
        var open = Array((answers[post.id] ?? []).reversed())
        while let id = open.popLast() {
            if let answer = posts[id] { found.append(answer) }
            open += (answers[id] ?? []).reversed()
        }
        return found
    }

    /// Why the bot must not favorite the post; nil when it may.
    func objection(toFavoriting post: SandboxPost) -> String? {
        let author = people[post.author]
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
