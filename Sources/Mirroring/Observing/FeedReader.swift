import Blocking
package import Foundation
package import Networks
package import Outbox
import Posts
import ServiceLifecycle

/// Reads one feed: what is new, what lies in a gap, and what has to be tried again.
///
/// Its promise: no item of the feed is passed over in silence. A position moves
/// only when everything before it was handed over and decided, or noted in
/// ``FeedTable``: what cannot be read, what is to be tried again, and what can
/// no longer be reached. A crash repeats items rather than losing them; whether
/// an item is new is told by the record of handled ids, never by the position.
///
/// Where there is no position, or none that the server takes, the feed is read
/// from the newest item back to the last known one, or to the start of
/// listening, page by page and over as many looks as that takes.
///
/// `FeedState` decides what to read next and what to store; the reader asks the network, hands over
/// and stores.
///
/// One look at a time; who comes meanwhile waits for it.
package actor FeedReader {
    /// Given the posts of a page, and how often they were postponed before; returns those that it
    /// could not decide yet.
    package typealias Handler =
        @Sendable (_ items: [ObservedPost], _ tries: Int) async throws -> [Postponed]
    /// Given posts that were read before, which a server sent again.
    package typealias Repeated = @Sendable (_ items: [ObservedPost]) async throws -> Void
    /// Asked before each further page; what it refuses is left to the next look.
    package typealias Permission = @Sendable () async throws -> Bool

    /// How many pages one look asks for unless told otherwise.
    package static let usualPages = 50

    nonisolated let gate: AccountGate
    nonisolated let feed: Feed
    /// The name under which the feed is stored and shown.
    nonisolated let name: String
    nonisolated let table: FeedTable
    nonisolated let clock: any WallClock
    nonisolated let terms: FeedTerms
    private let onPositionStored: @Sendable () -> Void
    private let turnstile = Turnstile()
    private var state: FeedState
    /// Whether `state` has what is stored; false before it was read, and after somebody else
    /// changed it.
    private var isKnown = false
    /// Items to be tried again, by the name under which they are kept; none before they were read.
    private var pending: [String: [FeedItem]] = [:]

    /// - Parameters:
    ///   - gate: The account whose feed it is.
    ///   - name: Under which it is stored.
    ///   - onPositionStored: Told that the position has moved.
    package init(
        gate: AccountGate, feed: Feed, name: String, table: FeedTable, clock: any WallClock,
        terms: FeedTerms = FeedTerms(), onPositionStored: @escaping @Sendable () -> Void = {}
    ) {
        self.gate = gate
        self.feed = feed
        self.name = name
        self.table = table
        self.clock = clock
        self.terms = terms
        self.onPositionStored = onPositionStored
        state = FeedState(terms, depth: gate.capabilities.depths[feed])
    }

    /// When this reader last came to the end of the feed.
    package var lastRead: Date? { state.lastRead }

    /// How often a worker looks.
    package nonisolated var interval: Duration { terms.interval }

    /// When a feed is looked at again that nothing can be done with now; its position stays.
    package nonisolated var later: Date { clock.now + interval.timeInterval }

    // MARK: Reading what is new

    /// One look of a worker: hands over what is new, unless the account has to wait.
    ///
    /// - Parameters:
    ///   - handle: Given the posts of one page.
    ///   - repeated: Given the posts of the page that were read before.
    /// - Returns: When to look again.
    /// - Throws: `NetworkError`, `UnusableAccount`, the store's error, or what a parameter throws.
    package func look(_ handle: Handler, repeated: Repeated = { _ in }) async throws -> Date {
        try gate.check()
        if let resume = gate.pause(of: feed, at: clock.now) {
            await noteTrouble(
                "it waits until \(resume.rfc3339), for the network takes no more requests before",
                .rateLimited,
                unlessTroubled: true)
            return resume
        }
        do {
            try await readNew(handle, repeated: repeated) { [self] in mayGoOn }
        } catch let error as NetworkError {
            try gate.check()
            // A pause says when to go on.
            if let resume = gate.pause(of: feed, at: clock.now) { return resume }
            guard error.stopsActor else { throw error }
            return error.retryAfter ?? later
        }
        return max(later, gate.pause(of: feed, at: clock.now) ?? later)
    }

    /// Moves the position to the newest item if there is none yet, so that what comes later is not
    /// missed.
    ///
    /// - Throws: `NetworkError`, `UnusableAccount` or the store's error.
    package func begin() async throws {
        guard try await isUnread() else { return }
        _ = try await look { _, _ in [] }
    }

    /// Whether another page may be asked for; what is left of the feed is left to the next look, or
    /// the next worker.
    private nonisolated var mayGoOn: Bool {
        gate.pause(of: feed, at: clock.now) == nil && !Task.isShuttingDownGracefully
    }

    /// Hands over what came since the last time, what lies in a gap, and what is to be tried again.
    ///
    /// - Parameters:
    ///   - handle: Given the posts of one page; the position moves past them when it returns.
    ///   - repeated: Given the posts of a page that were read before.
    ///   - mayGoOn: Asked before each further page.
    /// - Returns: False if `mayGoOn` said no.
    /// - Throws: `NetworkError`, which the feed's health then names; the store's error; what a
    ///   parameter throws.
    @discardableResult
    package func readNew(
        _ handle: Handler, repeated: Repeated = { _ in }, mayGoOn: Permission = { true }
    ) async throws -> Bool {
        try await observing {
            do {
                try await tryAgain(in: name, while: { !Task.isShuttingDownGracefully }) {
                    try await tried($0, handle)
                }
                let endings = [
                    try await read(.arrivals, handle, mayGoOn, repeated: repeated),
                    try await read(.gap, handle, mayGoOn),
                ]
                if !endings.contains(.refused) {
                    try await noteSuccess(isWhole: endings.allSatisfy { $0 == .whole })
                }
                return !endings.contains(.stopped)
            } catch let error as NetworkError {
                await noteTrouble("\(error)", error.code)
                throw error
            }
        }
    }

    /// Reads the feed when its turn has come, in a span.
    private func observing<Value>(_ work: () async throws -> Value) async throws -> Value {
        try await turnstile.pass {
            try await WorkStage.observe.traced(
                mirror: table.mirror, kind: name, host: gate.host, work)
        }
    }

    // MARK: Walks

    /// Walks through a part of the feed, page by page.
    private func read(
        _ part: FeedState.Part, _ handle: Handler, _ mayGoOn: Permission, pages: Int? = nil,
        repeated: Repeated = { _ in }
    ) async throws -> FeedState.Ending {
        try await load()
        guard var walk = state.begin(part, at: moment) else { return .whole }
        var pager = FeedWalk(
            of: gate, feed, from: walk.start, maximumPages: pages ?? terms.pages,
            isCareful: walk.isCareful)
        while true {
            let answer: Result<FeedPage?, NetworkError>
            do {
                answer = .success(try await pager.next().map(walk.wanted(of:)))
            } catch let error as NetworkError {
                answer = .failure(error)
            }
            var items: [FeedItem] = []
            if case .success(let page?) = answer {
                if !page.repeated.isEmpty { try await repeated(page.repeated) }
                items = try await handOver(page, handle)
            }
            let before = state.progress
            let step =
                switch answer {
                case .success(let page?): state.took(page, in: &walk, at: moment)
                case .success(nil):
                    state.ended(
                        walk, isOutOfPages: pager.isOutOfPages,
                        isCircle: !pager.isOutOfPages && !pager.isComplete,
                        at: moment)
                case .failure(let error): state.failed(error, in: walk, at: moment)
                }
            let isStored = try await store(since: before, items, step.unreached)
            switch step.next {
            case .failure(let error): throw error
            // What somebody else stored meanwhile counts, and what was read now comes again with
            // the next look. Only a walk into the past goes on: nobody knows better what is left of
            // it.
            case _ where !isStored && walk.left == nil: return .partial
            case .anotherPage: guard try await mayGoOn() else { return .stopped }
            case .walk(let part):
                return try await read(part, handle, mayGoOn, pages: pages, repeated: repeated)
            case .over(let ending): return ending
            }
        }
    }

    /// Hands over a page; returns what is to be noted of its items.
    private func handOver(_ page: FeedPage, _ handle: Handler) async throws -> [FeedItem] {
        let storable = page.items.filter(\.isStorable)
        let postponed = storable.isEmpty ? [] : try await handle(storable, 0)
        let broken = page.items.filter { !$0.isStorable }
            .map { UnreadableItem(digest: $0.digest, cause: FeedItem.unstorable) }
        let now = clock.now
        return postponed.map { FeedItem($0, version: terms.version, now: now) }
            + (page.unreadable + broken).map { FeedItem($0, version: terms.version, now: now) }
    }

    /// The present, by two clocks.
    private nonisolated var moment: FeedState.Moment {
        let now = clock.now
        return FeedState.Moment(now: now, present: gate.present(at: now))
    }

    // MARK: Reading the past

    /// Hands over everything from now back to an instant, whatever was read before; for making sure
    /// that nothing is missed.
    ///
    /// The next call reads the rest, if there is much or the worker ends.
    ///
    /// - Parameters:
    ///   - floor: Where to end; a sweep that was begun ends where it was to.
    ///   - handle: Given the posts of one page.
    /// - Returns: Whether it came to its end.
    /// - Throws: As ``readNew(_:repeated:mayGoOn:)``.
    package func sweep(downTo floor: Date, _ handle: Handler) async throws -> Bool {
        try await observing {
            try await read(.sweep(floor: floor), handle) { [self] in mayGoOn } == .whole
        }
    }

    /// Whether a sweep was begun that has not come to its end.
    package func isSweeping() async throws -> Bool { try await progress().sweep != nil }

    /// When everything was last swept.
    package func lastSweep() async throws -> Date? { try await progress().swept }

    /// Counts the present as a sweep: nothing older was to be heard.
    package func noteSweep() async throws { try await change { $0.swept = clock.now } }

    /// Looks at the replies below the bot's own posts after a sweep, post by post and over as many
    /// calls as that takes.
    ///
    /// A post below which nothing is given out now holds up no other one: it is tried again, for a
    /// day.
    ///
    /// - Parameters:
    ///   - list: Given a place and a time; returns the posts that were published in between, a few
    ///     of them, in order.
    ///   - look: Looks below the post with an address; false where what is there cannot be decided
    ///     now.
    /// - Throws: The store's error, or what `list` and `look` throw that is no `NetworkError`.
    package func lookBelowOwnPosts(
        _ list: (OutboxStore.PublishedPlace, Date) async throws -> [(
            place: OutboxStore.PublishedPlace, address: String
        )],
        _ look: (String) async throws -> Bool
    ) async throws {
        let notes = FeedName.below(name)
        try await tryAgain(in: notes, while: { mayGoOn }) { item in
            let reason = try await reasonToReturn(to: item.name, look)
            return reason.map { .postponed(Postponed(address: item.name, reason: $0)) } ?? .decided
        }
        guard let below = try await progress().below else { return }
        let posts = try await list(below.place, below.end)
        for post in posts {
            guard mayGoOn else { return }
            if let reason = try await reasonToReturn(to: post.address, look) {
                let postponed = Postponed(address: post.address, reason: reason)
                try await table.note(
                    FeedItem(postponed, version: terms.version, now: clock.now), of: notes)
                pending[notes] = nil
            }
            try await change { $0.below = PublishedStretch(place: post.place, end: below.end) }
        }
        if posts.isEmpty { try await change { $0.below = nil } }
    }

    /// Looks below a post; why it is to be looked at again, if it is.
    private func reasonToReturn(to address: String, _ look: (String) async throws -> Bool)
        async throws
        -> String?
    {
        do {
            return try await look(address) ? nil : "what is below it cannot be decided yet"
        } catch let error as NetworkError {
            return "\(error)"
        }
    }

    /// Whether nothing of the feed was ever read.
    func isUnread() async throws -> Bool { try await progress().position == nil }

    /// Where the walk into the past stopped; nil if it did not.
    func past() async throws -> Stretch? { try await progress().past }

    /// Notes that so many items of the past are wanted, unless that is noted: what is not read now
    /// is wanted later.
    func wantPast(_ limit: Int) async throws {
        try await change { progress in
            if progress.position == nil, progress.past == nil {
                progress.past = Stretch(cursor: "", remaining: limit)
            } else if progress.past?.remaining == nil {
                progress.past?.remaining = limit
            }
        }
    }

    /// Gives up the rest of the walk into the past.
    func forgetPast() async throws { try await change { $0.past = nil } }

    /// Forgets the position and what is left of the past.
    func reset() async throws {
        try await table.reset([name])
        isKnown = false
    }

    /// Walks from the newest item backwards, or on from where an earlier walk stopped, until
    /// `limit` items were handed over or the feed ends.
    ///
    /// Each page is remembered once it was handled, and from the first one on
    /// ``readNew(_:repeated:mayGoOn:)`` finds what arrives later. So a walk that is interrupted, or
    /// has to stop, goes on the next time.
    ///
    /// - Parameters:
    ///   - limit: The most items to hand over; of a walk that is gone on with, counted from its
    ///     beginning.
    ///   - handle: Given the posts of one page.
    ///   - mayGoOn: Asked before each page.
    /// - Returns: How many items at most are left because `mayGoOn` said no; 0 once the walk is
    ///   over.
    /// - Throws: ``NetworkError``, the store's error, or what a parameter throws.
    func readBack(limit: Int, _ handle: Handler, mayGoOn: Permission = { true }) async throws -> Int
    {
        try await observing {
            try await load()
            guard let left = state.left(of: limit), left > 0 else { return 0 }
            guard try await mayGoOn() else { return left }
            let ending = try await read(.past(limit: limit), handle, mayGoOn, pages: max(limit, 1))
            return ending == .stopped ? state.left(of: limit) ?? 0 : 0
        }
    }

    // MARK: Progress

    /// Reads what is stored, unless it is known.
    private func load() async throws {
        if isKnown { return }
        state.progress = try await table.progress(of: name)
        isKnown = true
    }

    private func progress() async throws -> FeedProgress {
        try await load()
        return state.progress
    }

    /// Changes what is stored, outside a walk.
    private func change(_ body: (inout FeedProgress) -> Void) async throws {
        try await turnstile.pass {
            let old = try await progress()
            body(&state.progress)
            _ = try await store(since: old)
        }
    }

    /// Stores what a step has changed, together with what was noted.
    ///
    /// - Parameter old: What was stored before.
    /// - Returns: False if somebody else moved the feed, such as a training or its reset; then
    ///   nothing was stored, and the state has what they stored.
    private func store(
        since old: FeedProgress, _ items: [FeedItem] = [], _ unreached: FeedState.Unreached? = nil
    ) async throws -> Bool {
        let new = state.progress
        guard new != old || !items.isEmpty || unreached != nil else { return true }
        let isMoved = try await stored {
            try await table.advance(name, from: old, to: new, items: items, unreached: unreached)
        }
        guard isMoved else {
            isKnown = false
            try await load()
            return false
        }
        if !items.isEmpty { pending[name] = nil }
        if new.position != old.position { onPositionStored() }
        return true
    }

    /// Runs `body`; where it fails, nobody here knows what is stored.
    private func stored<Value>(_ body: () async throws -> Value) async throws -> Value {
        do {
            return try await body()
        } catch {
            isKnown = false
            throw error
        }
    }

    private func noteSuccess(isWhole: Bool) async throws {
        try await load()
        switch state.succeeded(isWhole: isWhole, at: moment) {
        case .nothing: return
        case .time: try await stored { try await table.storeTime(state.progress, of: name) }
        case .change: try await stored { try await table.store(state.progress, of: name) }
        }
    }

    /// Notes what goes wrong; a note that cannot be written is not worth another error.
    ///
    /// - Parameters:
    ///   - trouble: What a person is to read.
    ///   - isMinor: Whether it is told only where nothing else goes wrong.
    private func noteTrouble(
        _ trouble: String, _ code: NetworkError.Code, unlessTroubled isMinor: Bool = false
    ) async {
        guard (try? await load()) != nil, !isMinor || state.progress.error == nil,
            state.troubled(trouble, code, at: moment)
        else { return }
        try? await stored { try await table.store(state.progress, of: name) }
    }

    // MARK: Items that are tried again

    /// Tries the items again whose time has come, each for itself.
    ///
    /// - Parameters:
    ///   - feed: Under which they are kept.
    ///   - mayGoOn: Asked before each.
    ///   - attempt: Returns what came of the try.
    /// - Throws: The store's error, or what `attempt` throws.
    private func tryAgain(
        in feed: String, while mayGoOn: () -> Bool,
        _ attempt: (FeedItem) async throws -> FeedItem.Trial
    ) async throws {
        let items =
            if let known = pending[feed] { known } else {
                try await table.pending(in: feed, version: terms.version)
            }
        pending[feed] = items
        let now = clock.now
        for item in items where item.next ?? now <= now {
            guard mayGoOn() else { return }
            let trial = try await attempt(item)
            if let kept = item.after(trial, version: terms.version, now: clock.now) {
                try await table.note(kept, of: feed)
            } else {
                try await table.forget(item.name, of: feed)
            }
            pending[feed] = nil
        }
    }

    /// Tries one item again.
    private func tried(_ item: FeedItem, _ handle: Handler) async throws -> FeedItem.Trial {
        guard let address = item.address else { return .impossible }
        do {
            guard let post = try await gate.lookUp(address) else { return .gone }
            guard post.isStorable else { return .unstorable }
            return try await handle([post], item.attempts).first.map { .postponed($0) } ?? .decided
        } catch let error as NetworkError {
            return .failed(error)
        }
    }
}

/// The names under which feeds are stored and shown.
package enum FeedName {
    /// The human's posts, for the archive.
    package static let humanPosts = "human-posts"
    /// The human's favorites, to learn from.
    package static let humanFavorites = "human-favorites"
    /// The human's home timeline: what was seen and not favorited.
    package static let seen = "seen-home"
    /// The bot's home timeline, whose posts may be favorited.
    package static let botHome = "bot-home"
    /// Posts that name the bot, each of which is decided.
    package static let botMentions = "bot-mentions"

    /// Under which it is kept below which of the bot's own posts was not looked for replies.
    static func below(_ feed: String) -> String { feed + belowSuffix }

    /// The feed that something is kept for, under its own name or that of ``below(_:)``.
    static func feed(of name: String) -> String {
        name.hasSuffix(belowSuffix) ? String(name.dropLast(belowSuffix.count)) : name
    }

    private static let belowSuffix = "/below"
}
