import Foundation
import TestSupport

/// A loopback address behind which the server of a sandbox has another host name.
///
/// Every sandbox calls its server and its bot by the same names, and a database holds a bot once.
/// The relay gives each sandbox a host of its own: what travels has one name replaced by another of
/// the same length, so that no length that was announced changes. It also notes when the bot's
/// mentions are asked for, and refuses a process without network.
///
/// One thread serves all its connections and waits for nobody: a worker that is held and reads
/// nothing keeps no other waiting.
final class HostRelay: @unchecked Sendable {
    // Unchecked because `asked` is only touched under `lock`, and everything else but `listener` by
    // the one thread.

    /// `http://`, the address and the port.
    let url: String
    private let server: UInt16
    private let listener: Int32
    /// The name that the server has for itself, and the one that it has for others.
    private let names: (inner: Data, outer: Data)
    private let cut: NetworkCut?
    private let lock = NSLock()
    private var asked: [Date] = []
    private var links: [Link] = []

    /// What begins a look for mentions.
    private static let look = Data("GET /api/v1/notifications".utf8)
    /// How long a part of a name is held back, in milliseconds.
    private static let holding: Int32 = 5

    /// - Parameters:
    ///   - address: Of the loopback interface, such as 127.1.0.1.
    ///   - server: The port of the sandbox on 127.0.0.1.
    ///   - inner: The host name that the sandbox uses.
    ///   - outer: The one that others see, of the same length.
    ///   - cut: Names the process whose connections are refused; nil for none.
    /// - Throws: ``TestSupportError`` if no port can be had there.
    init(
        on address: String, to server: Int, replacing inner: String, with outer: String,
        cut: NetworkCut? = nil
    ) throws {
        guard inner.utf8.count == outer.utf8.count else {
            throw TestSupportError("\(outer) is not as long as \(inner)")
        }
        let (listener, port) = try LoopbackSocket.listen(on: address)
        LoopbackSocket.hurry(listener)
        self.listener = listener
        self.server = UInt16(server)
        self.cut = cut
        names = (Data(inner.utf8), Data(outer.utf8))
        url = "http://\(address):\(port)"
        Thread { [self] in
            Thread.current.name = "relay"
            serve()
        }.start()
    }

    /// When the bot's mentions were asked for, by the system's clock.
    var looks: [Date] { lock.withLock { asked } }

    /// Ends the thread and every connection.
    func stop() { shutdown(listener, Int32(SHUT_RDWR)) }

    /// A client and its connection to the server.
    private final class Link {
        let client: RelayEnd
        let server: RelayEnd

        init(_ client: RelayEnd, _ server: RelayEnd) {
            self.client = client
            self.server = server
        }
    }

    private func serve() {
        while true {
            var polled = [pollfd(fd: listener, events: Int16(POLLIN), revents: 0)]
            for link in links {
                polled.append(link.client.polled(whilePeer: link.server))
                polled.append(link.server.polled(whilePeer: link.client))
            }
            let isHolding = links.contains { $0.client.isHolding || $0.server.isHolding }
            let count = poll(&polled, nfds_t(polled.count), isHolding ? Self.holding : -1)
            if polled[0].revents & Int16(POLLHUP | POLLERR | POLLNVAL) != 0 { break }
            // A part of a name whose rest does not come was none.
            if count == 0 {
                for link in links {
                    link.client.letGo(to: link.server)
                    link.server.letGo(to: link.client)
                }
            }
            for (place, link) in links.enumerated() {
                let first = polled[2 * place + 1].revents
                let second = polled[2 * place + 2].revents
                if first != 0 { pass(from: link.client, to: link.server, first, isRequest: true) }
                if second != 0 {
                    pass(from: link.server, to: link.client, second, isRequest: false)
                }
            }
            links.removeAll { link in
                guard link.client.isOver || link.server.isOver && link.client.hasEverything else {
                    return false
                }
                link.client.close()
                link.server.close()
                return true
            }
            if polled[0].revents & Int16(POLLIN) != 0 { take() }
        }
        for link in links {
            link.client.close()
            link.server.close()
        }
        close(listener)
    }

