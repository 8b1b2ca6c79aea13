package import Foundation
import Networks
import Outbox
import Posts

/// The limits and options for reading a feed.
package struct FeedTerms: Sendable {
    /// The most pages of one look.
    package var pages: Int
    /// Whether the first look stores where a training can continue into the past.
    package var keepsPast: Bool
    /// When listening began: older items are not wanted; nil if the first look reads only the
    /// newest page.
    package var since: Date?
    /// The greatest age of wanted items, in seconds; nil for any.
    package var horizon: TimeInterval?
    /// The interval of a worker's looks.
    package var interval: Duration
    /// The program's version; items that another version could not read are tried again.
    package var version: String

    package init(
        pages: Int = FeedReader.usualPages, keepsPast: Bool = false, since: Date? = nil,
        horizon: TimeInterval? = nil,
        interval: Duration = .zero, version: String = ""
    ) {
        self.pages = pages
        self.keepsPast = keepsPast
        self.since = since
        self.horizon = horizon
        self.interval = interval
        self.version = version
    }
}

/// The state of reading a feed and the decisions about it, without a clock, a network or a store.
///
/// A walk goes through one ``Part`` of the feed. ``begin(_:at:)`` returns where it starts. Then
/// each page is passed to ``took(_:in:at:)``, the end to ``ended(_:isOutOfPages:at:)`` and each
/// failed request to ``failed(_:in:at:)``. These change ``progress``, and return what to note and
/// to do next.
///
/// ``progress`` is stored after a page was handed over and decided, in one transaction with the
/// notes about its items. So a crash repeats a page and never loses one.
struct FeedState: Sendable {
    /// The part of the feed that a walk reads.
    enum Part: Equatable, Sendable {
        /// The items above the position; without a position the newest page, with a gap below it.
        case arrivals
        /// The newest page, as a new position; the stretch between it and the floor becomes a gap.
        case newest(floor: Date?)
        /// The gap that an interruption or a lost position has left.
        case gap
        /// Everything from the newest item, or from where an unfinished sweep stopped, down to a
        /// floor.
        case sweep(floor: Date)
        /// A number of items of the past, from the newest one or from where an earlier walk
        /// stopped.
        case past(limit: Int)
    }

    /// A walk through a part.
    struct Walk: Sendable {
        let part: Part
        let start: FeedPosition
        /// Whether the items are requested one by one, because a page was refused for a long time.
        let isCareful: Bool
        /// Whether no page was read yet.
        fileprivate(set) var isFirst = true
        /// Whether the feed had no position when the walk began.
        fileprivate let isUnread: Bool
        /// The number of items still wanted; nil for all.
        fileprivate(set) var itemsLeft: Int?

        /// The page without the items beyond the limit.
        func wanted(of page: FeedPage) -> FeedPage {
            guard let itemsLeft else { return page }
            var page = page
            page.items = Array(page.items.prefix(itemsLeft))
            return page
        }
    }

    /// The reason why a walk ended.
    enum Ending: Equatable, Sendable {
        /// Everything was read.
        case whole
        /// The page limit of a look was reached, or another process moved the feed; the next look
        /// goes on.
        case partial
        /// A person's budget, a pause or the worker's end allows no further page.
        case stopped
        /// The server does not give out the rest, for now.
        case refused
    }

    /// The next step after a page, an end or an error.
    struct Step: Equatable, Sendable {
        enum Next: Equatable, Sendable {
            case anotherPage
            /// Begin another walk in place of this one.
            case walk(Part)
            case over(Ending)
            /// Throw the error of a request.
            case failure(NetworkError)
        }

        var next: Next
        /// A stretch to note as not readable any more.
        var unreached: Unreached?

        init(_ next: Next, unreached: Unreached? = nil) {
            self.next = next
            self.unreached = unreached
        }
    }

    /// A stretch of time whose items cannot be read any more.
    struct Unreached: Equatable, Sendable {
        let from: Date
        let to: Date
        let reason: String
    }

    /// The change to the stored state after a reading without an error.
    enum News: Sendable {
        case nothing
        /// Only the time of the last reading has changed, for a feed that was read before.
        case timeOnly
        /// The error has changed, or the feed was read for the first time.
        case change
    }

    /// The present, by two clocks.
    struct Moment: Sendable {
        /// The time by the clock of this machine.
        let now: Date
        /// The time by the clock that the items are dated with.
        let present: Date
    }

