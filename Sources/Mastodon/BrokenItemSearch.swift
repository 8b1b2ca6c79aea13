import Formats
import Localization
package import Networks
import Posts

/// A search for broken items: every request fails whose answer contains one of them.
///
/// The range is read from its lower end, with both bounds in each request. A part that cannot be
/// read is halved until it holds one id (bisection). That id is noted as one whose item cannot be
/// read, and the search continues above it. So a broken item costs about as many requests as the
/// range's length has bits, and no item between two broken ones is skipped.
///
/// The whole state of the search is a cursor of the feed: each request is a page of the walk, and a
/// later walk can continue with the cursor.
struct BrokenItemSearch: Equatable, Sendable {
    enum Range: Equatable, Sendable {
        /// The stretch below `ceiling`. `below` is the cursor for the items below the stretch.
        case past(ceiling: MastodonPlace, below: String)
        /// The items that arrived after `newestRead`, the newest item that was read.
        ///
        /// `notedIDs` are the noted ids above that item, or only the last of them if there are
        /// many. Until an item above a noted id is read, the server may not have assigned the noted
        /// id yet, and may give a new item an even lower id.
        case openAbove(newestRead: MastodonPlace, notedIDs: [MastodonPlace])
        /// The items between ``BrokenItemSearch/floor`` and `newest`, which was read before them.
        case upTo(newest: MastodonPlace)
    }

    /// An answer of the server.
    struct Answer {
        var list: MastodonList
        /// The highest id in the answer; nil if the answer has no items.
        var newest: MastodonPlace?
        /// The answer is incomplete below this id; nil if it is complete.
        var incompleteBelow: MastodonPlace?
    }

    /// A request for the items between two ids, both excluded, the lowest first.
    struct Request {
        /// The id below the items; nil for no lower bound.
        var since: MastodonPlace?
        /// The id above the items; nil for no upper bound.
        var until: MastodonPlace?
        /// Whether a single item is requested, instead of a page.
        var isSingle = false
    }

    /// Makes a request.
    typealias Reader = (Request) async throws -> Answer

    /// The most noted ids above the newest item that are remembered.
    private static let maximumNoted = 8

    private(set) var range: Range
    /// Every item up to this id was read or noted.
    private(set) var floor: MastodonPlace
    /// The upper end of the part above ``floor`` that could not be read; nil if nothing failed
    /// since the last noted item.
    private(set) var failedEnd: MastodonPlace?

    /// Whether the whole range was read or noted; always false for a range without an upper end.
    var isDone: Bool {
        guard let ceiling else { return false }
        return floor.distance(to: ceiling) < 2
    }

    private var ceiling: MastodonPlace? {
        switch range {
        case .past(let ceiling, _): ceiling
        case .openAbove: nil
        case .upTo(let newest): newest
        }
    }

    /// The upper end of the next request; nil for none.
    private var requestEnd: MastodonPlace? {
        guard let failedEnd else { return ceiling }
        // Both bounds are excluded, so a distance of 2 contains one id, which cannot be halved.
        let distance = floor.distance(to: failedEnd)
        return distance <= 2 ? failedEnd : floor.advanced(by: distance / 2 + 1)
    }

    // MARK: Beginning

    /// Begins a search below an item or a place, because the next item below it cannot be read.
    ///
    /// Requests items below made-up ids, each lower than the one before, until a request succeeds.
    ///
    /// - Returns: Nil if there is no lower id.
    /// - Throws: The last error, if no request succeeds.
    static func below(_ ceiling: MastodonPlace, _ read: Reader) async throws -> BrokenItemSearch? {
        var lastError: NetworkError?
        for step in 0..<MastodonPlace.stepCount {
            guard let lower = ceiling.below(step: step) else { break }
            do {
                _ = try await read(Request(until: lower, isSingle: true))
                // The range includes an item with the made-up id itself; the items below it are
                // read after the search.
                return BrokenItemSearch(
                    range: .past(ceiling: ceiling, below: lower.text), floor: lower.nextLower,
                    failedEnd: nil)
            } catch let error as NetworkError where error.mayBeOfOnePage {
                lastError = error
            }
        }
        if let lastError { throw lastError }
        return nil
    }

