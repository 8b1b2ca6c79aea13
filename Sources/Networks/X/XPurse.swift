import Foundation
import Posts

/// Pays for calls: takes their highest price from the budget before, and gives back after what they
/// did not cost.
struct XPurse: Sendable {
    /// The money that was taken from the budget for one call.
    struct Reservation: Sendable {
        var amount: Money
        var purpose: SpendingPurpose
        var time: Date

        /// Whether X bills a thing that both bought once; it does so for each day in UTC.
        func isOfTheDay(of other: Reservation) -> Bool {
            XMemory.day(of: time) == XMemory.day(of: other.time)
        }
    }

    let book: any SpendingBook
    let memory: XMemory
    let client: XClient

    /// Makes a call that costs something.
    ///
    /// - Parameters:
    ///   - amounts: What it costs at most, largest first; the first is taken that the budget holds.
    ///   - call: The call, as far as it is known before.
    ///   - work: Makes the call with the amount at a place of `amounts`, and tells what it cost in
    ///     the end if it was made at a time.
    /// - Throws: What the work throws, and as ``reserve(_:for:_:)``.
    func pay<Value>(
        _ amounts: [Money], for purpose: SpendingPurpose, _ call: NetworkCall,
        _ work: (_ index: Int, _ time: Date) async throws -> (value: Value, cost: Money)
    ) async throws -> Value {
        let (index, reservation) = try await reserve(amounts, for: purpose, call)
        return try await spend(reservation, on: call) { try await work(index, reservation.time) }
    }

    /// Makes a call for which an amount is reserved, and gives back what it did not cost.
    ///
    /// - Parameters:
    ///   - reservation: From ``reserve(_:for:_:)``.
    ///   - work: Makes the call, and tells what it cost in the end.
    /// - Throws: What the work throws.
    func spend<Value>(
        _ reservation: Reservation, on call: NetworkCall,
        _ work: () async throws -> (value: Value, cost: Money)
    ) async throws -> Value {
        do {
            let (value, cost) = try await work()
            if call.operation.isWrite {
                await settle(reservation, cost: cost)
            } else {
                await settle(reservation, cost: cost, call)
            }
            return value
        } catch {
            await settle(reservation, after: error, call)
            throw error
        }
    }

    /// Takes the first of some amounts that the budget holds, largest first.
    ///
    /// - Returns: Which of them it was, and what was taken.
    /// - Throws: ``NetworkError`` with code `.overBudget`, or `.unavailable` if the book cannot be
    ///   written, or `CancellationError`; nothing is taken then.
    func reserve(
        _ amounts: [Money], for purpose: SpendingPurpose, _ call: NetworkCall
    ) async throws -> (index: Int, reservation: Reservation) {
        for debt in memory.takeDebts() { await charge(debt) }
        guard !memory.hasDebts else {
            throw client.error(
                call, .unavailable, outcome: .notSent,
                detail: "what an earlier call cost could not be written down")
        }
        let now = client.now()
        var later: Date?
        for (index, amount) in amounts.enumerated() {
            do {
                later = try await book.reserve(amount, for: purpose, at: now)
            } catch let error as CancellationError {
                throw error
            } catch {
                throw client.error(
                    call, .unavailable, outcome: .notSent,
                    detail: "what the call costs could not be written down")
            }
            if later == nil {
                return (index, Reservation(amount: amount, purpose: purpose, time: now))
            }
        }
        var error = client.error(
            call, .overBudget, outcome: .notSent,
            detail:
                "it costs up to \(amounts.last ?? .zero), which is more than is left of the budget")
        error.retryAfter = later
        throw error
    }

    /// Gives back what a reserved call did not cost.
    ///
    /// A book that cannot be written keeps the whole amount: too much is counted then, never too
    /// little. What a call cost beyond it is written down before anything else is bought.
    func settle(_ reservation: Reservation, cost: Money) async {
        let amount = reservation.amount
        let purpose = reservation.purpose
        let time = reservation.time
        // A cancelled task could not write to the book, but what it bought is bought.
        await Task {
            // What is not given back stays paid.
            try? await book.giveBack(max(amount - cost, .zero), for: purpose, reservedAt: time)
            if cost > amount {
                await charge(Reservation(amount: cost - amount, purpose: purpose, time: time))
            }
        }.value
    }

    /// Writes down what is owed; where that fails it stays owed.
    private func charge(_ debt: Reservation) async {
        do {
            try await book.charge(debt.amount, for: debt.purpose, reservedAt: debt.time)
        } catch {
            memory.owe(debt)
        }
    }

    /// Gives back what a read did not cost, and all that was taken for the same read when its
    /// answers were lost.
    ///
    /// The same thing twice in a day is billed once, so what a lost answer cost is in the cost of
    /// this one.
    func settle(_ reservation: Reservation, cost: Money, _ call: NetworkCall) async {
        await settle(reservation, cost: cost)
        guard let lost = memory.find(call), lost.isOfTheDay(of: reservation) else { return }
        await settle(lost, cost: .zero)
    }

