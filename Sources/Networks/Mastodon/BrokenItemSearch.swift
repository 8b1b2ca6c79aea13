import Formats
import Posts

/// A search for the items of a range that make every request fail whose answer holds them.
///
/// The range is read from its lower end, with both bounds in each request. A part that fails is
/// halved until it holds one id. That id is noted, and the search goes on above it. So a broken
/// item costs about as many requests as the range's length has bits, and nothing between two of
/// them is passed over.
///
/// The whole state is a cursor: each request is a page of the walk, and a later walk goes on from
/// there.
struct BrokenItemSearch: Equatable, Sendable {
    enum Range: Equatable, Sendable {
        /// The stretch below `ceiling`. `below` is the cursor of the rest of the feed.
        case past(ceiling: MastodonPlace, below: String)
        /// The items that arrived after `since`, the newest item that was read.
        ///
        /// `noted` are the ids above it that were noted, the last of them alone if there are many.
        /// While no item above a noted id was read, it is not certain that the id was given, and
        /// that new items will have higher ones.
        case arrivals(since: MastodonPlace, noted: [MastodonPlace])
        /// The items below `newest`, which was read, that arrived after the newest item known
        /// before.
        case arrived(newest: MastodonPlace)
    }

    /// An answer of the server.
    struct Answer {
        var list: MastodonList
        /// The highest id of the answer; nil if it holds no items.
        var newest: MastodonPlace?
        /// The answer is incomplete below this id; nil if it is complete.
        var rest: MastodonPlace?
    }

    /// Asks for items between two ids, neither included, the lowest first; for one item alone if
    /// `isSingle`.
    typealias Reader = (_ since: MastodonPlace?, _ until: MastodonPlace?, _ isSingle: Bool)
        async throws -> Answer

    /// So many noted ids above the newest item are remembered.
    private static let maximumNoted = 8

    private(set) var range: Range
    /// Everything up to this id was read, noted, or is known to hold no item.
    private(set) var floor: MastodonPlace
    /// The part from ``floor`` up to this id failed; nil if nothing was tried since the last noted
    /// item.
    private(set) var failed: MastodonPlace?

    /// Whether the whole range was read or noted; never true of a range without an upper end.
    var isDone: Bool { ceiling.map { floor.distance(to: $0) < 2 } ?? false }

    private var ceiling: MastodonPlace? {
        switch range {
        case .past(let ceiling, _): ceiling
        case .arrivals: nil
        case .arrived(let newest): newest
        }
    }

    /// The upper end of the next request; nil for none.
    private var end: MastodonPlace? {
        guard let failed else { return ceiling }
        let distance = floor.distance(to: failed)
        return distance <= 2 ? failed : floor.advanced(by: distance / 2 + 1)
    }

    // MARK: Beginning

    /// Begins a search below an item or a place, of which the next item below cannot be had.
    ///
    /// Made-up ids, each further below than the one before, lead to something that can be had.
    ///
    /// - Returns: Nil if there is no lower id.
    /// - Throws: The last error, if nothing can be had.
    static func below(_ ceiling: MastodonPlace, _ read: Reader) async throws -> BrokenItemSearch? {
        var last: NetworkError?
        for step in 0..<MastodonPlace.steps {
            guard let lower = ceiling.below(step: step) else { break }
            do {
                _ = try await read(nil, lower, true)
                // Items below the made-up id are read afterwards; an item at the id itself is part
                // of the range.
                return BrokenItemSearch(
                    range: .past(ceiling: ceiling, below: lower.text), floor: lower.before,
                    failed: nil)
            } catch let error as NetworkError where error.mayBeOfOnePage {
                last = error
            }
        }
        if let last { throw last }
        return nil
    }

