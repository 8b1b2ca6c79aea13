package import Foundation
package import Posts

/// Which of the human's texts may be sent, and in what form.
package struct TextRules: Equatable, Sendable {
    /// Whether texts with links may be sent.
    package var links: Bool
    /// How old a post must be before the bot repeats it.
    package var minimumAgeDays: Int
    /// What the bot's server allows.
    package var limits: PublishingLimits

    package init(links: Bool = true, minimumAgeDays: Int = 30, limits: PublishingLimits = .mastodon) {
        self.links = links
        self.minimumAgeDays = minimumAgeDays
        self.limits = limits
    }

    /// The fewest letters and digits that make a text worth sending.
    package static let minimumWordCharacters = 3

    /// The text to publish for one of the human's posts.
    ///
    /// Mentions lose their `@`, so that nobody is notified. Nothing is ever
    /// cut off.
    ///
    /// - Parameter post: A post that is not a reply.
    /// - Returns: The text as it may be sent, or why it may not.
    package func text(for post: Post) -> Result<String, Refusal> {
        if post.isReply { return .failure(Refusal(.isReply)) }
        if let refusal = refusalOfOrigin(post) { return .failure(refusal) }
        let text = TextCleaning.normalized(post.text)
        if TextShape.beginsWithMention(text) {
            return .failure(Refusal(.mentionsOthers))
        }
        let cleaned = TextCleaning.withoutMentions(text)
        return checked(cleaned, from: text)
    }

    /// The text to answer `handle` with, made of one of the human's old replies.
    ///
    /// It begins with the one mention that notifies the person answered; no
    /// other mention is left.
    ///
    /// - Parameters:
    ///   - post: One of the human's replies.
    ///   - handle: The account to answer, without the leading `@`.
    /// - Returns: The text as it may be sent, or why it may not.
    package func replyText(for post: Post, to handle: String) -> Result<String, Refusal> {
        guard let handle = Handle(handle) else { return .failure(Refusal(.badHandle)) }
        if !post.isReply { return .failure(Refusal(.notAReply)) }
        if let refusal = refusalOfOrigin(post) { return .failure(refusal) }
        let text = TextCleaning.withoutLeadingMentions(TextCleaning.normalized(post.text))
        let cleaned = TextCleaning.withoutMentions(text)
        return checked(cleaned, from: text, prefix: "@\(handle.text) ")
    }

    /// Whether the post is too young to be repeated.
    ///
    /// Separate from the other rules because it is given up where it would leave nothing to send.
    package func ageRefusal(for post: Post, at now: Date) -> Refusal? {
        let age = now.timeIntervalSince(post.createdAt)
        return age < Double(minimumAgeDays) * 86_400 ? Refusal(.tooYoung) : nil
    }

    private func refusalOfOrigin(_ post: Post) -> Refusal? {
        if !post.visibility.isOpen { return Refusal(.notOpen) }
        if post.isRepost || TextShape.isManualRepost(post.text) { return Refusal(.isRepost) }
        if post.hasMedia { return Refusal(.hasMedia) }
        if post.isSensitive { return Refusal(.sensitive) }
        if TextShape.isTruncated(post.text) { return Refusal(.truncated) }
        return nil
    }

    private func checked(_ cleaned: String, from text: String, prefix: String = "") -> Result<String, Refusal> {
        if !links, TextShape.hasLink(text) || TextShape.hasLink(cleaned) { return .failure(Refusal(.hasLink)) }
        guard TextShape.wordCharacters(in: text) >= Self.minimumWordCharacters else {
            return .failure(Refusal(.noWords))
        }
        if let refusal = TextLength.refusal(of: prefix + cleaned, limits: limits) { return .failure(refusal) }
        return .success(prefix + cleaned)
    }
}
