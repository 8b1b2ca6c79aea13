import Expectations
import Foundation
import Posts
import TestSupport
import Testing

@testable import Torture

/// How it is told that the machine let somebody wait.
@Suite struct StarvationTests {
    // MARK: What the system writes

    @Test(arguments: [
        ("965875426 79870399 844\n", 79_870_399), ("0 0 0\n", 0), ("1 2 3", 2),
        ("18446744073709551615 18446744073709551615 1\n", UInt64.max),
    ])
    func theSecondNumberIsTheWait(text: String, nanoseconds: UInt64) {
        #expect(ScheduleStatistics.waited(in: Array(text.utf8)) == nanoseconds)
    }

    @Test(arguments: [
        "", "\n", " ", "1", "1\n", "1 2", "1 2\n", "1 2 ", "1 2 \n", "1  3\n", " 1 2 3\n",
        "1 2 3 4\n", "1 2 3\n\n",
        "1 -2 3\n", "+1 2 3\n", "1 2.5 3\n", "1 0x2 3\n", "a b c\n", "1\t2\t3\n", "1 2 3\n4 5 6\n",
        "١ ٢ ٣\n",
        "1 18446744073709551616 3\n", "1 2 \u{0}\n",
    ])
    func otherTextSaysNothing(text: String) {
        #expect(ScheduleStatistics.waited(in: Array(text.utf8)) == nil)
    }

    @Test func bytesThatAreNoTextSayNothing() {
        #expect(ScheduleStatistics.waited(in: [0xFF, 0x20, 0xC0, 0x20, 0x80, 0x0A]) == nil)
    }

    @Test(arguments: [
        ("7 (postgres) D 1 7 7 0\n", true), ("7 (postgres) S 1 7 7 0\n", false),
        ("7 (a) S 1) D 1 7\n", true),
        ("7 (a) D 1) S 1 7\n", false), ("7 (D) R 1\n", false), ("7 (a) D", false),
        ("7 (a) DD 1", false),
        ("7 a D 1", false), (")", false), ("", false),
    ])
    func theStateStandsBehindTheName(text: String, isOnDisk: Bool) {
        #expect(ThreadState.isUninterruptible(in: Array(text.utf8)) == isOnDisk)
    }

    // MARK: Whom it is asked about

    /// Files such as the system's, of the threads of processes.
    private func tell(
        _ folder: TemporaryDirectory, _ threads: [(Int32, Int32, wait: UInt64?, children: String?)]
    )
        throws
    {
        for (process, thread, wait, children) in threads {
            let path = folder.path("\(process)/task/\(thread)")
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            for (name, text) in [("schedstat", wait.map { "1 \($0) 3\n" }), ("children", children)]
            {
                if let text {
                    try Data(text.utf8).write(to: URL(fileURLWithPath: "\(path)/\(name)"))
                }
            }
        }
    }

    @Test func allThreadsOfAllDescendantsAreAsked() throws {
        let folder = try TemporaryDirectory()
        try tell(
            folder,
            [
                (1, 1, 10, "2 "), (1, 11, 20, "3 99 "), (2, 2, 30, ""), (3, 3, 40, "4 "),
                (4, 4, 50, nil),
                (5, 5, 60, ""),
            ])
        let tree = ProcessTree(root: 1, folder: folder.path(""))
        let waits = tree.waits(of: tree.threads)
        #expect(waits.values.sorted() == [10, 20, 30, 40, 50])
        #expect(waits[ProcessTree.Thread(process: 1, number: 11)] == 20)
    }

    @Test func onlyThreadsOnDiskAreTold() throws {
        let folder = try TemporaryDirectory()
        try tell(folder, [(1, 1, 10, "2 "), (1, 11, 20, ""), (2, 2, 30, "")])
        for (path, text) in [("1/task/1", "1 (a) D 0"), ("1/task/11", "11 (a) S 0")] {
            try Data(text.utf8).write(to: URL(fileURLWithPath: folder.path(path + "/stat")))
        }
        let tree = ProcessTree(root: 1, folder: folder.path(""))
        #expect(tree.threadsOnDisk(of: tree.threads) == [ProcessTree.Thread(process: 1, number: 1)])
    }

    @Test func aLoopAndAWrongLineAreNoHarm() throws {
        let folder = try TemporaryDirectory()
        try tell(folder, [(1, 1, nil, "2 x -7 2 "), (2, 2, 30, "1 2 ")])
        try Data().write(to: URL(fileURLWithPath: folder.path("1/task/notes")))
        let tree = ProcessTree(root: 1, folder: folder.path(""))
        #expect(tree.threads.map(\.number).sorted() == [1, 2])
        #expect(tree.waits(of: tree.threads).values.sorted() == [30])
    }