    /// Begins a search above the newest item that was read, of which the next item above cannot be
    /// had.
    ///
    /// - Returns: Nil for a position that tells no order, and for a search that knows already what
    ///   fails.
    /// - Throws: The error of a server that fails at everything.
    static func above(_ position: String, _ read: Reader) async throws -> BrokenItemSearch? {
        if let arrivals = Arrivals(position, separator: " ", where: MastodonID.isUsable),
            let gap = arrivals.gap,
            let newest = MastodonPlace(arrivals.newest), let floor = MastodonPlace(gap.since),
            floor.isBelow(newest)
        {
            return BrokenItemSearch(range: .arrived(newest: newest), floor: floor, failed: nil)
        }
        let place = MastodonPlace(position).map {
            BrokenItemSearch(range: .arrivals(since: $0, noted: []), floor: $0, failed: nil)
        }
        guard var search = place ?? BrokenItemSearch(.newer(than: position)), search.end == nil,
            let highest = search.floor.highest, search.floor.distance(to: highest) > 2
        else { return nil }
        let floor = search.floor
        // No id lies in there, so only a server that fails at everything fails here.
        _ = try await read(floor, floor.advanced(by: 1), true)
        for step in 0..<MastodonPlace.steps {
            guard let end = floor.above(step: step), floor.distance(to: end) > 1 else { continue }
            do {
                // What can be had is read by the search, with its first broken item above it.
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
    /// - Returns: The items that it brought, or the item that cannot be had.
    /// - Throws: The error of a server that fails at everything.
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
            let id = end.before
            // Told from a server that fails at everything, and from one that failed by chance.
            _ = try await read(floor, id, true)
            do {
                return try await take(try await read(floor, end, true), upTo: end, read)
            } catch let error as NetworkError where mayBePassed(error) {
                floor = id
                failed = nil
                if case .arrivals(let since, let noted) = range {
                    range = .arrivals(since: since, noted: (noted + [id]).suffix(Self.maximumNoted))
                }
                var list = MastodonList(rateLimit: nil)
                list.putFirst(UnreadableItem(brokenAt: id, of: feed, error))
                return list
            }
        }
    }

    /// Whether an error of a part may be of an item in it; below a ceiling, also of the place that
    /// was asked for.
    private func mayBePassed(_ error: NetworkError) -> Bool {
        if case .past = range { error.mayBeOfOnePage } else { error.mayBeOfOneItem }
    }

    /// Asks for what arrived as if nothing was broken, and for what was given an id below a noted
    /// one.
    private mutating func takeArrivals(_ read: Reader) async throws -> MastodonList {
        guard case .arrivals(let since, let noted) = range else {
            return MastodonList(rateLimit: nil)
        }
        for part in parts {
            var answer: Answer?
            do {
                answer = try await read(part.since, part.until, false)
                if answer?.newest == nil { continue }
            } catch let error as NetworkError where mayBePassed(error) {
                answer = nil
            }
            // The ids from here on were noted too early.
            range = .arrivals(since: since, noted: noted.filter { $0.isBelow(part.until) })
            floor = base
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
        if let rest = answer.rest, floor.distance(to: rest) > 1 {
            // What was read above it comes again.
            failed = rest
            return answer.list
        }
        if let newest = answer.newest, case .arrivals(let since, let noted) = range {
            // Now that an item above the noted ids was read, new items have higher ids.
            guard try await isRead(noted, read) else {
                range = .arrived(newest: newest)
                floor = since
                failed = nil
                return answer.list
            }
            range = .arrivals(since: newest, noted: [])
        }
        floor = answer.newest ?? end?.before ?? floor
        if let top = failed, floor.distance(to: top) < 2 {
            failed = nil
            // What failed was no item, and ids below it may be given still.
            if answer.newest == nil, case .arrivals = range { floor = base }
        }
        return answer.list
    }

    /// Whether below ``floor`` nothing but the noted ids was given, and their items still cannot be
    /// had.
    private func isRead(_ noted: [MastodonPlace], _ read: Reader) async throws -> Bool {
        guard noted.count < Self.maximumNoted else { return false }
        let last = base.isBelow(floor) ? [(since: base, until: floor.advanced(by: 1))] : []
        do {
            for part in parts + last {
                guard try await read(part.since, part.until, false).newest == nil else {
                    return false
                }
            }
        } catch let error as NetworkError where mayBePassed(error) {
            return false
        }
        for id in noted {
            do {
                guard try await read(id.before, id.advanced(by: 1), true).newest == nil else {
                    return false
                }
            } catch let error as NetworkError where mayBePassed(error) {
                continue
            }
        }
        return true
    }

    /// The newest id that was read or noted; ``floor`` for other ranges than the arrivals.
    private var base: MastodonPlace {
        guard case .arrivals(let since, let noted) = range else { return floor }
        return noted.last ?? since
    }

    /// The parts of the arrivals between the noted ids, as far as they are known.
    private var parts: [(since: MastodonPlace, until: MastodonPlace)] {
        guard case .arrivals(let since, let noted) = range else { return [] }
        let parts = zip([since] + noted, noted).map { (since: $0, until: $1) }
        return noted.count < Self.maximumNoted ? parts : Array(parts.dropFirst())
    }

    // MARK: Cursors

    /// The cursor of the search, which is told from those of a server by its space.
    ///
    /// It begins with an id from which a program that does not know searches reads on without
    /// passing over anything.
    var text: String {
        switch range {
        case .past(let ceiling, let below):
            "\(ceiling.text) \(floor.text):\(failed?.text ?? ""):\(below)"
        case .arrivals(let since, let noted):
            "\(since.text) \((noted.isEmpty ? [since] : noted).map(\.text).joined(separator: ","))"
                + (failed.map { ":\(floor.text):\($0.text)" } ?? "")
        case .arrived(let newest): "\(floor.text) \(newest.text):\(failed?.text ?? "")"
        }
    }

    /// Where the walk goes on after a step: with the search, or with the feed if the search is
    /// over.
    ///
    /// - Parameter last: The search before the step; nil if it begins.
    func cursor(after last: BrokenItemSearch?) -> String {
        switch range {
        case .past(_, let below) where isDone: below
        case .arrived(let newest) where isDone: newest.text
        // After a request that failed by chance, the text differs from that of the position that
        // the search began at.
        case .arrivals(let since, let noted)
        where failed == nil && noted.isEmpty && last?.isPassed(since) == true:
            since.text
        default: text
        }
    }

    /// Whether nothing of this search is left once it has come to an item.
    private func isPassed(_ item: MastodonPlace) -> Bool {
        guard case .arrivals(let since, _) = range else { return true }
        return failed == nil || since != item
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
        let noted = ids.compactMap(\.self)
        guard noted.count == ids.count, let last = noted.last, ids.count == 1 || !isOlder else {
            return nil
        }
        let arrivals = Range.arrivals(since: first, noted: noted == [first] ? [] : noted)
        switch (isOlder, parts.count) {
        case (true, 3)
        where MastodonID.isUsable(parts[2]) && (parts[1].isEmpty || places[1] != nil):
            self.init(range: .past(ceiling: first, below: parts[2]), floor: last, failed: places[1])
        case (false, 1): self.init(range: arrivals, floor: last, failed: nil)
        case (false, 2) where ids.count == 1 && (parts[1].isEmpty || places[1] != nil):
            self.init(range: .arrived(newest: last), floor: first, failed: places[1])
        case (false, 3):
            guard let floor = places[1], let failed = places[2] else { return nil }
            self.init(range: arrivals, floor: floor, failed: failed)
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
    /// An item that no request can have in its answer.
    fileprivate init(brokenAt id: MastodonPlace, of feed: Feed, _ error: NetworkError) {
        self.init(
            // Elsewhere the feed is ordered by other ids than those of posts.
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

    /// - Parameter last: The search before the step; nil if it begins.
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
        // A step that found nothing is not the end.
        page.received = max(page.received, 1)
        return page
    }

    /// Reads the items between two ids.
    ///
    /// - Throws: ``NetworkError`` with code `.rejected` if the server does not keep to the bounds.
    private func answer(
        _ feed: Feed, _ since: MastodonPlace?, _ until: MastodonPlace?, _ isSingle: Bool
    ) async throws -> BrokenItemSearch.Answer {
        let size = isSingle ? 1 : Self.pageSize
        let bounds = [until.map { ("max_id", $0.text) }, since.map { ("min_id", $0.text) }]
            .compactMap(\.self)
        var list = try await list(feed, bounds, size)
        try requireComplete(list, of: feed)
        // Where items below the lower bound come too, nothing tells which item fails.
        let isBounded = since.map { !list.removeItems(notNewerThan: $0.text) } ?? true
        var rest: String?
        if let since, isBounded { rest = try await fill(&list, feed, since: since.text, size) }
        guard !list.entries.isEmpty || !isBounded else {
            return BrokenItemSearch.Answer(list: list)
        }
        let newest = list.newerCursor.flatMap(MastodonPlace.init)
        let lowest = rest.flatMap(MastodonPlace.init)
        guard isBounded, memory.idsSort(in: feed), let newest, until.map(newest.isBelow) ?? true,
            since.map({ $0.isBelow(newest) }) ?? true,
            rest == nil || lowest.map({ !newest.isBelow($0) && since?.isBelow($0) == true }) == true
        else {
            throw client.error(
                feed.operation, .rejected, outcome: .refused,
                detail: "the server does not keep to the part of the feed that was asked for")
        }
        return BrokenItemSearch.Answer(list: list, newest: newest, rest: lowest)
    }
}

/// An id as a number, for ids that tell the order: decimal numbers, ULIDs and flakes.
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

    /// How many steps ``below(step:)`` and ``above(step:)`` make at most: the last is half a year,
    /// or four billion.
    static let steps = 18
    /// Decimal ids from here on begin with a time in milliseconds; the lower 16 bits only count.
    private static let firstWithTime: UInt128 = 1_000_000_000_000_000
    private static let decimals = Array("0123456789".utf8)
    private static let digits = Array(
        "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".utf8)
    private static let crockford = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)

    private let form: Form
    private let number: UInt128

    /// Nil for ids that tell no order.
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

    /// How far above this one another place is; 0 if it is below.
    func distance(to other: MastodonPlace) -> UInt128 {
        other.number > number ? other.number - number : 0
    }

    /// The next lower place; there is one below every place that ``below(step:)`` makes up.
    var before: MastodonPlace { MastodonPlace(form, number - 1) }

    func advanced(by distance: UInt128) -> MastodonPlace { MastodonPlace(form, number + distance) }

    /// An id that was perhaps never given and lies below this one, four times as far with each
    /// step.
    ///
    /// - Parameter step: From 0 for the smallest step, which is one, or a millisecond where the id
    ///   begins with a time.
    /// - Returns: Nil if the step before led to the lowest id.
    func below(step: Int) -> MastodonPlace? {
        guard number > 1, step == 0 || number - 1 > distance(of: step - 1) else { return nil }
        return MastodonPlace(form, number - min(distance(of: step), number - 1))
    }

    /// The same above this one; nil if there is none so high.
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

    /// The id.
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