    /// Seconds by which the times of items may be out of order: servers date posts and send them
    /// late.
    private static let disorder: TimeInterval = 600
    /// Refusals of a page that may be permanent.
    private static let refusals: [NetworkError.Code] = [
        .rejected, .notFound, .forbidden, .tooLarge,
    ]
    /// The share of a network's item limit from which on older items may be hidden: some of the
    /// shown items are deleted, and others arrive while they are read.
    private static let hiddenFrom = 0.9
    /// Seconds between two stores of a success that changes nothing else.
    private static let successLasts: TimeInterval = 300

    let terms: FeedTerms
    /// The number of newest items that the network shows, as known in advance or from a page; nil
    /// for all.
    private(set) var depth: Int?
    /// The progress that is stored, or is to be stored next.
    var progress: FeedProgress
    /// When this reader last reached the end of the feed.
    private(set) var lastRead: Date?
    /// Creation time of the newest item read by this reader.
    private var newestSeen: Date?
    /// When the current refusal of new items began.
    private var arrivalsRefused: Date?
    /// Creation time of the oldest item of the past read by this reader.
    private var oldestPast: Date?
    /// Creation time of the oldest item that the last look at new items returned.
    private var oldestArrival: Date?
    /// Whether the last look at new items read all of them.
    private var isCaughtUp = false

    init(_ terms: FeedTerms, depth: Int?, progress: FeedProgress = FeedProgress()) {
        self.terms = terms
        self.depth = depth
        self.progress = progress
    }

    /// Whether nothing of the feed was ever read.
    var isUnread: Bool { progress.position == nil }

    /// The number of items of the past that a walk with this limit would still read; nil if the
    /// past was read.
    func left(of limit: Int) -> Int? {
        if isUnread { return limit }
        return progress.past.map { min($0.remaining ?? limit, limit) }
    }

    // MARK: Walks

    /// Begins a walk; nil if the part has nothing to read.
    func begin(_ part: Part, at time: Moment) -> Walk? {
        func walk(_ start: FeedPosition, isCareful: Bool, itemsLeft: Int? = nil) -> Walk {
            Walk(
                part: part, start: start, isCareful: isCareful, isUnread: isUnread,
                itemsLeft: itemsLeft)
        }
        switch part {
        case .arrivals:
            guard let position = progress.position else {
                return begin(.newest(floor: startOfWanted(terms.since, time)), at: time)
            }
            return walk(.newer(than: position), isCareful: areArrivalsRefused(at: time))
        case .newest: return walk(.newest, isCareful: areArrivalsRefused(at: time))
        case .gap: return progress.gap.map { walk(.older($0.cursor), isCareful: $0.refused != nil) }
        case .sweep(let floor):
            guard let begun = progress.sweep else { return walk(.newest, isCareful: false) }
            return Walk(
                part: .sweep(floor: begun.floor ?? floor), start: .older(begun.cursor),
                isCareful: begun.refused != nil, isUnread: isUnread)
        case .past(let limit):
            guard let remaining = left(of: limit), remaining > 0 else { return nil }
            guard !isUnread, let past = progress.past else {
                return walk(.newest, isCareful: false, itemsLeft: remaining)
            }
            // If the last walk ended at a refused page, perhaps a single item is the cause.
            return walk(.older(past.cursor), isCareful: past.refused != nil, itemsLeft: remaining)
        }
    }

    /// Takes a page that was handed over.
    mutating func took(_ page: FeedPage, in walk: inout Walk, at time: Moment) -> Step {
        defer { walk.isFirst = false }
        depth = page.depth ?? depth
        let newest = page.items.lazy.filter(\.isStorable).map(\.post.createdAt)
            .filter { $0 <= time.present + Self.disorder }.max()
        newestSeen = [newestSeen, newest].compactMap(\.self).max()
        switch walk.part {
        case .arrivals: return tookArrivals(page, isFirst: walk.isFirst)
        case .newest(let floor): return tookNewest(page, downTo: floor)
        case .gap: return tookOfGap(page, at: time)
        case .sweep(let floor): return tookOfSweep(page, downTo: floor, at: time)
        case .past: return tookOfPast(page, in: &walk)
        }
    }

