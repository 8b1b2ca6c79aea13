import Blocking
package import Foundation
package import Networks
package import Outbox
import Posts
import ServiceLifecycle

/// Reads one feed: new items, gaps, and items that have to be tried again.
///
/// It guarantees that no item of the feed is skipped without a record. A position moves only when
/// everything before it was handed over and decided, or noted in ``FeedTable``: unreadable items,
/// items to try again, and stretches that can no longer be reached. A crash repeats items rather
/// than losing them; whether an item is new is decided by the record of handled ids, never by the
/// position.
///
/// Without a position that the server accepts, the feed is read from the newest item back to the
/// last known one, or to the start of listening, page by page, over several looks if necessary.
///
/// `FeedState` decides what to read next and what to store; the reader makes the requests, hands
/// the pages over and stores.
///
/// Looks run one at a time; others wait.
package actor FeedReader {
    /// Handles the posts of a page, with the number of their earlier postponements; returns the
    /// posts that it could not decide yet.
    package typealias Handler =
        @Sendable (_ items: [ObservedPost], _ tries: Int) async throws -> [Postponed]
    /// Handles posts that were read before and that a server sent again.
    package typealias Repeated = @Sendable (_ items: [ObservedPost]) async throws -> Void
    /// Called before each further page; if it returns false, the rest is left to the next look.
    package typealias Permission = @Sendable () async throws -> Bool

    /// The most pages of one look by default.
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
    /// Whether `state` equals the stored state; false before it was read, and after another process
    /// changed it.
    private var isStateCurrent = false
    /// Items to try again, by the name under which they are stored; empty before they were read.
    private var pending: [String: [FeedItem]] = [:]

    /// - Parameters:
    ///   - gate: The account that the feed belongs to.
    ///   - name: The name under which the feed is stored.
    ///   - onPositionStored: Called when the position has moved.
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

    /// When this reader last reached the end of the feed.
    package var lastRead: Date? { state.lastRead }

    /// The interval of a worker's looks.
    package nonisolated var interval: Duration { terms.interval }

    /// The time of the next look at a feed that cannot be processed now; its position stays.
    package nonisolated var later: Date { clock.now + interval.timeInterval }

    // MARK: Reading what is new

    /// One look of a worker: hands over new items, unless the account has to wait.
    ///
    /// - Parameters:
    ///   - handle: Handles the posts of one page.
    ///   - repeated: Handles the posts of the page that were read before.
    /// - Returns: When to look again.
    /// - Throws: `NetworkError`, `UnusableAccount`, the store's error, or the error of a parameter.
    package func look(_ handle: Handler, repeated: Repeated = { _ in }) async throws -> Date {
        try gate.check()
        if let resume = gate.pause(of: feed, at: clock.now) {
            await noteTrouble(
                "it waits until \(resume.rfc3339), for the network takes no more requests before",
                code: .rateLimited,
                unlessTroubled: true)
            return resume
        }
        do {
            try await readNew(handle, repeated: repeated) { [self] in mayGoOn }
        } catch let error as NetworkError {
            try gate.check()
            // The account's pause determines the next look.
            if let resume = gate.pause(of: feed, at: clock.now) { return resume }
            guard error.stopsActor else { throw error }
            return error.retryAfter ?? later
        }
        return max(later, gate.pause(of: feed, at: clock.now) ?? later)
    }

    /// Moves the position to the newest item if there is none yet, so that later items are not
    /// missed.
    ///
    /// - Throws: `NetworkError`, `UnusableAccount` or the store's error.
    package func begin() async throws {
        guard try await isUnread() else { return }
        _ = try await look { _, _ in [] }
    }

    /// Whether another page may be requested; if not, the rest is left to the next look, or the
    /// next worker.
    private nonisolated var mayGoOn: Bool {
        gate.pause(of: feed, at: clock.now) == nil && !Task.isShuttingDownGracefully
    }

    /// Hands over the items since the last look, those in a gap, and those to try again.
    ///
    /// - Parameters:
    ///   - handle: Handles the posts of one page; the position moves past them when it returns.
    ///   - repeated: Handles the posts of a page that were read before.
    ///   - mayGoOn: Called before each further page.
    /// - Returns: False if `mayGoOn` returned false.
    /// - Throws: `NetworkError`, which is stored as the feed's error; the store's error; the error
    ///   of a parameter.
    @discardableResult
    package func readNew(
        _ handle: Handler, repeated: Repeated = { _ in }, mayGoOn: Permission = { true }
    ) async throws -> Bool {
        try await observing {
            do {
                try await tryAgain(in: name, while: { !Task.isShuttingDownGracefully }) {
                    try await retry($0, handle)
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
                await noteTrouble("\(error)", code: error.code)
                throw error
            }
        }
    }

    /// Reads the feed in turn, inside a tracing span.
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
            let progressBefore = state.progress
            let step =
                switch answer {
                case .success(let page?): state.took(page, in: &walk, at: moment)
                case .success(nil):
                    // It ended at the last page, at the limit of pages or at a repeated page.
                    state.ended(
                        walk, isOutOfPages: pager.isOutOfPages,
                        repeatsPages: !pager.isOutOfPages && !pager.isComplete,
                        at: moment)
                case .failure(let error): state.failed(error, in: walk, at: moment)
                }
            let isStored = try await store(
                since: progressBefore, items: items, unreached: step.unreached)
            switch step.next {
            case .failure(let error): throw error
            // If another process stored a state meanwhile, that state counts, and the next look
            // returns the items of this page again. Only a walk into the past continues, because
            // only the walk itself knows how many items it still has to read.
            case _ where !isStored && walk.itemsLeft == nil: return .partial
            case .anotherPage: guard try await mayGoOn() else { return .stopped }
            case .walk(let part):
                return try await read(part, handle, mayGoOn, pages: pages, repeated: repeated)
            case .over(let ending): return ending
            }
        }
    }

    /// Hands over a page; returns the notes about its items.
    private func handOver(_ page: FeedPage, _ handle: Handler) async throws -> [FeedItem] {
        let storable = page.items.filter(\.isStorable)
        let earlierTries = 0
        let postponed = storable.isEmpty ? [] : try await handle(storable, earlierTries)
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

    /// Hands over everything from now back to an instant, including items read before, to make sure
    /// that none is missed.
    ///
    /// If there is much or the worker ends, the next call reads the rest.
    ///
    /// - Parameters:
    ///   - floor: The end of the sweep; a sweep in progress keeps its own.
    ///   - handle: Handles the posts of one page.
    /// - Returns: Whether the sweep was completed.
    /// - Throws: As ``readNew(_:repeated:mayGoOn:)``.
    package func sweep(downTo floor: Date, _ handle: Handler) async throws -> Bool {
        try await observing {
            try await read(.sweep(floor: floor), handle) { [self] in mayGoOn } == .whole
        }
    }

    /// Whether a sweep was begun and is not completed.
    package func isSweeping() async throws -> Bool { try await progress().sweep != nil }

    /// When the last sweep was completed.
    package func lastSweep() async throws -> Date? { try await progress().swept }

    /// Counts the present as a completed sweep, because nothing older was wanted.
    package func noteSweep() async throws { try await change { $0.swept = clock.now } }

    /// Looks for replies below the bot's own posts after a sweep, post by post, over several calls
    /// if necessary.
    ///
    /// If a post cannot be looked below now, the others go on, and that post is tried again for a
    /// day.
    ///
    /// - Parameters:
    ///   - list: Returns some of the posts that were published between a place and a time, in
    ///     order.
    ///   - look: Looks below the post with an address; returns false if the items there cannot be
    ///     decided now.
    /// - Throws: The store's error, or an error of `list` and `look` other than `NetworkError`.
    package func lookBelowOwnPosts(
        _ list: (OutboxStore.PublishedPlace, Date) async throws -> [(
            place: OutboxStore.PublishedPlace, address: String
        )],
        _ look: (String) async throws -> Bool
    ) async throws {
        let feedBelow = FeedName.below(name)
        try await tryAgain(in: feedBelow, while: { mayGoOn }) { item in
            guard let reason = try await reasonToReturn(to: item.name, look) else {
                return .decided
            }
            return .postponed(Postponed(address: item.name, reason: reason))
        }
        guard let stretch = try await progress().ownPostsToLookBelow else { return }
        let posts = try await list(stretch.place, stretch.end)
        for post in posts {
            guard mayGoOn else { return }
            if let reason = try await reasonToReturn(to: post.address, look) {
                let postponed = Postponed(address: post.address, reason: reason)
                try await table.note(
                    FeedItem(postponed, version: terms.version, now: clock.now), of: feedBelow)
                pending[feedBelow] = nil
            }
            let rest = PublishedStretch(place: post.place, end: stretch.end)
            try await change { $0.ownPostsToLookBelow = rest }
        }
        if posts.isEmpty { try await change { $0.ownPostsToLookBelow = nil } }
    }

    /// Looks below a post; returns the reason to look again, or nil.
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

    /// The place where the walk into the past stopped; nil if it did not stop.
    func past() async throws -> Stretch? { try await progress().past }

    /// Stores the number of wanted items of the past, unless one is stored; they are read later.
    func wantPast(_ limit: Int) async throws {
        try await change { progress in
            if progress.position == nil, progress.past == nil {
                // Without a position a walk begins at the newest item and uses no cursor.
                progress.past = Stretch(cursor: "", remaining: limit)
            } else if progress.past?.remaining == nil {
                progress.past?.remaining = limit
            }
        }
    }

    /// Gives up the rest of the walk into the past.
    func forgetPast() async throws { try await change { $0.past = nil } }

    /// Removes the position and the rest of the past.
    func reset() async throws {
        try await table.reset([name])
        isStateCurrent = false
    }

    /// Walks backwards from the newest item, or from where an earlier walk stopped, until `limit`
    /// items were handed over or the feed ends.
    ///
    /// Each page is recorded once it was handled, and from the first one on
    /// ``readNew(_:repeated:mayGoOn:)`` finds newly arriving items. So a walk that is interrupted,
    /// or has to stop, continues the next time.
    ///
    /// - Parameters:
    ///   - limit: The most items to hand over; for a continued walk, counted from its beginning.
    ///   - handle: Handles the posts of one page.
    ///   - mayGoOn: Called before each page.
    /// - Returns: The number of items, at most, that are left because `mayGoOn` returned false; 0
    ///   once the walk is completed.
    /// - Throws: ``NetworkError``, the store's error, or the error of a parameter.
    func readBack(limit: Int, _ handle: Handler, mayGoOn: Permission = { true }) async throws -> Int
    {
        try await observing {
            try await load()
            guard let remaining = state.left(of: limit), remaining > 0 else { return 0 }
            guard try await mayGoOn() else { return remaining }
            let ending = try await read(.past(limit: limit), handle, mayGoOn, pages: max(limit, 1))
            guard ending == .stopped else { return 0 }
            return state.left(of: limit) ?? 0
        }
    }

    // MARK: Progress

    /// Reads the stored state, unless it is known.
    private func load() async throws {
        if isStateCurrent { return }
        state.progress = try await table.progress(of: name)
        isStateCurrent = true
    }

    private func progress() async throws -> FeedProgress {
        try await load()
        return state.progress
    }

    /// Changes the stored state outside a walk.
    private func change(_ body: (inout FeedProgress) -> Void) async throws {
        try await turnstile.pass {
            let former = try await progress()
            body(&state.progress)
            _ = try await store(since: former)
        }
    }

    /// Stores the changes of a step together with its notes.
    ///
    /// - Parameter old: The state that was stored before.
    /// - Returns: False if another process, such as a training, moved the feed; then nothing was
    ///   stored, and the state is the one that it stored.
    private func store(
        since old: FeedProgress, items: [FeedItem] = [], unreached: FeedState.Unreached? = nil
    ) async throws -> Bool {
        let new = state.progress
        guard new != old || !items.isEmpty || unreached != nil else { return true }
        let isMoved = try await writing {
            try await table.advance(name, from: old, to: new, items: items, unreached: unreached)
        }
        guard isMoved else {
            isStateCurrent = false
            try await load()
            return false
        }
        if !items.isEmpty { pending[name] = nil }
        if new.position != old.position { onPositionStored() }
        return true
    }

    /// Runs `body`; after an error the stored state is unknown.
    private func writing<Value>(_ body: () async throws -> Value) async throws -> Value {
        do {
            return try await body()
        } catch {
            isStateCurrent = false
            throw error
        }
    }

    private func noteSuccess(isWhole: Bool) async throws {
        try await load()
        switch state.succeeded(isWhole: isWhole, at: moment) {
        case .nothing: return
        case .timeOnly: try await writing { try await table.storeTime(state.progress, of: name) }
        case .change: try await writing { try await table.store(state.progress, of: name) }
        }
    }

    /// Stores the trouble with the feed; an error of this write is ignored.
    ///
    /// - Parameters:
    ///   - trouble: The text for people.
    ///   - isMinor: Whether it is stored only if there is no other trouble.
    private func noteTrouble(
        _ trouble: String, code: NetworkError.Code, unlessTroubled isMinor: Bool = false
    ) async {
        guard (try? await load()) != nil, !isMinor || state.progress.error == nil,
            state.troubled(trouble, code: code, at: moment)
        else { return }
        try? await writing { try await table.store(state.progress, of: name) }
    }

    // MARK: Items that are tried again

    /// Tries the due items again, one by one.
    ///
    /// - Parameters:
    ///   - feed: The name under which they are stored.
    ///   - mayGoOn: Called before each item.
    ///   - attempt: Returns the outcome of the try.
    /// - Throws: The store's error, or the error of `attempt`.
    private func tryAgain(
        in feed: String, while mayGoOn: () -> Bool,
        _ attempt: (FeedItem) async throws -> FeedItem.Trial
    ) async throws {
        let items =
            if let loaded = pending[feed] { loaded } else {
                try await table.pending(in: feed, version: terms.version)
            }
        pending[feed] = items
        let now = clock.now
        for item in items {
            if let next = item.next, next > now { continue }
            guard mayGoOn() else { return }
            let trial = try await attempt(item)
            if let changed = item.after(trial, version: terms.version, now: clock.now) {
                try await table.note(changed, of: feed)
            } else {
                try await table.forget(item.name, of: feed)
            }
            pending[feed] = nil
        }
    }

    /// Tries one item again.
    private func retry(_ item: FeedItem, _ handle: Handler) async throws -> FeedItem.Trial {
        guard let address = item.address else { return .impossible }
        do {
            guard let post = try await gate.lookUp(address) else { return .gone }
            guard post.isStorable else { return .unstorable }
            guard let postponed = try await handle([post], item.attempts).first else {
                return .decided
            }
            return .postponed(postponed)
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
    /// The human's home timeline: the posts that the human saw and did not favorite.
    package static let seen = "seen-home"
    /// The bot's home timeline, whose posts may be favorited.
    package static let botHome = "bot-home"
    /// Posts that name the bot, each of which is decided.
    package static let botMentions = "bot-mentions"

    /// The name for the state of looking below the bot's own posts for replies.
    static func below(_ feed: String) -> String { feed + belowSuffix }

    /// The feed that a name belongs to, its own or that of ``below(_:)``.
    static func feed(of name: String) -> String {
        name.hasSuffix(belowSuffix) ? String(name.dropLast(belowSuffix.count)) : name
    }

    private static let belowSuffix = "/below"
}