    private func take() {
        let client = accept(listener, nil, nil)
        guard client >= 0 else { return }
        LoopbackSocket.prepare(client)
        if cut?.refuses(client) == true {
            close(client)
            return
        }
        guard let server = LoopbackSocket.connect(to: self.server) else {
            close(client)
            return
        }
        for socket in [client, server] { LoopbackSocket.hurry(socket) }
        links.append(
            Link(
                RelayEnd(client, HostRenaming(from: names.outer, to: names.inner)),
                RelayEnd(server, HostRenaming(from: names.inner, to: names.outer))))
    }

    private func pass(from one: RelayEnd, to other: RelayEnd, _ events: Int16, isRequest: Bool) {
        if events & Int16(POLLOUT) != 0 { one.drain() }
        guard events & Int16(POLLIN | POLLHUP | POLLERR) != 0 else { return }
        guard let bytes = one.read() else {
            // A part of a name that is the end was none.
            if one.isOver { one.letGo(to: other) }
            return
        }
        if isRequest, bytes.starts(with: Self.look) { lock.withLock { asked.append(Date()) } }
        other.write(one.renaming.pass(bytes))
    }
}

/// One end of a link of a relay: its socket, what waits to be sent to it, and the names in what
/// comes from it.
private final class RelayEnd {
    private let socket: Int32
    private var waiting = Data()
    var renaming: HostRenaming
    private(set) var isOver = false

    init(_ socket: Int32, _ renaming: HostRenaming) {
        self.socket = socket
        self.renaming = renaming
    }

    var isHolding: Bool { renaming.isHolding }
    /// Nothing waits to be sent to it.
    var hasEverything: Bool { waiting.isEmpty }

    /// Nothing is read for a peer that does not take what it has been sent.
    func polled(whilePeer peer: RelayEnd) -> pollfd {
        let events = (peer.waiting.isEmpty ? POLLIN : 0) | (waiting.isEmpty ? 0 : POLLOUT)
        return pollfd(fd: isOver ? -1 : socket, events: Int16(events), revents: 0)
    }

    func letGo(to peer: RelayEnd) { peer.write(renaming.letGo()) }

    func read() -> Data? {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = recv(socket, &buffer, buffer.count, 0)
        if count > 0 { return Data(buffer[..<count]) }
        if count == 0 || errno != EAGAIN && errno != EINTR { isOver = true }
        return nil
    }

    func write(_ bytes: Data) {
        waiting += bytes
        drain()
    }

    func drain() {
        while !waiting.isEmpty {
            let count = waiting.withUnsafeBytes {
                send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else {
                if errno != EAGAIN && errno != EINTR { isOver = true }
                return
            }
            waiting = Data(waiting.dropFirst(count))
        }
    }

    func close() { _ = Foundation.close(socket) }
}

/// Replaces a name in bytes that come in parts.
struct HostRenaming {
    private let from: Data
    private let to: Data
    /// The end of what came, if a name may begin there.
    private var held = Data()

    init(from: Data, to: Data) {
        self.from = from
        self.to = to
    }

    var isHolding: Bool { !held.isEmpty }

    /// Returns what can be sent on by now.
    mutating func pass(_ bytes: Data) -> Data {
        var all = held + bytes
        var start = all.startIndex
        while let found = all.range(of: from, in: start..<all.endIndex) {
            all.replaceSubrange(found, with: to)
            start = found.upperBound
        }
        let longest = min(from.count - 1, all.endIndex - start)
        let kept =
            (0...longest).reversed().first { all.suffix($0).elementsEqual(from.prefix($0)) } ?? 0
        held = Data(all.suffix(kept))
        return Data(all.dropLast(kept))
    }

    /// Returns what was held back.
    mutating func letGo() -> Data {
        defer { held = Data() }
        return held
    }
}

extension LoopbackSocket {
    /// Lets calls on a socket wait for nothing.
    fileprivate static func hurry(_ descriptor: Int32) {
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
    }
}
