import Formats
package import Networks
import Posts

/// A search for the items of a range that make every request fail whose answer contains them.
///
/// The range is read from its lower end, with both bounds in each request. A part that fails is
/// halved until it holds one id. That id is noted, and the search continues above it. So a broken
/// item costs about as many requests as the range's length has bits, and no item between two broken
/// ones is skipped.
///
/// The whole state is a cursor: each request is a page of the walk, and a later walk can continue
/// from there.
struct BrokenItemSearch: Equatable, Sendable {
    enum Range: Equatable, Sendable {
        /// The stretch below `ceiling`. `below` is the cursor of the rest of the feed.
        case past(ceiling: MastodonPlace, below: String)
        /// The items that arrived after `newestRead`, the newest item that was read.
        ///
        /// `notedIDs` are the noted ids above it, or only the last of them if there are many. Until
        /// an item above a noted id is read, it is uncertain whether the id was assigned, and
        /// whether new items will have higher ids.
        case openAbove(newestRead: MastodonPlace, notedIDs: [MastodonPlace])
        /// The items below `newest`, which was read, that arrived after the newest item known
        /// before.
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

    /// Requests the items between two ids, both excluded, the lowest first; a single item if
    /// `isSingle`.
    typealias Reader = (_ since: MastodonPlace?, _ until: MastodonPlace?, _ isSingle: Bool)
        async throws -> Answer

    /// The most noted ids above the newest item that are remembered.
    private static let maximumNoted = 8

    private(set) var range: Range
    /// Everything up to this id was read or noted, or is known to have no item.
    private(set) var floor: MastodonPlace
    /// The upper end of the part from ``floor`` on that failed; nil if nothing failed since the
    /// last noted item.
    private(set) var failed: MastodonPlace?

    /// Whether the whole range was read or noted; always false for a range without an upper end.
    var isDone: Bool { ceiling.map { floor.distance(to: $0) < 2 } ?? false }

    private var ceiling: MastodonPlace? {
        switch range {
        case .past(let ceiling, _): ceiling
        case .openAbove: nil
        case .upTo(let newest): newest
        }
    }

    /// The upper end of the next request; nil for none.
    private var end: MastodonPlace? {
        guard let failed else { return ceiling }
        let distance = floor.distance(to: failed)
        return distance <= 2 ? failed : floor.advanced(by: distance / 2 + 1)
    }

    // MARK: Beginning

    /// Begins a search below an item or a place, because the next item below it cannot be read.
    ///
    /// Tries made-up ids, each further below than the one before, until a request succeeds.
    ///
    /// - Returns: Nil if there is no lower id.
    /// - Throws: The last error, if no request succeeds.
    static func below(_ ceiling: MastodonPlace, _ read: Reader) async throws -> BrokenItemSearch? {
        var lastError: NetworkError?
        for step in 0..<MastodonPlace.stepCount {
            guard let lower = ceiling.below(step: step) else { break }
            do {
                _ = try await read(nil, lower, true)
                // Items below the made-up id are read afterwards; an item with this id is part of
                // the range.
                return BrokenItemSearch(
                    range: .past(ceiling: ceiling, below: lower.text), floor: lower.nextLower,
                    failed: nil)
            } catch let error as NetworkError where error.mayBeOfOnePage {
                lastError = error
            }
        }
        if let lastError { throw lastError }
        return nil
    }