    /// Handles the end of the pages, or of the pages that may be requested now.
    ///
    /// - Parameter repeatsPages: Whether the server repeats its pages, so that older ones cannot be
    ///   requested.
    mutating func ended(
        _ walk: Walk, isOutOfPages: Bool, repeatsPages: Bool = false, at time: Moment
    ) -> Step {
        switch walk.part {
        case .arrivals: return isOutOfPages ? Step(.over(.partial)) : endArrivals(at: time)
        case .newest: return Step(.over(.whole))
        case .gap:
            if isOutOfPages { return Step(.over(.partial)) }
            let gap = progress.gap
            progress.gap = nil
            guard repeatsPages, let gap, let floor = gap.floor else { break }
            let end = max(gap.top ?? time.present, floor)
            return Step(
                .over(.whole),
                unreached: Unreached(from: floor, to: end, reason: "the server repeats its pages"))
        case .sweep(let floor):
            if isOutOfPages { return Step(.over(.partial)) }
            endSweep(downTo: floor, at: time)
        case .past(let limit):
            let remaining = progress.past?.remaining ?? walk.itemsLeft ?? limit
            progress.past = nil
            return Step(.over(.whole), unreached: hiddenPast(afterReading: limit - remaining))
        }
        return Step(.over(.whole))
    }

    /// Handles the error of a request for a page.
    mutating func failed(_ error: NetworkError, in walk: Walk, at time: Moment) -> Step {
        switch walk.part {
        case .arrivals:
            guard isPositionLost(error, in: walk, at: time) else { return Step(.failure(error)) }
            // The items that were read are known even without a position.
            let floor = progress.newest.map { $0 - Self.disorder } ?? terms.since
            return Step(.walk(.newest(floor: startOfWanted(floor, time))))
        case .newest:
            // The first call notes when the refusal began.
            if Self.isAboutPage(error) { _ = Self.hasLasted(since: &arrivalsRefused, at: time) }
            return Step(.failure(error))
        case .gap: return failedInGap(error, walk, at: time)
        case .sweep(let floor): return failedInSweep(error, walk, downTo: floor, at: time)
        case .past:
            if Self.isAboutPage(error) { progress.past?.refused = time.now }
            return Step(.failure(error))
        }
    }

    // MARK: What is new

    private mutating func tookArrivals(_ page: FeedPage, isFirst: Bool) -> Step {
        arrivalsRefused = nil
        isCaughtUp = false
        // Hidden items may be missing above the first page of each look.
        if isFirst { oldestArrival = nil }
        oldestArrival = [oldestArrival, page.oldest].compactMap(\.self).min()
        progress.position = page.newer ?? progress.position
        progress.gap?.subtract(page.received)
        if depth != nil { progress.arrived += page.received }
        return Step(.anotherPage)
    }

    private mutating func tookNewest(_ page: FeedPage, downTo floor: Date?) -> Step {
        arrivalsRefused = nil
        isCaughtUp = true
        if terms.keepsPast, isUnread {
            // A training that could not begin has stored how many items it wants.
            let remaining = progress.past?.remaining.map { max(0, $0 - page.items.count) }
            progress.past = page.older.map { Stretch(cursor: $0, remaining: remaining) }
        }
        progress.position = page.newer ?? progress.position
        if let floor, let older = page.older, !Self.reaches(page, floor) {
            // A former gap that was not read becomes part of the new one.
            progress.gap = Stretch(
                cursor: older, remaining: depth.map { max(0, $0 - page.received) },
                floor: min(progress.gap?.floor ?? floor, floor), top: page.oldest,
                refused: progress.gap?.refused)
        }
        return Step(.over(.whole))
    }

    /// Reports the stretch that may be hidden behind the new items, if they are as many as the
    /// network shows.
    private mutating func endArrivals(at time: Moment) -> Step {
        isCaughtUp = true
        defer {
            oldestArrival = nil
            progress.arrived = 0
        }
        guard let depth, progress.arrived > 0, let floor = progress.newest ?? terms.since else {
            return Step(.over(.whole))
        }
        let remaining = max(depth - progress.arrived, 0)
        return Step(
            .over(.whole),
            unreached: hidden(from: floor, to: oldestArrival ?? time.present, remaining: remaining))
    }

    /// Whether an error means that reading cannot continue from the position.
    ///
    /// A server that refuses a position will always refuse it, and a page that is too large even
    /// with one item will not shrink. Other refusals of one page may pass.
    private mutating func isPositionLost(
        _ error: NetworkError, in walk: Walk, at time: Moment
    ) -> Bool {
        if error.code == .tooLarge { return true }
        guard walk.isFirst else { return false }
        return error.code == .rejected
            || Self.isAboutPage(error) && Self.hasLasted(since: &arrivalsRefused, at: time)
    }

    // MARK: Gaps

