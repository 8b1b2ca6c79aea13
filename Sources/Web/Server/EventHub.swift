import Control
import Foundation
import HTTPTypes
import Hummingbird
import Localization
import Mirroring
import NIOCore
import ServiceLifecycle
import Settings
import Storage

/// The session and the address range against whose limits an event stream counts.
struct StreamOwner: Sendable {
    /// The id of the session.
    let session: String
    /// The address range that shares a limit, as ``Caller/share``.
    let share: NetworkRange?
}

/// The event streams of all open pages, which share their queries of the database.
///
/// A stream names the parts of a page that may have changed, never their contents. Without streams
/// there are no queries.
actor EventHub {
    private struct Stream {
        let mirror: String
        let owner: StreamOwner?
        let continuation: AsyncStream<String>.Continuation
        /// The digest of the mirror's change stamps that the browser knows; `nil` until the first
        /// query if the browser named none.
        var known: String?
    }

    /// The limit of open streams.
    static let mostStreams = 500
    /// The limit of streams from other machines; the rest is left for this machine.
    static let mostFromElsewhere = 400
    /// The limit of streams of one session.
    static let mostOfSession = 12
    /// The limit of streams of one address.
    static let mostOfAddress = 60
    /// The interval, in seconds, at which a keepalive is sent over a stream without changes.
    private static let keepaliveInterval: TimeInterval = 15
    /// The ids of all parts that may change, including those of the frame.
    private static let parts = Set(
        MirrorPages.all.flatMap { $0.liveParts } + ["band", "pages", "strip"]
    ).sorted()
        .joined(separator: " ")
    /// The event while the clock runs fast: the time changes the pages without a change of the
    /// database.
    private static let timePassed = "event: changed\ndata: \(parts)\n\n"

    private let storage: any StorageEngine
    private let clock: any WallClock
    private let interval: Duration
    /// Whether the clock runs so fast that the time itself is a change.
    private let isFast: @Sendable () -> Bool
    private var streams: [Int: Stream] = [:]
    private var lastID = 0
    private var watcher: Task<Void, Never>?
    /// The number of queries of the database.
    private(set) var queryCount = 0

    init(
        _ storage: any StorageEngine, clock: any WallClock, interval: Duration = .seconds(2),
        isFast: @escaping @Sendable () -> Bool = { false }
    ) {
        self.storage = storage
        self.clock = clock
        self.interval = interval
        self.isFast = isFast
    }

    var count: Int { streams.count }

    /// The stream of a mirror's changes.
    ///
    /// It counts against the limits until the connection is closed or the stream has ended.
    ///
    /// - Parameters:
    ///   - mirror: The mirror's name.
    ///   - known: The digest of the mirror's change stamps that the browser knows from its page, or
    ///     from its last event.
    ///   - owner: The owner whose limits it counts against.
    ///   - connection: The connection of the stream.
    /// - Throws: ``WebProblem`` with 429 if the owner's limit is reached, with 503 if the total
    ///   limit is.
    func response(
        of mirror: String, since known: String?, owner: StreamOwner, on connection: any Channel
    ) throws -> Response {
        try requireRoom(for: owner)
        let (id, stream) = open(mirror, since: known, owner: owner)
        // The stream ends when its connection is closed, which would otherwise be noticed only with
        // the next event.
        connection.closeFuture.whenComplete { [self] _ in
            stream.continuation.finish()
            Task { await close(id) }
        }
        let body = ResponseBody { [self] writer in
            do {
                try await writer.write(ByteBuffer(string: "retry: 5000\n\n"))
                // A server that shuts down waits for its connections.
                try await withGracefulShutdownHandler {
                    for await event in stream.events {
                        try await writer.write(ByteBuffer(string: event))
                    }
                } onGracefulShutdown: {
                    stream.continuation.finish()
                }
                await close(id)
                try await writer.finish(nil)
            } catch {
                await close(id)
                throw error
            }
        }
        return Response(status: .ok, headers: Self.headers, body: body)
    }

    /// The headers of a stream, which also tell proxies not to buffer it.
    static let headers: HTTPFields = [
        .contentType: "text/event-stream", .cacheControl: "no-store", .accelBuffering: "no",
    ]

    /// - Throws: ``WebProblem`` if a limit of streams is reached.
    func requireRoom(for owner: StreamOwner) throws {
        let owners = streams.values.compactMap(\.owner)
        let title = localized("Too many pages are open")
        let text = localized("This one does not follow by itself.")
        let ofSession = owners.count { $0.session == owner.session }
        let ofAddress = owner.share == nil ? 0 : owners.count { $0.share == owner.share }
        guard ofSession < Self.mostOfSession, ofAddress < Self.mostOfAddress else {
            throw WebProblem(
                status: .tooManyRequests, title: title, text: text,
                retryAfter: Self.retryAfter)
        }
        let fromElsewhere = owner.share == nil ? 0 : owners.count { $0.share != nil }
        guard streams.count < Self.mostStreams, fromElsewhere < Self.mostFromElsewhere else {
            throw WebProblem(
                status: .serviceUnavailable, title: title, text: text,
                retryAfter: Self.retryAfter)
        }
    }

    /// Seconds after which a browser may retry a refused stream.
    private static let retryAfter = 30

    func open(
        _ mirror: String, since known: String? = nil, owner: StreamOwner? = nil
    ) -> (
        id: Int,
        stream: (events: AsyncStream<String>, continuation: AsyncStream<String>.Continuation)
    ) {
        lastID += 1
        let (events, continuation) = AsyncStream.makeStream(
            of: String.self, bufferingPolicy: .bufferingNewest(8))
        streams[lastID] = Stream(
            mirror: mirror, owner: owner, continuation: continuation, known: known)
        if watcher == nil { watcher = Task { await watch() } }
        return (lastID, (events, continuation))
    }

    func close(_ id: Int) {
        streams.removeValue(forKey: id)?.continuation.finish()
    }

    /// Queries for changes as long as there are streams.
    private func watch() async {
        defer { watcher = nil }
        var lastKeepalive = ContinuousClock.now
        var wasFast = false
        while !streams.isEmpty, !Task.isCancelled {
            // A database error is ignored here and the query repeated; the page reports it when it
            // is loaded.
            if let stamps = try? await readStamps() { sendChanges(stamps) }
            if lastKeepalive.duration(to: .now) >= .seconds(Self.keepaliveInterval) {
                for stream in streams.values { stream.continuation.yield(": \n\n") }
                lastKeepalive = .now
            }
            let isFast = isFast()
            // One more event is sent when the fast clock has ended, because the page changes then.
            if isFast || wasFast {
                for stream in streams.values { stream.continuation.yield(Self.timePassed) }
            }
            wasFast = isFast
            // Only cancellation ends the sleep.
            guard (try? await Task.sleep(for: interval)) != nil else { return }
        }
    }

    private func readStamps() async throws -> MirrorStamps {
        queryCount += 1
        let names = Set(streams.values.map(\.mirror)).sorted()
        return try await MirrorStamps(of: names, in: storage, now: clock.now)
    }

    /// Sends an event to each stream whose mirror has changed.
    private func sendChanges(_ stamps: MirrorStamps) {
        for (id, stream) in streams {
            guard let digest = stamps.digest(of: stream.mirror), digest != stream.known else {
                continue
            }
            streams[id]?.known = digest
            // Without a known digest, the stream only stores the present one, and there is no
            // change to report. A browser sends the id of the last event when it reopens the
            // stream.
            if stream.known != nil {
                stream.continuation.yield("id: \(digest)\nevent: changed\ndata: \(Self.parts)\n\n")
            }
        }
    }
}

extension HTTPField.Name {
    fileprivate static let accelBuffering = named("X-Accel-Buffering")
}
