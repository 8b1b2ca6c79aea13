import Foundation
import HTTPTypes
import Hummingbird
import Settings

/// The address of a request's client, and the range whose limits it counts against.
struct Caller: Sendable {
    /// The address range whose members share a limit; nil for this machine, even if an unlisted
    /// proxy on it sent the request.
    let share: NetworkRange?
    /// The address of the connection's other end, or of the client that a listed proxy names.
    let shownAddress: String

    /// Creates the caller of a connection without a proxy.
    ///
    /// - Parameter peer: The address of the connection's other end; empty for a closed connection.
    init(peer: String) {
        shownAddress = peer
        guard let address = NetworkAddress(peer) else {
            share = Self.unknown
            return
        }
        share = address.isLoopback ? nil : address.neighbors
    }

    /// The range against whose limits a connection counts.
    ///
    /// Nil for this machine, and for a listed proxy, because its connections serve many clients.
    static func share(ofConnection peer: String, _ settings: WebSettings) -> NetworkRange? {
        if let address = NetworkAddress(peer), settings.isProxy(address) { return nil }
        return Caller(peer: peer).share
    }

    /// The caller of a request.
    ///
    /// Every proxy appends the address of its client to `X-Forwarded-For`. The list is read from
    /// its end, up to the first address that is no listed proxy; the client may have forged the
    /// others.
    init(of request: Request, peer: String, _ settings: WebSettings) {
        var address = NetworkAddress(peer)
        var shownAddress = peer
        var hops = request.headers[values: .forwardedFor].flatMap { $0.split(separator: ",") }
            .map { $0.trimmingCharacters(in: .whitespaces) }
        while let proxy = address, settings.isProxy(proxy), let hop = hops.popLast() {
            address = Self.address(hop)
            shownAddress = address == nil ? peer : hop
        }
        guard let address else {
            self.share = Self.unknown
            self.shownAddress = shownAddress
            return
        }
        // A client on the proxy's own machine counts as this machine; a proxy that names no client
        // counts as one caller.
        self.share = address.isLoopback ? nil : address.neighbors
        self.shownAddress = shownAddress
    }

    /// Reads `192.0.2.1`, `192.0.2.1:4711`, `2001:db8::1` or `[2001:db8::1]:4711`.
    private static func address(_ hop: String) -> NetworkAddress? {
        if hop.hasPrefix("[") {
            return NetworkAddress(hop.dropFirst().prefix { $0 != "]" })
        }
        // An IPv4 address has at most one colon, before a port; an IPv6 address has several.
        let isShort = hop.split(separator: ":", omittingEmptySubsequences: false).count == 2
        return NetworkAddress(isShort ? hop.prefix { $0 != ":" } : hop[...])
    }

    /// The range of all callers without a readable address.
    private static let unknown = NetworkRange("0.0.0.0/0")
}

extension HTTPField.Name {
    static let forwardedFor = named("X-Forwarded-For")
}
