import Foundation
import Synchronization
import TestSupport

/// Tells the relays of a stage which process reaches no network, and which connections are its own.
///
/// The kernel knows the socket at the other end of a loopback connection, and whether a process has
/// it. The process itself is the program as it is built, its database and its Redis are reachable,
/// and only the networks are not.
final class NetworkCut: Sendable {
    private struct State {
        var process: pid_t?
        var refusals = 0
    }

    private let sockets: SocketTable
    private let state = Mutex(State())

    /// - Throws: ``TestSupportError`` if the kernel does not tell of its sockets.
    init() throws { sockets = try SocketTable() }

    /// The connections that were refused so far.
    var refusals: Int { state.withLock(\.refusals) }

    /// Lets a process reach no network from its next connection on; nil for none.
    func cut(_ process: pid_t?) { state.withLock { $0.process = process } }

    /// Returns whether an accepted connection is to be refused, and counts it then.
    func refuses(_ client: Int32) -> Bool {
        guard let process = state.withLock(\.process), let peer = sockets.peer(of: client),
            Self.has(process, peer)
        else { return false }
        state.withLock { $0.refusals += 1 }
        return true
    }

    /// Whether a process has a socket open.
    private static func has(_ process: pid_t, _ socket: SocketTable.Inode) -> Bool {
        let folder = "/proc/\(process)/fd"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.contains { name in
            var status = stat()
            guard stat("\(folder)/\(name)", &status) == 0 else { return false }
            return status.st_mode & S_IFMT == S_IFSOCK && status.st_ino == UInt(socket)
        }
    }
}

/// The kernel's table of TCP sockets over IPv4, asked for one of them at a time by `sock_diag(7)`.
private final class SocketTable: Sendable {
    typealias Inode = UInt32

    /// Where things are in the messages, in bytes.
    private enum Layout {
        static let header = 16
        static let request = 56
        /// Of `idiag_inode` in an answer, behind its header.
        static let inode = 68
    }

    private static let netlink: Int32 = 16
    private static let socketDiagnosis: Int32 = 4
    /// `SOCK_DIAG_BY_FAMILY`, and `NLM_F_REQUEST`.
    private static let byFamily: UInt16 = 20
    private static let isRequest: UInt16 = 1

    private let descriptor: Int32
    /// Held from a question to its answer.
    private let lock = NSLock()

    init() throws {
        descriptor = socket(Self.netlink, Int32(SOCK_RAW.rawValue), Self.socketDiagnosis)
        guard descriptor >= 0 else {
            throw TestSupportError(
                "the kernel does not tell whose a connection is; run with --without-unable")
        }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    }

    deinit { close(descriptor) }

    /// Returns the socket at the other end of a loopback connection; nil if it is gone.
    func peer(of socket: Int32) -> Inode? {
        guard let own = Self.address(of: socket, getsockname),
            let peer = Self.address(of: socket, getpeername)
        else { return nil }
        let question = Self.question(from: peer, to: own)
        var answer = [UInt8](repeating: 0, count: 4_096)
        let count = lock.withLock {
            guard send(descriptor, question, question.count, 0) == question.count else { return -1 }
            return recv(descriptor, &answer, answer.count, 0)
        }
        let place = Layout.header + Layout.inode
        guard count >= place + 4 else { return nil }
        return answer.withUnsafeBytes { bytes in
            guard bytes.loadUnaligned(fromByteOffset: 4, as: UInt16.self) == Self.byFamily else {
                return nil
            }
            return bytes.loadUnaligned(fromByteOffset: place, as: UInt32.self)
        }
    }

    /// `nlmsghdr` and `inet_diag_req_v2`; ports and addresses are in the order of the network.
    private static func question(from source: sockaddr_in, to target: sockaddr_in) -> [UInt8] {
        var question: [UInt8] = []
        func append<Number: FixedWidthInteger>(_ number: Number) {
            withUnsafeBytes(of: number) { question.append(contentsOf: $0) }
        }
        func append(_ address: in_addr) {
            append(address.s_addr)
            for _ in 0..<3 { append(UInt32(0)) }
        }
        append(UInt32(Layout.header + Layout.request))
        append(byFamily)
        append(isRequest)
        // The number of the question, and of who asks.
        append(UInt32(1))
        append(UInt32(0))
        append(UInt8(AF_INET))
        append(UInt8(IPPROTO_TCP))
        append(UInt16(0))
        // A socket in any state, on any interface, with any cookie.
        append(UInt32.max)
        append(source.sin_port)
        append(target.sin_port)
        append(source.sin_addr)
        append(target.sin_addr)
        append(UInt32(0))
        append(UInt64.max)
        return question
    }

    private static func address(
        of socket: Int32,
        _ read: (Int32, UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32
    ) -> sockaddr_in? {
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isKnown = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                read(socket, $0, &length) == 0
            }
        }
        return isKnown ? address : nil
    }
}
