import Expectations
import Fixtures
import Foundation
import Networks
import Outbox
import Posts
import TestSupport
import Testing

@testable import Mirroring

/// What a reader decides about a feed, page by page and error by error.
@Suite struct FeedStateTests {
    private static let start = PaperMirror.now

    private func state(
        _ progress: FeedProgress = FeedProgress(), since: TimeInterval? = 0,
        keepsPast: Bool = false,
        horizon: TimeInterval? = nil, depth: Int? = nil
    ) -> FeedState {
        FeedState(
            FeedTerms(keepsPast: keepsPast, since: since.map { Self.start + $0 }, horizon: horizon),
            depth: depth,
            progress: progress)
    }

    private func moment(_ seconds: TimeInterval) -> FeedState.Moment {
        FeedState.Moment(now: Self.start + seconds, present: Self.start + seconds)
    }

    /// A page of items made at these seconds, the newest first.
    private func page(_ seconds: [TimeInterval], older: String? = nil, newer: String? = nil)
        -> FeedPage
    {
        FeedPage(
            items: seconds.map { paperPost("\(Int($0))", on: .mastodon, at: Self.start + $0) },
            older: older,
            newer: newer)
    }

    private func error(_ code: NetworkError.Code) -> NetworkError { paperError(code) }

    // MARK: What is new

