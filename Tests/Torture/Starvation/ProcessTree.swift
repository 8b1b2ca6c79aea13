import Foundation

/// The threads of a process and of everything that it started, as proc(5) tells of them.
struct ProcessTree: Sendable {
    /// A thread that the system knows.
    struct Thread: Hashable, Sendable {
        var process: Int32
        var number: Int32
    }

    private let root: Int32
    private let folder: String

    /// - Parameters:
    ///   - root: The process at the top.
    ///   - folder: Where the system tells of processes.
    init(root: Int32, folder: String = "/proc") {
        self.root = root
        self.folder = folder
    }

    /// All threads of the moment; some of those that come or go just now may be missing.
    ///
    /// There are none without proc(5), and those of the process at the top where it does not tell
    /// of children.
    var threads: [Thread] {
        var threads: [Thread] = []
        var open = [root]
        var known = Set([root])
        while let process = open.popLast() {
            for thread in Self.numbers(inFolder: "\(folder)/\(process)/task").map({
                Thread(process: process, number: $0)
            }) {
                threads.append(thread)
                let children = Self.withFile(path(of: "children", thread), Self.numbers) ?? []
                open += children.filter { known.insert($0).inserted }
            }
        }
        return threads
    }

    /// For how long threads have waited for a processor so far, in nanoseconds.
    ///
    /// Those that have ended meanwhile are left out, and so are all where the system does not
    /// count.
    func waits(of threads: [Thread]) -> [Thread: UInt64] {
        var waits: [Thread: UInt64] = [:]
        for thread in threads {
            let wait = Self.withFile(path(of: "schedstat", thread)) {
                ScheduleStatistics.waited(in: $0)
            }
            if let wait = wait ?? nil { waits[thread] = wait }
        }
        return waits
    }

    /// Those of the threads that the disk keeps waiting at this moment.
    func threadsOnDisk(of threads: [Thread]) -> Set<Thread> {
        Set(
            threads.filter {
                Self.withFile(path(of: "stat", $0)) { ThreadState.isUninterruptible(in: $0) }
                    ?? false
            })
    }

    private func path(of file: String, _ thread: Thread) -> String {
        "\(folder)/\(thread.process)/task/\(thread.number)/\(file)"
    }

    private static func numbers(in text: UnsafeRawBufferPointer) -> [Int32] {
        text.split(separator: UInt8(ascii: " ")).compactMap {
            Int32(String(decoding: $0, as: UTF8.self))
        }
    }

    /// The entries of a folder whose names are numbers.
    private static func numbers(inFolder path: String) -> [Int32] {
        guard let entries = opendir(path) else { return [] }
        defer { closedir(entries) }
        var numbers: [Int32] = []
        while let entry = readdir(entries) {
            let number = withUnsafeBytes(of: &entry.pointee.d_name) { name in
                Int32(String(decoding: name.prefix { $0 != 0 }, as: UTF8.self))
            }
            if let number { numbers.append(number) }
        }
        return numbers
    }

    /// Reads a file at once; nil if it is not there.
    ///
    /// What the system says at once of the children of a thread is a page.
    private static func withFile<Value>(_ path: String, _ body: (UnsafeRawBufferPointer) -> Value)
        -> Value?
    {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        return withUnsafeTemporaryAllocation(byteCount: 4_096, alignment: 1) { buffer in
            let count = read(file, buffer.baseAddress, buffer.count)
            return count < 0 ? nil : body(UnsafeRawBufferPointer(rebasing: buffer.prefix(count)))
        }
    }
}
