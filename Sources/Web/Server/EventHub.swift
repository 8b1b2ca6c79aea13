import Control
import Foundation
import HTTPTypes
import Hummingbird
import Mirroring
import NIOCore
import ServiceLifecycle
import Storage

/// The event streams of all pages that are open, which ask the database together.
///
/// A stream says which parts of a page may have changed, never what is in them. While nobody looks nothing is asked.
actor EventHub {
    private struct Stream {
        let mirror: String
        let continuation: AsyncStream<String>.Continuation
        /// The digest of the stamps that the browser knows; `nil` until the first look if it named none.
        var known: String?
    }

    /// Streams that are open at once, at most.
    static let most = 500
    /// How often something is sent to a stream in which nothing changes, so that neither end takes it for dead, in
    /// seconds.
    private static let pulse: TimeInterval = 15
    /// The ids of all parts that may change, those of the frame among them.
    private static let parts = Set(MirrorPages.all.flatMap { $0.liveParts } + ["band", "pages", "strip"]).sorted()
        .joined(separator: " ")
    /// The event that time has passed.
    private static let passed = "event: changed\ndata: \(parts)\n\n"

    private let storage: any StorageEngine
    private let clock: any WallClock
    private let interval: Duration
    /// Whether the clock goes so fast now that the time itself is news.
    private let isFast: @Sendable () -> Bool
    private var streams: [Int: Stream] = [:]
    private var lastID = 0
    private var watcher: Task<Void, Never>?
    /// How often the database was asked.
    private(set) var looks = 0

    init(
        _ storage: any StorageEngine, clock: any WallClock, interval: Duration = .seconds(2),
        isFast: @escaping @Sendable () -> Bool = { false }
    ) {
        (self.storage, self.clock, self.interval, self.isFast) = (storage, clock, interval, isFast)
    }

    var count: Int { streams.count }

    /// The stream of a mirror's changes.
    ///
    /// - Parameters:
    ///   - mirror: The mirror's name.
    ///   - known: The digest of the stamps that the browser knows: of its page, or of the last event that it got.
    /// - Throws: ``WebProblem`` with 503 for one too many.
    func response(of mirror: String, since known: String?) throws -> Response {
        guard streams.count < Self.most else {
            throw WebProblem(
                status: .serviceUnavailable, title: "Too many pages are open",
                text: "This one does not follow by itself.")
        }
        let body = ResponseBody { [self] writer in
            let (id, stream) = await open(mirror, since: known)
            do {
                try await writer.write(ByteBuffer(string: "retry: 5000\n\n"))
                // A server that is told to stop waits for its connections.
                try await withGracefulShutdownHandler {
                    for await event in stream.events { try await writer.write(ByteBuffer(string: event)) }
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
        return Response(
            status: .ok,
            // Some proxies keep what comes in pieces until it is whole.
            headers: [.contentType: "text/event-stream", .cacheControl: "no-store", .accelBuffering: "no"], body: body)
    }

    func open(
        _ mirror: String, since known: String? = nil
    ) -> (id: Int, stream: (events: AsyncStream<String>, continuation: AsyncStream<String>.Continuation)) {
        lastID += 1
        let (events, continuation) = AsyncStream.makeStream(of: String.self, bufferingPolicy: .bufferingNewest(8))
        streams[lastID] = Stream(mirror: mirror, continuation: continuation, known: known)
        if watcher == nil { watcher = Task { await watch() } }
        return (lastID, (events, continuation))
    }

    func close(_ id: Int) {
        streams.removeValue(forKey: id)?.continuation.finish()
    }

    /// Looks for changes as long as somebody listens.
    private func watch() async {
        defer { watcher = nil }
        var sent = ContinuousClock.now
        var wasFast = false
        while !streams.isEmpty, !Task.isCancelled {
            // A database that does not answer is asked again; the page says so when it is loaded.
            if let stamps = try? await look() { tell(stamps) }
            if sent.duration(to: .now) >= .seconds(Self.pulse) {
                for stream in streams.values { stream.continuation.yield(": \n\n") }
                sent = .now
            }
            let isFast = isFast()
            // Once more when it is over, for then it looks otherwise.
            if isFast || wasFast { for stream in streams.values { stream.continuation.yield(Self.passed) } }
            wasFast = isFast
            guard (try? await Task.sleep(for: interval)) != nil else { return }
        }
    }

    private func look() async throws -> MirrorStamps {
        looks += 1
        let names = Set(streams.values.map(\.mirror)).sorted()
        return try await MirrorStamps(of: names, in: storage, now: clock.now)
    }

    private func tell(_ stamps: MirrorStamps) {
        for (id, stream) in streams {
            guard let digest = stamps.digest(of: stream.mirror), digest != stream.known else { continue }
            streams[id]?.known = digest
            // A browser names the last id when it opens the stream again.
            if stream.known != nil {
                stream.continuation.yield("id: \(digest)\nevent: changed\ndata: \(Self.parts)\n\n")
            }
        }
    }
}

extension HTTPField.Name {
    fileprivate static let accelBuffering = named("X-Accel-Buffering")
}