    @Test func theFirstLookReadsTheNewestPageAndLeavesAGapToTheStart() throws {
        var state = state()
        var walk = try #require(state.begin(.arrivals, at: moment(90)))
        #expect(walk.part == .newest(floor: Self.start))
        #expect(walk.start == .newest)
        let step = state.took(page([80, 70], older: "70", newer: "80"), in: &walk, at: moment(90))
        #expect(step == FeedState.Step(.over(.whole)))
        #expect(state.progress.position == "80")
        #expect(
            state.progress.gap == Stretch(cursor: "70", floor: Self.start, top: Self.start + 70))
        #expect(state.progress.past == nil)
    }

    @Test func aPageThatReachesTheStartLeavesNoGap() throws {
        var state = state(since: 75)
        var walk = try #require(state.begin(.arrivals, at: moment(90)))
        _ = state.took(page([80, 70, 69, 68], older: "68", newer: "80"), in: &walk, at: moment(90))
        #expect(state.progress.position == "80")
        #expect(state.progress.gap == nil)
    }

    @Test func whereOnlyWhatIsYoungIsWantedAGapEndsThere() throws {
        let state = state(horizon: 30)
        let walk = try #require(state.begin(.arrivals, at: moment(90)))
        #expect(walk.part == .newest(floor: Self.start + 60))
    }

    @Test func aFirstLookNotesWhereATrainingCanGoOn() throws {
        var state = state(since: nil, keepsPast: true)
        for number in 0..<2 {
            var walk = try #require(state.begin(.newest(floor: nil), at: moment(90)))
            _ = state.took(
                page([80], older: "older\(number)", newer: "80"), in: &walk, at: moment(90))
        }
        // A later one is no first look.
        #expect(state.progress.past == Stretch(cursor: "older0"))
        #expect(state.progress.gap == nil)
    }

    @Test func arrivalsMoveThePositionAndCountForAGap() throws {
        var state = state(
            FeedProgress(position: "5", gap: Stretch(cursor: "3", remaining: 3, floor: Self.start)),
            depth: 10)
        var walk = try #require(state.begin(.arrivals, at: moment(90)))
        #expect(walk.start == .newer(than: "5"))
        expect(
            state.took(page([7, 6], newer: "7"), in: &walk, at: moment(90)),
            equals: FeedState.Step(.anotherPage))
        #expect(state.progress.position == "7")
        #expect(state.progress.gap?.remaining == 1)
        #expect(state.progress.arrived == 2)
        // A page without a cursor moves nothing.
        _ = state.took(page([]), in: &walk, at: moment(90))
        #expect(state.progress.position == "7")
        expect(
            state.ended(walk, isOutOfPages: true, at: moment(90)),
            equals: FeedState.Step(.over(.partial)))
        #expect(state.progress.arrived == 2)
        expect(
            state.ended(walk, isOutOfPages: false, at: moment(90)),
            equals: FeedState.Step(.over(.whole)))
        #expect(state.progress.arrived == 0)
    }

    @Test func asManyArrivalsAsANetworkShowsMayHideOthers() throws {
        var state = state(FeedProgress(position: "5", newest: Self.start + 5), depth: 10)
        var walk = try #require(state.begin(.arrivals, at: moment(90)))
        _ = state.took(
            page((51...59).reversed().map(Double.init), newer: "59"), in: &walk, at: moment(90))
        let step = state.ended(walk, isOutOfPages: false, at: moment(90))
        #expect(step.unreached?.from == Self.start + 5)
        #expect(step.unreached?.to == Self.start + 51)
        expect(state.ended(walk, isOutOfPages: false, at: moment(90)).unreached, equals: nil)
    }

    @Test func aPositionThatTheServerDoesNotTakeIsLostAtOnce() throws {
        var state = state(FeedProgress(position: "5", newest: Self.start + 1_000))
        let walk = try #require(state.begin(.arrivals, at: moment(2_000)))
        // The times of items may be ten minutes out of order.
        expect(
            state.failed(error(.rejected), in: walk, at: moment(2_000)),
            equals: FeedState.Step(.walk(.newest(floor: Self.start + 400))))
        #expect(state.progress.position == "5")
    }

    @Test(arguments: [NetworkError.Code.forbidden, .notFound, .unavailable, .malformedResponse])
    func aRefusalOfWhatIsNewIsBelievedAfterTwentyMinutes(_ code: NetworkError.Code) throws {
        var state = state(FeedProgress(position: "5"))
        for second in [0.0, 600, 1_199] {
            let walk = try #require(state.begin(.arrivals, at: moment(second)))
            #expect(!walk.isCareful)
            expect(
                state.failed(error(code), in: walk, at: moment(second)),
                equals: FeedState.Step(.failure(error(code))))
        }
        let walk = try #require(state.begin(.arrivals, at: moment(1_200)))
        #expect(walk.isCareful)
        expect(
            state.failed(error(code), in: walk, at: moment(1_200)),
            equals: FeedState.Step(.walk(.newest(floor: Self.start))))
    }

    @Test(arguments: [NetworkError.Code.transport, .rateLimited, .overBudget, .unauthorized])
    func whatIsNotAboutThePageIsNeverBelieved(_ code: NetworkError.Code) throws {
        var state = state(FeedProgress(position: "5", gap: Stretch(cursor: "3", floor: Self.start)))
        let before = state.progress
        for second in [0.0, 1_300, 99_999] {
            for part in [FeedState.Part.arrivals, .gap, .sweep(floor: Self.start), .past(limit: 3)]
            {
                guard let walk = state.begin(part, at: moment(second)) else { continue }
                expect(
                    state.failed(error(code), in: walk, at: moment(second)),
                    equals: FeedState.Step(.failure(error(code))))
            }
        }
        #expect(state.progress == before)
    }

    /// On the way, the position is no reason.
    @Test func aLaterPageThatIsRefusedLosesNoPosition() throws {
        var state = state(FeedProgress(position: "5"))
        var walk = try #require(state.begin(.arrivals, at: moment(90)))
        _ = state.took(page([7, 6], newer: "7"), in: &walk, at: moment(90))
        expect(
            state.failed(error(.rejected), in: walk, at: moment(90)),
            equals: FeedState.Step(.failure(error(.rejected)))
        )
        // But no page gets smaller than one item.
        expect(
            state.failed(error(.tooLarge), in: walk, at: moment(90)),
            equals: FeedState.Step(.walk(.newest(floor: Self.start))))
    }

    // MARK: Gaps

    private func gap(_ cursor: String = "50", top: TimeInterval? = 50, refused: TimeInterval? = nil)
        -> FeedProgress
    {
        FeedProgress(
            position: "80",
            gap: Stretch(
                cursor: cursor, floor: Self.start + 10, top: top.map { Self.start + $0 },
                refused: refused.map { Self.start + $0 }))
    }

    @Test func aGapIsReadPageByPageDownToItsFloor() throws {
        var state = state(gap(refused: 60))
        var walk = try #require(state.begin(.gap, at: moment(90)))
        #expect(walk.start == .older("50"))
        #expect(walk.isCareful)
        expect(
            state.took(page([40, 30], older: "30"), in: &walk, at: moment(90)),
            equals: FeedState.Step(.anotherPage))
        #expect(
            state.progress.gap
                == Stretch(cursor: "30", floor: Self.start + 10, top: Self.start + 30))
        expect(
            state.ended(walk, isOutOfPages: true, at: moment(90)),
            equals: FeedState.Step(.over(.partial)))
        #expect(state.progress.gap != nil)
        expect(
            state.took(page([20, 9, 8, 7], older: "7"), in: &walk, at: moment(90)),
            equals: FeedState.Step(.over(.whole)))
        #expect(state.progress.gap == nil)
        #expect(state.begin(.gap, at: moment(90)) == nil)
    }

    /// Single items out of their place do not tell that a page is below the floor.
    @Test func oneOldItemEndsNoGap() throws {
        var state = state(gap())
        var walk = try #require(state.begin(.gap, at: moment(90)))
        let step = state.took(page([40, 30, 5], older: "5"), in: &walk, at: moment(90))
        #expect(step == FeedState.Step(.anotherPage))
    }

    @Test func aCursorThatTheServerDoesNotTakeBeginsTheGapAnewOnce() throws {
        var state = state(gap())
        let walk = try #require(state.begin(.gap, at: moment(90)))
        expect(
            state.failed(error(.rejected), in: walk, at: moment(90)),
            equals: FeedState.Step(.walk(.newest(floor: Self.start + 10))))
        #expect(state.progress.gap?.refused == Self.start + 90)
        var newest = try #require(state.begin(.newest(floor: Self.start + 10), at: moment(90)))
        _ = state.took(page([89, 88], older: "88", newer: "89"), in: &newest, at: moment(90))
        // What refused it may refuse it again, which then is a refusal as any other.
        #expect(state.progress.gap?.refused == Self.start + 90)
        let again = try #require(state.begin(.gap, at: moment(100)))
        expect(
            state.failed(error(.rejected), in: again, at: moment(100)),
            equals: FeedState.Step(.over(.refused)))
    }

    @Test func aRefusedGapIsGivenUpAndNamedAfterTwentyMinutes() throws {
        var state = state(gap())
        for second in [100.0, 700, 1_299] {
            let walk = try #require(state.begin(.gap, at: moment(second)))
            expect(
                state.failed(error(.forbidden), in: walk, at: moment(second)),
                equals: FeedState.Step(.over(.refused)))
            #expect(state.progress.errorCode == "forbidden")
        }
        let walk = try #require(state.begin(.gap, at: moment(1_300)))
        let step = state.failed(error(.forbidden), in: walk, at: moment(1_300))
        #expect(step.next == .over(.whole))
        #expect(step.unreached?.from == Self.start + 10)
        #expect(step.unreached?.to == Self.start + 50)
        #expect(state.progress.gap == nil)
    }

    // MARK: Sweeps

    @Test func aSweepGoesOnWhereItStoppedAndLooksBelowTheBotsPosts() throws {
        var state = state(FeedProgress(position: "80"))
        let floor = Self.start + 10
        var walk = try #require(state.begin(.sweep(floor: floor), at: moment(90)))
        #expect(walk.start == .newest)
        expect(
            state.took(page([80, 70], older: "70"), in: &walk, at: moment(90)),
            equals: FeedState.Step(.anotherPage))
        #expect(state.progress.sweep == Stretch(cursor: "70", floor: floor, top: Self.start + 70))
        #expect(state.progress.position == "80")
        // It ends where it was to end, whatever is asked for now.
        walk = try #require(state.begin(.sweep(floor: Self.start + 60), at: moment(100)))
        #expect(walk.part == .sweep(floor: floor))
        #expect(walk.start == .older("70"))
        expect(
            state.took(page([9, 8, 7], older: "7"), in: &walk, at: moment(100)),
            equals: FeedState.Step(.over(.whole)))
        #expect(state.progress.sweep == nil)
        #expect(state.progress.swept == Self.start + 100)
        #expect(state.progress.ownPostsToLookBelow?.place.due == floor)
        #expect(state.progress.ownPostsToLookBelow?.end == Self.start + 100)
    }

    @Test func aSweepWhoseCursorIsNotTakenBeginsAnew() throws {
        var state = state(
            FeedProgress(
                position: "80",
                sweep: Stretch(cursor: "70", floor: Self.start, top: Self.start + 70)))
        let walk = try #require(state.begin(.sweep(floor: Self.start), at: moment(90)))
        expect(
            state.failed(error(.rejected), in: walk, at: moment(90)),
            equals: FeedState.Step(.over(.partial)))
        #expect(state.progress.sweep == nil)
        #expect(state.progress.swept == nil)
    }

    @Test func aSweepIsGivenUpOnlyWhereTheFeedIsHeard() throws {
        let begun = Stretch(cursor: "70", floor: Self.start, top: Self.start + 70)
        var state = state(FeedProgress(position: "80", sweep: begun))
        func fail(_ second: TimeInterval) throws -> FeedState.Step {
            let walk = try #require(state.begin(.sweep(floor: Self.start), at: moment(second)))
            return state.failed(error(.forbidden), in: walk, at: moment(second))
        }
        try expect(fail(100), equals: FeedState.Step(.over(.refused)))
        try expect(fail(1_400), equals: FeedState.Step(.over(.refused)))
        _ = state.succeeded(isWhole: true, at: moment(1_400))
        let step = try fail(1_500)
        #expect(step.next == .over(.whole))
        #expect(step.unreached?.to == Self.start + 70)
        #expect(state.progress.swept == Self.start + 1_500)
    }

    // MARK: The past

    @Test func thePastIsReadUpToItsLimit() throws {
        var state = state(since: nil)
        #expect(state.left(of: 5) == 5)
        var walk = try #require(state.begin(.past(limit: 5), at: moment(90)))
        #expect(walk.start == .newest)
        _ = state.took(page([80, 79, 78], older: "78", newer: "80"), in: &walk, at: moment(90))
        #expect(state.progress.position == "80")
        #expect(state.progress.past == Stretch(cursor: "78", remaining: 2))
        walk = try #require(state.begin(.past(limit: 5), at: moment(95)))
        let last = walk.wanted(of: page([77, 76, 75], older: "75"))
        #expect(last.items.count == 2)
        expect(state.took(last, in: &walk, at: moment(95)), equals: FeedState.Step(.over(.whole)))
        #expect(state.progress.past == nil)
        #expect(state.left(of: 5) == nil)
        #expect(state.begin(.past(limit: 5), at: moment(99)) == nil)
    }

    @Test func aPageOfThePastThatBreaksTheServerIsReadCarefullyTheNextTime() throws {
        var state = state(FeedProgress(position: "80", past: Stretch(cursor: "70")))
        let walk = try #require(state.begin(.past(limit: 5), at: moment(90)))
        #expect(!walk.isCareful)
        expect(
            state.failed(error(.malformedResponse), in: walk, at: moment(90)),
            equals: FeedState.Step(.failure(error(.malformedResponse))))
        try expect(#require(state.begin(.past(limit: 5), at: moment(91))).isCareful, equals: true)
    }

    // MARK: How well it is read

    @Test func onlyAFeedWithoutAGapIsReadToItsEnd() throws {
        var state = state(gap())
        expect(state.succeeded(isWhole: true, at: moment(90)), equals: .nothing)
        #expect(state.lastRead == nil)
        state.progress.gap = nil
        expect(state.succeeded(isWhole: false, at: moment(90)), equals: .nothing)
        expect(state.succeeded(isWhole: true, at: moment(90)), equals: .change)
        #expect(state.lastRead == Self.start + 90)
        // What changes nothing is stored seldom.
        expect(state.succeeded(isWhole: true, at: moment(389)), equals: .nothing)
        #expect(state.lastRead == Self.start + 389)
        expect(state.succeeded(isWhole: true, at: moment(390)), equals: .timeOnly)
    }

    @Test func aTroubleKeepsItsBeginningUntilItIsOver() throws {
        var state = state()
        expect(state.troubled("one", code: .unavailable, at: moment(1)), equals: true)
        expect(state.troubled("one", code: .unavailable, at: moment(2)), equals: false)
        expect(state.troubled("two", code: .forbidden, at: moment(3)), equals: true)
        #expect(state.progress.errorSince == Self.start + 1)
        #expect(state.progress.errorCode == "forbidden")
        expect(state.succeeded(isWhole: false, at: moment(4)), equals: .change)
        #expect(state.progress.error == nil)
        #expect(state.progress.errorSince == nil)
    }

    // MARK: Items

    @Test func anItemIsTriedForADay() throws {
        let now = Self.start
        let postponed = Postponed(address: "a", reason: "not yet")
        let item = FeedItem(postponed, version: "1", now: now)
        #expect(item.attempts == 1)
        #expect(item.state == .waiting)
        expect(try #require(item.next).timeIntervalSince(now)) { (120...150).contains($0) }
        let later = try #require(item.after(.postponed(postponed), version: "1", now: now + 86_399))
        #expect(later.state == .waiting)
        let last = try #require(
            later.after(.failed(error(.unavailable)), version: "2", now: now + 86_400))
        #expect(last.state == .givenUp)
        #expect(last.next == nil)
        #expect(last.attempts == 3)
        #expect(item.after(.decided, version: "1", now: now) == nil)
        #expect(item.after(.gone, version: "1", now: now)?.state == .givenUp)
        #expect(item.after(.failed(error(.notFound)), version: "1", now: now)?.state == .givenUp)
        let broken = FeedItem(UnreadableItem(digest: "d", cause: "odd"), version: "1", now: now)
        #expect(broken.address == nil)
        #expect(broken.after(.impossible, version: "2", now: now)?.version == "2")
        #expect(
            broken.after(.failed(error(.notFound)), version: "2", now: now)?.state == .unreadable)
    }

    // MARK: Walks of chance

    /// Pages, refusals, lost places and ends at every moment: in the end every item was handed
    /// over, or the stretch is named in which it lies.
    @Test(arguments: 0..<400)
    func nothingIsPassedOverInSilence(_ seed: Int) throws {
        var world = FeedOnPaper(seed: UInt64(seed))
        world.live()
        world.recover()
        #expect(world.missing == [], "\(world.depth as Any)")
        #expect(world.state.progress.gap == nil)
        #expect(world.state.progress.errorSince == nil)
    }

    /// Two and more broken items at every distance make every page fail that has them.
    ///
    /// Each is noted, and nothing around them is passed over. Where ids tell no order, the stretch
    /// is named.
    @Test(arguments: 0..<500)
    func nothingBetweenBrokenItemsIsPassedOver(_ seed: Int) throws {
        let isOrdered = seed % 3 > 0
        let isHealthy = seed % 2 == 0
        var world = FeedOnPaper(
            seed: UInt64(seed), isHealthy: isHealthy, breaks: isOrdered ? .ordered : .unordered)
        world.live()
        world.recover()
        #expect(world.missing == [])
        #expect(world.state.progress.gap == nil)
        #expect(world.state.progress.errorSince == nil)
        if isOrdered, isHealthy {
            #expect(world.unheard == world.broken.sorted())
            #expect(world.unreached.isEmpty)
        }
    }

    /// The same where only the reader's process dies: nothing is even named.
    @Test(arguments: 0..<100)
    func anInterruptionRepeatsAndNeverLoses(_ seed: Int) throws {
        var world = FeedOnPaper(seed: UInt64(seed), isHealthy: true)
        world.live()
        world.recover()
        #expect(world.unheard == [])
        #expect(world.unreached.isEmpty)
        #expect(world.crashes > 0)
    }

    /// While a search reads a stretch from its lower end, an old item does not tell that the
    /// stretch was read.
    @Test func aStepOfASearchEndsNoGap() throws {
        var state = state(gap())
        var walk = try #require(state.begin(.gap, at: moment(90)))
        var step = page([9, 8, 7], older: "search")
        step.isFromBelow = true
        expect(state.took(step, in: &walk, at: moment(90)), equals: FeedState.Step(.anotherPage))
        #expect(
            state.progress.gap
                == Stretch(cursor: "search", floor: Self.start + 10, top: Self.start + 50))
        var sweep = try #require(state.begin(.sweep(floor: Self.start + 10), at: moment(90)))
        expect(state.took(step, in: &sweep, at: moment(90)), equals: FeedState.Step(.anotherPage))
        #expect(state.progress.sweep == Stretch(cursor: "search", floor: Self.start + 10))
    }

    /// What lies below pages that repeat cannot be asked for, so it is named.
    @Test func aGapThatEndsInACircleIsNamed() throws {
        var state = state(gap())
        let walk = try #require(state.begin(.gap, at: moment(90)))
        let step = state.ended(walk, isOutOfPages: false, repeatsPages: true, at: moment(90))
        #expect(step.next == .over(.whole))
        #expect(step.unreached?.from == Self.start + 10)
        #expect(step.unreached?.to == Self.start + 50)
        #expect(state.progress.gap == nil)
    }
}

