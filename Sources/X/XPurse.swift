import Foundation
import Localization
package import Networks
import Posts

/// Pays for calls: reserves the maximum price in the budget before a call, and gives back the
/// unused part after it.
struct XPurse: Sendable {
    /// The amount that was reserved in the budget for one call.
    struct Reservation: Sendable {
        var amount: Money
        var purpose: SpendingPurpose
        var time: Date

        /// Whether both reservations are of the same day in UTC, on which X bills an object only
        /// once.
        func isOfSameDay(as other: Reservation) -> Bool {
            XMemory.day(of: time) == XMemory.day(of: other.time)
        }
    }

    let book: any SpendingBook
    let memory: XMemory
    let client: XClient

    /// Makes a call that costs money.
    ///
    /// - Parameters:
    ///   - amounts: The possible maximum prices, largest first; the first one that the budget
    ///     allows is reserved.
    ///   - call: The call, as far as it is known before an amount is reserved.
    ///   - work: Makes the call for which the amount at `index` is reserved, and returns its result
    ///     and its final cost; `time` is the time of the reservation.
    /// - Throws: The error of the work, and as ``reserve(_:for:_:)``.
    func pay<Value>(
        _ amounts: [Money], for purpose: SpendingPurpose, _ call: NetworkCall,
        _ work: (_ index: Int, _ time: Date) async throws -> (value: Value, cost: Money)
    ) async throws -> Value {
        let (index, reservation) = try await reserve(amounts, for: purpose, call)
        return try await spend(reservation, on: call) { try await work(index, reservation.time) }
    }

    /// Makes a call with a reserved amount, and gives back the unused part.
    ///
    /// - Parameters:
    ///   - reservation: From ``reserve(_:for:_:)``.
    ///   - work: Makes the call, and returns its final cost.
    /// - Throws: The error of the work.
    func spend<Value>(
        _ reservation: Reservation, on call: NetworkCall,
        _ work: () async throws -> (value: Value, cost: Money)
    ) async throws -> Value {
        do {
            let (value, cost) = try await work()
            if call.operation.isWrite {
                await settle(reservation, cost: cost)
            } else {
                await settleRead(reservation, cost: cost, of: call)
            }
            return value
        } catch {
            await settle(reservation, after: error, of: call)
            throw error
        }
    }

    /// Reserves the first of some amounts that the budget allows, largest first.
    ///
    /// - Returns: The index of the amount, and the reservation.
    /// - Throws: `NetworkError` with code `.overBudget`, or `.unavailable` if the book cannot be
    ///   written, or `CancellationError`; nothing is reserved then.
    func reserve(
        _ amounts: [Money], for purpose: SpendingPurpose, _ call: NetworkCall
    ) async throws -> (index: Int, reservation: Reservation) {
        for debt in memory.takeDebts() { await charge(debt) }
        guard !memory.hasDebts else {
            throw client.error(
                call, .unavailable, outcome: .notSent,
                detail: localized("what an earlier call cost could not be written down"))
        }
        let now = client.now()
        var retryTime: Date?
        for (index, amount) in amounts.enumerated() {
            do {
                retryTime = try await book.reserve(amount, for: purpose, at: now)
            } catch let error as CancellationError {
                throw error
            } catch {
                throw client.error(
                    call, .unavailable, outcome: .notSent,
                    detail: localized("what the call costs could not be written down"))
            }
            if retryTime == nil {
                return (index, Reservation(amount: amount, purpose: purpose, time: now))
            }
        }
        var error = client.error(
            call, .overBudget, outcome: .notSent,
            detail:
                localized(
                    "it costs up to \(amounts.last ?? .zero), which is more than is left of the budget"
                ))
        error.retryAfter = retryTime
        throw error
    }

    /// Gives back the part of a reserved amount that was not used.
    ///
    /// If the book cannot be written, the whole amount stays reserved, so that the counted cost is
    /// never too low. A cost beyond the amount is recorded before anything else is bought.
    func settle(_ reservation: Reservation, cost: Money) async {
        let amount = reservation.amount
        let purpose = reservation.purpose
        let time = reservation.time
        // The book is written in a task of its own, because a cancelled task could not write to it
        // although the purchase was made.
        await Task {
            // An error is ignored: then nothing is given back, and the whole amount counts as
            // spent.
            try? await book.giveBack(max(amount - cost, .zero), for: purpose, reservedAt: time)
            if cost > amount {
                await charge(Reservation(amount: cost - amount, purpose: purpose, time: time))
            }
        }.value
    }

    /// Records an unrecorded cost in the book; if that fails, the cost stays unrecorded.
    private func charge(_ debt: Reservation) async {
        do {
            try await book.charge(debt.amount, for: debt.purpose, reservedAt: debt.time)
        } catch {
            memory.addDebt(debt)
        }
    }