    /// Begins a search above the newest item that was read, because the next newer item cannot be
    /// read.
    ///
    /// - Returns: Nil for a position without an order, and for a search that already knows the
    ///   failing part.
    /// - Throws: The error if the server fails at every request.
    static func above(_ position: String, _ read: Reader) async throws -> BrokenItemSearch? {
        if let arrivals = Arrivals(position, separator: " ", where: MastodonID.isUsable),
            let gap = arrivals.gap, let newest = MastodonPlace(arrivals.newest),
            let floor = MastodonPlace(gap.since),
            floor.isBelow(newest)
        {
            return BrokenItemSearch(range: .upTo(newest: newest), floor: floor, failedEnd: nil)
        }
        let searchAbovePlace = MastodonPlace(position).map {
            BrokenItemSearch(
                range: .openAbove(newestRead: $0, notedIDs: []), floor: $0, failedEnd: nil)
        }
        guard var search = searchAbovePlace ?? BrokenItemSearch(.newer(than: position)),
            search.requestEnd == nil,
            let highest = search.floor.highest, search.floor.distance(to: highest) > 2
        else { return nil }
        let floor = search.floor
        // There is no id between these two bounds, so this fails only if every request fails.
        _ = try await read(Request(since: floor, until: floor.advanced(by: 1), isSingle: true))
        for step in 0..<MastodonPlace.stepCount {
            guard let end = floor.above(step: step), floor.distance(to: end) > 1 else { continue }
            do {
                // The search reads this part later; the first broken item is above it.
                _ = try await read(Request(since: floor, until: end))
            } catch let error as NetworkError where error.mayBeOfOneItem {
                search.failedEnd = end
                return search
            }
        }
        search.failedEnd = highest
        return search
    }

    // MARK: Going on

    /// Makes the next request.
    ///
    /// - Returns: The items in the answer, or the item that cannot be read.
    /// - Throws: The error if the server fails at every request.
    mutating func step(_ feed: Feed, _ read: Reader) async throws -> MastodonList {
        guard let end = requestEnd else { return try await readArrivals(read) }
        let isSingle = floor.distance(to: end) == 2
        do {
            let request = Request(since: floor, until: end, isSingle: isSingle)
            return try await take(try await read(request), upTo: end, read)
        } catch let error as NetworkError where mayBeCausedByItem(error) {
            guard isSingle else {
                failedEnd = end
                return MastodonList(rateLimit: nil)
            }
            let id = end.nextLower
            // Reads a part without an item, because this fails too if the server fails at every
            // request. The second reading of the item succeeds if the first failed by chance.
            _ = try await read(Request(since: floor, until: id, isSingle: true))
            do {
                let request = Request(since: floor, until: end, isSingle: true)
                return try await take(try await read(request), upTo: end, read)
            } catch let error as NetworkError where mayBeCausedByItem(error) {
                floor = id
                failedEnd = nil
                if case .openAbove(let newestRead, let notedIDs) = range {
                    let latestIDs = Array((notedIDs + [id]).suffix(Self.maximumNoted))
                    range = .openAbove(newestRead: newestRead, notedIDs: latestIDs)
                }
                var list = MastodonList(rateLimit: nil)
                list.putFirst(UnreadableItem(brokenAt: id, of: feed, error))
                return list
            }
        }
    }

    /// Whether an item in the requested part may have caused the error; below a ceiling, the
    /// requested id may have caused it too.
    private func mayBeCausedByItem(_ error: NetworkError) -> Bool {
        if case .past = range { error.mayBeOfOnePage } else { error.mayBeOfOneItem }
    }