/// A server with one feed, and a reader that stores what the state says; both fail by chance.
private struct FeedOnPaper {
    private static let start = PaperMirror.now
    private static let terms = FeedTerms(pages: 4, since: start)

    private(set) var state: FeedState
    private(set) var unreached: [FeedState.Unreached] = []
    private(set) var crashes = 0
    private var random: SeededGenerator
    private let isHealthy: Bool
    let depth: Int?
    /// How the server answers for single items that make pages fail; nil where there are none.
    private let breaks: Breaks?
    private(set) var broken: Set<Int> = []
    private var noted: Set<Int> = []
    /// When each item was made, in seconds; its name is its place.
    private var items: [TimeInterval] = []
    private var heard: Set<Int> = []
    private var stored = FeedProgress()
    private var now: TimeInterval = 0
    /// Cursors from before are not taken any more.
    private var epoch = 0
    /// Pages with one of these items are refused, with this error.
    private var refused: (items: Range<Int>, code: NetworkError.Code)?
    private var faults = true

    enum Breaks {
        /// Ids tell the order, so that a search finds the items.
        case ordered
        case unordered
    }

    init(seed: UInt64, isHealthy: Bool = false, breaks: Breaks? = nil) {
        random = SeededGenerator(seed: seed)
        self.isHealthy = isHealthy
        self.breaks = breaks
        depth =
            isHealthy || breaks != nil ? nil : [nil, nil, 40].randomElement(using: &random) ?? nil
        state = FeedState(Self.terms, depth: depth)
    }

