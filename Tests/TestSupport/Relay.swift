import Foundation

/// A loopback port that passes everything on to a server, until it is told otherwise.
///
/// For faults of the way to a server: connections cut, answers lost after the
/// server acted, a server that takes connections and says nothing. Every
/// connection has a thread of its own; all end when the relay is released.
package final class Relay: Sendable {
    /// What happens to what is sent.
    package enum Conduct: Sendable {
        /// It is passed on.
        case pass
        /// Nothing is passed on, in either direction; connections stay open.
        case silent
        /// New connections are closed at once, and so are those there are.
        case closed
    }

    /// The TCP port on 127.0.0.1.
    package let port: UInt16
    private let exchange: Exchange

    /// - Parameter port: The server's port on 127.0.0.1.
    /// - Throws: ``TestSupportError`` if no port can be had.
    package init(to port: UInt16) throws {
        let listener = try LoopbackSocket.listen()
        self.port = listener.port
        exchange = Exchange(listener: listener.descriptor, target: port)
        exchange.start()
    }

    deinit { exchange.stop() }

    /// What happens to what is sent from now on.
    package func behave(_ conduct: Conduct) { exchange.behave(conduct) }

    /// Ends every connection there is; each side has been told when this returns.
    package func cut() { exchange.cut() }

    /// Lets requests that contain a text reach the server, and ends their
    /// connections instead of passing its answers on.
    ///
    /// - Parameters:
    ///   - text: What to look for in what a client sends at a time.
    ///   - count: How many of them lose their answers.
    ///   - period: 1 for each of them, 2 for every second one, and so on.
    ///   - next: How the relay behaves as soon as an answer was lost.
    package func loseAnswers(
        to text: String, count: Int = 1, every period: Int = 1, then next: Conduct = .pass
    ) {
        exchange.loseAnswers(Loss(text: Array(text.utf8), count: count, period: period, next: next))
    }

    /// Which answers are to be lost.
    fileprivate struct Loss {
        var text: [UInt8] = []
        var count = 0
        var period = 1
        var next = Conduct.pass
        /// How many requests with the text there were.
        var seen = 0
    }

    /// Leads new connections to another server; those there are stay.
    package func lead(to port: UInt16) { exchange.lead(to: port) }

    /// How many answers were lost by ``loseAnswers(to:count:)``.
    package var lostAnswers: Int { exchange.lostAnswers }

    /// How many connections were taken so far.
    package var connections: Int { exchange.connections }

    /// Returns when more than `count` answers were lost.
    package func waitForLostAnswers(above count: Int = 0) async throws {
        try await exchange.wait { $0.lost > count }
    }

    /// Returns when more connections were closed at once than before the call, as
    /// ``Conduct/closed`` has it.
    package func waitForRefusal() async throws {
        let known = exchange.refusals
        try await exchange.wait { $0.refused > known }
    }
}

/// The connections of a relay and what is to be done with them.
private final class Exchange: @unchecked Sendable {
    // Unchecked because every variable is only touched while `lock` is held.
    private let lock = NSCondition()
    private let listener: Int32
    private var target: UInt16
    private var conduct = Relay.Conduct.pass
    private var isStopped = false
    /// Counts the cuts; a connection that is older than the last one ends.
    private var generation = 0
    /// The sockets of connections that are open, two each.
    private var sockets: Set<Int32> = []
    private var loss = Relay.Loss()
    private var lost = 0
    private var taken = 0
    private var refused = 0

    init(listener: Int32, target: UInt16) {
        self.listener = listener
        self.target = target
    }

    deinit { close(listener) }

    var lostAnswers: Int { lock.withLock { lost } }
    var connections: Int { lock.withLock { taken } }
    var refusals: Int { lock.withLock { refused } }

    func behave(_ conduct: Relay.Conduct) { lock.withLock { self.conduct = conduct } }

    func cut() {
        lock.withLock {
            generation += 1
            // Not left to the connections' threads: a busy machine may let them wait until after
            // the next cut.
            for socket in sockets { shutdown(socket, Int32(SHUT_RDWR)) }
        }
    }

