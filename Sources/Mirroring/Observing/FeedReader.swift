import Blocking
package import Foundation
package import Networks
package import Outbox
import Posts
import ServiceLifecycle

/// An item of a feed that cannot be decided now, for another try.
package struct Postponed: Sendable {
    /// What the server calls the item.
    package var address: String
    /// Why, in words for people.
    package var reason: String
    /// The earliest time of the next try; nil: as usual.
    package var until: Date?
}

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
/// One look at a time; who comes meanwhile waits for it.
package actor FeedReader {
    /// Given the posts of a page, and how often they were postponed before; returns those that it could not decide yet.
    package typealias Handler = @Sendable (_ items: [ObservedPost], _ tries: Int) async throws -> [Postponed]

    /// How many pages one look asks for unless told otherwise.
    package static let usualPages = 50
    /// How far the times of items may be out of their order, in seconds: servers date posts, and send them late.
    private static let disorder: TimeInterval = 600
    /// For how long a page may be refused before the rest is given up, in seconds.
    private static let refusalsLast: TimeInterval = 1_200
    /// Refusals of a page that may be meant for good.
    private static let refusals: [NetworkError.Code] = [.rejected, .notFound, .forbidden, .tooLarge]
    /// What part of the items that a network shows at all may be missing where more are hidden behind them: some are
    /// taken back, and others arrive while they are read.
    private static let hiddenFrom = 0.9
    /// How seldom a success that changes nothing is stored, in seconds.
    private static let successLasts: TimeInterval = 300
    /// For how long an item is tried, in seconds.
    private static let patience: TimeInterval = 86_400
    private static let unstorable = "its name cannot be stored"
    private static let retries = Backoff(first: 120, factor: 3, longest: 6 * 3_600)

    nonisolated let gate: AccountGate
    nonisolated let feed: Feed
    /// The name under which the feed is stored and shown.
    nonisolated let name: String
    nonisolated let table: FeedTable
    nonisolated let clock: any WallClock
    private let pages: Int
    private let keepsPast: Bool
    private let version: String
    private let since: Date?
    private let horizon: TimeInterval?
    /// How often a worker looks.
    package nonisolated let interval: Duration
    private let onPositionStored: @Sendable () -> Void
    private let turnstile = Turnstile()
    /// As it is stored; nil before it was read, and after somebody else changed it.
    private var known: FeedProgress?
    /// Items to be tried again, by the name under which they are kept; none before they were read.
    private var pending: [String: [FeedItem]] = [:]
    /// When this reader last came to the end of the feed.
    package private(set) var lastRead: Date?
    /// When the newest item was made that was read since the feed was last read to its end.
    private var newestSeen: Date?
    /// Since when what is new is refused.
    private var arrivalsRefused: Date?
    /// When the oldest item was made that arrived since what is new was last read to its end.
    private var oldestArrival: Date?

    /// - Parameters:
    ///   - gate: The account whose feed it is.
    ///   - feed: Which feed.
    ///   - name: Under which it is stored.
    ///   - table: Where it is stored.
    ///   - clock: Tells the time.
    ///   - pages: The most pages that one look asks for.
    ///   - keepsPast: Whether the first look notes where a training can go on into the past.
    ///   - since: When listening began: nothing older is wanted; nil where the first look reads the newest page alone.
    ///   - horizon: What is older than this is not wanted either, in seconds.
    ///   - interval: How often a worker looks.
    ///   - version: Names this program; what an older one could not read is tried again.
    ///   - onPositionStored: Told that the position has moved.
    package init(
        gate: AccountGate, feed: Feed, name: String, table: FeedTable, clock: any WallClock,
        pages: Int = FeedReader.usualPages, keepsPast: Bool = false, since: Date? = nil, horizon: TimeInterval? = nil,
        interval: Duration = .zero, version: String = "", onPositionStored: @escaping @Sendable () -> Void = {}
    ) {
        self.gate = gate
        self.feed = feed
        self.name = name
        self.table = table
        self.clock = clock
        self.pages = pages
        self.keepsPast = keepsPast
        self.since = since
        self.horizon = horizon
        self.interval = interval
        self.version = version
        self.onPositionStored = onPositionStored
    }

    // MARK: Reading what is new

    /// One look of a worker: hands over what is new, unless the account has to wait.
    ///
    /// - Parameter handle: Given the posts of one page.
    /// - Returns: When to look again.
    /// - Throws: `NetworkError`, `UnusableAccount`, the store's error, or what `handle` throws.
    package func look(_ handle: Handler) async throws -> Date {
        try gate.check()
        if let resume = gate.pause(of: feed, at: clock.now) {
            await noteTrouble(
                "it waits until \(resume.rfc3339), for the network takes no more requests before", .rateLimited,
                isNew: true)
            return resume
        }
        do {
            try await readNew(handle) { [self] _ in mayGoOn }
        } catch let error as NetworkError {
            try gate.check()
            // A pause says when to go on.
            if let resume = gate.pause(of: feed, at: clock.now) { return resume }
            guard error.stopsActor else { throw error }
            return error.retryAfter ?? clock.now + interval.timeInterval
        }
        let next = clock.now + interval.timeInterval
        return max(next, gate.pause(of: feed, at: clock.now) ?? next)
    }

    /// Moves the position to the newest item if there is none yet, so that what comes later is not missed.
    ///
    /// - Throws: `NetworkError`, `UnusableAccount` or the store's error.
    package func begin() async throws {
        guard try await isUnread() else { return }
        _ = try await look { _, _ in [] }
    }

    /// Whether another page may be asked for; what is left of the feed is left to the next look, or the next worker.
    private nonisolated var mayGoOn: Bool {
        gate.pause(of: feed, at: clock.now) == nil && !Task.isShuttingDownGracefully
    }

    /// When a feed is looked at again that nothing can be done with now; its position stays.
    package nonisolated var later: Date { clock.now + interval.timeInterval }

    /// Hands over what came since the last time, what lies in a gap, and what is to be tried again.
    ///
    /// - Parameters:
    ///   - handle: Given the posts of one page; the position moves past them when it returns.
    ///   - mayGoOn: Asked after each page whether another one may be asked for; the rest comes the next time.
    /// - Returns: False if `mayGoOn` said no.
    /// - Throws: `NetworkError`, which the feed's health then names; the store's error; what `handle` throws.
    @discardableResult
    package func readNew(
        _ handle: Handler, mayGoOn: @Sendable (FeedPage) async throws -> Bool = { _ in true }
    ) async throws -> Bool {
        try await turnstile.pass {
            do {
                try await tryAgain(in: name, while: { !Task.isShuttingDownGracefully }) { try await tried($0, handle) }
                let endings = [try await readArrivals(handle, mayGoOn), try await readGap(handle, mayGoOn)]
                if !endings.contains(.refused) { try await noteSuccess(isWhole: endings.allSatisfy { $0 == .whole }) }
                return !endings.contains(.stopped)
            } catch let error as NetworkError {
                await noteTrouble("\(error)", error.code)
                throw error
            }
        }
    }

    /// How reading a part of the feed ended.
    private enum Ending {
        /// Everything was read.
        case whole
        /// After as many pages as one look asks for; the next one goes on.
        case partial
        /// Because `mayGoOn` said no.
        case stopped
        /// The server does not give out the rest, for now.
        case refused
    }

    /// Reads what is above the position; without one, the newest page, with a gap below it.
    private func readArrivals(
        _ handle: Handler, _ mayGoOn: @Sendable (FeedPage) async throws -> Bool
    ) async throws -> Ending {
        guard let position = try await progress().position else {
            return try await readNewest(downTo: wanted(since), handle, mayGoOn)
        }
        var walk = walk(from: .newer(than: position), isCareful: isBroken(since: arrivalsRefused))
        var isFirst = true
        while true {
            let page: FeedPage
            do {
                guard let next = try await walk.next() else {
                    if walk.isOutOfPages { return .partial }
                    try await noteHiddenArrivals()
                    return .whole
                }
                page = next
            } catch let error as NetworkError where isLost(error, isFirst: isFirst) {
                // What was read is known without a position, too.
                let floor = try await progress().newest.map { $0 - Self.disorder } ?? since
                return try await readNewest(downTo: wanted(floor), handle, mayGoOn)
            }
            (isFirst, arrivalsRefused) = (false, nil)
            oldestArrival = [oldestArrival, page.oldest].compactMap(\.self).min()
            try await take(page, handle) { progress in
                progress.position = page.newer ?? progress.position
                progress.gap?.pass(page.received)
                if depth != nil { progress.arrived += page.received }
            }
            guard try await mayGoOn(page) else { return .stopped }
        }
    }

    /// Whether an error means that nothing leads on from the position any more.
    ///
    /// A server that does not take a position never will, and neither does a page get smaller that is too large even
    /// with one item. Other refusals of one page may pass.
    private func isLost(_ error: NetworkError, isFirst: Bool) -> Bool {
        if error.code == .tooLarge { return true }
        guard isFirst else { return false }
        return error.code == .rejected
            || Self.isAboutPage(error) && hasLasted(Self.refusalsLast, since: &arrivalsRefused)
    }

    /// Whether it may be for good that a page is not given out: the server refuses it, or breaks over it.
    private static func isAboutPage(_ error: NetworkError) -> Bool {
        refusals.contains(error.code) || error.mayBeOfOneItem
    }

    /// Whether a page has not been had for so long that it is asked for item by item.
    private func isBroken(since first: Date?) -> Bool {
        first.map { clock.now.timeIntervalSince($0) >= Self.refusalsLast } ?? false
    }

    /// Whether the feed could be read lately, so that a page that cannot be had is an exception.
    private var isHeard: Bool {
        lastRead.map { (0..<Self.refusalsLast).contains(clock.now.timeIntervalSince($0)) } ?? false
    }

    /// Whether something has gone wrong for so long that it is believed; the first time begins the count.
    private func hasLasted(_ patience: TimeInterval, since first: inout Date?) -> Bool {
        let now = clock.now
        guard let since = first, since <= now else {
            first = now
            return false
        }
        return now.timeIntervalSince(since) >= patience
    }

    /// The same for the next page of a stretch, which remembers it for the next worker.
    private func hasLasted(
        _ patience: TimeInterval, of stretch: WritableKeyPath<FeedProgress, Stretch?>
    ) async throws -> Bool {
        var refused = try await progress()[keyPath: stretch]?.refused
        let hasLasted = hasLasted(patience, since: &refused)
        try await move { $0[keyPath: stretch]?.refused = refused }
        return hasLasted
    }

    /// Begins anew at the newest page; what lies between it and `floor` is a gap, to be read next.
    private func readNewest(
        downTo floor: Date?, _ handle: Handler, _ mayGoOn: @Sendable (FeedPage) async throws -> Bool
    ) async throws -> Ending {
        var walk = walk(from: .newest, isCareful: isBroken(since: arrivalsRefused))
        let newest: FeedPage?
        do {
            newest = try await walk.next()
        } catch let error as NetworkError where Self.isAboutPage(error) {
            _ = hasLasted(Self.refusalsLast, since: &arrivalsRefused)
            throw error
        }
        guard let page = newest else { return .whole }
        arrivalsRefused = nil
        let isUnread = try await progress().position == nil
        try await take(page, handle) { progress in
            progress.position = page.newer ?? progress.position
            if let floor, let older = page.older, !Self.reaches(page, floor) {
                // One that is not read yet is part of the new one.
                progress.gap = Stretch(
                    cursor: older, remaining: depth.map { max(0, $0 - page.received) },
                    floor: min(progress.gap?.floor ?? floor, floor), top: page.oldest, refused: progress.gap?.refused)
            }
            if keepsPast, isUnread { progress.past = page.older.map { Stretch(cursor: $0) } }
        }
        return try await mayGoOn(page) ? .whole : .stopped
    }

    /// Reads on in a gap that an interruption, or a lost position, has left.
    private func readGap(
        _ handle: Handler, _ mayGoOn: @Sendable (FeedPage) async throws -> Bool
    ) async throws -> Ending {
        guard let gap = try await progress().gap, let floor = gap.floor else { return .whole }
        var walk = walk(from: .older(gap.cursor), isCareful: gap.refused != nil)
        var lowest = gap.top
        var isFirst = true
        while true {
            let page: FeedPage?
            do {
                page = try await walk.next()
            } catch let error as NetworkError where error.code == .rejected && isFirst && gap.refused == nil {
                // The server does not take the cursor any more, perhaps because the item is gone that it names.
                _ = try await hasLasted(Self.refusalsLast, of: \.gap)
                return try await readNewest(downTo: floor, handle, mayGoOn)
            } catch let error as NetworkError where Self.isAboutPage(error) {
                // What is new was read; the gap is asked for again with the next look, for a while.
                await noteTrouble("\(error)", error.code)
                guard try await hasLasted(Self.refusalsLast, of: \.gap) else { return .refused }
                try await giveUpGap(from: floor, to: lowest ?? present, error)
                return .whole
            }
            isFirst = false
            guard let page else {
                if walk.isOutOfPages { return .partial }
                try await move { $0.gap = nil }
                return .whole
            }
            lowest = page.oldest ?? lowest
            let isAtFloor = Self.reaches(page, floor)
            let isOver = page.older == nil || isAtFloor
            var rest = try await progress().gap ?? gap
            rest.pass(page.received)
            if isOver, !isAtFloor {
                try await noteHidden(from: floor, to: lowest ?? present, remaining: rest.remaining)
            }
            try await take(page, handle) { [remaining = rest.remaining, lowest] in
                $0.gap =
                    isOver
                    ? nil : page.older.map { Stretch(cursor: $0, remaining: remaining, floor: floor, top: lowest) }
            }
            guard !isOver else { return .whole }
            guard try await mayGoOn(page) else { return .stopped }
        }
    }

    // MARK: What a network does not show

    /// How many of the newest items the network shows; nil: all.
    private nonisolated var depth: Int? { gate.capabilities.depths[feed] }

    /// Says what may be hidden behind the items that have arrived, if they are as many as the network shows at all.
    private func noteHiddenArrivals() async throws {
        defer { oldestArrival = nil }
        var progress = try await progress()
        guard let depth, progress.arrived > 0 else { return }
        if let floor = progress.newest ?? since {
            try await noteHidden(
                from: floor, to: oldestArrival ?? present, remaining: depth - min(progress.arrived, depth))
        }
        progress.arrived = 0
        try await table.store(progress, of: name)
        known = progress
    }

    /// Says that what lies between two instants cannot be read, if nearly all that the network shows was read.
    private func noteHidden(from floor: Date, to end: Date, remaining: Int?) async throws {
        guard let depth, let remaining, end > floor, Double(depth - remaining) >= Self.hiddenFrom * Double(depth) else {
            return
        }
        try await table.noteUnreached(
            from: floor, to: end, reason: "the network shows no more than the newest \(depth)", in: name)
    }

    /// Says that the rest of a gap cannot be had any more.
    private func giveUpGap(from floor: Date, to end: Date, _ error: NetworkError) async throws {
        try await table.noteUnreached(from: floor, to: max(end, floor), reason: "\(error)", in: name)
        try await move { $0.gap = nil }
    }

    /// The present by the clock that the items are dated with.
    private nonisolated var present: Date { gate.present(at: clock.now) }

    /// From when on items are wanted, if they are from after `floor`.
    private func wanted(_ floor: Date?) -> Date? {
        guard let floor, let horizon else { return floor }
        return max(floor, present - horizon)
    }

    /// Whether a page ends below an instant; single items out of their place do not tell.
    private static func reaches(_ page: FeedPage, _ floor: Date) -> Bool {
        !page.items.isEmpty && page.items.suffix(3).allSatisfy { $0.post.createdAt < floor }
    }

    // MARK: Reading the past

    /// Hands over everything from now back to an instant, whatever was read before; for making sure that nothing is
    /// missed.
    ///
    /// What is left, because there is much or the worker ends, is for the next call.
    ///
    /// - Parameters:
    ///   - floor: Where to end; a sweep that was begun ends where it was to.
    ///   - handle: Given the posts of one page.
    /// - Returns: Whether it came to its end.
    /// - Throws: As ``readNew(_:mayGoOn:)``.
    package func sweep(downTo floor: Date, _ handle: Handler) async throws -> Bool {
        try await turnstile.pass {
            let begun = try await progress().sweep
            let floor = begun?.floor ?? floor
            var lowest = begun?.top
            var walk = walk(from: begun.map { .older($0.cursor) } ?? .newest, isCareful: begun?.refused != nil)
            do {
                while let page = try await walk.next() {
                    lowest = page.oldest ?? lowest
                    let rest =
                        Self.reaches(page, floor)
                        ? nil : page.older.map { [lowest] in Stretch(cursor: $0, floor: floor, top: lowest) }
                    try await take(page, handle) { $0.sweep = rest }
                    guard rest != nil else { break }
                    guard mayGoOn else { return false }
                }
            } catch let error as NetworkError
                where error.code == .rejected && begun != nil && begun?.refused == nil && lowest == begun?.top
            {
                // The server does not take the cursor any more: the sweep begins anew.
                try await move { $0.sweep = nil }
                return false
            } catch let error as NetworkError where Self.isAboutPage(error) {
                // The page is asked for again with the next look, for a while; then the next sweep begins anew.
                await noteTrouble("\(error)", error.code)
                guard try await hasLasted(Self.refusalsLast, of: \.sweep), isHeard else { return false }
                // What arrived there in time was heard. What was put in later was not, and nothing looks there again.
                let end = max(lowest ?? present, floor)
                try await table.noteUnreached(from: floor, to: end, reason: "\(error)", in: name)
                try await move { $0.sweep = nil }
            }
            // The last page that a look may ask for may be the last of the sweep, too.
            if walk.isOutOfPages, try await progress().sweep != nil { return false }
            let below = try await progress().below?.place
            // Who has not come so far after the last sweep goes on from there; who was further begins anew, for replies
            // may have come since.
            var place = OutboxStore.PublishedPlace(due: floor, id: "")
            if let below, below.due < floor { place = below }
            let rest = PublishedStretch(place: place, end: clock.now)
            try await move { ($0.sweep, $0.swept, $0.below) = (nil, clock.now, rest) }
            return true
        }
    }

    /// Looks at the replies below the bot's own posts after a sweep, post by post and over as many calls as that takes.
    ///
    /// A post below which nothing is given out now holds up no other one: it is tried again, for a day.
    ///
    /// - Parameters:
    ///   - list: Given a place and a time; returns the posts that were published in between, a few of them, in order.
    ///   - look: Looks below the post with an address; false where what is there cannot be decided now.
    /// - Throws: The store's error, or what `list` and `look` throw that is no `NetworkError`.
    package func lookBelowOwnPosts(
        _ list: (OutboxStore.PublishedPlace, Date) async throws -> [(
            place: OutboxStore.PublishedPlace, address: String
        )],
        _ look: (String) async throws -> Bool
    ) async throws {
        let notes = FeedName.below(name)
        try await tryAgain(in: notes, while: { mayGoOn }) { item in
            guard let reason = try await reasonToReturn(to: item.name, look) else { return nil }
            return again(item, Postponed(address: item.name, reason: reason))
        }
        guard let below = try await progress().below else { return }
        let posts = try await list(below.place, below.end)
        for post in posts {
            guard mayGoOn else { return }
            if let reason = try await reasonToReturn(to: post.address, look) {
                let postponed = Postponed(address: post.address, reason: reason)
                try await table.note(item(for: postponed, tries: 0), of: notes)
                pending[notes] = nil
            }
            let rest = PublishedStretch(place: post.place, end: below.end)
            try await turnstile.pass { try await move { $0.below = rest } }
        }
        if posts.isEmpty { try await turnstile.pass { try await move { $0.below = nil } } }
    }

    /// Looks below a post; why it is to be looked at again, if it is.
    private func reasonToReturn(to address: String, _ look: (String) async throws -> Bool) async throws
        -> String?
    {
        do {
            return try await look(address) ? nil : "what is below it cannot be decided yet"
        } catch let error as NetworkError {
            return "\(error)"
        }
    }

    /// Whether a sweep was begun that has not come to its end.
    package func isSweeping() async throws -> Bool { try await progress().sweep != nil }

    /// When everything was last swept.
    package func lastSweep() async throws -> Date? { try await progress().swept }

    /// Counts the present as a sweep: nothing older was to be heard.
    package func noteSweep() async throws { try await turnstile.pass { try await move { $0.swept = clock.now } } }

    /// Whether nothing of the feed was ever read.
    func isUnread() async throws -> Bool { try await progress().position == nil }

    /// Where the walk into the past stopped; nil if it did not.
    func past() async throws -> Stretch? { try await progress().past }

    /// Gives up the rest of the walk into the past.
    func forgetPast() async throws { try await turnstile.pass { try await move { $0.past = nil } } }

    /// Forgets the position and what is left of the past.
    func reset() async throws {
        try await table.reset([name])
        known = nil
    }

    /// Walks from the newest item backwards, or on from where an earlier walk stopped, until `limit` items were handed
    /// over or the feed ends.
    ///
    /// Each page is remembered once it was handled, and from the first one on ``readNew(_:mayGoOn:)`` finds what
    /// arrives later. So a walk that is interrupted, or has to stop, goes on the next time.
    ///
    /// - Parameters:
    ///   - limit: The most items to hand over; of a walk that is gone on with, counted from its beginning.
    ///   - handle: Given the posts of one page.
    ///   - mayGoOn: Asked before each page.
    /// - Returns: How many items at most are left because `mayGoOn` said no; 0 once the walk is over.
    /// - Throws: ``NetworkError``, the store's error, or what a parameter throws.
    func readBack(
        limit: Int, _ handle: Handler, mayGoOn: @Sendable () async throws -> Bool = { true }
    ) async throws -> Int {
        try await turnstile.pass {
            let start = try await progress()
            let isUnread = start.position == nil
            guard isUnread || start.past != nil else { return 0 }
            var left = isUnread ? limit : min(start.past?.remaining ?? limit, limit)
            // Where the last call ended at a page that could not be had, perhaps one item is the cause.
            var walk = walk(
                from: isUnread ? .newest : start.past.map { .older($0.cursor) } ?? .newest, pages: max(limit, 1),
                isCareful: start.past?.refused != nil)
            while left > 0 {
                guard try await mayGoOn() else { return left }
                let next: FeedPage?
                do {
                    next = try await walk.next()
                } catch let error as NetworkError where error.mayBeOfOneItem {
                    try await move { $0.past?.refused = clock.now }
                    throw error
                }
                guard var page = next else { break }
                page.items = Array(page.items.prefix(left))
                left -= page.items.count
                let rest = left > 0 ? page.older.map { Stretch(cursor: $0, remaining: left) } : nil
                try await take(page, handle) { progress in
                    progress.past = rest
                    if isUnread { progress.position = progress.position ?? page.newer }
                }
            }
            try await move { $0.past = nil }
            return 0
        }
    }

    // MARK: Pages

    private func walk(from start: FeedPosition, pages: Int? = nil, isCareful: Bool = false) -> FeedWalk {
        FeedWalk(of: gate, feed, from: start, maximumPages: pages ?? self.pages, isCareful: isCareful)
    }

    /// Hands over a page and stores where the reader stands after it.
    private func take(
        _ page: FeedPage, _ handle: Handler, _ change: (inout FeedProgress) -> Void
    ) async throws {
        let storable = page.items.filter(\.isStorable)
        let postponed = storable.isEmpty ? [] : try await handle(storable, 0)
        let broken = page.items.filter { !$0.isStorable }.map {
            UnreadableItem(digest: $0.digest, cause: Self.unstorable)
        }
        let items = postponed.map { item(for: $0, tries: 0) } + (page.unreadable + broken).map(item(for:))
        let newest = storable.lazy.map(\.post.createdAt).filter { [present] in $0 <= present + Self.disorder }
            .max()
        if let newest { newestSeen = max(newestSeen ?? newest, newest) }
        try await move(noting: items, change)
    }

    // MARK: Progress

    private func progress() async throws -> FeedProgress {
        if let known { return known }
        let stored = try await table.progress(of: name)
        known = stored
        return stored
    }

    private func move(noting items: [FeedItem] = [], _ change: (inout FeedProgress) -> Void) async throws {
        let old = try await progress()
        var new = old
        change(&new)
        guard new != old || !items.isEmpty else { return }
        guard try await table.advance(name, from: old, to: new, items: items) else {
            // A training, or its reset, was faster: its position counts, and what was read now comes again.
            known = nil
            return
        }
        known = new
        if !items.isEmpty { pending[name] = nil }
        if new.position != old.position { onPositionStored() }
    }

    /// Notes that nothing went wrong.
    ///
    /// - Parameter isWhole: Whether the feed was read to its end; only then is everything known that is older than the
    ///   newest item, for some networks give the newest first.
    /// - Throws: The store's error.
    private func noteSuccess(isWhole: Bool) async throws {
        let now = clock.now
        let old = try await progress()
        var new = old
        (new.error, new.errorCode, new.errorSince) = (nil, nil, nil)
        if isWhole, old.gap == nil {
            lastRead = now
            let isRecent = old.read.map { (0..<Self.successLasts).contains(now.timeIntervalSince($0)) } ?? false
            new.newest = [old.newest, newestSeen].compactMap(\.self).max()
            if !isRecent || old.error != nil { new.read = now }
        }
        // How far it was read is stored with the next thing that is: an earlier time only has more read again.
        if new.read != old.read || new.error != old.error { try await table.store(new, of: name) }
        known = new
    }

    /// Notes what goes wrong; a note that cannot be written is not worth another error.
    ///
    /// - Parameters:
    ///   - trouble: What a person is to read.
    ///   - code: The code of the error.
    ///   - isNew: Whether to note it only where nothing is noted yet.
    private func noteTrouble(_ trouble: String, _ code: NetworkError.Code, isNew: Bool = false) async {
        guard var progress = try? await progress(), progress.error != trouble, !isNew || progress.error == nil else {
            return
        }
        progress.errorSince = progress.error == nil ? clock.now : progress.errorSince
        (progress.error, progress.errorCode) = (trouble, code.rawValue)
        guard (try? await table.store(progress, of: name)) != nil else { return }
        known = progress
    }

    // MARK: Items that are tried again

    private func item(for postponed: Postponed, tries: Int) -> FeedItem {
        let now = clock.now
        let next = Self.retries.next(after: tries + 1, key: postponed.address, asked: postponed.until, now: now)
        return FeedItem(
            name: postponed.address, state: .waiting, reason: postponed.reason, version: version,
            attempts: tries + 1, next: next, noted: now)
    }

    private func item(for unreadable: UnreadableItem) -> FeedItem {
        FeedItem(
            name: unreadable.address ?? "#" + unreadable.digest, state: .unreadable, digest: unreadable.digest,
            reason: unreadable.cause, version: version, noted: clock.now)
    }

    /// Tries the items again whose time has come, each for itself.
    ///
    /// - Parameters:
    ///   - feed: Under which they are kept.
    ///   - mayGoOn: Asked before each.
    ///   - attempt: Returns the item as it is to be kept; nil if nothing is left to try.
    /// - Throws: The store's error, or what `attempt` throws.
    private func tryAgain(
        in feed: String, while mayGoOn: () -> Bool, _ attempt: (FeedItem) async throws -> FeedItem?
    ) async throws {
        let items = if let known = pending[feed] { known } else { try await table.pending(in: feed, version: version) }
        pending[feed] = items
        let now = clock.now
        for item in items where item.next ?? now <= now {
            guard mayGoOn() else { return }
            if let tried = try await attempt(item) {
                try await table.note(tried, of: feed)
            } else {
                try await table.forget(item.name, of: feed)
            }
            pending[feed] = nil
        }
    }

    /// An item after a try that was postponed once more; given up if that goes on for too long.
    private func again(_ item: FeedItem, _ postponed: Postponed) -> FeedItem {
        var tried = self.item(for: postponed, tries: item.attempts)
        tried.noted = item.noted
        return tried.agedOut(at: clock.now, after: Self.patience)
    }

    /// Tries one item again.
    ///
    /// - Returns: The item as it is to be kept; nil if it is decided.
    private func tried(_ item: FeedItem, _ handle: Handler) async throws -> FeedItem? {
        var tried = item
        tried.version = version
        tried.attempts += 1
        tried.next = nil
        guard let address = item.address else { return tried }
        do {
            guard let post = try await gate.lookUp(address) else {
                (tried.state, tried.reason) = (.givenUp, "it is gone")
                return tried
            }
            guard post.isStorable else {
                (tried.state, tried.reason) = (.unreadable, Self.unstorable)
                return tried
            }
            return try await handle([post], item.attempts).first.map { again(item, $0) }
        } catch let error as NetworkError {
            tried.reason = "\(error)"
            guard !error.dropsItem else {
                tried.state = item.state == .unreadable ? .unreadable : .givenUp
                return tried
            }
            tried.state = .waiting
            tried.next = Self.retries.next(
                after: tried.attempts, key: address, asked: error.retryAfter, now: clock.now)
        }
        return tried.agedOut(at: clock.now, after: Self.patience)
    }
}

extension FeedPage {
    /// When its oldest item was made.
    fileprivate var oldest: Date? { items.map(\.post.createdAt).min() }
}

extension ObservedPost {
    /// Tells the post from others where its name cannot be stored.
    fileprivate var digest: String {
        StableHash.digest(of: post.id.value, address).prefix(16).hexadecimal
    }

    /// Whether every database can have the post's names in a key.
    fileprivate var isStorable: Bool {
        [post.id.value, address].allSatisfy { !$0.isEmpty && $0.utf8.count <= 2_048 && !$0.utf8.contains(0) }
    }
}

/// The names under which feeds are stored and shown.
package enum FeedName {
    /// What the human posts, for the archive.
    package static let humanPosts = "human-posts"
    /// What the human favorites, to learn from.
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
