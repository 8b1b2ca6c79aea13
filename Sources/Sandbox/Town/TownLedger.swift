package import Foundation

/// A record of the requests that a ``Town`` received from the bots, with its incidents.
///
/// It grows with the actions of bots and with the mentions of them, not with the number of
/// requests.
package struct TownLedger: Sendable {
    /// A post of a bot.
    package struct Delivery: Sendable {
        package var household: Int
        package var id: Int64
        /// The worldwide id of the post.
        package var uri: String
        package var date: Date
        /// The id of the answered post.
        package var replyTo: Int64?
    }

    /// A mention of a bot.
    package struct Mention: Sendable {
        package var household: Int
        package var id: Int64
        package var date: Date
        /// Whether it is by a friend, and after the bot began to read its mentions.
        package var deservesReply: Bool
        /// The time when the bot answered; nil if it did not.
        package var answered: Date?
    }

    /// An action that should not have happened.
    package struct Incident: Equatable, Sendable {
        package enum Kind: String, CaseIterable, Sendable {
            /// The same text again as a post or in answer to the same post, a second answer to a
            /// mention, or a repeated favorite.
            case duplicate
            /// A person was notified who had not mentioned the bot or whom the human never
            /// answered, a bot wrote more to a person than it may, or it favorited a post that it
            /// should not.
            case stranger
            /// A request that a server refuses.
            case refusal
        }

        package var kind: Kind
        package var household: Int
        package var date: Date
        package var words: String
    }

    package internal(set) var deliveries: [Delivery] = []
    package internal(set) var mentions: [Mention] = []
    package internal(set) var favorites = 0
    package internal(set) var incidents: [Incident] = []

    package init() {}

    /// The number of incidents of a kind.
    package func count(_ kind: Incident.Kind) -> Int { incidents.count { $0.kind == kind } }

    /// Mentions from before an instant that deserve an answer and have none.
    package func unanswered(before date: Date) -> [Mention] {
        mentions.filter { $0.deservesReply && $0.answered == nil && $0.date < date }
    }

    mutating func merge(_ other: TownLedger) {
        deliveries += other.deliveries
        mentions += other.mentions
        favorites += other.favorites
        incidents += other.incidents
    }
}

/// The counts of a ``Town`` since ``Town/resetFigures()``.
package struct TownFigures: Sendable {
    package internal(set) var requests = 0
    /// The number of bots whose mentions were read.
    package internal(set) var polled = 0
    /// The longest time between two reads of one bot's mentions within the span, by the town's
    /// clock.
    package internal(set) var longestPollGap: TimeInterval = 0
    /// The number of open connections.
    package internal(set) var connections = 0
    /// The number of requests by kind.
    package internal(set) var kinds: [String: Int] = [:]
}

/// A recorded request, with everything needed to repeat it.
package struct TownRequest: Sendable, Equatable {
    /// The number of the server.
    package var host: Int
    /// The path and the query.
    package var target: String
    package var token: String
}