    /// Begins a search above the newest item that was read, because the next item above cannot be
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
            return BrokenItemSearch(range: .upTo(newest: newest), floor: floor, failed: nil)
        }
        let searchAbovePlace = MastodonPlace(position).map {
            BrokenItemSearch(
                range: .openAbove(newestRead: $0, notedIDs: []), floor: $0, failed: nil)
        }
        guard var search = searchAbovePlace ?? BrokenItemSearch(.newer(than: position)),
            search.end == nil,
            let highest = search.floor.highest, search.floor.distance(to: highest) > 2
        else { return nil }
        let floor = search.floor
        // There is no id between these two, so this fails only if every request fails.
        _ = try await read(floor, floor.advanced(by: 1), true)
        for step in 0..<MastodonPlace.stepCount {
            guard let end = floor.above(step: step), floor.distance(to: end) > 1 else { continue }
            do {
                // The search reads the readable part later; its first broken item is above it.
                _ = try await read(floor, end, false)
            } catch let error as NetworkError where error.mayBeOfOneItem {
                search.failed = end
                return search
            }
        }
        search.failed = highest
        return search
    }

    // MARK: Going on

    /// Makes the next request.
    ///
    /// - Returns: The items in the answer, or the item that cannot be read.
    /// - Throws: The error if the server fails at every request.
    mutating func step(_ feed: Feed, _ read: Reader) async throws -> MastodonList {
        guard let end else { return try await takeArrivals(read) }
        let isSingle = floor.distance(to: end) == 2
        do {
            return try await take(try await read(floor, end, isSingle), upTo: end, read)
        } catch let error as NetworkError where mayBePassed(error) {
            guard isSingle else {
                failed = end
                return MastodonList(rateLimit: nil)
            }
            let id = end.nextLower
            // Reads a place without an item, to distinguish a broken item from a server that fails
            // at every request, and from a failure by chance.
            _ = try await read(floor, id, true)
            do {
                return try await take(try await read(floor, end, true), upTo: end, read)
            } catch let error as NetworkError where mayBePassed(error) {
                floor = id
                failed = nil
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

    /// Whether the error of a part may be caused by an item in it; below a ceiling, also by the
    /// requested place.
    private func mayBePassed(_ error: NetworkError) -> Bool {
        if case .past = range { error.mayBeOfOnePage } else { error.mayBeOfOneItem }
    }

    /// Requests new items as if none was broken, and items that later got an id below a noted one.
    private mutating func takeArrivals(_ read: Reader) async throws -> MastodonList {
        guard case .openAbove(let newestRead, let notedIDs) = range else {
            return MastodonList(rateLimit: nil)
        }
        for part in stretchesBetweenNotedIDs {
            var answer: Answer?
            do {
                answer = try await read(part.since, part.until, false)
                if answer?.newest == nil { continue }
            } catch let error as NetworkError where mayBePassed(error) {
                answer = nil
            }
            // The ids from here on were noted too early.
            range = .openAbove(
                newestRead: newestRead, notedIDs: notedIDs.filter { $0.isBelow(part.until) })
            floor = newestReadOrNoted
            if let answer { return try await take(answer, upTo: part.until, read) }
            failed = floor.distance(to: part.until) > 1 ? part.until : nil
            return MastodonList(rateLimit: nil)
        }
        return try await take(try await read(floor, nil, false), upTo: nil, read)
    }

    /// - Parameter end: The upper end of the request; nil for none.
    private mutating func take(
        _ answer: Answer, upTo end: MastodonPlace?, _ read: Reader
    ) async throws -> MastodonList {
        if let incompleteBelow = answer.incompleteBelow, floor.distance(to: incompleteBelow) > 1 {
            // The items above it will be returned again.
            failed = incompleteBelow
            return answer.list
        }
        if let newest = answer.newest, case .openAbove(let newestRead, let notedIDs) = range {
            // An item above the noted ids was read, so new items have higher ids.
            guard try await isRead(notedIDs, read) else {
                range = .upTo(newest: newest)
                floor = newestRead
                failed = nil
                return answer.list
            }
            range = .openAbove(newestRead: newest, notedIDs: [])
        }
        floor = answer.newest ?? end?.nextLower ?? floor
        if let failed, floor.distance(to: failed) < 2 {
            self.failed = nil
            // The failure was not caused by an item, and ids below it may still be assigned.
            if answer.newest == nil, case .openAbove = range { floor = newestReadOrNoted }
        }
        return answer.list
    }

    /// Whether only the noted ids exist below ``floor``, and their items still cannot be read.
    private func isRead(_ notedIDs: [MastodonPlace], _ read: Reader) async throws -> Bool {
        guard notedIDs.count < Self.maximumNoted else { return false }
        let last =
            newestReadOrNoted.isBelow(floor)
            ? [(since: newestReadOrNoted, until: floor.advanced(by: 1))] : []
        do {
            for part in stretchesBetweenNotedIDs + last {
                guard try await read(part.since, part.until, false).newest == nil else {
                    return false
                }
            }
        } catch let error as NetworkError where mayBePassed(error) {
            return false
        }
        for id in notedIDs {
            do {
                guard try await read(id.nextLower, id.advanced(by: 1), true).newest == nil else {
                    return false
                }
            } catch let error as NetworkError where mayBePassed(error) {
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
    /// It begins with an id from which a program that does not know searches can continue without
    /// skipping an item.
    var text: String {
        switch range {
        case .past(let ceiling, let below):
            "\(ceiling.text) \(floor.text):\(failed?.text ?? ""):\(below)"
        case .openAbove(let newestRead, let notedIDs):
            "\(newestRead.text) \(Self.idList(notedIDs.isEmpty ? [newestRead] : notedIDs))"
                + (failed.map { ":\(floor.text):\($0.text)" } ?? "")
        case .upTo(let newest): "\(floor.text) \(newest.text):\(failed?.text ?? "")"
        }
    }

    private static func idList(_ ids: [MastodonPlace]) -> String {
        ids.map(\.text).joined(separator: ",")
    }

    /// The cursor after a step: the search's, or the feed's if the search is over.
    ///
    /// - Parameter last: The search before the step; nil for the first step.
    func cursor(after last: BrokenItemSearch?) -> String {
        switch range {
        case .past(_, let below) where isDone: below
        case .upTo(let newest) where isDone: newest.text
        // After a failure by chance, the text differs from that of the search's first position.
        case .openAbove(let newestRead, let notedIDs)
        where failed == nil && notedIDs.isEmpty && last?.isPassed(newestRead) == true:
            newestRead.text
        default: text
        }
    }

    /// Whether the search is over when it reaches an item.
    private func isPassed(_ item: MastodonPlace) -> Bool {
        guard case .openAbove(let newestRead, _) = range else { return true }
        return failed == nil || newestRead != item
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
        guard halves.count == 2, let first = MastodonPlace(String(halves[0])) else { return nil }
        let parts = halves[1].split(separator: ":", omittingEmptySubsequences: false).map(
            String.init)
        let places = parts.map { MastodonPlace($0) }
        let ids = parts[0].split(separator: ",", omittingEmptySubsequences: false).map {
            MastodonPlace(String($0))
        }
        let notedIDs = ids.compactMap(\.self)
        guard notedIDs.count == ids.count, let last = notedIDs.last, ids.count == 1 || !isOlder
        else { return nil }
        let openRange = Range.openAbove(
            newestRead: first, notedIDs: notedIDs == [first] ? [] : notedIDs)
        switch (isOlder, parts.count) {
        case (true, 3)
        where MastodonID.isUsable(parts[2]) && (parts[1].isEmpty || places[1] != nil):
            self.init(range: .past(ceiling: first, below: parts[2]), floor: last, failed: places[1])
        case (false, 1): self.init(range: openRange, floor: last, failed: nil)
        case (false, 2) where ids.count == 1 && (parts[1].isEmpty || places[1] != nil):
            self.init(range: .upTo(newest: last), floor: first, failed: places[1])
        case (false, 3):
            guard let floor = places[1], let failed = places[2] else { return nil }
            self.init(range: openRange, floor: floor, failed: failed)
        default: return nil
        }
    }

    private init(range: Range, floor: MastodonPlace, failed: MastodonPlace?) {
        self.range = range
        self.floor = floor
        self.failed = failed
    }
}

extension UnreadableItem {
    /// An item that breaks every answer that contains it.
    fileprivate init(brokenAt id: MastodonPlace, of feed: Feed, _ error: NetworkError) {
        self.init(
            // Other feeds are ordered by ids that are not those of posts.
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
        let list = try await next.step(feed) { try await answer(feed, $0, $1, $2) }
        return try await page(feed, of: list, next, from: search, position)
    }

    package func page(_ feed: Feed, passing position: FeedPosition) async throws -> FeedPage? {
        guard memory.idsSort(in: feed) else { return nil }
        let search: BrokenItemSearch?
        switch position {
        case .newest: search = nil
        case .older(let cursor):
            guard let ceiling = MastodonPlace(cursor) else { return nil }
            search = try await .below(ceiling) { try await answer(feed, $0, $1, $2) }
        case .newer(let cursor):
            search = try await .above(cursor) { try await answer(feed, $0, $1, $2) }
        }
        guard let search else { return nil }
        return try await page(feed, of: MastodonList(rateLimit: nil), search, from: nil, position)
    }

    /// - Parameter last: The search before the step; nil for the first step.
    private func page(
        _ feed: Feed, of list: MastodonList, _ search: BrokenItemSearch,
        from last: BrokenItemSearch?,
        _ position: FeedPosition
    ) async throws -> FeedPage {
        var page = try await page(feed, of: list, position)
        page.isFromBelow = true
        switch position {
        case .newer(let text):
            let cursor = search.cursor(after: last)
            page.newer = cursor == text ? nil : cursor
            if page.newer == nil { return page }
        case .older, .newest: page.older = search.cursor(after: last)
        }
        // A step without items is not the end of the feed.
        page.received = max(page.received, 1)
        return page
    }

    /// Reads the items between two ids.
    ///
    /// - Throws: `NetworkError` with code `.rejected` if the server does not keep to the bounds.
    private func answer(
        _ feed: Feed, _ since: MastodonPlace?, _ until: MastodonPlace?, _ isSingle: Bool
    ) async throws -> BrokenItemSearch.Answer {
        let size = isSingle ? 1 : Self.pageSize
        let bounds = [until.map { ("max_id", $0.text) }, since.map { ("min_id", $0.text) }]
            .compactMap(\.self)
        var list = try await list(feed, bounds, size)
        try requireComplete(list, of: feed)
        // If items below the lower bound are returned too, the failing item cannot be located.
        let isBounded = since.map { !list.removeItems(notNewerThan: $0.text) } ?? true
        var unreadEnd: String?
        if let since, isBounded { unreadEnd = try await fill(&list, feed, since: since.text, size) }
        guard !list.entries.isEmpty || !isBounded else {
            return BrokenItemSearch.Answer(list: list)
        }
        let newest = list.newerCursor.flatMap(MastodonPlace.init)
        let lowest = unreadEnd.flatMap(MastodonPlace.init)
        guard isBounded, memory.idsSort(in: feed), let newest, until.map(newest.isBelow) ?? true,
            since.map({ $0.isBelow(newest) }) ?? true,
            unreadEnd == nil
                || lowest.map({ !newest.isBelow($0) && since?.isBelow($0) == true }) == true
        else {
            throw client.error(
                feed.operation, .rejected, outcome: .refused,
                detail: "the server does not keep to the part of the feed that was asked for")
        }
        return BrokenItemSearch.Answer(list: list, newest: newest, incompleteBelow: lowest)
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

        /// Shorter numbers begin with zeros.
        var length: Int {
            switch self {
            case .decimal: 1
            case .ulid: MastodonID.lengthOfULID
            case .flake: MastodonID.lengthOfFlake
            }
        }
    }

    /// The most steps of ``below(step:)`` and ``above(step:)``: the last is half a year, or four
    /// billion.
    static let stepCount = 18
    /// Decimal ids from here on begin with a time in milliseconds; the lower 16 bits only count.
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

    /// The highest id of the form; nil if ids of this size have none.
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

    /// The distance from this place up to another one; 0 if that is below.
    func distance(to other: MastodonPlace) -> UInt128 {
        other.number > number ? other.number - number : 0
    }

    /// The next lower place, which every place returned by ``below(step:)`` has.
    var nextLower: MastodonPlace { MastodonPlace(form, number - 1) }

    func advanced(by distance: UInt128) -> MastodonPlace { MastodonPlace(form, number + distance) }

    /// An id below this one, perhaps never assigned, four times as far away with each step.
    ///
    /// - Parameter step: The number of the step, from 0 for the smallest, which is one, or a
    ///   millisecond for ids that begin with a time.
    /// - Returns: Nil if the step before reached the lowest id.
    func below(step: Int) -> MastodonPlace? {
        guard number > 1, step == 0 || number - 1 > distance(of: step - 1) else { return nil }
        return MastodonPlace(form, number - min(distance(of: step), number - 1))
    }

    /// An id above this one, perhaps never assigned, four times as far away with each step; nil if
    /// there is none so high.
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
        var rest = number
        while rest > 0 || text.count < form.length {
            text.append(form.alphabet[Int(rest % base)])
            rest /= base
        }
        return String(decoding: text.reversed(), as: UTF8.self)
    }
}