    /// Gives back what a call did not cost that ended with an error.
    ///
    /// X bills no failed request. A write whose answer was lost may have happened and stays paid. A
    /// read whose answer was lost stays paid until it is made again, and once at most, however
    /// often it is lost on the same day.
    func settle(_ reservation: Reservation, after error: any Error, _ call: NetworkCall) async {
        let failure = error as? NetworkError
        if call.operation.isWrite {
            // A cancelled call is lost too.
            if failure?.outcome ?? .unknown != .unknown { await settle(reservation, cost: .zero) }
            return
        }
        guard failure.map(Self.isLost) ?? true else {
            return await settle(reservation, cost: .zero)
        }
        guard let earlier = memory.lose(reservation, of: call), earlier.isOfTheDay(of: reservation)
        else { return }
        await settle(earlier, cost: .zero)
    }

    /// Whether X may have sent, and billed, an answer that could not be read.
    private static func isLost(_ failure: NetworkError) -> Bool {
        switch failure.code {
        case .transport, .tooLarge: failure.outcome == .unknown
        case .malformedResponse: failure.status.map { (200...299).contains($0) } ?? false
        default: false
        }
    }
}

/// X's price for each thing that is read or written.
///
/// Prices are data: when X changes them, only ``current`` changes. Where the price list leaves
/// room, the dearer reading is taken, so that the budget holds.
package struct XPrices: Sendable, Equatable {
    /// The day of the price list, as `2026-04-20`.
    package var day: String
    /// A post in an answer, also one that another post refers to.
    package var postRead: Money
    /// An account in an answer, also the author of a post.
    package var userRead: Money
    package var likeRead: Money
    /// A post in the account's own posts, mentions or favorites, where the account owns the
    /// developer app.
    package var ownedRead: Money
    package var postCreate: Money
    package var postCreateWithURL: Money
    /// A reply to who named the account.
    package var summonedReply: Money
    package var delete: Money
    /// A picture for a post.
    ///
    /// The list does not name it, so this is what it asks for anything that is made.
    package var upload: Money
    /// The description of a picture.
    package var mediaMetadata: Money

    /// The prices of pay-per-use since 2026-04-20.
    package static let current = XPrices(
        day: "2026-04-20", postRead: Money(microdollars: 5_000),
        userRead: Money(microdollars: 10_000),
        likeRead: Money(microdollars: 1_000), ownedRead: Money(microdollars: 1_000),
        postCreate: Money(microdollars: 15_000), postCreateWithURL: Money(microdollars: 200_000),
        summonedReply: Money(microdollars: 10_000), delete: Money(microdollars: 10_000),
        upload: Money(microdollars: 15_000), mediaMetadata: Money(microdollars: 5_000))

    /// The price of one post of a feed, without the accounts and posts that come with it.
    func post(in feed: Feed, ownsApp: Bool) -> Money {
        switch feed {
        case .home: postRead
        case .ownPosts, .mentions: ownsApp ? ownedRead : postRead
        // The list has prices for posts and for likes and does not say which of them this is.
        case .favorites: ownsApp ? ownedRead : max(postRead, likeRead)
        }
    }

    /// The highest price of reading so many posts of a feed.
    ///
    /// X bills each thing in an answer, so the authors count too where they are asked for: at most
    /// one for each post. The newer spelling of the fields tells what a post answers only together
    /// with the answered post and person.
    ///
    /// - Parameters:
    ///   - ownsApp: Whether the account owns the developer app.
    /// - Returns: The price if nothing of it was read before on the same day.
    package func price(
        ofReading items: Int, from feed: Feed, ownsApp: Bool = false,
        fieldNames: XFieldNames = .tweet
    ) -> Money {
        (post(in: feed, ownsApp: ownsApp) + besides(XReader(feed), fieldNames)) * items
    }

    /// The highest price of reading one post by its address.
    ///
    /// - Returns: The price if nothing of it was read before on the same day.
    package func priceOfLookUp(of reader: XReader, fieldNames: XFieldNames = .tweet) -> Money {
        postRead + besides(reader, fieldNames)
    }

    /// The highest price of publishing a text.
    ///
    /// - Parameters:
    ///   - text: As it will be published.
    /// - Returns: The price, taking for a link what may be one.
    package func price(ofPublishing text: String, isReply: Bool) -> Money {
        if XLink.occurs(in: text) { return postCreateWithURL }
        return isReply ? summonedReply : postCreate
    }

    /// The highest price of the things that come with one post.
    private func besides(_ reader: XReader, _ fieldNames: XFieldNames) -> Money {
        reader.expansions(fieldNames).reduce(.zero) { sum, expansion in
            // A post answers one and quotes another.
            sum + (expansion == "referenced_posts.id" ? postRead * 2 : userRead)
        }
    }
}