    /// Requests the new items as if none was broken.
    ///
    /// Before that it checks whether the server has meanwhile assigned other ids below the noted
    /// ones, and reads their items.
    private mutating func readArrivals(_ read: Reader) async throws -> MastodonList {
        guard case .openAbove(let newestRead, let notedIDs) = range else {
            return MastodonList(rateLimit: nil)
        }
        for part in stretchesBetweenNotedIDs {
            var answer: Answer?
            do {
                answer = try await read(Request(since: part.since, until: part.until))
                if answer?.newest == nil { continue }
            } catch let error as NetworkError where mayBeCausedByItem(error) {
                answer = nil
            }
            // The ids from this part on were noted too early.
            range = .openAbove(
                newestRead: newestRead, notedIDs: notedIDs.filter { $0.isBelow(part.until) })
            floor = newestReadOrNoted
            if let answer { return try await take(answer, upTo: part.until, read) }
            failedEnd = floor.distance(to: part.until) > 1 ? part.until : nil
            return MastodonList(rateLimit: nil)
        }
        return try await take(try await read(Request(since: floor)), upTo: nil, read)
    }

    /// Moves ``floor`` above the items in an answer.
    ///
    /// - Parameter end: The upper end of the request; nil for none.
    private mutating func take(
        _ answer: Answer, upTo end: MastodonPlace?, _ read: Reader
    ) async throws -> MastodonList {
        if let incompleteBelow = answer.incompleteBelow, floor.distance(to: incompleteBelow) > 1 {
            // The items above it will be returned again.
            failedEnd = incompleteBelow
            return answer.list
        }
        if let newest = answer.newest, case .openAbove(let newestRead, let notedIDs) = range {
            // An item above the noted ids was read, so new items will have higher ids than those.
            guard try await areStillBroken(notedIDs, read) else {
                range = .upTo(newest: newest)
                floor = newestRead
                failedEnd = nil
                return answer.list
            }
            range = .openAbove(newestRead: newest, notedIDs: [])
        }
        floor = answer.newest ?? end?.nextLower ?? floor
        if let failedEnd, floor.distance(to: failedEnd) < 2 {
            self.failedEnd = nil
            // No item caused the failure, and ids below its end may still be assigned.
            if answer.newest == nil, case .openAbove = range { floor = newestReadOrNoted }
        }
        return answer.list
    }

    /// Whether the items of the noted ids still cannot be read, and no other unread item is below
    /// ``floor``.
    private func areStillBroken(_ notedIDs: [MastodonPlace], _ read: Reader) async throws -> Bool {
        guard notedIDs.count < Self.maximumNoted else { return false }
        var parts = stretchesBetweenNotedIDs
        if newestReadOrNoted.isBelow(floor) {
            parts.append((since: newestReadOrNoted, until: floor.advanced(by: 1)))
        }
        do {
            for part in parts {
                let answer = try await read(Request(since: part.since, until: part.until))
                if answer.newest != nil { return false }
            }
        } catch let error as NetworkError where mayBeCausedByItem(error) {
            return false
        }
        for id in notedIDs {
            do {
                let onlyID = Request(
                    since: id.nextLower, until: id.advanced(by: 1), isSingle: true)
                if try await read(onlyID).newest != nil { return false }
            } catch let error as NetworkError where mayBeCausedByItem(error) {
                continue
            }
        }
        return true
    }

    /// The newest id that was read or noted; ``floor`` for a range with an upper end.
    private var newestReadOrNoted: MastodonPlace {
        guard case .openAbove(let newestRead, let notedIDs) = range else { return floor }
        return notedIDs.last ?? newestRead
    }

    /// The stretches of a range without an upper end that lie between the noted ids.
    private var stretchesBetweenNotedIDs: [(since: MastodonPlace, until: MastodonPlace)] {
        guard case .openAbove(let newestRead, let notedIDs) = range else { return [] }
        let stretches = zip([newestRead] + notedIDs, notedIDs).map { (since: $0, until: $1) }
        return notedIDs.count < Self.maximumNoted ? stretches : Array(stretches.dropFirst())
    }

    // MARK: Cursors

    /// The cursor of the search; its space distinguishes it from a server's cursor.
    ///
    /// It begins with an id from which an older version of this program, without such searches, can
    /// continue without skipping an item.
    var text: String {
        switch range {
        case .past(let ceiling, let below):
            "\(ceiling.text) \(floor.text):\(failedEnd?.text ?? ""):\(below)"
        case .openAbove(let newestRead, let notedIDs):
            "\(newestRead.text) \(Self.idList(notedIDs.isEmpty ? [newestRead] : notedIDs))"
                + (failedEnd.map { ":\(floor.text):\($0.text)" } ?? "")
        case .upTo(let newest): "\(floor.text) \(newest.text):\(failedEnd?.text ?? "")"
        }
    }