    private mutating func tookOfGap(_ page: FeedPage, at time: Moment) -> Step {
        guard var gap = progress.gap, let floor = gap.floor else { return Step(.over(.whole)) }
        gap.subtract(page.received)
        gap.top = page.bottom ?? gap.top
        gap.refused = nil
        if let older = page.older, !Self.reaches(page, floor) {
            gap.cursor = older
            progress.gap = gap
            return Step(.anotherPage)
        }
        progress.gap = nil
        guard !Self.reaches(page, floor) else { return Step(.over(.whole)) }
        return Step(
            .over(.whole),
            unreached: hidden(from: floor, to: gap.top ?? time.present, remaining: gap.remaining))
    }

    private mutating func failedInGap(_ error: NetworkError, _ walk: Walk, at time: Moment) -> Step
    {
        guard let gap = progress.gap, let floor = gap.floor, Self.isAboutPage(error) else {
            return Step(.failure(error))
        }
        let hasLasted = Self.hasLasted(since: &progress.gap.refused, at: time)
        if error.code == .rejected, walk.isFirst, !walk.isCareful {
            // The server refuses the cursor, perhaps because its item was deleted.
            return Step(.walk(.newest(floor: floor)))
        }
        // The new items were read; the gap is requested again with the next looks, for some time.
        _ = troubled("\(error)", code: error.code, at: time)
        guard hasLasted else { return Step(.over(.refused)) }
        progress.gap = nil
        let end = max(gap.top ?? time.present, floor)
        return Step(.over(.whole), unreached: Unreached(from: floor, to: end, reason: "\(error)"))
    }

    // MARK: Sweeps

    private mutating func tookOfSweep(_ page: FeedPage, downTo floor: Date, at time: Moment) -> Step
    {
        if let older = page.older, !Self.reaches(page, floor) {
            progress.sweep = Stretch(
                cursor: older, floor: floor, top: page.bottom ?? progress.sweep?.top)
            return Step(.anotherPage)
        }
        endSweep(downTo: floor, at: time)
        return Step(.over(.whole))
    }

    private mutating func failedInSweep(
        _ error: NetworkError, _ walk: Walk, downTo floor: Date, at time: Moment
    ) -> Step {
        guard Self.isAboutPage(error) else { return Step(.failure(error)) }
        if error.code == .rejected, walk.isFirst, walk.start != .newest, !walk.isCareful {
            // The server does not take the cursor any more: the sweep begins anew.
            progress.sweep = nil
            return Step(.over(.partial))
        }
        // The page is requested again with the next looks, for some time; then the next sweep
        // starts over.
        _ = troubled("\(error)", code: error.code, at: time)
        guard Self.hasLasted(since: &progress.sweep.refused, at: time), wasReadRecently(at: time)
        else {
            return Step(.over(.refused))
        }
        // Items that arrived there in time were read. Items that were inserted later are missed,
        // and no later walk looks there.
        let end = max(progress.sweep?.top ?? time.present, floor)
        endSweep(downTo: floor, at: time)
        return Step(.over(.whole), unreached: Unreached(from: floor, to: end, reason: "\(error)"))
    }

    private mutating func endSweep(downTo floor: Date, at time: Moment) {
        // If the look below own posts did not get this far after the last sweep, it continues from
        // there; if it got further, it starts over, because new replies may have arrived.
        var place = OutboxStore.PublishedPlace(due: floor, id: "")
        if let rest = progress.ownPostsToLookBelow?.place, rest.due < floor { place = rest }
        progress.ownPostsToLookBelow = PublishedStretch(place: place, end: time.now)
        progress.sweep = nil
        progress.swept = time.now
    }

    // MARK: The past

    private mutating func tookOfPast(_ page: FeedPage, in walk: inout Walk) -> Step {
        let remaining = (walk.itemsLeft ?? 0) - page.items.count
        walk.itemsLeft = remaining
        progress.past =
            remaining > 0 ? page.older.map { Stretch(cursor: $0, remaining: remaining) } : nil
        if walk.isUnread { progress.position = progress.position ?? page.newer }
        oldestPast = [oldestPast, page.oldest].compactMap(\.self).min()
        guard progress.past == nil else { return Step(.anotherPage) }
        guard case .past(let limit) = walk.part else { return Step(.over(.whole)) }
        return Step(.over(.whole), unreached: hiddenPast(afterReading: limit - remaining))
    }

