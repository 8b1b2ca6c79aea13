import Foundation

/// Telling how long ago a request left, whatever was done to the clocks meanwhile.
extension Delivery {
    /// The network's clock may seem to go back by this, in seconds: it tells whole seconds, and answers take their time.
    private static let serverClockMargin: TimeInterval = 60

    /// What the network's clock shows at a time of the local one; nil before the network told.
    func serverTime(at time: Date) -> Date? { deliverer.clockLead.map { time - $0 } }

    /// How old the first request is at least; nil if a clock that was set makes that anybody's guess.
    ///
    /// The network's own clock knows, and so does one of this worker that nobody sets. Where the network never tells and
    /// an earlier worker sent the request, the table has to do: no row can be newer than now, save by what two clocks may
    /// differ.
    func age(of action: Action, at time: Date) async throws -> TimeInterval? {
        if let told = toldAge(of: action, at: time) { return told }
        guard action.serverSending == nil else { return nil }
        let sending = action.sending ?? action.updated
        let newest = max(try await store.newestChange() ?? sending, memory.steady(time), sending)
        guard newest.timeIntervalSince(time) <= Self.clockMargin else { return nil }
        return newest.timeIntervalSince(sending)
    }

    /// When the first request left, in terms of what the local clock shows now.
    func departure(of action: Action, at time: Date) -> Date {
        toldAge(of: action, at: time).map { time - $0 } ?? action.sending ?? action.updated
    }

    /// From when on the network may show what the first request made, by the network's clock.
    ///
    /// Where only the worker's clock is known, or both say that the request leaves in the future, a clock that was ahead
    /// may have written the time down. Then everything is read back for as long as an action is looked for.
    func searchStart(of action: Action, at time: Date) -> Date {
        let present = serverTime(at: time) ?? time
        let departure = [action.sending, action.serverSending].compactMap(\.self).min() ?? action.updated
        guard action.serverSending != nil, departure <= present + Self.clockMargin else {
            return min(departure, present) - Sightings.end
        }
        return departure
    }

    /// When to look again for an action whose request may still act because a clock that was set made the look too early;
    /// nil if it was not too early.
    ///
    /// Happens once to a request, in case it is the network's clock that is wrong. Of one that was sent again only the
    /// worker that sent it knows the age.
    func timeOfAnotherLook(for action: Action, at time: Date) -> Date? {
        guard let age = resendAge(of: action, at: time) ?? toldAge(of: action, at: time),
            age < lookUpWait - Self.lookUpMargin.timeInterval / 2, memory.deferLook(for: action.id)
        else { return nil }
        return time + (lookUpWait - age)
    }

    /// How old a request is that this worker sent again; where the network never tells the time, by the clock that tells
    /// the longest.
    private func resendAge(of action: Action, at time: Date) -> TimeInterval? {
        guard let ages = memory.resendAges(of: action.id, at: time) else { return nil }
        return serverTime(at: time) == nil ? max(ages.steady, ages.wall) : ages.steady
    }

    /// How old the first request is at least by clocks that were not set: the longest time that one of them tells.
    private func toldAge(of action: Action, at time: Date) -> TimeInterval? {
        let own = memory.age(of: action.id)
        if let server = serverAge(of: action, at: time) { return max(server, own ?? 0) }
        return own.map { max($0, time.timeIntervalSince(action.sending ?? action.updated)) }
    }

    /// How old the first request is by the network's clock; nil if it did not tell, or was set back itself.
    private func serverAge(of action: Action, at time: Date) -> TimeInterval? {
        guard let sending = action.serverSending, let now = serverTime(at: time) else { return nil }
        let age = now.timeIntervalSince(sending)
        return age > -Self.serverClockMargin ? max(age, 0) : nil
    }
}