    /// The events so far.
    struct Tally {
        let lost: Int
        let refused: Int
    }

    /// Waits on a thread of its own until `isEnough` is true of what happened.
    func wait(until isEnough: @escaping @Sendable (Tally) -> Bool) async throws {
        try await ChildProcess.onThread { [self] in
            let limit = Date(timeIntervalSinceNow: ServerProcess.patience / .seconds(1))
            try lock.withLock {
                while !isEnough(Tally(lost: lost, refused: refused)) {
                    guard lock.wait(until: limit) else {
                        throw TestSupportError("what was waited for did not happen")
                    }
                }
            }
        }
    }

    func loseAnswers(_ loss: Relay.Loss) { lock.withLock { self.loss = loss } }

    func lead(to port: UInt16) { lock.withLock { target = port } }

    func stop() {
        lock.withLock { isStopped = true }
        // Ends the accept that waits.
        shutdown(listener, Int32(SHUT_RDWR))
    }

    func start() {
        Thread.detachNewThread {
            while true {
                switch self.accepted() {
                case .client(let client, let generation):
                    Thread.detachNewThread { self.serve(client, generation) }
                case .unwanted: continue
                case .end: return
                }
            }
        }
    }

    private enum Arrival {
        case client(Int32, generation: Int)
        case unwanted
        case end
    }

    private func accepted() -> Arrival {
        let descriptor = accept(listener, nil, nil)
        guard descriptor >= 0 else { return .end }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        lock.lock()
        defer { lock.unlock() }
        if isStopped || conduct == .closed {
            close(descriptor)
            refused += 1
            lock.broadcast()
            return isStopped ? .end : .unwanted
        }
        taken += 1
        sockets.insert(descriptor)
        return .client(descriptor, generation: generation)
    }

    /// What to do with a connection of a generation now.
    private func conduct(of generation: Int) -> Relay.Conduct {
        lock.withLock { isStopped || generation != self.generation ? .closed : conduct }
    }

    private func serve(_ client: Int32, _ generation: Int) {
        defer { end(client) }
        guard let server = LoopbackSocket.connect(to: lock.withLock { target }) else { return }
        lock.withLock { _ = sockets.insert(server) }
        defer { end(server) }
        var losesAnswer = false
        while true {
            let conduct = conduct(of: generation)
            if conduct == .closed { return }
            // Short waits, because a change of conduct must be noticed too.
            guard conduct == .pass else {
                _ = poll(nil, 0, 5)
                continue
            }
            var watched = [client, server].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            guard poll(&watched, 2, 5) > 0 else { continue }
            // What is sent after a change of conduct is never passed on under the one of before.
            guard self.conduct(of: generation) == .pass else { continue }
            if watched[0].revents != 0 {
                guard let bytes = LoopbackSocket.receive(from: client) else { return }
                if takesAnswer(of: bytes) { losesAnswer = true }
                guard LoopbackSocket.send(bytes, to: server) else { return }
            }
            if watched[1].revents != 0 {
                guard let bytes = LoopbackSocket.receive(from: server) else { return }
                if losesAnswer { return loseAnswer() }
                guard LoopbackSocket.send(bytes, to: client) else { return }
            }
        }
    }

    /// Closes a socket, whose number may then be another one's.
    private func end(_ socket: Int32) {
        lock.withLock {
            sockets.remove(socket)
            close(socket)
        }
    }

    private func loseAnswer() {
        lock.withLock {
            lost += 1
            conduct = loss.next
            lock.broadcast()
        }
    }

    private func takesAnswer(of bytes: [UInt8]) -> Bool {
        lock.withLock {
            guard loss.count > 0, bytes.firstRange(of: loss.text) != nil else { return false }
            loss.seen += 1
            guard loss.seen.isMultiple(of: loss.period) else { return false }
            loss.count -= 1
            return true
        }
    }
}