    /// The items that nobody heard of.
    var unheard: [Int] { items.indices.filter { !heard.contains($0) } }

    /// The items that nobody heard of, and that no note names.
    var missing: [Int] {
        unheard.filter { !noted.contains($0) }.filter { item in
            let made = Self.start + items[item]
            return !unreached.contains { $0.from <= made && made <= $0.to }
        }
    }

    /// A day of items, faults and looks.
    mutating func live() {
        for _ in 0..<80 {
            arrive()
            if !isHealthy, chance(0.05) { epoch += 1 }
            if !isHealthy, chance(0.08), !items.isEmpty {
                let first = Int.random(in: items.indices, using: &random)
                let codes: [NetworkError.Code] = [
                    .forbidden, .unavailable, .malformedResponse, .tooLarge, .rejected,
                ]
                refused = (
                    first..<first + Int.random(in: 1...30, using: &random),
                    codes[Int.random(in: codes.indices, using: &random)]
                )
            }
            if chance(0.2) { refused = nil }
            look()
        }
    }

    /// Looks until nothing fails any more.
    mutating func recover() {
        faults = false
        refused = nil
        // Above a broken item nothing is known of the present.
        if breaks != nil { items.append(now) }
        for _ in 0..<(breaks == nil ? 60 : 2_000) { look() }
    }

