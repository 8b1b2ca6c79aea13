import Foundation
import TestSupport

/// A terminal without a screen.
final class PseudoTerminal: Sendable {
    private let outer: Int32
    /// What a program takes for its terminal.
    let inner: Int32

    // The requests TIOCSPTLCK and TIOCGPTN of ioctl_tty(2), macros that Swift does not see.
    private static let setLock: UInt = 0x4004_5431
    private static let getNumber: UInt = 0x8004_5430

    init() throws {
        outer = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        var isLocked: Int32 = 0
        var number: UInt32 = 0
        guard outer >= 0, ioctl(outer, Self.setLock, &isLocked) == 0,
            ioctl(outer, Self.getNumber, &number) == 0
        else {
            throw TestSupportError("could not open a terminal: \(String(cString: strerror(errno)))")
        }
        inner = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard inner >= 0 else { throw TestSupportError("could not open the inside of a terminal") }
    }

    deinit {
        close(inner)
        close(outer)
    }

    /// Types a short line, which waits until it is read.
    ///
    /// When it returns, the terminal has echoed the line or not, as it is set now: the kernel does
    /// so in a queue of its own, and poll(2) waits for that queue.
    func type(_ line: String) throws {
        let bytes = Array(line.utf8)
        guard write(outer, bytes, bytes.count) == bytes.count else {
            throw TestSupportError("could not type")
        }
        var arrived = pollfd(fd: inner, events: Int16(POLLIN), revents: 0)
        guard poll(&arrived, 1, 0) >= 0 else { throw TestSupportError("could not type") }
    }

    /// Whether it shows what is typed and hands it over by lines.
    var hasEcho: Bool {
        var settings = termios()
        return tcgetattr(inner, &settings) == 0
            && settings.c_lflag & tcflag_t(ECHO | ICANON) == tcflag_t(ECHO | ICANON)
    }

    /// What the program has shown so far.
    func shown() -> String {
        var text: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4_096)
        var ready = pollfd(fd: outer, events: Int16(POLLIN), revents: 0)
        while poll(&ready, 1, 0) > 0, ready.revents & Int16(POLLIN) != 0 {
            let count = read(outer, &buffer, buffer.count)
            guard count > 0 else { break }
            text += buffer[..<count]
        }
        return String(decoding: text, as: UTF8.self)
    }
}