    private static func idList(_ ids: [MastodonPlace]) -> String {
        ids.map(\.text).joined(separator: ",")
    }

    /// The cursor after a step: the search's own, or a cursor of the feed if the search is over.
    ///
    /// - Parameter previous: The search before the step; nil for the first step.
    func cursor(after previous: BrokenItemSearch?) -> String {
        switch range {
        case .past(_, let below) where isDone: below
        case .upTo(let newest) where isDone: newest.text
        // After a failure by chance, the search's own cursor is used, because it differs from the
        // cursor at which the search began.
        case .openAbove(let newestRead, let notedIDs)
        where failedEnd == nil && notedIDs.isEmpty
            && previous?.isOver(reaching: newestRead) == true:
            newestRead.text
        default: text
        }
    }

    /// Whether the search is over once `item` is the newest item that was read.
    private func isOver(reaching item: MastodonPlace) -> Bool {
        guard case .openAbove(let newestRead, _) = range else { return true }
        return failedEnd == nil || newestRead != item
    }

    /// Nil for a position that is not from ``text``.
    init?(_ position: FeedPosition) {
        let text: String
        var isOlder = false
        switch position {
        case .newest: return nil
        case .older(let cursor):
            text = cursor
            isOlder = true
        case .newer(let cursor): text = cursor
        }
        let halves = text.split(separator: " ", omittingEmptySubsequences: false)
        guard halves.count == 2, let firstPlace = MastodonPlace(String(halves[0])) else {
            return nil
        }
        let parts = halves[1].split(separator: ":", omittingEmptySubsequences: false).map(
            String.init)
        let places = parts.map { MastodonPlace($0) }
        let ids = parts[0].split(separator: ",", omittingEmptySubsequences: false).map {
            MastodonPlace(String($0))
        }
        let notedIDs = ids.compactMap(\.self)
        guard notedIDs.count == ids.count, let lastID = notedIDs.last, ids.count == 1 || !isOlder
        else { return nil }
        let openRange = Range.openAbove(
            newestRead: firstPlace, notedIDs: notedIDs == [firstPlace] ? [] : notedIDs)
        // The cases are the forms that ``text`` writes.
        switch (isOlder: isOlder, partCount: parts.count) {
        case (isOlder: true, partCount: 3)
        where MastodonID.isUsable(parts[2]) && (parts[1].isEmpty || places[1] != nil):
            self.init(
                range: .past(ceiling: firstPlace, below: parts[2]), floor: lastID,
                failedEnd: places[1])
        case (isOlder: false, partCount: 1):
            self.init(range: openRange, floor: lastID, failedEnd: nil)
        case (isOlder: false, partCount: 2)
        where ids.count == 1 && (parts[1].isEmpty || places[1] != nil):
            self.init(range: .upTo(newest: lastID), floor: firstPlace, failedEnd: places[1])
        case (isOlder: false, partCount: 3):
            guard let floor = places[1], let failedEnd = places[2] else { return nil }
            self.init(range: openRange, floor: floor, failedEnd: failedEnd)
        default: return nil
        }
    }

    private init(range: Range, floor: MastodonPlace, failedEnd: MastodonPlace?) {
        self.range = range
        self.floor = floor
        self.failedEnd = failedEnd
    }
}

extension UnreadableItem {
    /// An item that breaks every answer that contains it.
    fileprivate init(brokenAt id: MastodonPlace, of feed: Feed, _ error: NetworkError) {
        self.init(
            // The ids that order other feeds are not ids of posts.
            address: feed == .home || feed == .ownPosts ? id.text : nil,
            digest: JSONBody.digest("\(feed.rawValue) \(id.text)".utf8), cause: "\(error)")
    }
}