    private mutating func chance(_ share: Double) -> Bool {
        Double.random(in: 0..<1, using: &random) < share
    }

    private mutating func arrive() {
        let count =
            chance(0.1)
            ? Int.random(in: 20...120, using: &random) : Int.random(in: 0...6, using: &random)
        let pause = Double.random(in: 30...2_000, using: &random)
        let times = (0..<count).map { _ in now + Double.random(in: 0...pause, using: &random) }
        items += times.sorted()
        now += pause
        guard breaks != nil, count > 0, chance(0.3) else { return }
        let first = items.count - Int.random(in: 1...count, using: &random)
        let distance = Int.random(in: 1...12, using: &random)
        broken.formUnion(
            [first, first + distance, first + 2 * distance].filter { $0 < items.count })
    }

    // MARK: The reader

    private struct Crash: Error {}

    private var moment: FeedState.Moment {
        FeedState.Moment(now: Self.start + now, present: Self.start + now)
    }

    /// As ``FeedReader/readNew(_:mayGoOn:)`` does it; a process that dies knows only what was
    /// stored.
    private mutating func look() {
        now += 30
        do {
            let endings = [try read(.arrivals), try read(.gap)]
            guard !endings.contains(.refused) else { return }
            _ = state.succeeded(isWhole: endings.allSatisfy { $0 == .whole }, at: moment)
            stored = state.progress
        } catch let error as NetworkError {
            _ = state.troubled("\(error)", code: error.code, at: moment)
            stored = state.progress
        } catch {
            crashes += 1
            state = FeedState(Self.terms, depth: depth, progress: stored)
        }
    }

