import Foundation
import Posts
import TestSupport
import Testing

@testable import Networks
@testable import X

/// What calls cost, and what becomes of a budget.
@Suite struct XMoneyTests {
    private let prices = XPrices.current

    private func dollars(_ amount: Double) -> Money {
        Money(microdollars: Int((amount * 1_000_000).rounded()))
    }

    private func mentions(
        _ count: Int, book: MemoryBook = MemoryBook(), options: XOptions = XOptions(),
        now: @escaping @Sendable () -> Date = { XLoopback.start }
    ) throws -> (loopback: XLoopback, paging: XPagingServer) {
        let paging = XPagingServer(.documented, count: count)
        return (
            try XLoopback(options: options, book: book, now: now) {
                $0.path.hasPrefix("/2/users/42/") ? paging.answer($0) : nil
            }, paging
        )
    }

    @Test func pricesAreAsPublished() {
        #expect(prices.day == "2026-04-20")
        #expect(prices.postRead == dollars(0.005))
        #expect(prices.userRead == dollars(0.010))
        #expect(prices.likeRead == dollars(0.001))
        #expect(prices.ownedRead == dollars(0.001))
        #expect(prices.postCreate == dollars(0.015))
        #expect(prices.postCreateWithURL == dollars(0.200))
        #expect(prices.summonedReply == dollars(0.010))
        #expect(prices.delete == dollars(0.010))
    }

    @Test(arguments: [
        (Feed.ownPosts, false, 16.0), (.ownPosts, true, 3.2), (.mentions, false, 48.0),
        (.mentions, true, 35.2),
        (.home, false, 48.0), (.home, true, 48.0), (.favorites, false, 16.0),
        (.favorites, true, 3.2),
    ])
    func aReadingHasItsPrice(feed: Feed, ownsApp: Bool, expected: Double) throws {
        let network = try XLoopback(options: XOptions(ownsApp: ownsApp)) { _ in nil }.network
        #expect(network.price(ofReading: 3_200, from: feed) == dollars(expected))
        #expect(network.price(ofReading: 0, from: feed) == .zero)
    }

    /// The newer spelling makes X send, and bill, what a post refers to.
    @Test func theNewerSpellingCostsMore() throws {
        let network = try XLoopback(options: XOptions(fieldNames: .post)) { _ in nil }.network
        #expect(network.price(ofReading: 1, from: .mentions) == dollars(0.035))
        #expect(prices.priceOfLookUp(of: .others) == dollars(0.015))
        #expect(prices.priceOfLookUp(of: .own) == dollars(0.005))
        #expect(prices.priceOfLookUp(of: .others, fieldNames: .post) == dollars(0.035))
        #expect(prices.priceOfLookUp(of: .own, fieldNames: .post) == dollars(0.025))
    }

