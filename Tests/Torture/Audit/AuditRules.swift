import Foundation
import NetworkNames
import Networks
import Outbox
import Posts
import Sandbox

/// What a network and the settings of a mirror let the audit expect.
struct AuditRules: Sendable {
    var network: NetworkName
    /// Whether the network knows a repeated request by its key, so that it is safe to make it
    /// again.
    var recognisesRepeats: Bool
    /// The most requests for one action that may act; after so many it may be given up.
    var sends: Int
    /// How long after a request its lost answer is looked up, in seconds: its deadline and a
    /// margin.
    var lookUpWait: TimeInterval
    /// How long after the first request it may be made again, in seconds.
    var resendWindow: TimeInterval
    /// How long after the first request an unconfirmed action is looked for again, in seconds.
    var sightings: [TimeInterval] = [600, 3_600, 6 * 3_600, 24 * 3_600]
    /// How long after a look that told nothing the next one is made, in seconds, and until when
    /// after the first request.
    var sightingAgain: TimeInterval = 3_600
    var sightingEnd: TimeInterval = 48 * 3_600
    /// How far apart late posts leave, in seconds, and how many of them after one outage.
    var lateSpacing: TimeInterval = 60
    var lateAtMost = 3
    /// The most answers to one person on one local day.
    var repliesPerPerson = 3
    /// The most answers in one conversation.
    var repliesPerThread = 5
    /// How old a mention may be when it is answered, in seconds.
    var mentionAge: TimeInterval = 24 * 3_600
    /// After so many later ones a mention may not be shown any more; nil where all are.
    var mentionsShown: Int?
    /// After how many days a text may come again at all: to the same person, or as a post when
    /// nothing else is left.
    var repeatAfterDays = 7

    /// What the README promises for a network whose server keeps to its documents, or for another
    /// one of its kind.
    init(_ network: NetworkName, _ software: MastodonHabits.Software = .mastodon) {
        self.network = network
        switch network {
        case .mastodon:
            recognisesRepeats = software == .mastodon
            sends = 5
            lookUpWait = 60 + 60
            resendWindow = 50 * 60
            // Among them are notifications of other kinds.
            mentionsShown = MastodonHabits.habits(of: software).listsAtMost[.notifications].map {
                $0 * 9 / 10
            }
        case .x:
            recognisesRepeats = false
            sends = 1
            lookUpWait = 30 + 60
            resendWindow = 0
            // Of 800 some are taken back.
            mentionsShown = 700
        default:
            recognisesRepeats = true
            sends = 5
            lookUpWait = 180 + 60
            resendWindow = 24 * 3_600
        }
    }

    /// What every request for an action must be named; nil where the network takes no name.
    func key(of action: Action) -> String? {
        switch network {
        case .mastodon: action.kind == .favorite ? nil : action.key
        case .x: nil
        default: TimestampID(createdAt: action.sending ?? action.due, key: action.key).description
        }
    }
}