    private mutating func read(_ part: FeedState.Part) throws -> FeedState.Ending {
        guard var walk = state.begin(part, at: moment) else { return .whole }
        var position: FeedPosition? = walk.start
        var pages = 0
        var isCareful = walk.isCareful
        while true {
            var step: FeedState.Step
            do {
                if let place = position, pages < Self.terms.pages {
                    let (page, next) = try page(at: place, isCareful)
                    isCareful = isCareful || page.isFromBelow
                    position = next
                    pages = pages + 1
                    try dieByChance()
                    heard.formUnion(page.items.compactMap { Int($0.post.id.value) })
                    try dieByChance()
                    step = state.took(page, in: &walk, at: moment)
                } else {
                    step = state.ended(walk, isOutOfPages: position != nil, at: moment)
                }
            } catch let error as NetworkError {
                step = state.failed(error, in: walk, at: moment)
            }
            stored = state.progress
            unreached += [step.unreached].compactMap(\.self)
            try dieByChance()
            switch step.next {
            case .anotherPage: if faults, chance(0.1) { return .stopped }
            case .walk(let part): return try read(part)
            case .over(let ending): return ending
            case .failure(let error): throw error
            }
        }
    }

    private mutating func dieByChance() throws { if faults, chance(0.04) { throw Crash() } }