    /// The time before the oldest item of the past, if the number of read items is near the
    /// network's limit.
    private func hiddenPast(afterReading number: Int) -> Unreached? {
        guard let depth, let oldestPast, Double(number) >= Self.hiddenFrom * Double(depth) else {
            return nil
        }
        return Unreached(
            from: FeedHealth.Unreached.beginning, to: oldestPast,
            reason: "the network shows no more than the newest \(depth)")
    }

    // MARK: Success and trouble

    /// Records a success.
    ///
    /// - Parameter isWhole: Whether the feed was read to its end; only then is everything older
    ///   than the newest item known, because some networks return the newest first.
    /// - Returns: The part of the change that is worth storing now.
    mutating func succeeded(isWhole: Bool, at time: Moment) -> News {
        let former = progress
        progress.error = nil
        progress.errorCode = nil
        progress.errorSince = nil
        if isWhole, former.gap == nil {
            lastRead = time.now
            let isRecent =
                if let formerRead = former.read {
                    (0..<Self.successLasts).contains(time.now.timeIntervalSince(formerRead))
                } else { false }
            progress.newest = [former.newest, newestSeen].compactMap(\.self).max()
            if !isRecent || former.error != nil { progress.read = time.now }
        }
        // The creation time of the newest item is stored with the next change: an earlier time only
        // causes more to be read again.
        if progress.error != former.error || former.read == nil && progress.read != nil {
            return .change
        }
        return progress.read != former.read ? .timeOnly : .nothing
    }

    /// Records a trouble, in words for people.
    ///
    /// - Returns: Whether it is new.
    mutating func troubled(
        _ trouble: String, code: NetworkError.Code, at time: Moment
    ) -> Bool {
        guard progress.error != trouble else { return false }
        if progress.error == nil { progress.errorSince = time.now }
        progress.error = trouble
        progress.errorCode = code.rawValue
        return true
    }

    // MARK: What a page tells

    /// Whether the refusal of a page may be permanent: the server rejects it, or fails because of
    /// an item in it.
    private static func isAboutPage(_ error: NetworkError) -> Bool {
        refusals.contains(error.code) || error.mayBeOfOneItem
    }

    /// Whether a problem has lasted long enough to be believed; the first call starts the count.
    private static func hasLasted(since first: inout Date?, at time: Moment) -> Bool {
        guard let since = first, since <= time.now else {
            first = time.now
            return false
        }
        return RetryRule.page.isOver(since: since, now: time.now)
    }

    /// Whether new items have been refused for so long that they are requested one by one.
    private func areArrivalsRefused(at time: Moment) -> Bool {
        RetryRule.page.isOver(since: arrivalsRefused, now: time.now)
    }

    /// Whether the feed was readable recently, so that the failure of a single page is an
    /// exception.
    private func wasReadRecently(at time: Moment) -> Bool {
        guard let lastRead, lastRead <= time.now else { return false }
        return !RetryRule.page.isOver(since: lastRead, now: time.now)
    }

    /// Returns the stretch between two instants if the number of read items is near the network's
    /// limit, so that the rest may be hidden.
    private func hidden(from floor: Date, to end: Date, remaining: Int?) -> Unreached? {
        // New items that were not read yet also count towards the limit, and their number is
        // unknown.
        guard let depth, let remaining, end > floor,
            !isCaughtUp || Double(depth - remaining) >= Self.hiddenFrom * Double(depth)
        else { return nil }
        return Unreached(
            from: floor, to: end, reason: "the network shows no more than the newest \(depth)")
    }

    /// The time from which items are wanted: `floor`, or the horizon if that is later.
    private func startOfWanted(_ floor: Date?, _ time: Moment) -> Date? {
        guard let floor, let horizon = terms.horizon else { return floor }
        return max(floor, time.present - horizon)
    }

    /// Whether a page reaches below an instant; single items out of order do not count.
    private static func reaches(_ page: FeedPage, _ floor: Date) -> Bool {
        !page.isFromBelow && !page.items.isEmpty
            && page.items.suffix(3).allSatisfy { $0.post.createdAt < floor }
    }
}

extension Stretch? {
    /// When the refusal of the stretch's next page began; not stored if there is no stretch.
    fileprivate var refused: Date? {
        get { self?.refused }
        set { self?.refused = newValue }
    }
}

extension FeedPage {
    /// Creation time of its oldest item.
    fileprivate var oldest: Date? { items.map(\.post.createdAt).min() }

    /// Creation time down to which everything above is read; nil if the page does not reveal it.
    fileprivate var bottom: Date? { isFromBelow ? nil : oldest }
}
