import Foundation

/// X's API, version 2, with OAuth 1.0a.
struct XWire: SandboxWire {
    private let access: SandboxAccess
    private let faults: SandboxFaults
    private var rates: SandboxRateCounter

    init(access: SandboxAccess, limits: SandboxRateLimits, faults: SandboxFaults) {
        self.access = access
        self.faults = faults
        self.rates = SandboxRateCounter(limits: limits)
    }

    static func owns(_ path: String) -> Bool { path.hasPrefix("/2/") }

    mutating func answer(_ request: WireRequest, in state: inout SandboxState, at now: Date) -> WireAnswer {
        state.note(request, status: 404, reason: "no such endpoint", isExpected: false, at: now)
        return .json(["title": "Not Found", "type": "about:blank", "status": 404], status: 404)
    }
}