    @Test func whereTheSystemTellsNothingNobodyWaits() throws {
        let folder = try TemporaryDirectory()
        let tree = ProcessTree(root: 1, folder: folder.path(""))
        #expect(tree.threads.isEmpty)
        #expect(tree.waits(of: [ProcessTree.Thread(process: 1, number: 1)]).isEmpty)
    }

    #if os(Linux)
        @Test func itselfIsThere() {
            let tree = ProcessTree(root: ProcessInfo.processInfo.processIdentifier)
            let isCounted = FileManager.default.fileExists(atPath: "/proc/self/schedstat")
            expect(tree.threads) { $0.contains { $0.number == getpid() } }
            #expect(tree.waits(of: tree.threads).isEmpty == !isCounted)
        }
    #endif

    // MARK: When it counts

    private static let factor = 100.0
    private let origin = Date(timeIntervalSince1970: 1_000_000)

    /// What each of several samples shows: the start of a stretch before it, and its length, in
    /// real seconds.
    private func stretches(_ samples: [(second: Double, waits: [Int32: Double])]) -> [[Double]?] {
        var rule = StarvationRule(factor: Self.factor, period: 0.1)
        return samples.map { second, waits in
            let date = origin + second * Self.factor
            let pairs = waits.map {
                (ProcessTree.Thread(process: 1, number: $0), UInt64(($1 * 1e9).rounded()))
            }
            return rule.stretch(until: date, waits: Dictionary(uniqueKeysWithValues: pairs)).map {
                stretch in
                #expect(stretch.end == date)
                return [stretch.start.timeIntervalSince(origin), stretch.duration].map {
                    ($0 / Self.factor * 1e3).rounded()
                }
            }
        }
    }

    @Test func moreThanAHalfOfTheTimeCounts() {
        #expect(
            stretches([(0, [1: 7]), (0.1, [1: 7.049]), (0.2, [1: 7.1])]) == [nil, nil, [100, 100]])
    }

    @Test func theThreadThatWaitedLongestDecides() {
        #expect(
            stretches([(0, [1: 0, 2: 0]), (0.1, [1: 0.04, 2: 0.04]), (0.2, [1: 0.04, 2: 0.11])])
                == [
                    nil, nil, [100, 100],
                ])
    }

    @Test func aWaitThatIsOverBeganEarlier() {
        #expect(
            stretches([(1, [1: 0]), (1.1, [1: 0]), (1.2, [1: 0.75])]) == [nil, nil, [450, 750]])
    }

    @Test func aSampleThatIsLateCounts() {
        #expect(stretches([(0, [:]), (0.19, [:]), (0.4, [:])]) == [nil, nil, [190, 210]])
    }

    @Test func aThreadThatIsOnDiskTwiceInARowStarves() {
        var rule = StarvationRule(factor: 1, period: 1)
        let samples: [Set<Int32>] = [[1], [2], [2, 3], [3], [], [3], [3]]
        let starved = samples.enumerated().map { second, numbers in
            let threads = numbers.map { ProcessTree.Thread(process: 1, number: $0) }
            return rule.stretch(
                until: origin + TimeInterval(second), waits: [:], onDisk: Set(threads))?.duration
        }
        #expect(starved == [nil, nil, 1, 1, nil, nil, 1])
    }

    @Test func aThreadThatIsNewHasNotWaitedYet() {
        #expect(
            stretches([(0, [:]), (0.1, [1: 50]), (0.2, [1: 50.06])]) == [nil, nil, [100, 100]])
    }

    @Test func aNumberThatIsGivenAgainIsAnotherThread() {
        #expect(stretches([(0, [1: 3]), (0.1, [1: 0.01]), (0.2, [1: 0.02])]) == [nil, nil, nil])
    }

    @Test func theFirstSampleAndOneAtTheSameTimeShowNothing() {
        #expect(stretches([(0, [1: 3]), (0, [1: 5])]) == [nil, nil])
    }

    @Test func theLastLineSaysForHowLong() throws {
        var report = TortureReport(TortureSettings(network: .x, store: .sqlite, kills: 1, seed: 1))
        report.starvedSeconds = 1.234
        try expect(report.jsonLine()) { $0.contains("\"starved_seconds\":1.23,") }
    }
}
