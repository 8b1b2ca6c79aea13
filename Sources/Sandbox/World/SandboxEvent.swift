import Foundation
import Posts

/// Something that happens in the sandbox without the bot's doing.
struct SandboxEvent: Sendable {
    enum Action: Sendable {
        case post(ScriptedPost)
        /// The human favorites the post with this number.
        case favorite(Int)
        /// The person with this index follows the bot.
        case follow(Int)
    }

    var date: Date
    var action: Action
}

/// A post of the script.
struct ScriptedPost: Sendable {
    /// What a post answers.
    enum Target: Sendable {
        /// The scripted post with this number.
        case post(Int)
        /// The bot's answer to the mention with this number, or that mention while it has none.
        case answer(to: Int)
    }

    /// What a post carries besides text.
    enum Attachment: Sendable {
        case image
        case poll
    }

    /// Names the post within the script.
    var number: Int
    /// The index of the person who writes it.
    var author: Int
    var text: String
    var language: SampleLanguage
    var visibility = Visibility.public
    /// The content warning; empty for none.
    var warning = ""
    var attachment: Attachment?
    var target: Target?
    /// The number of the post that this one repeats.
    var repostOf: Int?
    /// Whether the human favorites posts like this; decided once for each post.
    var isLoved = false
    var mention: SandboxMention?
    /// The id that the post must get, where an archive already names it.
    var id: Int64?
}

/// How a post calls on the bot.
package struct SandboxMention: Equatable, Sendable {
    /// Why a mention deserves an answer or not.
    package enum Kind: String, CaseIterable, Sendable {
        /// By somebody the human has answered.
        case friend
        /// By somebody the human has never answered.
        case stranger
        case automated
        case optedOut
        /// The request to be left alone.
        case stop
        /// By somebody who has asked the bot to stop.
        case afterStop
        /// From before the run began.
        case past
    }

    package var kind: Kind
    /// The conversation that the mention belongs to.
    package var thread: Int
    /// Whether the bot owes an answer: a friend's mention within the caps.
    package var deservesReply = false
}
