import Foundation
import Synchronization

/// Reads a stream line by line, with a limit for the length of a line, so that no input fills the
/// memory.
final class LineReader: Sendable {
    enum Line: Equatable, Sendable {
        /// The bytes without the line break.
        case whole([UInt8])
        /// A line longer than the limit, which was skipped.
        case tooLong
    }

    private struct State {
        /// The bytes that were read; those from `start` on were not returned yet.
        var bytes: [UInt8] = []
        var start = 0
        /// Whether the beginning of the present line was dropped, because the line is too long.
        var isSkipping = false
        var isAtEnd = false

        var unreturned: ArraySlice<UInt8> { bytes[start...] }
    }

    private static let chunkBytes = 1 << 16
    private static let lineBreak = UInt8(ascii: "\n")

    private let descriptor: Int32
    /// Whether this object opened the descriptor, and closes it.
    private let ownsDescriptor: Bool
    private let longest: Int
    private let state = Mutex(State())

    /// - Parameters:
    ///   - path: The path to open; `-` is the standard input of the process.
    ///   - longest: The limit of a line, in bytes.
    /// - Throws: ``CommandError`` if it cannot be opened.
    init(_ path: String, longest: Int) throws {
        self.longest = longest
        ownsDescriptor = path != "-"
        descriptor = ownsDescriptor ? open(path, O_RDONLY | O_CLOEXEC) : STDIN_FILENO
        guard descriptor >= 0 else {
            throw CommandError(
                .unavailable, "could not read the input: \(String(cString: strerror(errno)))")
        }
    }

    deinit { if ownsDescriptor { close(descriptor) } }

    /// Waits for the next line; blocks the thread.
    ///
    /// - Returns: Nil at the end. A last line needs no line break.
    /// - Throws: ``CommandError`` if the stream cannot be read.
    func next() throws -> Line? {
        try state.withLock { state in
            while true {
                if let line = takeLine(&state) { return line }
                guard !state.isAtEnd else { return nil }
                try read(&state)
            }
        }
    }

    private func takeLine(_ state: inout State) -> Line? {
        if let end = state.unreturned.firstIndex(of: Self.lineBreak) {
            let line = makeLine(&state, state.bytes[state.start..<end])
            state.start = end + 1
            return line
        }
        if state.unreturned.count > longest {
            state.isSkipping = true
            state.start = state.bytes.count
        }
        guard state.isAtEnd, !state.unreturned.isEmpty || state.isSkipping else { return nil }
        let line = makeLine(&state, state.unreturned)
        state.start = state.bytes.count
        return line
    }

    private func makeLine(_ state: inout State, _ line: ArraySlice<UInt8>) -> Line {
        defer { state.isSkipping = false }
        return state.isSkipping || line.count > longest ? .tooLong : .whole(Array(line))
    }

    private func read(_ state: inout State) throws {
        var chunk = [UInt8](repeating: 0, count: Self.chunkBytes)
        let count = Foundation.read(descriptor, &chunk, chunk.count)
        if count > 0 {
            state.bytes = Array(state.unreturned) + chunk[..<count]
            state.start = 0
        } else if count == 0 {
            state.isAtEnd = true
        } else if errno == EAGAIN {
            // Another program has made the pipe nonblocking.
            var descriptorEvents = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            _ = poll(&descriptorEvents, 1, -1)
        } else if errno != EINTR {
            throw CommandError(
                .unavailable, "could not read the input: \(String(cString: strerror(errno)))")
        }
    }
}
