package import Foundation
import Localization
package import Posts

/// The facts needed to decide whether a mention may be answered.
package struct MentionFacts: Sendable {
    package var post: Post
    /// The time at which an edit added the mention of the bot; nil if the post had it from the
    /// beginning.
    package var mentionAddedAt: Date?
    package var author: Account
    /// The bot's own account.
    package var bot: AccountID
    /// Whether the network reported the post as one that mentions the bot.
    package var mentionsBot: Bool
    /// Whether an operator or the author has said that the author must be left alone.
    package var isDenied: Bool
    /// The number of the bot's replies to this author on the current local day.
    package var repliesToPersonToday: Int
    /// The number of the bot's replies in this conversation.
    package var repliesInThread: Int

    package init(
        post: Post, mentionAddedAt: Date? = nil, author: Account, bot: AccountID,
        mentionsBot: Bool = true,
        isDenied: Bool = false,
        repliesToPersonToday: Int = 0, repliesInThread: Int = 0
    ) {
        self.post = post
        self.mentionAddedAt = mentionAddedAt
        self.author = author
        self.bot = bot
        self.mentionsBot = mentionsBot
        self.isDenied = isDenied
        self.repliesToPersonToday = repliesToPersonToday
        self.repliesInThread = repliesInThread
    }
}

/// The rules that decide whom the bot answers, and how often.
package struct ReplyRules: Equatable, Sendable {
    /// The maximum number of replies to one person on one local day.
    package var perPersonPerDay: Int
    /// The maximum number of replies in one conversation.
    package var perThread: Int
    /// The maximum age of a mention that is answered.
    package var maximumAge: Duration
    /// The maximum time by which a mention's time may be in the future: until its time, the mention
    /// waits; one that is further ahead is not answered.
    package var maximumLead: Duration = .seconds(25 * 3_600)

    package init(
        perPersonPerDay: Int = 3, perThread: Int = 5, maximumAge: Duration = .seconds(24 * 3_600)
    ) {
        self.perPersonPerDay = perPersonPerDay
        self.perThread = perThread
        self.maximumAge = maximumAge
    }

    /// Why a mention is not answered; nil if it may be.
    ///
    /// A request to stop has precedence over almost all other reasons, so that the caller gets
    /// `asked-to-stop` and can remember it.
    package func refusal(of mention: MentionFacts, at now: Date) -> Refusal? {
        let mentionedAt = mention.mentionAddedAt ?? mention.post.createdAt
        return refusalOfAuthor(mention)
            ?? refusalOfTime(
                mentionedAt, maximumAge: maximumAge, maximumLead: maximumLead, now: now)
            ?? refusalOfCaps(mention)
    }

    private func refusalOfAuthor(_ mention: MentionFacts) -> Refusal? {
        if mention.author.id == mention.bot || mention.post.author == mention.bot {
            return Refusal(.ownPost)
        }
        if mention.post.isRepost { return Refusal(.isRepost) }
        if OptOut.asksToStop(text: mention.post.text) { return Refusal(.askedToStop) }
        if !mention.mentionsBot { return Refusal(.notMentioned) }
        if mention.isDenied { return Refusal(.denied) }
        if OptOut.isOptedOut(mention.author) { return Refusal(.optedOut) }
        if mention.author.isBot { return Refusal(.botAuthor) }
        return nil
    }

    private func refusalOfCaps(_ mention: MentionFacts) -> Refusal? {
        if mention.repliesToPersonToday >= perPersonPerDay {
            return Refusal(
                .personCap,
                localized("this person got \(mention.repliesToPersonToday) replies today already"))
        }
        if mention.repliesInThread >= perThread {
            return Refusal(
                .threadCap,
                localized("this conversation got \(mention.repliesInThread) replies already"))
        }
        return nil
    }
}

/// Why a post is too old, or too far in the future, to react to.
///
/// Servers' clocks differ by minutes, so a time slightly ahead is accepted.
func refusalOfTime(
    _ created: Date, maximumAge: Duration, maximumLead: Duration = .seconds(15 * 60), now: Date
) -> Refusal? {
    let age = now.timeIntervalSince(created)
    if age > Double(maximumAge.components.seconds) { return Refusal(.tooOld) }
    return age < -Double(maximumLead.components.seconds) ? Refusal(.badTime) : nil
}