    @Test func onlyWhatIsReceivedIsPaid() async throws {
        let (loopback, paging) = try mentions(7)
        let first = try await loopback.network.page(.mentions, .newest)
        // The account, seven posts and their one author.
        #expect(loopback.book.spent == dollars(0.010 + 7 * 0.005 + 0.010))
        #expect(
            loopback.book.entries == [
                .init(amount: dollars(0.010), purpose: .lookUp, isReservation: true),
                .init(amount: dollars(20 * 0.015), purpose: .feed(.mentions), isReservation: true),
                .init(
                    amount: dollars(20 * 0.015 - 0.045), purpose: .feed(.mentions),
                    isReservation: false),
            ])
        paging.grow(by: 0)
        let cursor = try #require(first.newer)
        _ = try await loopback.network.page(.mentions, .newer(than: cursor))
        #expect(loopback.book.spent == dollars(0.055))
    }

    @Test func theSameThingIsPaidOnceInADay() async throws {
        let clock = AdjustableTime(XLoopback.start)
        let (loopback, paging) = try mentions(7, now: { clock.now })
        _ = try await loopback.network.page(.mentions, .newest)
        let spent = loopback.book.spent
        _ = try await loopback.network.page(.mentions, .newest)
        _ = try await loopback.network.verifyAccount()
        #expect(loopback.book.spent == spent)
        paging.grow(by: 1)
        _ = try await loopback.network.page(.mentions, .newest)
        #expect(loopback.book.spent == spent + prices.postRead)
        // 23:59:59 and midnight, in UTC.
        clock.now = Date(timeIntervalSince1970: 1_795_219_199)
        _ = try await loopback.network.page(.mentions, .newest)
        #expect(loopback.book.spent == spent + prices.postRead)
        clock.now = Date(timeIntervalSince1970: 1_795_219_200)
        _ = try await loopback.network.page(.mentions, .newest)
        #expect(
            loopback.book.spent == spent + prices.postRead + prices.postRead * 8 + prices.userRead)
    }

    @Test func ownedReadsAreCheaper() async throws {
        let (loopback, _) = try mentions(7, options: XOptions(ownsApp: true))
        _ = try await loopback.network.page(.mentions, .newest)
        #expect(loopback.book.spent == dollars(0.010 + 7 * 0.001 + 0.010))
        // The same post is dearer when it is asked for by itself: the rest is paid.
        let single = XWire.answer(XWire.post("1007"), users: [XWire.user("7", "ann")])
        let other = try XLoopback(options: XOptions(ownsApp: true)) { request in
            switch request.path {
            case "/2/tweets/1007": .json(single)
            case "/2/users/42/mentions": .json(XWire.list([XWire.post("1007")]))
            default: nil
            }
        }
        _ = try await other.network.page(.mentions, .newest)
        let spent = other.book.spent
        _ = try await other.network.lookUp("1007")
        #expect(other.book.spent == spent + dollars(0.004))
    }

    @Test func whatComesWithAPostIsPaid() async throws {
        let body =
            #"{"data":[\#(XWire.post("9"))],"includes":{"users":[\#(XWire.user("7", "ann")),{"id":"8"}],"posts":[\#(XWire.post("3"))]},"meta":{"result_count":1}}"#
        let loopback = try XLoopback(options: XOptions(fieldNames: .post)) {
            $0.path == "/2/users/42/mentions" ? .json(body) : nil
        }
        _ = try await loopback.network.page(.mentions, .newest)
        #expect(loopback.book.spent == dollars(0.010 + 2 * 0.005 + 2 * 0.010))
    }

    // MARK: Small budgets

    @Test(arguments: [
        // The account has cost 0.010 before.
        (1.0, "20"), (0.31, "20"), (0.309, "10"), (0.16, "10"), (0.159, "5"), (0.085, "5"),
    ])
    func asksForAsManyAsCanBePaid(limit: Double, size: String) async throws {
        let (loopback, _) = try mentions(1, book: MemoryBook(limit: dollars(limit)))
        _ = try await loopback.network.page(.mentions, .newest)
        #expect(loopback.requests.map { $0.query["max_results"] } == [size])
    }

    @Test func asksForNothingThatCannotBePaid() async throws {
        let (loopback, _) = try mentions(1, book: MemoryBook(limit: dollars(0.084)))
        let error = try await #require(throws: NetworkError.self) {
            _ = try await loopback.network.page(.mentions, .newest)
        }
        #expect(error.code == .overBudget)
        #expect(error.outcome == .notSent)
        #expect(error.retryAfter == MemoryBook.later)
        #expect(!error.isPermanent)
        #expect(!error.stopsActor)
        #expect(
            error.description.contains(
                "it costs up to $0.075, which is more than is left of the budget"))
        #expect(error.description.contains("raise X_BUDGET_USD_PER_MONTH, or wait"))
        #expect(loopback.requests.isEmpty)
    }

    @Test(arguments: [(500, "20"), (7, "7"), (1, "1")])
    func asksForNoMoreOfTheHomeTimelineThanADayMayHold(share: Int, size: String) async throws {
        let (loopback, _) = try mentions(1, options: XOptions(homePostsPerDay: share))
        _ = try await loopback.network.page(.home, .newest)
        #expect(loopback.requests.map { $0.query["max_results"] } == [size])
        #expect(loopback.book.entries.last?.purpose == .feed(.home))
    }

    @Test func everyCallAsksTheBook() async throws {
        let (loopback, _) = try mentions(
            1, book: MemoryBook(limit: .zero), options: XOptions(mayPublish: true))
        let network = loopback.network
        let calls: [@Sendable () async throws -> Void] = [
            { _ = try await network.verifyAccount() },
            { _ = try await network.page(.ownPosts, .newest) },
            { _ = try await network.ownPosts(since: XLoopback.start) },
            { try await network.delete("9") },
            {
                _ = try await network.publish(
                    Draft(text: "x", key: "k", createdAt: XLoopback.start))
            },
            { _ = try await network.lookUp("9") },
        ]
        for call in calls {
            let error = try await #require(throws: NetworkError.self) { try await call() }
            #expect(error.code == .overBudget)
        }
        #expect(loopback.server.requests.isEmpty)
    }

    @Test func nothingIsSentWhatCannotBeWrittenDown() async throws {
        let (loopback, _) = try mentions(1, options: XOptions(mayPublish: true))
        loopback.book.shut()
        let error = try await #require(throws: NetworkError.self) {
            _ = try await loopback.network.publish(
                Draft(text: "x", key: "k", createdAt: XLoopback.start))
        }
        #expect(error.code == .unavailable)
        #expect(error.outcome == .notSent)
        #expect(!error.isPermanent)
        #expect(loopback.server.requests.isEmpty)
    }

    @Test func aBookThatBreaksLaterHidesNothing() async throws {
        let book = MemoryBook()
        let loopback = try XLoopback(book: book) { _ in
            book.shut()
            return .json(#"{"data":{"id":"9","text":"x"}}"#, status: 201)
        }
        let published = try await loopback.network.publish(
            Draft(text: "a.bc", key: "k", createdAt: XLoopback.start))
        #expect(published.address == "9")
        #expect(book.spent == prices.postCreateWithURL)
    }

    // MARK: Failures

    @Test(arguments: [400, 401, 403, 404, 429, 500, 503])
    func aRefusedReadCostsNothing(status: Int) async throws {
        let loopback = try XLoopback { $0.path == "/2/users/me" ? nil : Answer(status: status) }
        await #expect(throws: NetworkError.self) {
            _ = try await loopback.network.page(.mentions, .newest)
        }
        #expect(loopback.book.spent == prices.userRead)
    }

    @Test func anAnswerWithNothingCostsNothing() async throws {
        let body = #"{"errors":[\#(XWire.problem("resource-not-found"))]}"#
        let loopback = try XLoopback { $0.path == "/2/users/me" ? nil : .json(body) }
        await #expect(throws: NetworkError.self) {
            _ = try await loopback.network.page(.mentions, .newest)
        }
        #expect(loopback.book.spent == prices.userRead)
        #expect(loopback.book.entries.filter { !$0.isReservation }.count == 1)
    }

    /// X may have billed what arrived here in pieces, so it stays paid, once for a day, until it
    /// arrives whole.
    @Test(arguments: ["", "<html>", "{}", #"{"data":[{"id":"1"#])
    func anAnswerThatCannotBeReadStaysPaidUntilItIsReadAgain(body: String) async throws {
        let clock = AdjustableTime(XLoopback.start)
        let script = AdjustableText(body)
        let loopback = try XLoopback(now: { clock.now }) { request in
            request.path == "/2/users/42/mentions" ? .json(script.text) : nil
        }
        let network = loopback.network
        for _ in 1...3 {
            await #expect(throws: NetworkError.self) {
                _ = try await network.page(.mentions, .newest)
            }
            #expect(loopback.book.spent == dollars(0.010 + 20 * 0.015))
        }
        script.text = XWire.list([XWire.post("9")])
        let newest = try await network.page(.mentions, .newest)
        #expect(loopback.book.spent == dollars(0.010 + 0.005 + 0.010))
        // Another day's is another bill.
        script.text = body
        let cursor = try #require(newest.newer)
        await #expect(throws: NetworkError.self) {
            _ = try await network.page(.mentions, .newer(than: cursor))
        }
        clock.now += 86_400
        script.text = XWire.list([])
        _ = try await network.page(.mentions, .newer(than: cursor))
        #expect(loopback.book.spent == dollars(0.010 + 0.005 + 0.010 + 20 * 0.015))
    }

    /// What another part of the feed cost is not in the cost of this one.
    @Test func aLostReadIsNotFoundByAnother() async throws {
        let script = AdjustableText("")
        let loopback = try XLoopback { request in
            request.path == "/2/users/42/mentions" ? .json(script.text) : nil
        }
        await #expect(throws: NetworkError.self) {
            _ = try await loopback.network.page(.mentions, .older("7"))
        }
        script.text = XWire.list([])
        _ = try await loopback.network.page(.mentions, .newest)
        #expect(loopback.book.spent == dollars(0.010 + 100 * 0.015))
        _ = try await loopback.network.page(.mentions, .older("7"))
        #expect(loopback.book.spent == dollars(0.010))
    }

    @Test func aLostReadStaysPaidUntilItIsMadeAgain() async throws {
        let book = MemoryBook()
        let server = try LoopbackServer(steps: [.awaitRequest, .reset])
        let network = try XLoopback.network(of: server, book: book)
        let error = try await #require(throws: NetworkError.self) {
            _ = try await network.verifyAccount()
        }
        #expect(error.code == .transport)
        #expect(book.spent == prices.userRead)
    }

    @Test func aReadThatDidNotLeaveCostsNothing() async throws {
        let book = MemoryBook()
        let server = try LoopbackServer { _, connection in connection.close() }
        let network = try XLoopback.network(of: server, book: book)
        server.stop()
        await #expect(throws: NetworkError.self) { _ = try await network.verifyAccount() }
        #expect(book.entries.count == 2)
        #expect(book.spent == .zero)
    }

    @Test func aCancelledReadStaysPaidUntilItIsMadeAgain() async throws {
        let book = MemoryBook()
        let server = try LoopbackServer { _, connection in connection.waitForClose() }
        let network = try XLoopback.network(of: server, book: book)
        let task = Task { try await network.verifyAccount() }
        try await server.waitForRequests(1)
        task.cancel()
        await #expect(throws: CancellationError.self) { _ = try await task.value }
        #expect(book.spent == prices.userRead)
    }

    @Test(arguments: [(400, 0.0), (403, 0.0), (429, 0.0), (500, 0.015), (409, 0.015)])
    func aWriteIsPaidUnlessItIsRefused(status: Int, expected: Double) async throws {
        let loopback = try XLoopback { _ in Answer(status: status) }
        await #expect(throws: NetworkError.self) {
            _ = try await loopback.network.publish(
                Draft(text: "x", key: "k", createdAt: XLoopback.start))
        }
        #expect(loopback.book.spent == dollars(expected))
    }

    /// What X bills beyond what was reserved is owed, even where the budget ends.
    @Test func whatIsOwedIsCountedBeyondTheBudget() async throws {
        let book = MemoryBook(limit: dollars(0.016))
        let loopback = try XLoopback(book: book) { _ in
            .json(#"{"data":{"id":"9","text":"odd https://t.co/a"}}"#, status: 201)
        }
        _ = try await loopback.network.publish(
            Draft(text: "odd", key: "k", createdAt: XLoopback.start))
        #expect(book.spent == prices.postCreateWithURL)
    }

    @Test func aCancelledTaskPaysWhatItOwes() async throws {
        let book = MemoryBook()
        let network = try XLoopback(book: book) { _ in nil }.network
        let purse = network.purse
        let (_, reservation) = try await purse.reserve(
            [dollars(0.015)], for: .publish, NetworkCall(operation: .publish, path: []))
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            await purse.settle(reservation, cost: XPrices.current.postCreateWithURL)
        }
        task.cancel()
        await task.value
        #expect(book.spent == prices.postCreateWithURL)
    }

    // MARK: Links

    @Test(arguments: [
        ("https://example.com", true), ("example.com", true), ("see a.co now", true),
        ("end.Next", true),
        ("plain", false), ("3.14", false), ("wait...what", false), ("the end. Next", false),
        ("", false),
    ])
    func whatMayBeALinkHasThePriceOfOne(text: String, expected: Bool) {
        let price = prices.price(ofPublishing: text, isReply: false)
        #expect(price == (expected ? prices.postCreateWithURL : prices.postCreate))
    }

    /// What X made a link of is told by its answer, which is the last word.
    @Test(
        arguments: [
            ("plain", nil, #""plain""#, 0.015), ("plain", "4", #""plain""#, 0.010),
            ("see https://example.com", nil, #""see https://t.co/a""#, 0.200),
            ("see https://example.com", "4", #""see https://t.co/a""#, 0.200),
            ("end.Next", nil, #""end.Next""#, 0.015), ("end.Next", "4", #""end.Next""#, 0.010),
            ("odd", nil, #""odd https://t.co/a""#, 0.200), ("example.com", nil, "null", 0.200),
        ] as [(String, String?, String, Double)])
    func aLinkIsPaid(text: String, replyTo: String?, answer: String, expected: Double) async throws
    {
        let loopback = try XLoopback { _ in
            .json(#"{"data":{"id":"9","text":\#(answer)}}"#, status: 201)
        }
        _ = try await loopback.network.publish(
            Draft(text: text, replyTo: replyTo, key: "k", createdAt: XLoopback.start))
        #expect(loopback.book.spent == dollars(expected))
        #expect(Set(loopback.book.entries.map(\.purpose)) == [.publish])
    }

    /// What a call cost beyond its reservation is owed until it is written down, and nothing is
    /// bought before.
    @Test func whatCouldNotBeWrittenDownStaysOwed() async throws {
        let book = MemoryBook()
        let loopback = try XLoopback(book: book) { request in
            guard request.method == "POST" else { return nil }
            // The store breaks while X publishes a text in which it found a link.
            book.shut()
            return .json(#"{"data":{"id":"99","text":"look https://t.co/a"}}"#, status: 201)
        }
        _ = try await loopback.network.verifyAccount()
        let before = book.spent
        let post = try await loopback.network.publish(
            Draft(text: "look", key: "k", createdAt: XLoopback.start))
        #expect(post.address == "99")
        #expect(book.spent == before + prices.postCreate)
        for _ in 0..<2 {
            let error = try await #require(throws: NetworkError.self) {
                _ = try await loopback.network.lookUp("9")
            }
            #expect(error.code == .unavailable)
            #expect(error.outcome == .notSent)
        }
        #expect(loopback.requests.count == 1)
        book.open()
        _ = try await loopback.network.lookUp("9")
        #expect(book.spent == before + prices.postCreateWithURL)
    }
}