    // MARK: The server

    private mutating func page(
        at position: FeedPosition, _ isCareful: Bool
    ) throws -> (FeedPage, FeedPosition?) {
        if faults, !isHealthy, chance(0.05) {
            if chance(0.5) { throw paperError(.unavailable) }
            throw paperError(chance(0.5) ? .transport : .rateLimited)
        }
        let shown = max(0, items.count - (depth ?? items.count))..<items.count
        let size = 10
        var range: Range<Int>
        var isBackwards = true
        switch position {
        case .newest: range = max(shown.lowerBound, shown.upperBound - size)..<shown.upperBound
        case .older(let cursor):
            let end = min(max(try place(cursor), shown.lowerBound), shown.upperBound)
            range = max(shown.lowerBound, end - size)..<end
        case .newer(let cursor):
            let begin = min(max(try place(cursor), shown.lowerBound), shown.upperBound)
            range = begin..<min(begin + size, shown.upperBound)
            isBackwards = false
        }
        if let refused, refused.items.overlaps(range) { throw paperError(refused.code) }
        if case .older(let cursor) = position, let search = try search(cursor) {
            return step(search)
        }
        if !broken.isDisjoint(with: range) {
            guard isCareful else { throw paperError(.unavailable) }
            range = isBackwards ? range.suffix(1) : range.prefix(1)
            if !broken.isDisjoint(with: range) { return try pass(range, position) }
        }
        let older =
            isBackwards && range.lowerBound > shown.lowerBound
            ? "\(epoch):\(range.lowerBound)" : nil
        let newer =
            isBackwards && position != .newest || range.isEmpty
            ? nil : "\(epoch):\(range.upperBound)"
        let posts = range.reversed().map {
            paperPost("\($0)", on: .mastodon, at: Self.start + items[$0])
        }
        let page = FeedPage(items: posts, older: older, newer: newer)
        return (page, isBackwards ? older.map(FeedPosition.older) : newer.map { .newer(than: $0) })
    }

