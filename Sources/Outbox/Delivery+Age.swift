import Foundation

/// The age of a request, independent of changes to the clocks.
extension Delivery {
    /// Tolerated step backwards of the network's clock, in seconds: it has a resolution of seconds,
    /// and answers take time.
    private static let serverClockMargin: TimeInterval = 60

    /// Returns the network's time for a local time; nil before the network told its time.
    func serverTime(at time: Date) -> Date? { deliverer.clockLead.map { time - $0 } }

    /// Returns the minimum age of the first request; nil if it is unknown because a clock was set.
    ///
    /// It is known from the network's clock or this worker's monotonic clock. If the network never
    /// tells its time and another worker sent the request, the newest row of the table is the lower
    /// bound of the present, minus the tolerated difference of clocks.
    func age(of action: Action, at time: Date) async throws -> TimeInterval? {
        if let age = measuredAge(of: action, at: time) { return age }
        guard action.serverSending == nil else { return nil }
        let sentAt = action.sending ?? action.updated
        let newestChange = try await store.newestChange() ?? sentAt
        let newest = max(newestChange, memory.monotonicTime(for: time), sentAt)
        guard newest.timeIntervalSince(time) <= Self.clockMargin else { return nil }
        return newest.timeIntervalSince(sentAt)
    }

    /// Returns the time of the first request in terms of the present local clock.
    func departure(of action: Action, at time: Date) -> Date {
        if let age = measuredAge(of: action, at: time) { return time - age }
        return action.sending ?? action.updated
    }

    /// Returns the earliest network time of the first request's post.
    ///
    /// If only the worker's clock is known, or both times are in the future, a fast clock may have
    /// recorded the time. Then the search begins earlier by the time for which an action is looked
    /// for.
    func searchStart(of action: Action, at time: Date) -> Date {
        let present = serverTime(at: time) ?? time
        let departure =
            [action.sending, action.serverSending].compactMap(\.self).min() ?? action.updated
        guard action.serverSending != nil, departure <= present + Self.clockMargin else {
            return min(departure, present) - Sightings.end
        }
        return departure
    }

    /// Returns when to look up an action again because a clock change made the look-up too early;
    /// nil if it was not too early.
    ///
    /// This happens once for each request, in case the network's clock is wrong. Only the worker
    /// that sent an action again knows the age of that request.
    func timeOfAnotherLook(for action: Action, at time: Date) -> Date? {
        guard let age = resendAge(of: action, at: time) ?? measuredAge(of: action, at: time),
            age < lookUpWait - Self.lookUpMargin.timeInterval / 2, memory.deferLook(for: action.id)
        else { return nil }
        return time + (lookUpWait - age)
    }

    /// Returns the age of the latest repeated request of this worker: by the network's clock, else
    /// by the clock with the largest age.
    private func resendAge(of action: Action, at time: Date) -> TimeInterval? {
        guard let ages = memory.resendAges(of: action.id, at: time) else { return nil }
        return serverTime(at: time) == nil ? max(ages.steady, ages.wall) : ages.steady
    }

    /// Returns the minimum age of the first request by the network's clock and this worker's
    /// monotonic clock, which cannot be set; nil if neither shows it.
    ///
    /// Without the network's clock, the wall clock counts too if it shows a larger age.
    private func measuredAge(of action: Action, at time: Date) -> TimeInterval? {
        let ownAge = memory.age(of: action.id)
        if let server = serverAge(of: action, at: time) { return max(server, ownAge ?? 0) }
        return ownAge.map { max($0, time.timeIntervalSince(action.sending ?? action.updated)) }
    }

    /// Returns the age of the first request by the network's clock; nil if unknown, or if that
    /// clock was set backwards.
    private func serverAge(of action: Action, at time: Date) -> TimeInterval? {
        guard let sentAt = action.serverSending, let now = serverTime(at: time) else { return nil }
        let age = now.timeIntervalSince(sentAt)
        return age > -Self.serverClockMargin ? max(age, 0) : nil
    }
}