    /// Gives back the unused part of a read's reservation, and the reservations of the same read
    /// whose answers were lost.
    ///
    /// X bills the same object once a day, so the cost of a lost answer is contained in the cost of
    /// this one.
    func settleRead(_ reservation: Reservation, cost: Money, of call: NetworkCall) async {
        await settle(reservation, cost: cost)
        guard let lostRead = memory.takeLostRead(like: call), lostRead.isOfSameDay(as: reservation)
        else { return }
        await settle(lostRead, cost: .zero)
    }

    /// Gives back the unused part of a call that failed.
    ///
    /// X bills no failed request. A write whose answer was lost may have happened, so its whole
    /// amount counts as spent. A read whose answer was lost counts as spent until the same read
    /// succeeds; however often its answer is lost on one day, it counts once.
    func settle(
        _ reservation: Reservation, after error: any Error, of call: NetworkCall
    ) async {
        let failure = error as? NetworkError
        if call.operation.isWrite {
            // The outcome of a cancelled call is unknown too.
            let outcome = failure?.outcome ?? .unknown
            if outcome != .unknown { await settle(reservation, cost: .zero) }
            return
        }
        // The answer of a cancelled call may be lost too.
        let mayBeLost = failure.map(Self.isLost) ?? true
        guard mayBeLost else { return await settle(reservation, cost: .zero) }
        // Of two reservations of one day for the same read, one is given back.
        guard let earlier = memory.addLostRead(reservation, of: call),
            earlier.isOfSameDay(as: reservation)
        else { return }
        await settle(earlier, cost: .zero)
    }

    /// Whether X may have sent, and billed, an answer that was not received.
    private static func isLost(_ failure: NetworkError) -> Bool {
        switch failure.code {
        case .transport, .tooLarge: failure.outcome == .unknown
        case .malformedResponse: (200...299).contains(failure.status ?? 0)
        default: false
        }
    }
}

/// X's price for each object that is read or written.
///
/// When X changes its prices, only ``current`` changes. If the price list is ambiguous, the higher
/// price is used, so that the budget is kept.
package struct XPrices: Sendable, Equatable {
    /// The day of the price list, as `2026-04-20`.
    package var day: String
    /// A post in an answer, requested or included because another post refers to it.
    package var postRead: Money
    /// An account in an answer, also the author of a post.
    package var userRead: Money
    package var likeRead: Money
    /// A post in the account's own posts, mentions or favorites, if the account owns the developer
    /// app.
    package var ownedRead: Money
    package var postCreate: Money
    package var postCreateWithURL: Money
    /// A reply to a person who mentioned the account.
    package var summonedReply: Money
    package var delete: Money
    /// A picture for a post.
    ///
    /// The price list does not name uploads, so this is its price for other created objects.
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
        // The list has prices for posts and for likes, and does not say which one applies here.
        case .favorites: ownsApp ? ownedRead : max(postRead, likeRead)
        }
    }

    /// The maximum price of reading a number of posts of a feed.
    ///
    /// X bills each object in an answer, so requested authors count too: at most one for each post.
    /// In the newer spelling of the fields, the answered post's id comes only with the answered
    /// post and its author.
    ///
    /// - Parameters:
    ///   - ownsApp: Whether the account owns the developer app.
    /// - Returns: The price if none of the objects was read before on the same day.
    package func price(
        ofReading items: Int, from feed: Feed, ownsApp: Bool = false,
        fieldNames: XFieldNames = .tweet
    ) -> Money {
        (post(in: feed, ownsApp: ownsApp) + priceOfExpansions(XReader(feed), fieldNames)) * items
    }

    /// The maximum price of reading one post by its address.
    ///
    /// - Returns: The price if none of the objects was read before on the same day.
    package func priceOfLookUp(of reader: XReader, fieldNames: XFieldNames = .tweet) -> Money {
        postRead + priceOfExpansions(reader, fieldNames)
    }

    /// The highest price of publishing a text.
    ///
    /// - Parameters:
    ///   - text: The published form of the text.
    /// - Returns: The price, counting everything that may be a link as a link.
    package func price(ofPublishing text: String, isReply: Bool) -> Money {
        if XLink.occurs(in: text) { return postCreateWithURL }
        return isReply ? summonedReply : postCreate
    }

    /// The maximum price of the objects that come with one post.
    private func priceOfExpansions(_ reader: XReader, _ fieldNames: XFieldNames) -> Money {
        reader.expansions(fieldNames).reduce(.zero) { sum, expansion in
            // A post may answer one post and quote another.
            sum + (expansion == "referenced_posts.id" ? postRead * 2 : userRead)
        }
    }
}
