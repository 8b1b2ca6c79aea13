import Foundation

/// The AT Protocol, as a personal data server and its AppView speak it.
struct BlueskyWire: SandboxWire {
    private let access: SandboxAccess
    private let faults: SandboxFaults
    private var rates: SandboxRateCounter

    init(access: SandboxAccess, limits: SandboxRateLimits, faults: SandboxFaults) {
        self.access = access
        self.faults = faults
        self.rates = SandboxRateCounter(limits: limits)
    }

    static func owns(_ path: String) -> Bool { path.hasPrefix("/xrpc/") }

    mutating func answer(_ request: WireRequest, in state: inout SandboxState, at now: Date) -> WireAnswer {
        state.note(request, status: 404, reason: "no such endpoint", isExpected: false, at: now)
        return .json(["error": "XRPCNotSupported", "message": "not found"], status: 404)
    }
}