    private func place(_ cursor: String) throws -> Int {
        let parts = cursor.split(separator: ":").compactMap { Int($0) }
        guard parts.count > 1, parts[0] == epoch else { throw paperError(.rejected) }
        return parts[1]
    }

    // MARK: Searches

    /// The part of a search that is to be read still, and where the feed goes on below it.
    private typealias Search = (range: Range<Int>, below: Int)

    private func search(_ cursor: String) throws -> Search? {
        let parts = cursor.split(separator: ":").compactMap { Int($0) }
        guard parts.count == 4 else { return nil }
        return (parts[2]..<parts[1], parts[3])
    }

    private func text(_ search: Search) -> String {
        "\(epoch):"
            + (search.range.isEmpty
                ? "\(search.below)"
                : "\(search.range.upperBound):\(search.range.lowerBound):\(search.below)")
    }

    /// Begins a search at a broken item.
    private mutating func pass(_ item: Range<Int>, _ position: FeedPosition) throws -> (
        FeedPage, FeedPosition?
    ) {
        guard breaks == .ordered else { throw paperError(.unavailable) }
        var page = FeedPage(items: [], received: 1)
        page.isFromBelow = true
        switch position {
        case .newest: throw paperError(.unavailable)
        case .older:
            let below = max(0, item.lowerBound - Int.random(in: 0...40, using: &random))
            page.older = text((below..<item.upperBound, below))
            return (page, page.older.map(FeedPosition.older))
        case .newer:
            noted.formUnion(item)
            page.newer = "\(epoch):\(item.upperBound)"
            return (page, page.newer.map { .newer(than: $0) })
        }
    }

    /// Reads some items from the lower end of a search.
    private mutating func step(_ search: Search) -> (FeedPage, FeedPosition?) {
        let range = search.range.prefix(Int.random(in: 1...20, using: &random))
        noted.formUnion(broken.intersection(range))
        let posts = range.reversed().filter { !broken.contains($0) }
            .map { paperPost("\($0)", on: .mastodon, at: Self.start + items[$0]) }
        let older = text((range.upperBound..<search.range.upperBound, search.below))
        var page = FeedPage(items: posts, older: older, received: max(posts.count, 1))
        page.isFromBelow = true
        return (page, .older(older))
    }
}

private func paperError(_ code: NetworkError.Code) -> NetworkError {
    NetworkError(
        code: code, network: .mastodon, host: "paper.example", operation: .readMentions,
        outcome: .notSent)
}
