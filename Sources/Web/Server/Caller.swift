import Foundation
import HTTPTypes
import Hummingbird
import Settings

/// The address of a request's client, and the range whose limits it counts against.
struct Caller: Sendable {
    /// The range whose members share a limit; nil for this machine, also for an unlisted proxy on
    /// it.
    let share: NetworkRange?
    /// The address of the connection's other end, or of the client that a listed proxy names.
    let shown: String

    /// Creates the caller of a connection without a proxy.
    ///
    /// - Parameter peer: The address of the connection's other end; empty for a closed connection.
    init(peer: String) {
        shown = peer
        guard let address = NetworkAddress(peer) else {
            share = Self.unknown
            return
        }
        share = address.isLoopback ? nil : address.neighbors
    }

    /// The share of a connection; nil also for a listed proxy, whose connections are those of many
    /// clients.
    static func share(ofConnection peer: String, _ settings: WebSettings) -> NetworkRange? {
        if let address = NetworkAddress(peer), settings.isProxy(address) { return nil }
        return Caller(peer: peer).share
    }

    /// The caller of a request.
    ///
    /// Every proxy appends the address of its client to `X-Forwarded-For`; entries before the last
    /// one that is no listed proxy may be forged by the client.
    init(of request: Request, peer: String, _ settings: WebSettings) {
        var address = NetworkAddress(peer)
        var shown = peer
        var hops = request.headers[values: .forwardedFor].flatMap { $0.split(separator: ",") }
            .map { $0.trimmingCharacters(in: .whitespaces) }
        while let proxy = address, settings.isProxy(proxy), let hop = hops.popLast() {
            address = Self.address(hop)
            shown = address == nil ? peer : hop
        }
        guard let address else {
            self.share = Self.unknown
            self.shown = shown
            return
        }
        // A client on the proxy's own machine counts as this machine; a proxy that names no client
        // counts as one caller.
        self.share = address.isLoopback ? nil : address.neighbors
        self.shown = shown
    }

    /// Reads `192.0.2.1`, `192.0.2.1:4711`, `2001:db8::1` or `[2001:db8::1]:4711`.
    private static func address(_ hop: String) -> NetworkAddress? {
        if hop.hasPrefix("[") {
            return NetworkAddress(hop.dropFirst().prefix { $0 != "]" })
        }
        let isShort = hop.split(separator: ":", omittingEmptySubsequences: false).count == 2
        return NetworkAddress(isShort ? hop.prefix { $0 != ":" } : hop[...])
    }

    /// The share of all callers without a readable address.
    private static let unknown = NetworkRange("0.0.0.0/0")
}

extension HTTPField.Name {
    static let forwardedFor = named("X-Forwarded-For")
}