extension MastodonNetwork {
    /// One step of a search, as a page.
    func page(_ feed: Feed, of search: BrokenItemSearch, _ position: FeedPosition) async throws
        -> FeedPage
    {
        var next = search
        let list = try await next.step(feed) { request in
            try await answer(to: request, feed)
        }
        return try await page(feed, of: list, next, from: search, position)
    }

    package func page(_ feed: Feed, passing position: FeedPosition) async throws -> FeedPage? {
        guard memory.idsAreOrdered(in: feed) else { return nil }
        let search: BrokenItemSearch?
        switch position {
        case .newest: search = nil
        case .older(let cursor):
            guard let ceiling = MastodonPlace(cursor) else { return nil }
            search = try await .below(ceiling) { request in
                try await answer(to: request, feed)
            }
        case .newer(let cursor):
            search = try await .above(cursor) { request in
                try await answer(to: request, feed)
            }
        }
        guard let search else { return nil }
        return try await page(feed, of: MastodonList(rateLimit: nil), search, from: nil, position)
    }

    /// - Parameter previous: The search before the step; nil for the first step.
    private func page(
        _ feed: Feed, of list: MastodonList, _ search: BrokenItemSearch,
        from previous: BrokenItemSearch?,
        _ position: FeedPosition
    ) async throws -> FeedPage {
        var page = try await page(feed, of: list, position)
        page.isFromBelow = true
        switch position {
        case .newer(let text):
            let cursor = search.cursor(after: previous)
            page.newer = cursor == text ? nil : cursor
            if page.newer == nil { return page }
        case .older, .newest: page.older = search.cursor(after: previous)
        }
        // A step without items is not the end of the feed.
        page.received = max(page.received, 1)
        return page
    }

    /// Reads the items between two ids.
    ///
    /// - Throws: `NetworkError` with code `.rejected` if the server ignores the bounds.
    private func answer(
        to request: BrokenItemSearch.Request, _ feed: Feed
    ) async throws -> BrokenItemSearch.Answer {
        let since = request.since
        let until = request.until
        let size = request.isSingle ? 1 : Self.pageSize
        let bounds = [until.map { ("max_id", $0.text) }, since.map { ("min_id", $0.text) }]
            .compactMap(\.self)
        var list = try await list(feed, bounds: bounds, size: size)
        try requireComplete(list, of: feed)
        // If items below the lower bound are returned too, the failing item cannot be located.
        var isBounded = true
        if let since { isBounded = !list.removeItems(notNewerThan: since.text) }
        var unreadEnd: String?
        if let since, isBounded {
            unreadEnd = try await fill(&list, feed, since: since.text, size: size)
        }
        guard !list.entries.isEmpty || !isBounded else {
            return BrokenItemSearch.Answer(list: list)
        }
        func ignoredBounds() -> NetworkError {
            client.error(
                feed.operation, .rejected, outcome: .refused,
                detail: localized(
                    "the server does not keep to the part of the feed that was asked for"))
        }
        guard isBounded, memory.idsAreOrdered(in: feed),
            let newest = list.newerCursor.flatMap(MastodonPlace.init)
        else { throw ignoredBounds() }
        if let until, !newest.isBelow(until) { throw ignoredBounds() }
        if let since, !since.isBelow(newest) { throw ignoredBounds() }
        let incompleteBelow = unreadEnd.flatMap(MastodonPlace.init)
        if unreadEnd != nil {
            guard let incompleteBelow, !newest.isBelow(incompleteBelow),
                since?.isBelow(incompleteBelow) == true
            else { throw ignoredBounds() }
        }
        return BrokenItemSearch.Answer(
            list: list, newest: newest, incompleteBelow: incompleteBelow)
    }
}

/// An id as a number, for ids with an order: decimal numbers, ULIDs and flakes.
struct MastodonPlace: Equatable, Sendable {
    private enum Form: Sendable {
        case decimal, ulid, flake

        init?(_ id: String) {
            if id.isEmpty { return nil }
            if MastodonID.isDecimal(id) {
                self = .decimal
            } else if MastodonID.isULID(id) {
                self = .ulid
            } else if MastodonID.isFlake(id) {
                self = .flake
            } else {
                return nil
            }
        }

