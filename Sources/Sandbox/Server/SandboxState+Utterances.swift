import Foundation
import Posts

/// What people say to the bot besides what the script has them say.
extension SandboxState {
    /// Lets somebody mention the bot.
    ///
    /// - Returns: The ledger's entry; nil when nobody in the sandbox but the two mirrored accounts is called so.
    mutating func say(_ utterance: SandboxUtterance, at date: Date) -> SandboxLedger.Mention? {
        guard let author = population.index(of: utterance.speaker), author > SandboxPopulation.bot else { return nil }
        // Below zero, so that it never is the number of a scripted post.
        spoken += 1
        let text = "@\(SandboxPopulation.botName) \(utterance.words)"
        var post = SandboxPost(
            id: nextID(at: date, wanted: nil), author: author, createdAt: date, text: text,
            html: StatusHTML(text, population: population), visibility: .public, warning: "", isSensitive: false,
            language: people[author].language.rawValue)
        (post.burden, post.notice, post.number) = (utterance.burden, utterance.notice, -spoken)
        post.replyTo = answeredPost(of: utterance, by: author)
        var mention = SandboxMention(kind: kind(of: utterance, by: author), thread: -spoken)
        mention.deservesReply = mention.kind == .friend && utterance.burden == nil
        post.mention = mention
        insert(&post)
        note(mention, of: post)
        noteOnHome(post)
        return ledger.mentions.last
    }

    private func answeredPost(of utterance: SandboxUtterance, by author: Int) -> Int64? {
        switch utterance.answered {
        case .bot: postsByAuthor[SandboxPopulation.bot].last
        case .another:
            homes[SandboxPopulation.bot]?.last { id in
                guard let post = posts[id], post.author > SandboxPopulation.bot, post.author != author else {
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
