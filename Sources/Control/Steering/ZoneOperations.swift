package import Posts

/// Notes that the human lived by the clock of another zone for some time.
package struct AddZone: PersonOperation {
    package static let name = "zones-add"
    /// An IANA name.
    package var zone: String
    /// The first day; nil if the time has no beginning.
    package var from: String?
    /// The last day; nil if it has no end.
    package var to: String?

    package init(zone: String, from: String? = nil, to: String? = nil) {
        (self.zone, self.from, self.to) = (zone, from, to)
    }

    package func perform(at desk: Desk, seen: Seen?) async throws -> ZonesChange {
        let zones = ZoneChanges(mirror: desk.mirror, zone: try await desk.zone())
        let outcome = try await zones.add(zone, from: from, to: to, seen: seen, now: desk.now)
        return ZonesChange(
            outcome, try await zones.report(),
            wayBack: outcome.isNew
                ? WayBack(RemoveZone.self, "zones", "remove", ZonesReport.Line(outcome.span).anyDay) : nil)
    }

    package func outcomeIfDone(at desk: Desk) async throws -> ZonesChange? {
        let zones = ZoneChanges(mirror: desk.mirror, zone: try await desk.zone())
        guard let outcome = try await zones.noted(zone, from: from, to: to) else { return nil }
        return ZonesChange(outcome, try await zones.report(), wayBack: nil)
    }
}

/// Takes back what was noted of a time.
package struct RemoveZone: PersonOperation {
    package static let name = "zones-remove"
    /// Any of its days, or its zone where that was noted once.
    package var time: String

    package init(time: String) { self.time = time }

    package func perform(at desk: Desk, seen: Seen?) async throws -> ZonesChange {
        let zones = ZoneChanges(mirror: desk.mirror, zone: try await desk.zone())
        let outcome = try await zones.remove(time, seen: seen)
        let line = ZonesReport.Line(outcome.span)
        let days =
            (line.from.map { ["--from", $0.description] } ?? []) + (line.to.map { ["--to", $0.description] } ?? [])
        return ZonesChange(
            outcome, try await zones.report(),
            wayBack: WayBack(AddZone.self, ["zones", "add", line.timeZone] + days))
    }

    package func outcomeIfDone(at desk: Desk) async throws -> ZonesChange? {
        let zones = ZoneChanges(mirror: desk.mirror, zone: try await desk.zone())
        guard let outcome = try await zones.removed(time) else { return nil }
        return ZonesChange(outcome, try await zones.report(), wayBack: nil)
    }
}