        var alphabet: [UInt8] {
            switch self {
            case .decimal: MastodonPlace.decimals
            case .ulid: MastodonPlace.crockford
            case .flake: MastodonPlace.digits
            }
        }

        /// The smallest number of digits; shorter numbers are padded with zeros.
        var length: Int {
            switch self {
            case .decimal: 1
            case .ulid: MastodonID.lengthOfULID
            case .flake: MastodonID.lengthOfFlake
            }
        }
    }

    /// The number of steps of ``below(step:)`` and ``above(step:)``; the last one covers half a
    /// year, or 17 billion ids if they contain no time.
    static let stepCount = 18
    /// The first decimal id that contains a time: its bits above the lowest 16 are milliseconds.
    private static let firstWithTime: UInt128 = 1_000_000_000_000_000
    private static let decimals = Array("0123456789".utf8)
    private static let digits = Array(
        "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".utf8)
    private static let crockford = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)

    private let form: Form
    private let number: UInt128

    /// Nil for ids without an order.
    init?(_ id: String) {
        guard let form = Form(id) else { return nil }
        if form == .decimal {
            guard let number = UInt128(id) else { return nil }
            self.init(form, number)
            return
        }
        let alphabet = form.alphabet
        let base = UInt128(alphabet.count)
        var number: UInt128 = 0
        for byte in id.utf8 {
            guard let digit = alphabet.firstIndex(of: byte) else { return nil }
            let (high, overflow) = number.multipliedReportingOverflow(by: base)
            let (sum, carry) = high.addingReportingOverflow(UInt128(digit))
            guard !overflow, !carry else { return nil }
            number = sum
        }
        self.init(form, number)
    }

    private init(_ form: Form, _ number: UInt128) {
        self.form = form
        self.number = number
    }

    /// Whether this place is below another one of the same form.
    func isBelow(_ other: MastodonPlace) -> Bool { form == other.form && number < other.number }

    /// The highest id of the form; nil if this id is higher than it.
    var highest: MastodonPlace? {
        let highest: UInt128 =
            switch form {
            case .decimal: UInt128(Int64.max)
            case .ulid: .max
            case .flake:
                repeatElement(UInt128(62), count: MastodonID.lengthOfFlake).reduce(1, *) - 1
            }
        return number <= highest ? MastodonPlace(form, highest) : nil
    }

    /// The distance from this place up to another one; 0 if the other one is below.
    func distance(to other: MastodonPlace) -> UInt128 {
        other.number > number ? other.number - number : 0
    }

    /// The next lower place, which exists for every place that ``below(step:)`` returns.
    var nextLower: MastodonPlace { MastodonPlace(form, number - 1) }

    func advanced(by distance: UInt128) -> MastodonPlace { MastodonPlace(form, number + distance) }

    /// An id below this one, four times as far away with each step; perhaps no item has this id.
    ///
    /// - Parameter step: The number of the step. Step 0 is the smallest: a distance of one id, or
    ///   of a millisecond for ids that contain a time.
    /// - Returns: Nil if the previous step reached the lowest id.
    func below(step: Int) -> MastodonPlace? {
        guard number > 1, step == 0 || number - 1 > distance(of: step - 1) else { return nil }
        return MastodonPlace(form, number - min(distance(of: step), number - 1))
    }

    /// An id above this one, four times as far away with each step; nil if the form has no id that
    /// is so high.
    func above(step: Int) -> MastodonPlace? {
        guard let highest, distance(to: highest) > distance(of: step) else { return nil }
        return advanced(by: distance(of: step))
    }

    private func distance(of step: Int) -> UInt128 {
        let unit: UInt128 =
            switch form {
            case .decimal: number >= Self.firstWithTime ? 1 << 16 : 1
            case .ulid: 1 << 80
            case .flake: 1 << 64
            }
        return unit << (2 * step)
    }

    /// The id as the server writes it.
    var text: String {
        let base = UInt128(form.alphabet.count)
        var text: [UInt8] = []
        var remainder = number
        while remainder > 0 || text.count < form.length {
            text.append(form.alphabet[Int(remainder % base)])
            remainder /= base
        }
        return String(decoding: text.reversed(), as: UTF8.self)
    }
}
